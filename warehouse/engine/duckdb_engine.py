"""DuckDB over the lake: one view per table, `raw.*` or `marts.*`, over the files of the Delta log.

Here: the connection, its restrictions and the views. `seen.*` are observations whose capture is
complete and current; the star is views over all tables (`warehouse.models`). Queries are in
`queries`. A glob over the folder would also read files that a compaction has replaced.
"""

import math
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from duckdb.sqltypes import DuckDBPyType

from warehouse.engine.sql import (
    CAPTURES,
    RELEASED_FROM,
    RELEASED_SONGS,
    REPLAYED,
    REPLAYED_SQL,
    inline_values,
    mentions_of,
    released_songs,
    seen_view,
    sql_name,
    sql_text,
)
from warehouse.files import find_damaged_file, translate_errors
from warehouse.lake.schema_evolution import row_migrations
from warehouse.lake.store import Lake, TableListing
from warehouse.lake.video_index import VideoIndex
from warehouse.models import MACROS, read_model, read_scan_model
from warehouse.records.errors import WarehouseError, WarehouseUnavailableError
from warehouse.records.values import Row
from warehouse.tables import STAR, TABLES

RELIST_AFTER_S = 0.2  # commits of other processes are visible after this time at the latest
REOPEN_AFTER_FILES = 500
"""The database is opened again after this many replaced files: it caches the footer (20 kB) of each
file that it has read, and cannot drop single ones."""
MEMORY_LIMIT = "2GB"  # API, worker and runs share a machine; DuckDB alone would take 80 % of it

ALWAYS_CURRENT = frozenset({"raw.erasures"})
"""Tables read without the `as of` filter: what was erased is erased from every time."""

_QUERY_MISTAKES = (
    duckdb.ProgrammingError,  # syntax, unknown names, wrong arguments
    duckdb.DataError,  # values that do not convert
    duckdb.NotSupportedError,
)


class _Check(NamedTuple):
    """When a table was last listed: in which listing, after how many refreshes, at which time."""

    number: int = -1
    refresh: int = -1
    at: float = -math.inf


class Engine:
    """SQL queries over one lake. Thread-safe; one per process is enough.

    `as_of`: only rows committed until then exist, in every table, so a query with an `order by`
    returns the same rows whenever it runs (`warehouse.lake.reading`). `clock`: monotonic seconds.
    `spill_limit`: disk space for what does not fit in memory; None is the database's own limit.
    """

    def __init__(
        self,
        lake: Lake,
        *,
        memory_limit: str = MEMORY_LIMIT,
        spill_limit: str | None = None,
        as_of: datetime | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lake = lake
        self._clock = clock
        self.as_of = as_of
        self.video_index = VideoIndex(lake)
        self._listing = threading.Lock()
        self._tables = {table.name: table for table in lake.tables}
        self._refreshes = 0
        self._numbers = count()
        self._checks = dict.fromkeys(self._tables, _Check())
        # The views of the star read all tables, so a lake of some tables has no star.
        self._star = STAR if set(lake.tables) >= set(TABLES) else ()
        self._mentions = mentions_of(lake.tables, self._star)
        self._versions: dict[str, int] = {}
        self._complete_before: dict[str, datetime] = {}
        self._files: dict[str, tuple[str, ...]] = {}
        self._views: dict[str, str] = {}
        self._files_read = 0
        self._has_open_cursor = False
        self._open = partial(_connect, lake, memory_limit, spill_limit)
        # Empty datasets to begin with: another thread may create a view of a table's first file
        # before this cursor has its dataset.
        self._datasets: dict[str, pa.Table] = (
            {table.name: table.schema.empty_table() for table in lake.tables}
            if lake.is_remote
            else {}
        )
        with query_errors():
            self._connection: duckdb.DuckDBPyConnection | None = self._open()
        if CAPTURES in self._tables:  # every view of `seen` refers to it
            nothing = TableListing(-1, (), has_mixed_schemas=False)
            self._create_views(
                {
                    **self._view_sql({CAPTURES: nothing}),
                    REPLAYED: (f"create or replace view {REPLAYED} as {REPLAYED_SQL}"),
                }
            )

    def rows(
        self, sql: str, params: Mapping[str, object] | None = None, /, **named: object
    ) -> list[Row]:
        """Return rows as dictionaries; times are UTC.

        `$name` in `sql` stands for a parameter, from `params` or by keyword.

        Raises:
            WarehouseError: The query is invalid.
            WarehouseUnavailableError: The lake cannot be read.
        """
        rows: list[Row] = self.table(sql, {**(params or {}), **named}).to_pylist()
        return rows

    def table(
        self, sql: str, params: Mapping[str, object] | None = None, *, limit: int | None = None
    ) -> pa.Table:
        """Return the rows as an Arrow table, at most `limit` of them.

        A column of a type that Arrow would change is text.
        """
        names = self.prepare(sql)
        with query_errors(), self._cursor(names) as cursor:
            relation = cursor.sql(sql, params=dict(params or {}))
            if relation is None:
                raise WarehouseError("the query returns no result")
            limited = relation if limit is None else relation.limit(limit)
            return like_arrow(limited).to_arrow_table()

    def run_scan_model(
        self, noun: str, inputs: Mapping[str, pa.Table], params: Mapping[str, object]
    ) -> list[Row]:
        """Run a model of a scan over rows in memory, which it finds by the names of `inputs`.

        Raises:
            WarehouseError: The rows do not fit the model.
        """
        with query_errors(), self._cursor(()) as cursor:
            for name, rows in inputs.items():
                cursor.register(name, rows)
            # A relation would plan the statement twice, which is most of its time.
            rows_of_model = cursor.execute(read_scan_model(noun), dict(params)).fetchall()
            names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in rows_of_model]

    @contextmanager
    def reading(
        self, sql: str, params: Mapping[str, object] | None = None
    ) -> Iterator[pa.RecordBatchReader]:
        """Return a reader of Arrow batches, for results that are too large for memory."""
        names = self.prepare(sql)
        with query_errors(), self._cursor(names) as cursor:
            yield cursor.sql(sql, params=dict(params or {})).to_arrow_reader()

    def open_cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a cursor for relations, which read when they are used. For one thread."""
        self._has_open_cursor = True
        self.list_all()
        return self._cursor(self._tables)

    def refresh_cursor(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Make all commits visible to relations of a cursor."""
        self._relist(self._tables)
        for name, dataset in self._datasets.items():
            cursor.register(_alias(name), dataset)

    def refresh(self) -> None:
        """Make all commits so far visible: each table is listed by the next query that reads it."""
        self._refreshes += 1

    def list_all(self) -> None:
        """List every table whose listing is out of date.

        Raises:
            WarehouseUnavailableError: One of them cannot be read.
        """
        self._relist(self._tables)

    def prepare(self, sql: str) -> frozenset[str]:
        """List the tables and create the views that a query reads; returns their names.

        A view of the star is created for the first query that names it: all of them take 0.2 s.

        Raises:
            WarehouseUnavailableError: A table cannot be read.
        """
        names = self._mentions(sql)
        self._relist(names & self._tables.keys())
        if not all(view.name in self._views for view in self._star if view.name in names):
            with self._listing:
                self._create_views(
                    {
                        view.name: f"create view {view.name} as {read_model(view)}"
                        for view in self._star  # in this order: what a view reads before it
                        if view.name in names and view.name not in self._views
                    }
                )
        return names

    def complete_before(self, name: str) -> datetime | None:
        """Return the time before which every row of a table has its capture, or None.

        Always None with `as_of`: the capture of a row may then be filtered out.
        """
        if self.as_of is not None or name not in self._tables:
            return None
        self._relist((name,))
        return self._complete_before.get(name)

    def keep_committed(self, name: str, rows: Sequence[Row]) -> list[Row]:
        """Return those rows of a table whose capture is complete.

        An observation counts once the row of its capture exists. The views `seen.*` check this in
        one query; for a few ids it is much cheaper to read the rows first and check their captures
        afterwards. Only recent rows need a lookup.
        """
        bound = self.complete_before(name)
        recent = {
            row["capture_id"]
            for row in rows
            if row["capture_id"] is not None and (bound is None or row["committed_at"] >= bound)
        }
        lost = recent - self.committed_captures(recent)
        return [row for row in rows if row["capture_id"] not in lost]

    def committed_captures(self, capture_ids: Collection[str]) -> set[str]:
        """Return which of these captures are complete."""
        if not capture_ids:
            return set()
        sql, params = inline_values(
            f"select capture_id from {CAPTURES} where capture_id in ({{ids}})",  # noqa: S608  # a name of ours
            sorted(capture_ids),
        )
        return {row["capture_id"] for row in self.rows(sql, params)}

    def files(self, name: str) -> tuple[str, ...]:
        """Return the files a table is read from; URLs for an object store."""
        self._relist((name,))
        return self._files.get(name, ())

    def close(self) -> None:
        """Close the connection; running queries fail."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _cursor(self, names: Collection[str]) -> duckdb.DuckDBPyConnection:
        """Open a cursor that can read these tables."""
        connection = self._connection
        if connection is None:
            raise WarehouseUnavailableError("the engine is closed")
        cursor = connection.cursor()
        # Registrations belong to the cursor; each takes about 0.4 ms.
        for name, dataset in self._datasets.items():
            if name in names:
                cursor.register(_alias(name), dataset)
        return cursor

    def _relist(self, names: Collection[str]) -> None:
        """List tables again whose last listing may be out of date, and renew their views."""
        checks = {name: self._checks[name] for name in names}
        of_captures = checks.get(CAPTURES, _Check())
        # Captures first: those in a listing have their rows in the tables that are listed later.
        is_outdated = any(
            check.refresh < self._refreshes or check.number < of_captures.number
            for check in checks.values()
        )
        now = self._clock()
        is_due = is_outdated or any(now - check.at >= RELIST_AFTER_S for check in checks.values())
        # While another thread refreshes the list, this one reads the views as they are, unless
        # they are outdated.
        if not is_due or not self._listing.acquire(blocking=is_outdated):
            return
        try:
            # The time before the listing: what is committed during it is listed next time.
            check = _Check(next(self._numbers), self._refreshes, self._clock())
            news: dict[str, TableListing] = {}
            datasets: dict[str, pa.Table] = {}
            for name in self._tables:  # in this order: captures first
                if name in names:
                    listing = self.lake.newer_listing(name, self._versions.get(name))
                    if listing is not None:
                        news[name] = listing
                        if self.lake.is_remote and listing.files:
                            datasets[name] = self.lake.dataset(name)
            # A new dictionary: other threads may be iterating over the old one.
            self._datasets = {**self._datasets, **datasets}
            # In one transaction, or another thread would read a capture without its observations.
            self._create_views(self._view_sql(news))
            for name, listing in news.items():
                self._files_read += len(set(listing.files) - set(self._files.get(name, ())))
                self._versions[name] = listing.version
                self._files[name] = listing.files
                if listing.complete_before is not None:
                    self._complete_before[name] = listing.complete_before
            self._checks.update(dict.fromkeys(names, check))
            stale_footers = self._files_read - sum(map(len, self._files.values()))
            # Arrow reads an object store, and cursors of notebooks keep the views that they have.
            can_reopen = not (self.lake.is_remote or self._has_open_cursor)
            if stale_footers > REOPEN_AFTER_FILES and can_reopen:
                self._reopen()
        finally:
            self._listing.release()

    def _reopen(self) -> None:
        """Open the database again with the same views.

        Running queries end on the previous connection, which is freed with the last of them:
        closing it would close their cursors.
        """
        with query_errors():
            renewed = self._open()
            for sql in self._views.values():
                renewed.execute(sql)
        if self._connection is not None:
            self._connection = renewed
        self._files_read = sum(map(len, self._files.values()))

    def _create_views(self, views: Mapping[str, str]) -> None:
        """Create views in one transaction, and keep their SQL for `_reopen`."""
        if not views:
            return
        names = frozenset().union(*map(self._mentions, views.values()))
        with query_errors(), self._cursor(names) as cursor:
            cursor.begin()
            for sql in views.values():
                cursor.execute(sql)
            cursor.commit()
        self._views.update(views)

    def _view_sql(self, news: Mapping[str, TableListing]) -> dict[str, str]:
        """Return the SQL of the views that new listings of tables change, by name."""
        views: dict[str, str] = {}
        for name, listing in news.items():
            table = self._tables[name]
            columns = ", ".join(
                f"null::{column.sql_type} as {sql_name(column.name)}" for column in table.columns
            )
            # An empty relation with all columns, so that a table without files, or a column that no
            # file has yet, can be queried.
            rows = f"(select {columns} where false)"
            if listing.files:
                if self.lake.is_remote:  # read by Arrow; DuckDB would download an extension
                    source = f"from {_alias(name)}"
                else:
                    # By name only if files differ: it opens every file's footer while binding.
                    by_name = str(listing.has_mixed_schemas).lower()
                    files = in_files(listing.files)
                    source = f"from read_parquet({files}, union_by_name={by_name})"
                if self.as_of is not None and name not in ALWAYS_CURRENT:
                    source += f" where committed_at <= timestamptz '{self.as_of.isoformat()}'"
                rows = f"{rows} union all by name ({source})"
                # Rows of an earlier release are shown as corrected.
                for migration in row_migrations(table, since=listing.schema_version):
                    corrected = ", ".join(
                        f"{sql} as {column}" for column, sql in migration.corrected.items()
                    )
                    rows = f"select * replace ({corrected}) from ({rows})"  # noqa: S608  # our text
            layer, noun = name.split(".")
            views[name] = f"create or replace view {sql_name(layer)}.{sql_name(noun)} as {rows}"
            if CAPTURES in self._tables and table.is_observed:
                is_news = self._complete_before.get(name) != listing.complete_before
                if is_news or table.counted_name not in self._views:
                    bound = None if self.as_of is not None else listing.complete_before
                    views[table.counted_name] = seen_view(table, bound)
        if RELEASED_SONGS not in self._views and {*self._views, *views} >= RELEASED_FROM:
            views[RELEASED_SONGS] = f"create view {RELEASED_SONGS} as from {released_songs()}"
        return views


@contextmanager
def query_errors() -> Iterator[None]:
    """Translate DuckDB errors: an invalid query, or an unavailable warehouse.

    Raises:
        WarehouseError: The query is invalid.
        WarehouseUnavailableError: The files or the memory for it are missing.
    """
    with translate_errors("reading the lake", causes=(duckdb.Error, pa.ArrowException, OSError)):
        try:
            yield
        except _QUERY_MISTAKES as error:
            # Some damaged files are reported like values that do not convert.
            if find_damaged_file(error) is not None:
                raise
            raise WarehouseError(f"the query is invalid ({type(error).__name__})") from error


def _connect(lake: Lake, memory_limit: str, spill_limit: str | None) -> duckdb.DuckDBPyConnection:
    # Otherwise a query could make the process download an extension.
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    # Without `global`, cursors use the machine's time zone.
    connection.execute("set global TimeZone='UTC'")
    # Otherwise memory that a query has freed is given back only by the next queries.
    connection.execute("set global allocator_background_threads=true")
    connection.execute("set global parquet_metadata_cache=true")  # Delta never changes a file
    connection.execute(f"set memory_limit={sql_text(memory_limit)}")
    # The default is `.tmp` in the working directory.
    spill = Path(tempfile.gettempdir(), f"sametrack-{uuid4().hex}")
    connection.execute(f"set temp_directory={sql_text(str(spill))}")
    if spill_limit is not None:
        connection.execute(f"set max_temp_directory_size={sql_text(spill_limit)}")
    for layer in sorted({"seen", *(table.name.split(".")[0] for table in lake.tables)}):
        connection.execute(f"create schema {sql_name(layer)}")
    for macro in MACROS:
        connection.execute(macro)
    if not lake.is_remote:
        connection.execute(f"set allowed_directories=[{sql_text(lake.url)}]")
    # After the allowed folder, which cannot be set any more once access is off.
    connection.execute("set enable_external_access=false")
    # Otherwise a name may refer to a Python variable.
    connection.execute("set python_enable_replacements=false")
    # Last, since no setting can be changed after it.
    connection.execute("set lock_configuration=true")
    return connection


def in_files(files: Iterable[str]) -> str:
    """Return the first argument of `read_parquet`, for queries on some files of a table."""
    return f"[{', '.join(sql_text(file) for file in files)}]"


def _alias(name: str) -> str:
    return name.replace(".", "_") + "_dataset"


# Types of the database that Arrow or Python would change: their columns become text.
#
# An interval is text in files; analysts get a duration, which pandas and Polars can add and
# compare.

_UNLIKE_ARROW = frozenset(
    {
        "bignum",
        "bit",
        "geometry",
        "interval",
        "time with time zone",
        "time_ns",
        "timestamp_ns",
        "uhugeint",
        "variant",
    }
)
_NESTED = frozenset({"array", "list", "map", "struct", "tuple", "union"})
_DURATION = (
    "case when #{place} is not null then {{"
    "'months': datepart('year', #{place}) * 12 + datepart('month', #{place}), "
    "'us': epoch_us(#{place}), 'text': #{place}::varchar}} end"
)


def like_arrow(
    relation: duckdb.DuckDBPyRelation, *, kept: Collection[str] = ()
) -> duckdb.DuckDBPyRelation:
    """Return the relation with text, as the database writes it, for what Arrow would change.

    These are columns of such a type, and columns whose type contains one. `kept`: types that the
    reader of the Arrow table has too.
    """
    unlike = _UNLIKE_ARROW.difference(kept)
    texts = ["#{place}::varchar" if _contains(type_, unlike) else "" for type_ in relation.types]
    return _projected(relation, texts) if any(texts) else relation


def durations_apart(
    relation: duckdb.DuckDBPyRelation,
) -> tuple[duckdb.DuckDBPyRelation, tuple[int, ...]]:
    """Return the relation with intervals split into parts for `with_durations`, and their places.

    An interval of 1 month and 2 seconds becomes `{months: 1, us: 2000000, text: …}`.
    """
    types = relation.types
    places = tuple(place for place, type_ in enumerate(types) if type_.id == "interval")
    expressions = [_DURATION if type_.id == "interval" else "" for type_ in types]
    return _projected(relation, expressions) if places else relation, places


def with_durations(table: pa.Table, places: Collection[int]) -> pa.Table:
    """Return the table with these columns of `durations_apart` as durations.

    A column with months is text, because a month has no fixed length.
    """
    for place in places:
        parts = table.column(place).combine_chunks()
        months, us, texts = parts.flatten()  # with the nulls of the struct
        is_fixed = not pc.any(pc.not_equal(months, 0)).as_py()
        column = us.cast(pa.duration("us")) if is_fixed else texts
        table = table.set_column(place, table.schema.names[place], column)
    return table


def _projected(
    relation: duckdb.DuckDBPyRelation, expressions: list[str]
) -> duckdb.DuckDBPyRelation:
    """Return the relation with an expression in place of each column that has one."""
    columns = zip(relation.columns, expressions, strict=True)
    return relation.project(
        ", ".join(
            f"{(expression or '#{place}').format(place=place)} as {sql_name(column)}"
            for place, (column, expression) in enumerate(columns, start=1)
        )
    )


def _contains(type_: object, names: Collection[str]) -> bool:
    """Return True for a type of these names, and for a nested type that contains one."""
    if not isinstance(type_, DuckDBPyType):
        return False  # the size of an array
    if type_.id in _NESTED:
        return any(_contains(child, names) for _, child in type_.children)
    return type_.id in names
