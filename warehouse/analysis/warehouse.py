"""The warehouse object of an analyst: tables by name or attribute, SQL, descriptions.

Each read sees what is committed at that time, and no writer waits for it, so services and scans may
run meanwhile. A past time is read with `as_of`.
"""

import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from warehouse.analysis import description
from warehouse.analysis.address import find_address
from warehouse.analysis.query_library import find_query, named_queries
from warehouse.analysis.relation import WarehouseRelation
from warehouse.engine.duckdb_engine import Engine, query_errors
from warehouse.engine.user_sql import checked_statement, user_errors
from warehouse.home import is_demo_world
from warehouse.lake.reading import open_lake_for_reading, parse_as_of
from warehouse.queries.erasure import is_history_rewritten
from warehouse.records.errors import InvalidParameterError, WarehouseError

type AsOfTime = str | date | datetime


class Warehouse:
    """All tables of one world, for reading. Opened by `warehouse.open_warehouse`.

    A relation belongs to the thread that made it; relations of one thread can be joined.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._of_thread = threading.local()
        self.raw = TableGroup(self, "raw")
        self.seen = TableGroup(self, "seen")
        self.marts = TableGroup(self, "marts")

    @property
    def world(self) -> str:
        """Name of the world that the data is about."""
        return self._engine.lake.world

    @property
    def address(self) -> str:
        """Folder or address of the lake."""
        return self._engine.lake.url

    @property
    def as_of(self) -> datetime | None:
        """Time that the tables are read as of; None reads the current state."""
        return self._engine.as_of

    @property
    def is_demo_data(self) -> bool:
        """True if the data was generated and nothing in it is real."""
        return is_demo_world(self.world)

    @property
    def is_history_rewritten(self) -> bool:
        """True if an account was erased after `as_of`, so the data differs from what it was."""
        return is_history_rewritten(self._engine)

    def tables(self) -> list[str]:
        """Return the names of all tables."""
        return list(description.NAMES)

    def table(self, name: str) -> WarehouseRelation:
        """Return a table as a relation.

        Raises:
            InvalidParameterError: There is no such table.
        """
        description.check_table(name)
        return self.sql(f"select * from {name}")  # noqa: S608 -- a name of the contract

    def sql(
        self,
        query: str,
        params: Mapping[str, object] | list[object] | None = None,
        *,
        tables: Mapping[str, object] | None = None,
    ) -> WarehouseRelation:
        """Return the result of one read-only statement as a relation.

        Args:
            query: A statement in DuckDB's dialect. `$name` or `?` stands for a parameter.
            params: Values of the parameters.
            tables: Your own data frames or Arrow tables by the name that the query uses.

        Raises:
            InvalidParameterError: It is not one read-only statement, or it is invalid.
            WarehouseUnavailableError: The lake cannot be read.
        """
        cursor = self._cursor()
        with user_errors(), query_errors():
            statement = checked_statement(self._engine, query)
            self._engine.refresh_cursor(cursor)
            for name, frame in (tables or {}).items():
                # A name with a dot would hide a table of the lake.
                if not name.isidentifier():
                    raise InvalidParameterError(f"{name!r} is not a plain name for a table")
                cursor.register(name, frame)
            relation = cursor.sql(statement, params=params) if params else cursor.sql(statement)
        if relation is None:
            raise WarehouseError("the query returns no result")
        return WarehouseRelation(relation, self._engine, cursor)

    def queries(self) -> list[str]:
        """Return the names of the library of queries."""
        return [query.name for query in named_queries()]

    def query(self, name: str, **parameters: str | int | date | None) -> WarehouseRelation:
        """Return the result of a query of the library.

        Raises:
            InvalidParameterError: There is no such query or parameter.
        """
        query = find_query(name)
        return self.sql(query.sql, query.values(parameters))

    def describe(self, name: str) -> description.TableDescription:
        """Return what a table and its columns mean.

        Raises:
            InvalidParameterError: There is no such table.
        """
        return description.describe_table(name)

    def close(self) -> None:
        """Close the warehouse; its relations can no longer be read."""
        self._engine.close()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """Return the cursor of this thread."""
        # Relations can be joined only if they have the same cursor, which one thread may use.
        if not hasattr(self._of_thread, "cursor"):
            self._of_thread.cursor = self._engine.open_cursor()
        cursor: duckdb.DuckDBPyConnection = self._of_thread.cursor
        return cursor

    def __getitem__(self, name: str) -> WarehouseRelation:
        if name not in description.NAMES:
            raise KeyError(name)
        return self.table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(description.NAMES)

    def __len__(self) -> int:
        return len(description.NAMES)

    def __contains__(self, name: object) -> bool:
        return name in description.NAMES

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ipython_key_completions_(self) -> list[str]:
        return self.tables()

    def __repr__(self) -> str:
        demo = ", demo data" if self.is_demo_data else ""
        moment = "now" if self.as_of is None else self.as_of.isoformat(timespec="seconds")
        return (
            f"<Warehouse: world {self.world!r}{demo}, as of {moment}, {len(self)} tables: "
            ".tables(), .table(name), .sql(query), .describe(name), .marts, .seen, .raw>"
        )


class TableGroup:
    """The tables of one layer as attributes: `marts.rankings`."""

    def __init__(self, warehouse: Warehouse, layer: str) -> None:
        self._warehouse = warehouse
        self._layer = layer
        self._nouns = [
            name.removeprefix(f"{layer}.")
            for name in description.NAMES
            if name.startswith(f"{layer}.")
        ]

    def __getattr__(self, noun: str) -> WarehouseRelation:
        # Python and IPython look up special names with an underscore; no table begins with one.
        if noun.startswith("_") or noun not in self._nouns:
            hint = description.unknown_name("table", noun, self._nouns).hint
            raise AttributeError(f"{self._layer} has no table {noun!r}: {hint}", name=noun)
        return self._warehouse.table(f"{self._layer}.{noun}")

    def __getitem__(self, noun: str) -> WarehouseRelation:
        if noun not in self._nouns:
            raise KeyError(noun)
        return self._warehouse.table(f"{self._layer}.{noun}")

    def __dir__(self) -> list[str]:
        return [*self._nouns]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nouns)

    def __len__(self) -> int:
        return len(self._nouns)

    def _ipython_key_completions_(self) -> list[str]:
        return [*self._nouns]

    def __repr__(self) -> str:
        return f"<{self._layer}: {', '.join(self._nouns)}>"


def open_reading(address: str | Path | None, *, as_of: AsOfTime | None) -> Warehouse:
    """Open a warehouse; see `warehouse.open_warehouse`."""
    moment = None
    if as_of is not None:
        # A date means its end, like the text of a date; a `datetime` has its time in the text.
        text = as_of if isinstance(as_of, str) else as_of.isoformat()
        moment = parse_as_of(text, now=datetime.now(UTC))
    place = find_address(address)
    lake = open_lake_for_reading(place.lake_url, world=place.world)
    return Warehouse(Engine(lake, as_of=moment))
