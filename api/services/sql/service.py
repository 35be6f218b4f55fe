"""The library of queries, the tables, and statements of users, as documents and files."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import orjson

from api.params.sql import FILE_ROWS, SqlBody, SqlExportBody, StatementBody
from api.responses.documents import to_document
from api.responses.errors import MissingParameterError, QueryLimitError
from api.schemas.extensions.sql import (
    NamedQueryDocument,
    QueryLibrary,
    QueryParameterDocument,
    TableColumnDocument,
    TableDocument,
    TableList,
)
from api.services.exports.tables import ExportFile
from api.services.sql.runner import StatementTicket
from api.services.sql.statement import ParameterValue, Statement, StatementAnswer
from warehouse.analysis.description import NAMES, TableDescription, describe_table
from warehouse.analysis.query_library import NamedQuery, find_query, named_queries
from warehouse.exports.table_files import MEDIA_TYPES
from warehouse.records.errors import InvalidParameterError

PATH = "/api/v1/sametrack/sql"


class RunsStatements(Protocol):
    """What runs a statement: a process of its own, or a test's own engine."""

    def run(
        self, statement: Statement, ticket: StatementTicket | None = None
    ) -> StatementAnswer: ...

    def open_ticket(self) -> StatementTicket: ...


@dataclass(frozen=True, slots=True)
class _Asked:
    """The SQL of a body with its values; `query` is the name of a query of the library."""

    sql: str
    values: dict[str, ParameterValue]
    query: str | None


@dataclass(frozen=True, eq=False)
class SqlService:
    """Answers the operations about SQL."""

    runner: RunsStatements
    is_demo: bool

    def library(self) -> QueryLibrary:
        """Return all named queries."""
        queries = _queries()
        return {
            "queries": queries,
            "returned_count": len(queries),
            "is_demo_data": self.is_demo,
        }

    def tables(self) -> TableList:
        """Return all tables with their columns."""
        tables = _tables()
        return {"tables": tables, "returned_count": len(tables), "is_demo_data": self.is_demo}

    def rows(self, body: SqlBody, ticket: StatementTicket) -> Mapping[str, object]:
        """Run a statement and return its first rows: a `SqlAnswer` whose rows are encoded.

        Raises:
            MissingParameterError, InvalidParameterError: The body names no statement, or two, or
                one that is invalid.
            SametrackError: See `StatementRunner.run`.
        """
        asked = _read(body)
        statement = Statement(asked.sql, asked.values, as_of=body.as_of, row_limit=body.row_limit)
        answer = self.runner.run(statement, ticket)
        told = answer.summary
        return {
            "query": asked.query,
            "columns": told.columns,
            "rows": orjson.Fragment(answer.body),
            "returned_count": told.row_count,
            "row_limit": body.row_limit,
            "is_cut": told.is_cut,
            "seconds": told.seconds,
            "as_of": told.as_of,
            "history_rewritten": told.is_history_rewritten,
            "is_demo_data": self.is_demo,
        }

    def file(self, body: SqlExportBody, ticket: StatementTicket, *, stamp: str) -> ExportFile:
        """Run a statement and return all of its rows as a file.

        Attributes:
            body: The statement and the format.
            ticket: Cancels it.
            stamp: Time for the name of the file.

        Raises:
            QueryLimitError: It has more rows than a file may have.
            SametrackError: See `rows`.
        """
        asked = _read(body)
        name = asked.query or "sql"
        facts = {
            "is_demo_data": "true" if self.is_demo else "false",
            "query": asked.query or "",
            "sql": asked.sql,
            "parameters": orjson.dumps(asked.values).decode(),
        }
        statement = Statement(
            asked.sql, asked.values, as_of=body.as_of, row_limit=FILE_ROWS, form=body.form,
            has_byte_order_mark=body.bom, title=name, facts=facts,
        )  # fmt: skip
        answer = self.runner.run(statement, ticket)
        if answer.summary.is_cut:
            raise QueryLimitError(
                f"the answer has more than {FILE_ROWS:,} rows",
                hint="add a condition, or use `sametrack sql --out`, which has no limit of size",
            )
        demo = "demo-" if self.is_demo else ""
        return ExportFile(
            answer.body, MEDIA_TYPES[body.form], f"sametrack-{demo}{name}-{stamp}.{body.form}"
        )


def _read(body: StatementBody) -> _Asked:
    if body.sql is not None and body.query is not None:
        raise InvalidParameterError("`sql` and `query` cannot be combined", hint="send one of them")
    if body.query is not None:
        found = find_query(body.query)
        given = {
            name: value if value is None or isinstance(value, int | str) else str(value)
            for name, value in body.parameters.items()
        }
        return _Asked(found.sql, {**found.values(given)}, found.name)
    if body.sql is None:
        raise MissingParameterError("`sql` is required, or `query` with the name of a query")
    return _Asked(body.sql, dict(body.parameters), None)


@cache
def _queries() -> list[NamedQueryDocument]:
    return [_query_document(query) for query in named_queries()]


def _query_document(query: NamedQuery) -> NamedQueryDocument:
    parameters = [to_document(QueryParameterDocument, one) for one in query.parameters]
    return to_document(NamedQueryDocument, query, parameters=parameters)


@cache
def _tables() -> list[TableDocument]:
    return [_table_document(describe_table(name)) for name in NAMES]


def _table_document(described: TableDescription) -> TableDocument:
    columns = [
        to_document(
            TableColumnDocument,
            column,
            type=column.type_label,
            may_be_unknown=not column.required,
        )
        for column in described.columns
    ]
    return to_document(TableDocument, described, columns=columns)
