"""Opening of one Delta table: create it, migrate it, refuse a newer schema version.

World and schema version are table properties of the Delta table. The control store has its own
numbered migrations (`control.migrations`).
"""

import fcntl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import stamina
from deltalake import (
    BloomFilterProperties,
    ColumnProperties,
    CommitProperties,
    DeltaTable,
    WriterProperties,
)
from deltalake import Schema as DeltaSchema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from warehouse.records.errors import ContractBrokenError, StoreTooNewError, WrongWorldError
from warehouse.tables import Table

# File layout of the tables: sort columns, row groups, Bloom filters and compression.

SORT_COLUMNS: Mapping[str, str] = {
    "raw.captures": "entity_id",
    "raw.capture_items": "entity_id",
    "raw.videos": "aweme_id",
    "raw.accounts": "sec_uid",
    "raw.tracks": "music_id",
    "raw.chart_songs": "volid",
}
"""Column that each table is sorted by, because most queries filter on it."""

ROW_GROUP_SIZE = 16_384
ROW_GROUP_SIZES: Mapping[str, int] = {"raw.sounds": 32}
"""Other sizes: a row of features has 90 kB, and a lookup decompresses whole row groups."""
FILE_SIZE = 100 << 20
FILE_SIZES: Mapping[str, int] = {"raw.sounds": 32 << 20, "raw.scan_checkpoints": 8 << 20}
"""Bytes; files of this size are not merged any more. Merging takes four times as much memory, and
each merge rewrites the files of earlier merges: a scan adds 12 checkpoints of 30 kB."""
APPEND_PROPERTIES = WriterProperties(compression="ZSTD", compression_level=3)
_FILTER = BloomFilterProperties(set_bloom_filter_enabled=True, fpp=0.01, ndv=ROW_GROUP_SIZE)


def rewrite_properties(name: str) -> WriterProperties:
    """Return the writer properties of rewritten files.

    Small row groups with a Bloom filter on the sort column: Parquet statistics truncate text to
    eight bytes, and all account ids share their first twelve. The sort order itself uses sixteen.
    """
    column = SORT_COLUMNS.get(name)
    if column is None:
        return WriterProperties(
            compression="ZSTD",
            compression_level=3,
            max_row_group_size=ROW_GROUP_SIZES.get(name),
        )
    return WriterProperties(
        compression="ZSTD",
        compression_level=3,
        max_row_group_size=ROW_GROUP_SIZE,
        column_properties={column: ColumnProperties(bloom_filter_properties=_FILTER)},
    )


def file_size(name: str) -> int:
    """Return the size in bytes that files of a table are merged to."""
    return FILE_SIZES.get(name, FILE_SIZE)


# Locks on a table in a folder: shared by writers, exclusive for deleting old versions.
#
# Files that are just being written belong to no version yet, so deleting old versions would delete
# them. An object store has no such locks.

TURN_FILE = "_forgetting.lock"  # Delta takes files that begin with an underscore for its own


@contextmanager
def writing(path: str, *, alone: bool = False) -> Iterator[bool]:
    """Lock the table at `path` for writing, at the same time as others or `alone`.

    Writers wait while a process deletes old versions, which it does alone. Yields False in an
    object store, which has no locks.
    """
    if not Path(path).is_dir():  # an object store, or a folder that has vanished
        yield False
        return
    with Path(path, TURN_FILE).open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        try:
            yield True
        finally:
            fcntl.flock(turn, fcntl.LOCK_UN)  # closing does not, if a fork has inherited it


WORLD = "sametrack.world"
VERSION = "sametrack.schema_version"
FIRST_VERSION = "sametrack.first_version"
"""Version of the table when it was created; if lower than today's, some files may lack a column."""
COMPLETE_BEFORE = "sametrack.whole_before"
"""Every row committed before this time is known to have its capture (`maintenance.compaction`)."""
SORTED_ROWS = "sametrack.arranged_rows"
"""Number of rows when the table was last sorted (`maintenance.compaction`)."""

_LOG_KEPT = "delta.logRetentionDuration"
_NOTHING_KEPT = "interval 0 seconds"
_DELTA = {
    "delta.checkpointInterval": "20",  # opening after 80 commits: 38 ms without, 5 to 11 with
    _LOG_KEPT: "interval 7 days",
    "delta.deletedFileRetentionDuration": "interval 7 days",
}
# With retries, the loser of a race would write its metadata again and conflict with appends.
_NO_RETRIES = CommitProperties(max_commit_retries=0)
_COMMIT_ATTEMPTS = 8


def retry_commits() -> Iterable[stamina.Attempt]:
    """Return attempts for a commit that may conflict; a failed one leaves nothing visible."""
    return stamina.retry_context(
        on=CommitFailedError,
        attempts=_COMMIT_ATTEMPTS,
        wait_initial=0.02,
        wait_jitter=0.05,
        wait_max=0.5,
    )


def open_table(path: str, table: Table, *, world: str) -> DeltaTable:
    """Open the Delta table at `path`, creating it or migrating it to `table.version`.

    Raises:
        WrongWorldError: It belongs to another world.
        StoreTooNewError: A newer Sametrack wrote it.
        ContractBrokenError: Its columns differ from the contract at the same version.
    """
    try:
        opened = DeltaTable(path)
    except TableNotFoundError:
        opened = _create(path, table, world)
    if _keeps_no_log(opened):
        # A killed process was about to purge the log. Without mending, every checkpoint would.
        with writing(path):
            if _keeps_no_log(DeltaTable(path)):
                _set_log_kept(path, _DELTA[_LOG_KEPT])
            opened = DeltaTable(path)
    check_properties(opened, table, world=world)
    if read_properties(opened).version < table.version:
        opened = _migrate(path, table, world)
    _check_columns(opened, table)
    return opened


def check_properties(opened: DeltaTable, table: Table, *, world: str) -> None:
    """Refuse a table of another world or of a newer version."""
    properties = read_properties(opened)
    if properties.world != world:
        raise WrongWorldError(
            f"{table.name} of this lake belongs to world {properties.world!r}, not to {world!r}",
            hint="worlds never share a lake: choose another one",
        )
    if properties.version > table.version:
        raise StoreTooNewError(
            f"{table.name} has schema version {properties.version}, "
            f"this Sametrack supports {table.version}",
            hint="update Sametrack or choose another lake",
        )


class TableProperties(NamedTuple):
    """Our own properties of a Delta table.

    `version` is that of its schema. `has_added_columns`: columns were added after the first file,
    so files must be read by name. Every row committed before `complete_before` has its capture;
    None if that was never verified. `sorted_rows` is the number of rows when it was last sorted.
    """

    world: str | None
    version: int
    has_added_columns: bool
    complete_before: datetime | None
    sorted_rows: int


def read_properties(opened: DeltaTable) -> TableProperties:
    """Return what the properties of a table say."""
    properties = opened.metadata().configuration
    version = properties.get(VERSION, "0")
    verified = properties.get(COMPLETE_BEFORE)
    return TableProperties(
        world=properties.get(WORLD),
        version=int(version),
        has_added_columns=properties.get(FIRST_VERSION) != version,
        complete_before=datetime.fromisoformat(verified) if verified else None,
        sorted_rows=int(properties.get(SORTED_ROWS, "0")),
    )


def purge_versions(path: str, *, unnamed_hours: int) -> None:
    """Delete all versions but the newest: other files, and the log before its checkpoint.

    Files that no version names are deleted if they are `unnamed_hours` old.
    """
    opened = DeltaTable(path)
    # The first vacuum deletes files of older versions at once; the second, full one deletes files
    # that no version names, and would keep younger files of both kinds.
    for full, hours in ((False, 0), (True, unnamed_hours)):
        opened.vacuum(
            retention_hours=hours, enforce_retention_duration=False, dry_run=False, full=full
        )
    # The clean-up keeps every log entry that is younger than this property says.
    _set_log_kept(path, _NOTHING_KEPT)
    try:
        opened = DeltaTable(path)
        # Entries can go only once a checkpoint replaces them.
        opened.create_checkpoint()
        opened.cleanup_metadata()
    finally:
        _set_log_kept(path, _DELTA[_LOG_KEPT])


def _keeps_no_log(opened: DeltaTable) -> bool:
    return opened.metadata().configuration.get(_LOG_KEPT) == _NOTHING_KEPT


def _set_log_kept(path: str, interval: str) -> None:
    for attempt in retry_commits():
        with attempt:
            DeltaTable(path).alter.set_table_properties({_LOG_KEPT: interval})


def _create(path: str, table: Table, world: str) -> DeltaTable:
    marks = {
        WORLD: world,
        VERSION: str(table.version),
        FIRST_VERSION: str(table.version),
    }
    try:
        return DeltaTable.create(
            path,
            table.schema,
            name=table.name,
            description=f"one row per {table.row}",
            configuration={**_DELTA, **marks},
            raise_if_key_not_exists=False,  # Delta does not know our own properties
            commit_properties=_NO_RETRIES,
        )
    except DeltaError:
        # Another process may have created it meanwhile; otherwise this raises the same error.
        return DeltaTable(path)


def _migrate(path: str, table: Table, world: str) -> DeltaTable:
    """Add missing columns, correct rows, then write the version.

    Each is a commit of its own; repeating it all after a crash is harmless.
    """
    for attempt in retry_commits():
        with attempt, writing(path):
            opened = DeltaTable(path)  # another process may be migrating it too
            check_properties(opened, table, world=world)
            existing = set(columns_of(opened).names)
            missing = [column for column in table.columns if column.name not in existing]
            required = [column.name for column in missing if column.required]
            if required:
                raise ContractBrokenError(
                    f"{table.name}: later columns {required} must be nullable"
                )
            if missing:
                fields = pa.schema([pa.field(column.name, column.type) for column in missing])
                opened.alter.add_columns(DeltaSchema.from_arrow(fields).fields)
            properties = {VERSION: str(table.version)}
            before = read_properties(opened)
            migrations = row_migrations(table, since=before.version)
            # Versions that only correct rows leave all files with the same columns.
            corrects_rows = len(migrations) == table.version - before.version
            if corrects_rows and not before.has_added_columns:
                properties[FIRST_VERSION] = str(table.version)
            if sum(migration.apply(opened) for migration in migrations):
                properties[SORTED_ROWS] = "0"
            if before.version < table.version:
                opened.alter.set_table_properties(properties, raise_if_not_exists=False)
    return DeltaTable(path)


def columns_of(opened: DeltaTable) -> pa.Schema:
    """Return the table's schema as a pyarrow schema."""
    return pa.schema(opened.schema().to_arrow())


def _check_columns(opened: DeltaTable, table: Table) -> None:
    def comparable(type_: pa.DataType) -> pa.DataType:
        # Delta chooses the item name of a list itself, and Arrow compares it.
        return pa.list_(type_.value_type) if pa.types.is_list(type_) else type_

    stored = {field.name: comparable(field.type) for field in columns_of(opened)}
    agreed = {column.name: comparable(column.type) for column in table.columns}
    names = stored.keys() | agreed.keys()
    differ = sorted(name for name in names if stored.get(name) != agreed.get(name))
    if differ:
        raise ContractBrokenError(
            f"{table.name} of this lake differs from its contract in {differ} "
            f"at the same schema version {table.version}"
        )


# Numbered corrections of rows that earlier releases wrote: what they stored for an unknown value.
#
# A table gets the corrections of versions later than its own when it is opened
# (`schema_evolution`). Each is one atomic commit, and finds nothing to change when it is repeated.
# A lake that is opened for reading alone is not written; the engine corrects the values in its
# views (`warehouse.engine`).


@dataclass(frozen=True, slots=True)
class RowMigration:
    """Values of a table that mean "unknown" in rows of versions before `version`.

    That version adds no columns.

    `unknown_where`: by column, the condition of the rows whose value means "unknown", in SQL that
    DuckDB and Delta's own engine both read.
    """

    table: str
    version: int
    unknown_where: Mapping[str, str]

    @property
    def corrected(self) -> dict[str, str]:
        """By column, the expression of its corrected value."""
        return {
            column: f"case when {condition} then null else {column} end"
            for column, condition in self.unknown_where.items()
        }

    def apply(self, opened: DeltaTable) -> int:
        """Set the values to null in one commit; return in how many rows.

        Raises:
            CommitFailedError: Another commit came before; nothing has changed.
        """
        # Columns with the same condition are corrected together.
        conditions = dict.fromkeys(self.unknown_where.values())
        changed = opened.update(
            predicate=" or ".join(f"({condition})" for condition in conditions),
            updates=self.corrected,
            writer_properties=rewrite_properties(self.table),
        )
        return int(changed["num_updated_rows"])


_SHOWS_NO_HASHTAGS = """hashtag_ids is not null and coalesce(array_length(hashtag_ids), 0) = 0 and (
    surface in (
        'music_list', 'music_page', 'trends_list', 'user_posts', 'user_page',
        'music_app', 'app_work'
    )
    or (surface in ('hashtag_list', 'hashtag_page') and data_provider = 'mock')
    or data_provider = 'file'
)"""
_SHOWS_NO_KIND = """media_type = 'video' and (
    (surface in ('user_posts', 'user_page') and duration_ms is null)
    or data_provider = 'file'
)"""

ROW_MIGRATIONS = (
    RowMigration(
        "raw.videos",
        3,
        {
            "hashtag_ids": _SHOWS_NO_HASHTAGS,
            "hashtag_names": _SHOWS_NO_HASHTAGS,
            "media_type": _SHOWS_NO_KIND,
            "images_count": f"images_count = 0 and {_SHOWS_NO_KIND}",
            "is_top": "is_top = false and data_provider = 'file'",
            "duration_ms": "duration_ms = 0",
        },
    ),
)
"""Version 3 of `raw.videos`: surfaces that do not show hashtags had none, lists of posts showed
videos only, a record of the user's own file was an unpinned video, and a post without a length was
one of no length."""


def row_migrations(table: Table, *, since: int) -> list[RowMigration]:
    """Return the corrections that a table of version `since` lacks, in order."""
    return sorted(
        (
            migration
            for migration in ROW_MIGRATIONS
            if migration.table == table.name and since < migration.version <= table.version
        ),
        key=lambda migration: migration.version,
    )
