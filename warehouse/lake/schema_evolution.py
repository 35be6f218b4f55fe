"""Opening of one Delta table: create it, migrate it, refuse a newer schema version.

World and schema version are table properties of the Delta table. The control store has its own
numbered migrations (`control.migrations`).
"""

from collections.abc import Iterable
from datetime import datetime

import pyarrow as pa
import stamina
from deltalake import CommitProperties, DeltaTable
from deltalake import Schema as DeltaSchema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from warehouse.lake.row_migrations import row_migrations
from warehouse.lake.table_turns import writing
from warehouse.records.errors import ContractBrokenError, StoreTooNewError, WrongWorldError
from warehouse.tables import Table

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
    check_marks(opened, table, world=world)
    if version_of(opened) < table.version:
        opened = _migrate(path, table, world)
    _check_columns(opened, table)
    return opened


def check_marks(opened: DeltaTable, table: Table, *, world: str) -> None:
    """Refuse a table of another world or of a newer version."""
    owner = opened.metadata().configuration.get(WORLD)
    if owner != world:
        raise WrongWorldError(
            f"{table.name} of this lake belongs to world {owner!r}, not to {world!r}",
            hint="worlds never share a lake: choose another one",
        )
    if version_of(opened) > table.version:
        raise StoreTooNewError(
            f"{table.name} has schema version {version_of(opened)}, "
            f"this Sametrack supports {table.version}",
            hint="update Sametrack or choose another lake",
        )


def version_of(opened: DeltaTable) -> int:
    """Return the schema version stored in the table."""
    return int(opened.metadata().configuration.get(VERSION, "0"))


def complete_before(opened: DeltaTable) -> datetime | None:
    """Return the time before which every row has its capture; None if never verified."""
    stored = opened.metadata().configuration.get(COMPLETE_BEFORE)
    return None if stored is None else datetime.fromisoformat(stored)


def has_added_columns(opened: DeltaTable) -> bool:
    """Return True if columns were added after the first file, so files must be read by name."""
    return opened.metadata().configuration.get(FIRST_VERSION) != str(version_of(opened))


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
            check_marks(opened, table, world=world)
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
            marks = {VERSION: str(table.version)}
            migrations = row_migrations(table, since=version_of(opened))
            # Versions that only correct rows leave all files with the same columns.
            if len(migrations) == table.version - version_of(opened) and not has_added_columns(
                opened
            ):
                marks[FIRST_VERSION] = str(table.version)
            if sum(migration.apply(opened) for migration in migrations):
                marks[SORTED_ROWS] = "0"
            if version_of(opened) < table.version:
                opened.alter.set_table_properties(marks, raise_if_not_exists=False)
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
