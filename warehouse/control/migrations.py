"""Migrations of the control store; a store of another world or a newer version is refused.

A new store gets the newest schema at once. An older one is copied first, then migrated by one
process while others that open it wait. A step never changes once it is released: it says for itself
what the schema was then, so that later changes of `schema.py` do not change its meaning.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select, text

from warehouse.control.schema import MARKS, METADATA
from warehouse.records.errors import StoreTooNewError, WrongWorldError

_FIRST_VERSION = 1
_LOCK = 7_263_548_817  # any number; it names this lock among PostgreSQL's advisory locks


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A step to schema version `number`: statements that run on both databases.

    `{binary}` stands for the type of bytes, which has no common name.
    """

    number: int
    meaning: str
    statements: tuple[str, ...]


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        number=2,
        meaning="circuits, captures in flight, cached validators, robots decisions",
        statements=(
            """
            create table circuits (
                host varchar not null, surface varchar not null, failures integer not null,
                openings integer not null, cause varchar, open_until double precision,
                probe_until double precision, failed_at double precision,
                worked_at double precision, primary key (host, surface)
            )
            """,
            """
            create table capturing (
                name varchar not null primary key, owner varchar not null,
                expires_at double precision not null, is_wanted boolean not null,
                capture_id varchar
            )
            """,
            "create index capturing_age on capturing (expires_at)",
            """
            create table remembered (
                address varchar not null primary key, etag text, last_modified text,
                payload_sha256 varchar not null, kept_at double precision not null
            )
            """,
            "create index remembered_age on remembered (kept_at)",
            """
            create table robots_files (
                host varchar not null primary key, status integer, body text,
                fetched_at double precision not null
            )
            """,
            """
            create table robots (
                host varchar not null, surface varchar not null, decision varchar not null,
                reason varchar not null, decided_at double precision not null,
                primary key (host, surface)
            )
            """,
        ),
    ),
    Migration(
        number=3,
        meaning="backlog of captures",
        statements=(
            """
            create table backlog (
                surface varchar not null, entity_id varchar not null, document text not null,
                tries integer not null, asked_at double precision not null,
                due_at double precision not null, primary key (surface, entity_id)
            )
            """,
        ),
    ),
    Migration(
        number=4,
        meaning="watchlists, their runs and the check of each entry",
        statements=(
            """
            create table watchlists (
                name varchar not null primary key, plan text not null, cron varchar not null,
                enabled boolean not null, created_at double precision not null,
                updated_at double precision not null, considered_until double precision not null
            )
            """,
            """
            create table watch_runs (
                run_id varchar not null primary key, watchlist varchar not null,
                plan text not null, due_at double precision not null, origin varchar not null,
                status varchar not null, missed_count integer not null, tries integer not null,
                owner varchar, held_until double precision, began_at double precision,
                ended_at double precision, outcome text, digest text, told text
            )
            """,
            "create unique index watch_runs_once on watch_runs (watchlist, due_at)",
            "create index watch_runs_open on watch_runs (status, due_at)",
            """
            create table watch_looks (
                run_id varchar not null, position integer not null, watchlist varchar not null,
                kind varchar not null, input text not null, status varchar not null,
                subject varchar, job_id varchar, error text, observation text,
                ended_at double precision, primary key (run_id, position)
            )
            """,
            """
            create index watch_looks_of_subject
            on watch_looks (watchlist, kind, subject, ended_at)
            """,
        ),
    ),
    Migration(
        number=5,
        meaning="no outbox: other processes read generations instead",
        statements=("drop table outbox",),
    ),
    Migration(
        number=6,
        meaning="latest answers of the surfaces, from which processes learn whom to ask first",
        statements=(
            """
            create table surface_answers (
                host varchar not null, surface varchar not null, answers text not null,
                answered_at double precision, probed_at double precision,
                primary key (host, surface)
            )
            """,
        ),
    ),
    Migration(
        number=7,
        meaning="attempts and runs of jobs; the journal from which a scan goes on",
        statements=(
            "alter table jobs add column attempt integer not null default 1",
            "alter table jobs add column run_number integer not null default 0",
            """
            create table scan_journal (
                job_id varchar not null, run_number integer not null, position integer not null,
                checkpoint integer not null, key text not null, capture_id varchar,
                document {binary} not null, body {binary},
                primary key (job_id, run_number, position)
            )
            """,
        ),
    ),
    Migration(
        number=8,
        meaning="catalogues and their tracks",
        statements=(
            """
            create table catalogs (
                name varchar not null primary key, settings text not null,
                created_at double precision not null, updated_at double precision not null
            )
            """,
            """
            create table catalog_tracks (
                catalog varchar not null, track_key varchar not null, position integer not null,
                input text not null, label text, priority integer not null, columns text not null,
                submission_count integer not null, job_id varchar, charged_day integer,
                charged_requests integer not null, music_id varchar, result_job_id varchar,
                result_at double precision, previous_job_id varchar,
                failed_at double precision, error text, primary key (catalog, track_key)
            )
            """,
        ),
    ),
    Migration(
        number=9,
        meaning="what a running scan has confirmed so far",
        statements=(
            """
            create table scan_previews (
                job_id varchar not null primary key, updated_at double precision not null,
                document {binary} not null
            )
            """,
        ),
    ),
    Migration(
        number=10,
        meaning="notes and tags of users",
        statements=(
            """
            create table user_notes (
                kind varchar not null, entity_id varchar not null, note text,
                tags text not null, updated_at double precision not null,
                primary key (kind, entity_id)
            )
            """,
        ),
    ),
    Migration(
        number=11,
        meaning="how many scans of a track a day was charged with",
        statements=(
            "alter table catalog_tracks add column charged_scans integer not null default 0",
            "update catalog_tracks set charged_scans = 1 where charged_day is not null",
        ),
    ),
    Migration(
        number=12,
        meaning="open sessions of browsers",
        statements=(
            """
            create table sessions (
                session_id varchar not null primary key, ends_at double precision not null
            )
            """,
        ),
    ),
    Migration(
        number=13,
        meaning="channels for alerts, and the messages to them",
        statements=(
            """
            create table alert_channels (
                name varchar not null primary key, url text not null, service varchar not null,
                language varchar not null, created_at double precision not null, test text
            )
            """,
            """
            create table alert_deliveries (
                run_id varchar not null, channel varchar not null, status varchar not null,
                attempts text not null, next_at double precision, primary key (run_id, channel)
            )
            """,
            "create index alert_deliveries_due on alert_deliveries (status, next_at)",
        ),
    ),
    Migration(
        number=14,
        meaning="read-only links for readers without a token",
        statements=(
            """
            create table shared_links (
                link_id varchar not null primary key, kind varchar not null,
                entity_id varchar not null, created_by text,
                created_at double precision not null, expires_at double precision not null,
                last_used_at double precision
            )
            """,
            "create index shared_links_of_entity on shared_links (kind, entity_id)",
        ),
    ),
)


def migrate(
    connection: Connection, *, world: str, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Create the schema or bring it up to date, in the write transaction of the connection.

    Raises:
        WrongWorldError: The store belongs to another world.
        StoreTooNewError: A newer Sametrack has migrated it.
    """
    newest = max([_FIRST_VERSION, *(step.number for step in migrations)])
    if connection.dialect.name == "postgresql":
        # SQLite's write transaction is a lock already.
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    MARKS.create(connection, checkfirst=True)
    marks = {row.name: row.value for row in connection.execute(select(MARKS))}
    if not marks:
        others = [table for table in METADATA.sorted_tables if table is not MARKS]
        METADATA.create_all(connection, tables=others, checkfirst=False)
        _set_mark(connection, "world", world)
        _set_mark(connection, "schema_version", str(newest))
        return
    if marks["world"] != world:
        raise WrongWorldError(
            f"the control store belongs to world {marks['world']!r}, not to {world!r}",
            hint="worlds never share a store: choose another CONTROL_URL",
        )
    version = int(marks["schema_version"])
    if version > newest:
        raise StoreTooNewError(
            f"the control store has schema version {version}, this Sametrack supports {newest}",
            hint="update Sametrack or choose another CONTROL_URL",
        )
    if version == newest:
        return
    is_sqlite = connection.dialect.name == "sqlite"
    if is_sqlite:
        # The transaction has changed nothing yet, so the copy next to the file has the old version.
        # A PostgreSQL server has its own backups.
        source = Path(str(connection.engine.url.database))
        copy = source.with_name(f"{source.name}.version-{version}")
        copy.unlink(missing_ok=True)
        with closing(sqlite3.connect(source)) as before, closing(sqlite3.connect(copy)) as after:
            before.backup(after)
    steps = sorted(migrations, key=lambda step: step.number)
    for step in (step for step in steps if step.number > version):
        for statement in step.statements:
            sql = statement.replace("{binary}", "blob" if is_sqlite else "bytea")
            connection.execute(text(sql))
        _set_mark(connection, "schema_version", str(step.number))


def _set_mark(connection: Connection, name: str, value: str) -> None:
    connection.execute(MARKS.delete().where(MARKS.c.name == name))
    connection.execute(MARKS.insert().values(name=name, value=value))
