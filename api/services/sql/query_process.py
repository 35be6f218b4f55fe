"""The process that runs statements of users, started with `python -m`.

It reads only the lake, runs a statement and encodes its rows. Whoever waits for it ends it when a
statement takes too long, so nothing here measures time. It ends by itself when it has nothing to
do, or when its parent is gone.
"""

import os
import queue
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

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
from warehouse.lake.reading import open_lake_for_reading
from warehouse.queries.accounts import is_history_rewritten
from warehouse.records.errors import InputError, InvalidParameterError, SametrackError
from warehouse.records.times import to_utc_text

MAX_ANSWER_BYTES = 32_000_000
_UNENCODABLE = (OverflowError, RecursionError, TypeError, ValueError)
_HINT = "select fewer columns or rows, or use `sametrack sql --out`, which has no limit of size"

type OpenEngine = Callable[[datetime | None], Engine]
READY = b"ready"
_STATUS = Path("/proc/self/status")


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
    return to_file(table, method, asked.form, for_spreadsheets=asked.has_byte_order_mark)


def main(descriptor: int, order: bytes) -> None:
    """Answer statements that come through a connection.

    Args:
        descriptor: File descriptor of the connection to the parent.
        order: `lake_url`, `world`, `memory_mb` and `idle_s` as JSON.
    """
    connection = Connection(descriptor)
    given = orjson.loads(order)
    open_engine = partial(_open_engine, given["lake_url"], given["world"], given["memory_mb"])
    try:
        engine = open_engine(None)
    except SametrackError as error:
        connection.send_bytes(error.detail.encode())
        return
    _limit_memory(given["memory_mb"])
    statements: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, statements), daemon=True).start()
    connection.send_bytes(READY)
    with suppress(queue.Empty):
        while True:
            answer = answer_statement(
                engine, open_engine, Statement.of_json(statements.get(timeout=given["idle_s"]))
            )
            if isinstance(answer, StatementAnswer):
                connection.send_bytes(orjson.dumps({"summary": asdict(answer.summary)}))
                connection.send_bytes(answer.body)
            else:
                connection.send_bytes(orjson.dumps({"fault": asdict(answer)}))


def _receive(connection: Connection, statements: "queue.SimpleQueue[bytes]") -> None:
    """Take statements in; without a parent, end at once, whatever runs."""
    try:
        while True:
            statements.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)


def _open_engine(lake_url: str, world: str, memory_mb: int, as_of: datetime | None) -> Engine:
    return Engine(
        open_lake_for_reading(lake_url, world=world),
        as_of=as_of,
        memory_limit=f"{memory_mb}MB",
        spill_limit=f"{2 * memory_mb}MB",
    )


def _limit_memory(memory_mb: int) -> None:
    """Let the process grow by twice the limit, for what the database does not count.

    Only where the system tells how much memory a process has.
    """
    if not _STATUS.exists():
        return
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    used = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
    limit = used + 2 * memory_mb * 1_000_000
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2].encode())
