"""The process that runs statements of users, started with `python -m`.

It reads only the lake, runs a statement and encodes its rows. `runner.py` kills it when a statement
takes too long, so nothing here measures time. It ends by itself after some idle time, or when its
parent is gone.
"""

import os
import queue
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal, Self

import duckdb
import orjson

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.user_sql import run_user_sql
from warehouse.exports import table_files
from warehouse.exports.export_table import to_table
from warehouse.lake.reading import open_lake_for_reading, parse_as_of
from warehouse.queries.erasure import is_history_rewritten
from warehouse.records.errors import InputError, InvalidParameterError, SametrackError
from warehouse.records.times import to_utc_text

# A statement on its way to the process that runs it, and what comes back. Both sides use it.

type StatementForm = Literal["rows", table_files.TableFormat]
type StatementFailure = Literal["invalid", "limit", "unavailable"]
type ParameterValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with its parameters, and the form in which its rows are returned.

    `title` names the table of a file. A file contains `facts` next to its rows.
    """

    sql: str
    parameters: dict[str, ParameterValue] = field(default_factory=dict)
    as_of: str | None = None
    row_limit: int = 1000
    form: StatementForm = "rows"
    has_byte_order_mark: bool = False
    title: str = "answer"
    facts: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """Encode the statement."""
        return orjson.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: bytes) -> Self:
        """Decode a statement."""
        return cls(**orjson.loads(text))


@dataclass(frozen=True, slots=True)
class StatementColumn:
    """A column of an answer; `kind` as in exported tables."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class StatementSummary:
    """A result without its rows. `is_cut`: there are more rows than the limit."""

    columns: list[StatementColumn]
    row_count: int
    is_cut: bool
    seconds: float
    as_of: str | None
    is_history_rewritten: bool


@dataclass(frozen=True, slots=True)
class StatementAnswer:
    """The rows as encoded JSON, or the bytes of a file."""

    summary: StatementSummary
    body: bytes


@dataclass(frozen=True, slots=True)
class StatementFault:
    """Why a statement has no result."""

    failure: StatementFailure
    detail: str
    hint: str | None


MAX_ANSWER_BYTES = 32_000_000
_UNENCODABLE = (OverflowError, RecursionError, TypeError, ValueError)
_HINT = "select fewer columns or rows, or use `sametrack sql --out`, which has no limit of size"

type OpenEngine = Callable[[datetime | None], Engine]
READY = b"ready"
_STATUS = Path("/proc/self/status")


class _AnswerTooLargeError(Exception):
    """The rows are too large to be sent."""


def answer_statement(
    engine: Engine, open_engine: OpenEngine, statement: Statement
) -> StatementAnswer | StatementFault:
    """Run a statement. Errors become a `StatementFault`, because they cross to another process.

    Args:
        engine: The warehouse as it is now.
        open_engine: Opens the warehouse as it was.
        statement: The statement.
    """
    try:
        return _answer(engine, open_engine, statement)
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


def _answer(engine: Engine, open_engine: OpenEngine, statement: Statement) -> StatementAnswer:
    started_at = time.perf_counter()
    # A past state of the warehouse has an engine of its own, for this statement alone.
    choice = (
        nullcontext(engine)
        if statement.as_of is None
        else closing(open_engine(parse_as_of(statement.as_of, now=datetime.now(UTC))))
    )
    with choice as chosen:
        # One row more than is sent shows whether the answer is cut.
        limit = statement.row_limit + 1
        result = run_user_sql(chosen, statement.sql, statement.parameters, limit=limit)
        is_rewritten = statement.as_of is not None and is_history_rewritten(chosen)
        as_of = None if chosen.as_of is None else to_utc_text(chosen.as_of)
    if result.nbytes > MAX_ANSWER_BYTES:
        raise _AnswerTooLargeError
    with _encoding_errors():
        table = to_table(statement.title, result.slice(0, statement.row_limit))
    summary = StatementSummary(
        columns=[StatementColumn(column.name, column.kind) for column in table.columns],
        row_count=len(table.rows),
        is_cut=result.num_rows > statement.row_limit,
        seconds=round(time.perf_counter() - started_at, 3),
        as_of=as_of,
        is_history_rewritten=is_rewritten,
    )
    facts = {
        **statement.facts,
        "as_of": summary.as_of,
        "row_count": str(summary.row_count),
        "history_rewritten": "true" if summary.is_history_rewritten else None,
    }
    with _encoding_errors():
        if statement.form == "rows":
            body = orjson.dumps(
                table_files.json_value(table.rows, largest=table_files.LARGEST_EXACT)
            )
        else:
            method = table_files.ExportMethod(
                tuple((name, value) for name, value in facts.items() if value is not None)
            )
            with_mark = statement.has_byte_order_mark
            body = table_files.to_file(table, method, statement.form, for_spreadsheets=with_mark)
    # Again: as text, the rows may be several times as large.
    if len(body) > MAX_ANSWER_BYTES:
        raise _AnswerTooLargeError
    return StatementAnswer(summary, body)


@contextmanager
def _encoding_errors() -> Iterator[None]:
    """Report a value that cannot be sent as a mistake of the statement."""
    try:
        yield
    except _UNENCODABLE as error:
        raise InvalidParameterError(
            "the answer has a value that cannot be sent", hint="make its column text: x::varchar"
        ) from error


def main(descriptor: int, order: bytes) -> None:
    """Answer statements that come through a connection.

    Args:
        descriptor: File descriptor of the connection to the parent.
        order: `lake_url`, `world`, `memory_mb` and `idle_s` as JSON.
    """
    connection = Connection(descriptor)
    options = orjson.loads(order)
    memory_mb: int = options["memory_mb"]

    def open_engine(as_of: datetime | None) -> Engine:
        return Engine(
            open_lake_for_reading(options["lake_url"], world=options["world"]),
            as_of=as_of,
            memory_limit=f"{memory_mb}MB",
            spill_limit=f"{2 * memory_mb}MB",
        )

    try:
        engine = open_engine(None)
    except SametrackError as error:
        connection.send_bytes(error.detail.encode())
        return
    _limit_memory(memory_mb)
    # A thread of its own receives, so that the end of the parent is noticed while a statement runs.
    statements: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, statements), daemon=True).start()
    connection.send_bytes(READY)
    with suppress(queue.Empty):
        while True:
            text = statements.get(timeout=options["idle_s"])
            answer = answer_statement(engine, open_engine, Statement.of_json(text))
            if isinstance(answer, StatementAnswer):
                connection.send_bytes(orjson.dumps({"summary": asdict(answer.summary)}))
                connection.send_bytes(answer.body)
            else:
                connection.send_bytes(orjson.dumps({"fault": asdict(answer)}))


def _receive(connection: Connection, statements: "queue.SimpleQueue[bytes]") -> None:
    """Put statements into the queue; without a parent, end at once, whatever runs."""
    try:
        while True:
            statements.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(0)


def _limit_memory(memory_mb: int) -> None:
    """Let the process grow by twice the limit, because the database does not count everything."""
    # Only Linux tells how much memory a process has.
    if not _STATUS.exists():
        return
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    used = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
    limit = used + 2 * memory_mb * 1_000_000
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2].encode())
