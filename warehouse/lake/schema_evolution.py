"""Opening one Delta table: creating it, adding the columns that came later, refusing what is newer.

Here: what stands in a table's own configuration (world, version) and the additive migration.
Not here: rows (`lake`), the control store's numbered migrations (`control.migrations`).
"""

from collections.abc import Iterable
from datetime import datetime

import pyarrow as pa
import stamina
from deltalake import CommitProperties, DeltaTable
from deltalake import Schema as DeltaSchema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from warehouse.records.errors import ContractBrokenError, StoreTooNewError, WrongWorldError
from warehouse.tables import Table

WORLD = "sametrack.world"
VERSION = "sametrack.schema_version"
FIRST_VERSION = "sametrack.first_version"
"""Version of the table when it was created: below today's, some files may lack a column."""
WHOLE_BEFORE = "sametrack.whole_before"
"""Every row committed before this moment is known to have its capture (`arranging`)."""

_LOG_KEPT = "delta.logRetentionDuration"
_DELTA = {
    "delta.checkpointInterval": "20",  # opening after 80 commits: 38 ms without, 5 to 11 with
    _LOG_KEPT: "interval 7 days",
    "delta.deletedFileRetentionDuration": "interval 7 days",
}
# With retries, the loser of a race writes its metadata once more and disturbs running appends.
_FIRST_OR_NOT_AT_ALL = CommitProperties(max_commit_retries=0)
_COMMIT_ATTEMPTS = 8


def retry_commits() -> Iterable[stamina.Attempt]:
    """Attempts of a commit that met another one; what has failed has left nothing visible."""
    return stamina.retry_context(
        on=CommitFailedError,
        attempts=_COMMIT_ATTEMPTS,
        wait_initial=0.02,
        wait_jitter=0.05,
        wait_max=0.5,
    )


def open_table(path: str, table: Table, *, world: str) -> DeltaTable:
    """The Delta table at `path`, created or brought up to `table.version`.

    Raises:
        WrongWorldError: It belongs to another world.
        StoreTooNewError: A newer Sametrack wrote it.
        ContractBrokenError: Its columns are not the contract's and no version says why.
    """
    try:
        opened = DeltaTable(path)
    except TableNotFoundError:
        opened = _create(path, table, world)
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
            hint="worlds never mix: choose another lake",
        )
    if version_of(opened) > table.version:
        raise StoreTooNewError(
            f"{table.name} has schema version {version_of(opened)}, "
            f"this Sametrack knows {table.version}",
            hint="update Sametrack or choose another lake",
        )


def version_of(opened: DeltaTable) -> int:
    """Schema version that the table says it has."""
    return int(opened.metadata().configuration.get(VERSION, "0"))


def whole_before(opened: DeltaTable) -> datetime | None:
    """Until when no row of the table is without its capture; None: that was never looked into."""
    told = opened.metadata().configuration.get(WHOLE_BEFORE)
    return None if told is None else datetime.fromisoformat(told)


def has_uneven_files(opened: DeltaTable) -> bool:
    """True when a column was added since the first file, so that files must be read by name."""
    return opened.metadata().configuration.get(FIRST_VERSION) != str(version_of(opened))


def forget_versions(path: str) -> None:
    """Leave the newest version alone: no other file, no log entry before its checkpoint."""
    opened = DeltaTable(path)
    opened.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False, full=True)
    opened.alter.set_table_properties({_LOG_KEPT: "interval 0 seconds"})
    opened = DeltaTable(path)
    opened.create_checkpoint()
    opened.cleanup_metadata()
    opened.alter.set_table_properties({_LOG_KEPT: _DELTA[_LOG_KEPT]})


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
            raise_if_key_not_exists=False,
            commit_properties=_FIRST_OR_NOT_AT_ALL,
        )
    except DeltaError:
        # Another process may have created it meanwhile; if not, this raises the cause again.
        return DeltaTable(path)


def _migrate(path: str, table: Table, world: str) -> DeltaTable:
    """Add what is missing, then write the version: a crash in between repeats harmlessly."""
    for attempt in retry_commits():
        with attempt:
            opened = DeltaTable(path)  # a process that migrates at the same time is met here
            check_marks(opened, table, world=world)
            _add_columns(opened, table)
            if version_of(opened) < table.version:
                opened.alter.set_table_properties(
                    {VERSION: str(table.version)}, raise_if_not_exists=False
                )
    return DeltaTable(path)


def _add_columns(opened: DeltaTable, table: Table) -> None:
    have = set(columns_of(opened).names)
    missing = [column for column in table.columns if column.name not in have]
    required = [column.name for column in missing if column.required]
    if required:
        raise ContractBrokenError(f"{table.name}: later columns {required} must be nullable")
    if missing:
        added = pa.schema([pa.field(column.name, column.type) for column in missing])
        opened.alter.add_columns(DeltaSchema.from_arrow(added).fields)


def columns_of(opened: DeltaTable) -> pa.Schema:
    """The table's schema for pyarrow."""
    return pa.schema(opened.schema().to_arrow())


def _check_columns(opened: DeltaTable, table: Table) -> None:
    have = {field.name: field.type for field in columns_of(opened)}
    want = {column.name: column.type for column in table.columns}
    differ = sorted(
        name for name in have.keys() | want.keys() if not _same(have.get(name), want.get(name))
    )
    if differ:
        raise ContractBrokenError(
            f"{table.name} of this lake differs from its contract in {differ} "
            f"at the same schema version {table.version}"
        )


def _same(left: pa.DataType | None, right: pa.DataType | None) -> bool:
    """Equal up to the name of a list's items, which Delta chooses itself."""
    if left is None or right is None:
        return False
    if pa.types.is_list(left) and pa.types.is_list(right):
        return bool(left.value_type == right.value_type)
    return bool(left == right)
