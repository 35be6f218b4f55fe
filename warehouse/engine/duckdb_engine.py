"""DuckDB over the lake: every table as `raw.*` or `marts.*`, as the Delta log names its files.

Here: the connection, its fence and the views; `seen.*` are observations whose capture is
complete. Not here: questions (`queries`), models (`sql/marts`). A glob over the folder would
see files that a compaction has replaced.
"""

import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import pyarrow as pa

from warehouse.lake.library_errors import translated
from warehouse.lake.store import Lake, Listing
from warehouse.lake.video_index import WorksIndex
from warehouse.records.errors import WarehouseError, WarehouseUnavailableError
from warehouse.tables import BYTES, DATE, FLAG, REAL, TEXT, TEXTS, TIME, WHOLE, Table

RELIST_AFTER_S = 0.2
MEMORY_LIMIT = "2GB"  # API, worker and runs share a machine; DuckDB alone would take 80 % of it

TIMELESS = frozenset({"raw.erasures"})
"""What an erasure removed is gone from every moment, and every moment has to tell of it."""

_SQL_TYPES: dict[pa.DataType, str] = {
    TEXT: "varchar",
    WHOLE: "bigint",
    REAL: "double",
    FLAG: "boolean",
    TIME: "timestamptz",
    DATE: "date",
    BYTES: "blob",
    TEXTS: "varchar[]",
}
_MISTAKES = (
    duckdb.ProgrammingError,  # syntax, unknown names, wrong arguments
    duckdb.DataError,  # values that do not convert
    duckdb.NotSupportedError,
)


class Engine:
    """Answers SQL over one lake. Thread-safe; one per process is enough.

    `as_of`: only rows committed until then exist, in every table; the answers to a question that
    names an order are then the same whenever it is asked (`warehouse.lake.as_of`). `clock`: seconds
    that only grow.
    """

    def __init__(
        self,
        lake: Lake,
        *,
        memory_limit: str = MEMORY_LIMIT,
        as_of: datetime | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lake = lake
        self._clock = clock
        self.as_of = as_of
        self.works_index = WorksIndex(lake)
        self._listing = threading.Lock()
        self._listed_at = float("-inf")
        self._versions: dict[str, int] = {}
        self._whole_before: dict[str, datetime] = {}
        self._files: dict[str, tuple[str, ...]] = {}
        self._datasets: dict[str, pa.Dataset] = {}
        self._is_shown = False
        with query_errors():
            self._connection: duckdb.DuckDBPyConnection | None = _connect(lake, memory_limit)
        self.refresh()
        self._show_seen()

    def rows(self, sql: str, params: Mapping[str, object] | None = None) -> list[dict[str, object]]:
        """Rows as dictionaries; times are aware, in UTC. `$name` in `sql` stands for a parameter.

        Raises:
            WarehouseError: The query is wrong.
            WarehouseUnavailableError: The lake cannot be read.
        """
        found: list[dict[str, object]] = self.table(sql, params).to_pylist()
        return found

    def table(self, sql: str, params: Mapping[str, object] | None = None) -> pa.Table:
        """The same as an Arrow table."""
        self._relist_when_due()
        with query_errors(), self._cursor() as cursor:
            relation = cursor.sql(sql, params=dict(params or {}))
            if relation is None:
                raise WarehouseError("the query asks for nothing")
            return relation.to_arrow_table()

    @contextmanager
    def reading(self, sql: str, params: Mapping[str, object] | None = None) -> Iterator[Any]:
        """The same as an Arrow reader of batches, for answers that are too long to be held."""
        self._relist_when_due()
        with query_errors(), self._cursor() as cursor:
            yield cursor.sql(sql, params=dict(params or {})).to_arrow_reader()

    def refresh(self) -> None:
        """See every commit made until now."""
        with self._listing:
            self._relist()

    def whole_before(self, name: str) -> datetime | None:
        """Until when no row of a table is without its capture; None: not known.

        Never known where rows are left out, since a row may then be without a capture that is.
        """
        return None if self.as_of is not None else self._whole_before.get(name)

    def files(self, name: str) -> tuple[str, ...]:
        """The files that a table is read from; of an object store's, their addresses."""
        self._relist_when_due()
        return self._files.get(name, ())

    def close(self) -> None:
        """Close the connection; queries that still run fail."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        connection = self._connection
        if connection is None:
            raise WarehouseUnavailableError("the engine is closed")
        with connection.cursor() as cursor:
            for name, dataset in self._datasets.items():
                cursor.register(_alias(name), dataset)  # what is registered, a cursor owns
            yield cursor

    def _relist_when_due(self) -> None:
        if self._clock() - self._listed_at < RELIST_AFTER_S:
            return
        # Whoever comes while another thread re-lists reads the views as they are.
        if self._listing.acquire(blocking=False):
            try:
                self._relist()
            finally:
                self._listing.release()

    def _relist(self) -> None:
        started_at = self._clock()
        for table in self.lake.tables:
            if self.lake.version(table.name) != self._versions.get(table.name):
                self._list(table)
        self._listed_at = started_at

    def _list(self, table: Table) -> None:
        """DuckDB reads an object store only with an extension it would download; Arrow does."""
        listing = self.lake.listing(table.name)
        source = _scan(listing)
        if self.lake.is_remote:
            self._datasets = {**self._datasets, table.name: self.lake.dataset(table.name)}
            source = f"from {_alias(table.name)}"
        with query_errors(), self._cursor() as cursor:
            cursor.execute(_view(table, source, self.as_of))
        self._versions[table.name] = listing.version
        self._files[table.name] = listing.files
        if listing.whole_before is not None:
            is_news = self._whole_before.get(table.name) != listing.whole_before
            self._whole_before[table.name] = listing.whole_before
            if is_news and self._is_shown:
                self._show_seen()

    def _show_seen(self) -> None:
        bounds = {table.name: self.whole_before(table.name) for table in self.lake.tables}
        with query_errors(), self._cursor() as cursor:
            cursor.execute(_seen_views(self.lake.tables, bounds))
        self._is_shown = True


@contextmanager
def query_errors() -> Iterator[None]:
    """Translate what DuckDB raises: a mistake in the question, or a warehouse out of reach.

    Raises:
        WarehouseError: The query itself is wrong.
        WarehouseUnavailableError: The files or the memory for it are missing.
    """
    with translated("reading the lake", duckdb.Error, pa.ArrowException, OSError):
        try:
            yield
        except _MISTAKES as error:
            raise WarehouseError(f"the query is not answerable ({type(error).__name__})") from error


def _connect(lake: Lake, memory_limit: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    connection.execute("set global TimeZone='UTC'")  # without `global` cursors keep the machine's
    connection.execute("set global parquet_metadata_cache=true")  # Delta never changes a file
    connection.execute(f"set memory_limit={_text(memory_limit)}")
    spill = Path(tempfile.gettempdir(), f"sametrack-{uuid4().hex}")  # else `.tmp` where one stands
    connection.execute(f"set temp_directory={_text(str(spill))}")
    for layer in sorted({table.name.split(".")[0] for table in lake.tables}):
        connection.execute(f"create schema {_name(layer)}")
    if not lake.is_remote:
        connection.execute(f"set allowed_directories=[{_text(lake.url)}]")
    connection.execute("set enable_external_access=false")
    connection.execute("set python_enable_replacements=false")  # else a name may be a variable
    connection.execute("set lock_configuration=true")
    return connection


def _view(table: Table, source: str | None, as_of: datetime | None) -> str:
    """A view of `source` below a typed empty relation.

    That relation gives the columns of a table without files, and those that no file has yet.
    """
    layer, noun = table.name.split(".")
    head = f"create or replace view {_name(layer)}.{_name(noun)} as"
    nothing = f"(select {_typed_nulls(table)} where false)"
    if source is None:
        return f"{head} {nothing}"
    if table.name in TIMELESS:
        as_of = None
    until = "" if as_of is None else f" where committed_at <= timestamptz '{as_of.isoformat()}'"
    return f"{head} {nothing} union all by name ({source}{until})"


def _scan(listing: Listing) -> str | None:
    """Reading by name opens every file's footer while binding, so only where files differ."""
    if not listing.files:
        return None
    by_name = str(listing.is_uneven).lower()
    return f"from read_parquet({in_files(listing.files)}, union_by_name={by_name})"


def in_files(files: Iterable[str]) -> str:
    """The first argument of `read_parquet`, for questions to some files of a table alone."""
    return f"[{', '.join(_text(file) for file in files)}]"


def _typed_nulls(table: Table) -> str:
    return ", ".join(
        f"null::{_SQL_TYPES[column.type]} as {_name(column.name)}" for column in table.columns
    )


def _seen_views(tables: Sequence[Table], whole_before: Mapping[str, datetime | None]) -> str:
    """`seen.videos` and the like: a capture's row is the last to be written, so an observation
    whose capture has none belongs to a capture that is not finished, or never was. What was
    committed before a table's `whole_before` has its capture, so only later ones are looked for.
    """
    by_name = {table.name: table for table in tables}
    captures = by_name.pop("raw.captures", None)
    views = [
        f"create or replace view seen.{table.name.removeprefix('raw.')} as from {table.name} "
        f"where {_is_seen(whole_before[table.name])};"
        for table in by_name.values()
        if captures is not None and any(column.name == "capture_id" for column in table.columns)
    ]
    return "create schema if not exists seen;" + "".join(views)


def _is_seen(bound: datetime | None) -> str:
    if bound is None:
        return "capture_id is null or capture_id in (select capture_id from raw.captures)"
    moment = f"timestamptz '{bound.isoformat()}'"
    return (
        f"capture_id is null or committed_at < {moment} or capture_id in "  # noqa: S608  # a moment
        f"(select capture_id from raw.captures where committed_at >= {moment})"
    )


def _alias(name: str) -> str:
    return name.replace(".", "_") + "_dataset"


def _name(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
