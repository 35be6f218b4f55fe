"""Migrations of the control store; a store of another world or a newer version is refused.

A new store gets the newest schema at once. An older one is copied first, then migrated by one
process while others that open it wait.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Table, inspect, select, text
from sqlalchemy.schema import CreateColumn

from warehouse.control.database import Database
from warehouse.control.schema import (
    BACKLOG,
    CACHE_VALIDATORS,
    CAPTURES_IN_FLIGHT,
    CATALOG_TRACKS,
    CATALOGS,
    CIRCUITS,
    JOBS,
    MARKS,
    METADATA,
    NOTES,
    ROBOTS,
    ROBOTS_FILES,
    SCAN_JOURNAL,
    SCAN_PREVIEWS,
    SURFACE_ANSWERS,
    WATCHLIST_CHECKS,
    WATCHLIST_RUNS,
    WATCHLISTS,
)
from warehouse.records.errors import StoreTooNewError, WrongWorldError

_FIRST_VERSION = 1
_LOCK = 7_263_548_817  # any number; it names this lock among PostgreSQL's advisory locks


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step to schema version `number`: new tables and columns, then statements.

    A table gets the columns it has today, so a later step adds only those that are missing. The
    statements run on both databases.
    """

    number: int
    meaning: str
    tables: tuple[Table, ...] = ()
    columns: tuple[Column[Any], ...] = ()
    statements: tuple[str, ...] = ()


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        number=2,
        meaning="circuits, captures in flight, cached validators, robots decisions",
        tables=(CIRCUITS, CAPTURES_IN_FLIGHT, CACHE_VALIDATORS, ROBOTS_FILES, ROBOTS),
    ),
    Migration(number=3, meaning="backlog of captures", tables=(BACKLOG,)),
    Migration(
        number=4,
        meaning="watchlists, their runs and the check of each entry",
        tables=(WATCHLISTS, WATCHLIST_RUNS, WATCHLIST_CHECKS),
    ),
    Migration(
        number=5,
        meaning="no outbox: other processes read generations instead",
        statements=("drop table outbox",),
    ),
    Migration(
        number=6,
        meaning="latest answers of the surfaces, from which processes learn whom to ask first",
        tables=(SURFACE_ANSWERS,),
    ),
    Migration(
        number=7,
        meaning="attempts and runs of jobs; the journal from which a scan goes on",
        tables=(SCAN_JOURNAL,),
        columns=(JOBS.c.attempt, JOBS.c.run_number),
    ),
    Migration(number=8, meaning="catalogues and their tracks", tables=(CATALOGS, CATALOG_TRACKS)),
    Migration(
        number=9, meaning="what a running scan has confirmed so far", tables=(SCAN_PREVIEWS,)
    ),
    Migration(number=10, meaning="notes and tags of users", tables=(NOTES,)),
    Migration(
        number=11,
        meaning="how many scans of a track a day was charged with",
        columns=(CATALOG_TRACKS.c.charged_scans,),
        statements=("update catalog_tracks set charged_scans = 1 where charged_day is not null",),
    ),
)


def migrate(
    database: Database, *, world: str, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Create the schema or bring it up to date.

    Raises:
        WrongWorldError: The store belongs to another world.
        StoreTooNewError: A newer Sametrack has migrated it.
    """
    newest = max([_FIRST_VERSION, *(step.number for step in migrations)])
    with database.writing() as connection:
        _lock_store(database, connection)
        MARKS.create(connection, checkfirst=True)
        marks = {row.name: row.value for row in connection.execute(select(MARKS))}
        if not marks:
            METADATA.create_all(connection)
            _set_mark(connection, "world", world)
            _set_mark(connection, "schema_version", str(newest))
            return
        version = int(marks["schema_version"])
        _check(marks["world"], version, world=world, newest=newest)
        if version < newest:
            # The transaction has changed nothing yet, so the copy has the old version.
            _copy_file(database, version)
            _apply(connection, [step for step in migrations if step.number > version])


def _check(owner: str, version: int, *, world: str, newest: int) -> None:
    if owner != world:
        raise WrongWorldError(
            f"the control store belongs to world {owner!r}, not to {world!r}",
            hint="worlds never share a store: choose another CONTROL_URL",
        )
    if version > newest:
        raise StoreTooNewError(
            f"the control store has schema version {version}, this Sametrack supports {newest}",
            hint="update Sametrack or choose another CONTROL_URL",
        )


def _apply(connection: Connection, steps: Sequence[Migration]) -> None:
    for step in sorted(steps, key=lambda step: step.number):
        for table in step.tables:
            table.create(connection)
        for column in step.columns:
            _add_column(connection, column)
        for statement in step.statements:
            connection.execute(text(statement))
        _set_mark(connection, "schema_version", str(step.number))


def _add_column(connection: Connection, column: Column[Any]) -> None:
    table = column.table.name
    if column.name not in {known["name"] for known in inspect(connection).get_columns(table)}:
        declared = CreateColumn(column).compile(dialect=connection.dialect)
        connection.execute(text(f"alter table {table} add column {declared}"))


def _set_mark(connection: Connection, name: str, value: str) -> None:
    connection.execute(MARKS.delete().where(MARKS.c.name == name))
    connection.execute(MARKS.insert().values(name=name, value=value))


def _lock_store(database: Database, connection: Connection) -> None:
    """Lock the store during a migration. SQLite's write transaction is a lock already."""
    if not database.is_sqlite:
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def _copy_file(database: Database, version: int) -> None:
    """Copy the old store next to itself. A PostgreSQL server has its own backups."""
    if not database.is_sqlite:
        return
    source = Path(str(database.engine.url.database))
    copy = source.with_name(f"{source.name}.version-{version}")
    copy.unlink(missing_ok=True)
    with closing(sqlite3.connect(source)) as before, closing(sqlite3.connect(copy)) as after:
        before.backup(after)
