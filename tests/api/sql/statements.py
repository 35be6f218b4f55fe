"""Statements of users without a process: an engine of the test runs them."""

from datetime import datetime

from api.responses.errors import QueryLimitError
from api.services.sql.query_process import (
    Statement,
    StatementAnswer,
    StatementFault,
    answer_statement,
)
from api.services.sql.runner import QueryCancelledError, StatementTicket
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.errors import InvalidParameterError, WarehouseUnavailableError

ERRORS = {
    "invalid": InvalidParameterError, "limit": QueryLimitError,
    "unavailable": WarehouseUnavailableError,
}  # fmt: skip


class EngineRunner:
    """Runs statements at once, and keeps them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.asked: list[Statement] = []

    def run(self, statement: Statement, ticket: StatementTicket | None = None) -> StatementAnswer:
        self.asked.append(statement)
        if ticket is not None and ticket.is_cancelled:
            raise QueryCancelledError("the statement was cancelled")
        self._engine.refresh()
        answer = answer_statement(self._engine, self._open, statement)
        if isinstance(answer, StatementFault):
            raise ERRORS[answer.failure](answer.detail, hint=answer.hint)
        return answer

    def open_ticket(self) -> StatementTicket:
        return StatementTicket(lambda ticket: setattr(ticket, "is_cancelled", True))

    def _open(self, as_of: datetime | None) -> Engine:
        return Engine(self._engine.lake, as_of=as_of)
