"""The connection to the control store: SQLite in WAL mode, or PostgreSQL.

Here: engine, transactions, clock. A write on SQLite begins IMMEDIATE, so it never meets "locked"
half-way; on PostgreSQL rows are locked where they are read to be changed.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import stamina
from sqlalchemy import Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from warehouse.lake.library_errors import translated
from warehouse.records.errors import WarehouseUnavailableError

BUSY_TIMEOUT_S = 30.0
_READING = "sametrack_reading"

Clock = Callable[[], float]


class Database:
    """Transactions on one control store. Thread-safe. `clock` gives unix seconds."""

    def __init__(self, engine: Engine, *, clock: Clock = time.time) -> None:
        self.engine = engine
        self.now = clock
        self._reader = engine.execution_options(**{_READING: True})

    @property
    def is_sqlite(self) -> bool:
        """True when the store is a file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction that changes something: committed at the end, or not at all."""
        with _errors("writing to the control store"), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One transaction that only looks; it never waits for a writer."""
        with _errors("reading the control store"), self._reader.connect() as connection:
            yield connection

    def insert(self, table: Table) -> Any:  # the same clauses in two classes
        """An insert that knows `on_conflict_…`."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def close(self) -> None:
        """Close pooled connections."""
        self.engine.dispose()


def connect(url: str, *, clock: Clock = time.time) -> Database:
    """Connect to `sqlite:///<file>` or `postgresql+psycopg://…`.

    Raises:
        WarehouseUnavailableError: The address is neither, or nothing answers there.
    """
    try:
        engine = create_engine(make_url(url), **_options(url))
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise WarehouseUnavailableError("the address of the control store is not usable") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    with _errors("opening the control store"):
        _turn_on_wal(engine)
    return Database(engine, clock=clock)


def _errors(what: str) -> AbstractContextManager[None]:
    """The driver's own errors come from where SQLAlchemy lets us prepare a connection."""
    return translated(what, SQLAlchemyError, sqlite3.Error, OSError)


def _options(url: str) -> dict[str, Any]:
    if url.startswith("sqlite"):
        return {"connect_args": {"timeout": BUSY_TIMEOUT_S}}
    if url.startswith("postgresql+psycopg"):
        return {"pool_pre_ping": True, "connect_args": {"connect_timeout": 5}}
    raise WarehouseUnavailableError(
        "the control store is neither SQLite nor PostgreSQL",
        hint="CONTROL_URL is sqlite:///<file> or postgresql+psycopg://<user>@<host>/<database>",
    )


def _prepare_sqlite(connection: Any, _record: object) -> None:  # a DBAPI connection
    connection.isolation_level = None  # the driver would begin transactions late and deferred
    cursor = connection.cursor()
    # A process killed at any moment loses nothing; only a power cut may lose the last commits.
    cursor.execute("pragma synchronous=normal")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    reads = connection.get_execution_options().get(_READING, False)
    connection.exec_driver_sql("begin" if reads else "begin immediate")


def _turn_on_wal(engine: Engine) -> None:
    """The mode stays in the file. Switching does not honour the busy timeout, hence the retry."""
    if engine.dialect.name != "sqlite":
        return
    for attempt in stamina.retry_context(
        on=_is_busy, attempts=200, timeout=BUSY_TIMEOUT_S, wait_initial=0.01, wait_jitter=0.1
    ):
        with attempt:
            raw = engine.raw_connection()
            try:
                raw.cursor().execute("pragma journal_mode=wal")
            finally:
                raw.close()


def _is_busy(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
