"""The published database: all marts in one DuckDB file, with a comment on every table and column.

The views of the star are tables in it.

It is written next to its place, verified and renamed. The lake remains the source; the file can be
recreated at any time.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from warehouse.engine.duckdb_engine import Engine, query_errors
from warehouse.engine.sql import sql_text
from warehouse.exports.atomic_files import atomic_path
from warehouse.home import Home, is_demo_world
from warehouse.models import MACROS
from warehouse.queries.erasure import is_history_rewritten
from warehouse.records.errors import InvalidParameterError, WarehouseUnavailableError
from warehouse.records.times import to_utc_text
from warehouse.tables import RELATIONS, Table

LAYER = "marts"


@dataclass(frozen=True, slots=True)
class PublishedDatabase:
    """A published database: its path, size, and the row count of each table."""

    path: Path
    size_bytes: int
    row_counts: Mapping[str, int]


def database_path(home: Home) -> Path:
    """Return where the database of a world is published."""
    return home.root / "published" / "sametrack.duckdb"


def publish_database(engine: Engine, path: Path) -> PublishedDatabase:
    """Write every mart into a DuckDB file that replaces the previous one after verification.

    Raises:
        InvalidParameterError: The file cannot be written there, or not under this name.
        WarehouseUnavailableError: The lake cannot be read, or the written file is not valid.
    """
    # DuckDB names a catalog after its file, so `marts.x` could mean a table of the catalog.
    if path.name.split(".")[0] == LAYER:
        raise InvalidParameterError(
            f"in a file named {path.name}, `{LAYER}.*` would be ambiguous",
            hint="choose another name with --out, for example sametrack.duckdb",
        )
    tables = [table for table in RELATIONS if table.name.startswith(f"{LAYER}.")]
    with atomic_path(path) as draft:
        counts = _write(engine, tables, draft)
        # Open the file as a reader does: check row counts, and that every column has a comment.
        with query_errors(), closing(_connect(draft, is_read_only=True)) as database:
            stored_counts = {table.name: _count(database, table.name) for table in tables}
            uncommented_count = database.execute(
                "select count(*) from duckdb_columns() where schema_name = $layer "
                "and coalesce(comment, '') = ''",
                {"layer": LAYER},
            ).fetchall()[0][0]
        if stored_counts != counts or uncommented_count:
            raise WarehouseUnavailableError(
                "the written database is not valid; the previous one is kept",
                hint="try again; if it fails again, check the disk",
            )
    return PublishedDatabase(path, path.stat().st_size, counts)


def _write(engine: Engine, tables: list[Table], draft: Path) -> dict[str, int]:
    """Write the tables and `main.about`; returns the row count of each table."""
    counts = {}
    facts = {
        "world": engine.lake.world,
        "is_demo_data": str(is_demo_world(engine.lake.world)).lower(),
        "published_at": to_utc_text(datetime.now(UTC), timespec="seconds"),
        "as_of": "" if engine.as_of is None else to_utc_text(engine.as_of),
        "history_rewritten": str(is_history_rewritten(engine)).lower(),
        "coverage": "what guests can see, never a full list of the platform",
    }
    with query_errors(), closing(_connect(draft)) as database:
        database.execute(f"create schema {LAYER}")
        for macro in MACROS:
            database.execute(macro)
        for table in tables:
            # Rows in the order of the key let DuckDB skip most of the file in a lookup by key.
            order = ", ".join(f'"{name}"' for name in table.key)
            with engine.reading(f"select * from {table.name} order by {order}") as reader:  # noqa: S608  # the contract's names
                database.register("rows_of_lake", reader)
                database.execute(f"create table {table.name} as from rows_of_lake")
                database.unregister("rows_of_lake")
            counts[table.name] = _count(database, table.name)
            row = f"One row per {table.row}. Key: {', '.join(table.key)}."
            database.execute(f"comment on table {table.name} is {sql_text(row)}")
            for column in table.columns:
                unit = f" [{column.unit}]" if column.unit else ""
                text = sql_text(f"{column.meaning}{unit}")
                database.execute(f'comment on column {table.name}."{column.name}" is {text}')
        database.execute("create table main.about (name varchar, value varchar)")
        database.executemany("insert into main.about values (?, ?)", [*map(list, facts.items())])
        about = "What this file is and when it was created."
        database.execute(f"comment on table main.about is {sql_text(about)}")
        # Only the file itself is renamed, so its write-ahead log must be empty.
        database.execute("checkpoint")
    return counts


def _connect(path: Path, *, is_read_only: bool = False) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(
        str(path), read_only=is_read_only, config={"autoinstall_known_extensions": "false"}
    )


def _count(database: duckdb.DuckDBPyConnection, name: str) -> int:
    return int(database.execute(f"select count(*) from {name}").fetchall()[0][0])  # noqa: S608  # the contract's
