"""Opening of a lake for reading alone: no table is created, none migrated, nothing is written.

A table that does not exist yet has no rows. One of an older schema version lacks its newer columns,
which the engine shows as null.
"""

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from warehouse.files import free_bytes
from warehouse.lake import store
from warehouse.lake.schema_evolution import check_properties, read_properties
from warehouse.records.errors import InvalidParameterError
from warehouse.tables import TABLES, Table


class ReadOnlyLake(store.Lake):
    """The tables of a lake that exist, and none of its writers' preparations."""

    def __init__(self, url: str, world: str, handles: Mapping[str, store.LakeHandle]) -> None:
        super().__init__(url, world, handles, free=free_bytes)
        self._existing = frozenset(handles)

    @property
    def tables(self) -> tuple[Table, ...]:
        return TABLES

    def newer_listing(self, name: str, version: int | None) -> store.TableListing | None:
        if name in self._existing:
            return super().newer_listing(name, version)
        return None if version == -1 else store.TableListing(-1, (), has_mixed_schemas=False)

    def version(self, name: str) -> int:
        return super().version(name) if name in self._existing else -1


def open_lake_for_reading(url: str, *, world: str | None = None) -> ReadOnlyLake:
    """Open a lake without changing anything.

    Args:
        url: A folder, or `s3://bucket/prefix` (keys and region from the AWS_* variables).
        world: World of the lake, which otherwise is read from its tables.

    Raises:
        InvalidParameterError: There is no table.
        WrongWorldError: A table belongs to another world.
        StoreTooNewError: A newer Sametrack wrote a table.
        WarehouseUnavailableError: The lake cannot be read.
    """
    root = store.lake_root(url)
    with ThreadPoolExecutor(store.OPENED_AT_ONCE) as pool, store.storage_errors("opening the lake"):
        tables = pool.map(lambda table: _open_existing(root, table), TABLES)
        existing = {
            table: delta for table, delta in zip(TABLES, tables, strict=True) if delta is not None
        }
    if not existing:
        raise InvalidParameterError(
            f"there is no lake at {url!r}",
            hint="name the home of a world (warehouse/data/sandbox), a lake, or an s3:// address",
        )
    # Without a world from the caller, all tables must be of the world of the first one.
    first = next(iter(existing.values()))
    owner = world or read_properties(first).world or ""
    for table, delta in existing.items():
        check_properties(delta, table, world=owner)
    handles = {
        table.name: store.LakeHandle(table, f"{root}/{table.folder}", delta)
        for table, delta in existing.items()
    }
    return ReadOnlyLake(root, owner, handles)


def _open_existing(root: str, table: Table) -> DeltaTable | None:
    try:
        return DeltaTable(f"{root}/{table.folder}")
    except TableNotFoundError:
        return None


# Parsing of `as of` times: reads of the warehouse as it was at a past time.
#
# Reads filter on the time rows were committed (`engine`), not on Delta versions, which compaction
# replaces and vacuum deletes.

SETTLED_AFTER = timedelta(seconds=60)
"""A row is stamped before it is written; after this time no more rows of that time can appear."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_as_of(text: str, *, now: datetime) -> datetime:
    """Parse a date or a time; returns UTC.

    A date means the end of that day; a time without a zone is UTC.

    Raises:
        InvalidParameterError: It is neither, or less than `SETTLED_AFTER` ago.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if _DAY.fullmatch(text.strip()):
            # The last microsecond of the day: the finest time that the tables store.
            moment += timedelta(days=1) - timedelta(microseconds=1)
    except (ValueError, OverflowError) as error:
        raise InvalidParameterError(
            f"{text!r} is neither a date nor a time",
            hint="for example 2026-11-01 (the end of that day) or 2026-11-01T18:00:00Z",
        ) from error
    if moment > now - SETTLED_AFTER:
        raise InvalidParameterError(
            f"{moment.isoformat()} is too recent: rows may still be added",
            hint=f"use a time at least {SETTLED_AFTER.seconds} seconds ago, or omit it",
        )
    return moment
