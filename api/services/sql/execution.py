"""Runs a statement in the warehouse and encodes its rows."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import duckdb
import orjson

from api.services.sql.statement import (
    Statement,
    StatementAnswer,
    StatementColumn,
    StatementFault,
    StatementSummary,
)
from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.user_sql import run_user_sql
from warehouse.exports.export_table import ExportTable, to_table
from warehouse.exports.table_files import LARGEST_EXACT, ExportMethod, json_value, to_file
from warehouse.lake.as_of import parse_as_of
from warehouse.queries.accounts import is_history_rewritten
from warehouse.records.errors import InputError, InvalidParameterError, SametrackError
from warehouse.records.times import to_utc_text

MAX_ANSWER_BYTES = 32_000_000
_UNENCODABLE = (OverflowError, RecursionError, TypeError, ValueError)
_HINT = "select fewer columns or rows, or use `sametrack sql --out`, which has no limit of size"

type OpenEngine = Callable[[datetime | None], Engine]


class _AnswerTooLargeError(Exception):
    """The rows are too large to be sent."""


def answer_statement(
    engine: Engine, open_engine: OpenEngine, asked: Statement
) -> StatementAnswer | StatementFault:
    """Run a statement. Errors become a `StatementFault`, because they cross to another process.

    Args:
        engine: The warehouse as it is now.
        open_engine: Opens the warehouse as it was.
        asked: The statement.
    """
    try:
        return _answer(engine, open_engine, asked)
    except InputError as error:
        return StatementFault("invalid", error.detail, error.hint)
    except _AnswerTooLargeError:
        size = f"{MAX_ANSWER_BYTES // 1_000_000} MB"
        return StatementFault("limit", f"the answer has more than {size}", _HINT)
    except SametrackError as error:
        if isinstance(error.__cause__, duckdb.OutOfMemoryException):
            return out_of_memory()
        return StatementFault("unavailable", error.detail, error.hint)
    except MemoryError:
        return out_of_memory()


def out_of_memory() -> StatementFault:
    """Return the fault of a statement that needs more memory than it may have."""
    return StatementFault("limit", "the statement needs more memory than it may have", None)


def _answer(engine: Engine, open_engine: OpenEngine, asked: Statement) -> StatementAnswer:
    started_at = time.perf_counter()
    with _engine_of(engine, open_engine, asked.as_of) as chosen:
        # One row more than is sent shows whether the answer is cut.
        found = run_user_sql(chosen, asked.sql, asked.parameters, limit=asked.row_limit + 1)
        is_rewritten = asked.as_of is not None and is_history_rewritten(chosen)
        as_of = None if chosen.as_of is None else to_utc_text(chosen.as_of)
    if found.nbytes > MAX_ANSWER_BYTES:
        raise _AnswerTooLargeError
    with _encoding_errors():
        table = to_table(asked.title, found.slice(0, asked.row_limit))
    summary = StatementSummary(
        columns=[StatementColumn(column.name, column.kind) for column in table.columns],
        row_count=len(table.rows),
        is_cut=found.num_rows > asked.row_limit,
        seconds=round(time.perf_counter() - started_at, 3),
        as_of=as_of,
        is_history_rewritten=is_rewritten,
    )
    with _encoding_errors():
        body = _encode(table, asked, summary)
    if len(body) > MAX_ANSWER_BYTES:
        raise _AnswerTooLargeError
    return StatementAnswer(summary, body)


@contextmanager
def _engine_of(engine: Engine, open_engine: OpenEngine, as_of: str | None) -> Iterator[Engine]:
    if as_of is None:
        yield engine
        return
    with closing(open_engine(parse_as_of(as_of, now=datetime.now(UTC)))) as opened:
        yield opened


@contextmanager
def _encoding_errors() -> Iterator[None]:
    """Name a value that cannot be sent as a mistake of the statement."""
    try:
        yield
    except _UNENCODABLE as error:
        raise InvalidParameterError(
            "the answer has a value that cannot be sent", hint="make its column text: x::varchar"
        ) from error


def _encode(table: ExportTable, asked: Statement, summary: StatementSummary) -> bytes:
    if asked.form == "rows":
        return orjson.dumps(json_value(table.rows, largest=LARGEST_EXACT))
    facts = {
        **asked.facts,
        "as_of": summary.as_of,
        "row_count": str(summary.row_count),
        "history_rewritten": "true" if summary.is_history_rewritten else None,
    }
    method = ExportMethod(
        tuple((name, value) for name, value in facts.items() if value is not None)
    )
    return to_file(table, method, asked.form, with_mark=asked.has_byte_order_mark)
