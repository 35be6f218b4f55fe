"""The control store's database: SQLite in WAL mode, or PostgreSQL.

`open_control` opens it; the functions of each subject (`jobs`, `leases`, `watchlists`, …) take the
opened store. A write on SQLite uses BEGIN IMMEDIATE, so it never fails with "locked" half-way; on
PostgreSQL rows are locked when they are read for an update.
"""

import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import orjson
import sqlalchemy as sa
import stamina
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from warehouse.control import schema
from warehouse.control.migrations import migrate
from warehouse.extras import need_extra
from warehouse.files import translate_errors
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.values import ReadOnlyDocument

BUSY_TIMEOUT_S = 30.0
RESTART_S = 60.0
"""How long the processes that run scans wait for a server that restarts."""
TRY_AGAIN_S = 5.0
"""`retry_after` of the error when the server cannot be reached."""

Clock = Callable[[], float]
type StoredRow = sa.Row[Any]  # the schema has the types of its columns


_errors = partial(translate_errors, causes=(SQLAlchemyError, sqlite3.Error, OSError))
"""Translates driver errors too: they are raised where SQLAlchemy prepares a connection."""


class ControlStore:
    """An open control store, shared by the processes of one world. Thread-safe.

    Do not use it on the event loop: every transaction waits for a disk or a server. While a server
    cannot be reached, a transaction waits up to `wait_s` seconds to begin; a transaction that the
    server ends is not repeated.

    `is_sqlite`: the store is a file. `now` returns the current Unix time in seconds. `insert`
    begins an insert that supports `on_conflict_…`. `on_generations_change` is called at once, in
    this process, with the entities that changed (see `generations`).
    """

    on_generations_change: Callable[[Collection[str]], None] | None = None

    def __init__(self, engine: sa.Engine, *, clock: Clock = time.time, wait_s: float = 0.0) -> None:
        self.engine = engine
        self.now = clock
        self._wait_s = wait_s
        self.is_sqlite = engine.dialect.name == "sqlite"
        self.insert: Callable[[sa.Table], sqlite.Insert | postgresql.Insert] = (
            sqlite.insert if self.is_sqlite else postgresql.insert
        )
        self._errors = partial(_errors, retry_after=None if self.is_sqlite else TRY_AGAIN_S)

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Run one write transaction: committed at the end, or rolled back completely."""
        with (
            self._errors("writing to the control store"),
            self._connect() as connection,
            connection.begin(),
        ):
            if self.is_sqlite:
                # It takes the write lock first: a transaction that reads before it writes would
                # otherwise fail if another one has written in between.
                connection.exec_driver_sql("begin immediate")
            yield connection

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Run one read transaction; it never waits for a writer."""
        with self._errors("reading the control store"), self._connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("begin")
            yield connection

    def upsert(
        self,
        table: sa.Table,
        values: Mapping[str, object],
        *,
        where: sa.ColumnElement[bool] | None = None,
    ) -> sqlite.Insert | postgresql.Insert:
        """Return the insert of a row that replaces the row of the same key if it meets `where`."""
        key = table.primary_key.columns
        others = {name: value for name, value in values.items() if name not in key}
        insert = self.insert(table).values(values)
        return insert.on_conflict_do_update(index_elements=list(key), set_=others, where=where)

    def first_or_created(
        self,
        connection: sa.Connection,
        query: sa.Select[Any],
        table: sa.Table,
        values: Mapping[str, object],
    ) -> StoredRow:
        """Return the only row of a query, after inserting `values` if there is no such row.

        If another process inserts the row at the same time, that one is returned.
        """
        # Read first: the row exists almost always, and an insert that may meet a conflict is
        # compiled at each call, which takes longer than the rest of a short transaction.
        row = connection.execute(query).first()
        if row is None:
            connection.execute(self.insert(table).values(values).on_conflict_do_nothing())
            row = connection.execute(query).one()
        return row

    def schema_version(self) -> int:
        """Return the number of the newest applied migration."""
        query = sa.select(schema.MARKS.c.value).where(schema.MARKS.c.name == "schema_version")
        with self.read() as connection:
            return int(connection.execute(query).scalar_one())

    def close(self) -> None:
        """Close the pooled connections."""
        self.engine.dispose()

    def _connect(self) -> sa.Connection:
        """Connect, and retry while the server cannot be reached."""
        if self.is_sqlite or not self._wait_s:
            return self.engine.connect()
        for attempt in stamina.retry_context(
            on=OperationalError, attempts=None, timeout=self._wait_s, wait_initial=0.1, wait_max=2.0
        ):
            with attempt:
                return self.engine.connect()
        raise AssertionError("the last attempt returns or raises")


def open_control(
    url: str, *, world: str, clock: Clock = time.time, wait_s: float = 0.0
) -> ControlStore:
    """Open or create the control store at `sqlite:///<file>` or `postgresql+psycopg://…`.

    Args:
        url: URL for SQLAlchemy.
        world: World of the store; a store of another world is refused.
        clock: Returns the current Unix time in seconds.
        wait_s: How long a transaction waits for a server that cannot be reached.

    Raises:
        WrongWorldError: The store belongs to another world.
        StoreTooNewError: A newer Sametrack has migrated it.
        WarehouseUnavailableError: The URL is neither, the extra `postgres` is missing, or the store
            cannot be opened.
    """
    control = ControlStore(connect(url), clock=clock, wait_s=wait_s)
    try:
        with control.write() as connection:
            migrate(connection, world=world)
    except BaseException:
        control.close()
        raise
    return control


def connect(url: str) -> sa.Engine:
    """Connect to the database of a control store without migrating it.

    Raises:
        WarehouseUnavailableError: The URL is neither SQLite nor PostgreSQL, the extra `postgres` is
            missing, or the database cannot be opened.
    """
    options: dict[str, Any]
    if url.startswith("sqlite"):
        options = {"connect_args": {"timeout": BUSY_TIMEOUT_S}}
    elif url.startswith("postgresql+psycopg"):
        need_extra("postgres", "a control store in PostgreSQL", error=WarehouseUnavailableError)
        # A restarted server leaves closed connections in the pool, hence the check before use.
        options = {"pool_pre_ping": True, "connect_args": {"connect_timeout": 5}}
    else:
        raise WarehouseUnavailableError(
            "the control store is neither SQLite nor PostgreSQL",
            hint="CONTROL_URL is sqlite:///<file> or postgresql+psycopg://<user>@<host>/<database>",
        )
    try:
        engine = sa.create_engine(sa.make_url(url), **options)
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise WarehouseUnavailableError("the URL of the control store is not valid") from error
    if engine.dialect.name == "postgresql":
        # As an argument of the index it would load this dialect for SQLite too.
        schema.ONE_TWIN.dialect_options["postgresql"]["where"] = schema.JOINABLE_JOBS
        return engine

    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        # The driver would begin transactions late and deferred; `ControlStore` begins them itself.
        connection.isolation_level = None
        # A commit does not wait for the disk: a killed process loses nothing, a power failure the
        # last commits at most.
        connection.execute("pragma synchronous=normal").close()
        # Half a megabyte instead of two: the system caches the pages too, once for all connections.
        connection.execute("pragma cache_size=-512").close()

    sa.event.listen(engine, "connect", prepare)
    with _errors("opening the control store"):
        _enable_wal(engine)
    return engine


def to_time(seconds: float | None) -> datetime | None:
    """Convert a stored time, in Unix seconds, to UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def to_json(document: ReadOnlyDocument | None) -> str | None:
    """Convert a document to the text that is stored."""
    return None if document is None else orjson.dumps(dict(document)).decode()


def from_json(text: str | None) -> Any:  # JSON
    """Parse a stored document."""
    return None if text is None else orjson.loads(text)


def _enable_wal(engine: sa.Engine) -> None:
    """Switch to WAL mode, which the file keeps."""

    def is_busy(error: Exception) -> bool:
        code = getattr(error, "sqlite_errorcode", None)
        return code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

    # Switching ignores the busy timeout, hence the retry.
    for attempt in stamina.retry_context(
        on=is_busy, attempts=200, timeout=BUSY_TIMEOUT_S, wait_initial=0.01, wait_jitter=0.1
    ):
        with attempt:
            raw = engine.raw_connection()
            try:
                raw.cursor().execute("pragma journal_mode=wal")
            finally:
                raw.close()
