"""Maintenance of the lake's files, in order: sort, merge, delete, index.

Large tables are sorted by the column that they are queried by: a lookup then opens a few row groups
instead of all. Before that, orphaned rows are removed, so that only recent rows need a check for
their capture. The index of videos is in `video_index`; when maintenance runs is decided in
`pipelines.orchestration.worker.maintenance`.
"""

from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from deltalake import DeltaTable

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake import schema_evolution
from warehouse.lake.store import Lake, storage_errors
from warehouse.lake.video_index import VIDEOS_TABLE
from warehouse.maintenance.video_index import update_video_index

COMPACTED_ABOVE_FILES = 8
"""Compact tables with more files than this; during scans the limit is `MAX_TABLE_FILES`."""
CAPTURES = "raw.captures"
MIN_NEW_ROWS = 30_000  # two row groups; in 75,000 unsorted accounts a lookup took 15 ms, sorted 4
GROWTH = 0.25  # each row is then rewritten five times on average
SETTLED = timedelta(hours=1)
"""A batch is written within seconds; rows without a capture after this time never get one."""
SPILL_BYTES = 1_000_000_000
_IDS_PER_CONDITION = 1000


@dataclass(frozen=True, slots=True)
class LakeMaintenance:
    """Number of tables, files and observations processed."""

    tables_arranged: int
    files_merged: int
    files_deleted: int
    works_indexed: int


def maintain_lake(lake: Lake, *, now: datetime | None = None) -> LakeMaintenance:
    """Rewrite what has grown so that lookups are fast, and free disk space.

    Files are deleted a week after the last version that uses them, so a reader's files never
    disappear.

    Raises:
        CapacityExhaustedError: The disk is nearly full.
        WarehouseUnavailableError: The lake cannot be read or written.
    """
    # Sort first: what it rewrites needs no merge, and it proves which rows have their capture.
    sorted_tables = sort_lake(lake, now=now)
    merged = lake.compact_all(files=COMPACTED_ABOVE_FILES)
    deleted = sum(lake.vacuum(table.name) for table in lake.tables)
    # Rebuild the index when the table is rewritten: otherwise its pages get fragmented too.
    indexed = update_video_index(lake, rebuild=VIDEOS_TABLE in sorted_tables)
    return LakeMaintenance(len(sorted_tables), merged, deleted, indexed)


def sort_lake(lake: Lake, *, now: datetime | None = None) -> list[str]:
    """Sort the tables that have grown by a quarter since the last sort; returns their names.

    First, rows older than an hour without a capture, left by a writer that died, are deleted from
    every table. The remaining rows need no check for their capture, which in a large lake costs
    more than the lookup itself. A table is rewritten with a gigabyte of memory and temporary files;
    readers and writers continue.

    Raises:
        WarehouseUnavailableError: The lake cannot be read or written.
    """
    before = (now or datetime.now(UTC)) - SETTLED
    due = {}
    with closing(Engine(lake)) as engine:
        _delete_orphans(lake, engine, before)
        for name in schema_evolution.SORT_COLUMNS:
            rows = int(str(engine.rows(f"select count(*) as n from {name}")[0]["n"]))  # noqa: S608  # a name of the contract
            with storage_errors(f"reading {name}"):
                properties = schema_evolution.read_properties(DeltaTable(lake.path(name)))
            if has_grown(rows, sorted_rows=properties.sorted_rows):
                due[name] = rows
    for name, rows in due.items():
        _sort_table(lake, name)
        _set_property(lake, name, schema_evolution.SORTED_ROWS, str(rows))
    return list(due)


def has_grown(rows: int, *, sorted_rows: int) -> bool:
    """Return True if enough rows were added since the last sort to be worth sorting all of them."""
    return rows - sorted_rows >= max(MIN_NEW_ROWS, GROWTH * sorted_rows)


def _delete_orphans(lake: Lake, engine: Engine, before: datetime) -> None:
    """Delete observations without a capture, and note that all older rows have theirs."""
    # Without captures every observation would be an orphan: nothing is deleted then.
    if not engine.rows(f"select 1 from {CAPTURES} limit 1"):  # noqa: S608  # a name of this module
        return
    for name in (table.name for table in lake.tables if table.is_observed):
        since = engine.complete_before(name)
        if since is not None and since >= before:
            continue
        orphans = engine.rows(
            f"""
            select distinct capture_id from {name}
            where committed_at < $before and ($since::timestamptz is null or committed_at >= $since)
                and capture_id is not null
                and capture_id not in (select capture_id from raw.captures)
            """,  # noqa: S608  # a name of the contract
            {"since": since, "before": before},
        )
        ids = [str(row["capture_id"]) for row in orphans]
        # The ids are part of the condition, whose length is bounded this way.
        for first in range(0, len(ids), _IDS_PER_CONDITION):
            lake.delete(name, "capture_id", ids[first : first + _IDS_PER_CONDITION])
        _set_property(lake, name, schema_evolution.COMPLETE_BEFORE, before.isoformat())


def _sort_table(lake: Lake, name: str) -> None:
    lake.commit(
        name,
        f"sorting {name}",
        lambda delta: delta.optimize.z_order(
            [schema_evolution.SORT_COLUMNS[name]],
            writer_properties=schema_evolution.rewrite_properties(name),
            max_spill_size=SPILL_BYTES,
            max_concurrent_tasks=1,  # concurrent tasks would share the memory limit
        ),
    )


def _set_property(lake: Lake, name: str, key: str, value: str) -> None:
    """Write a table property after the work is done: after a crash in between it is repeated."""
    lake.commit(
        name,
        f"marking {name}",
        lambda delta: delta.alter.set_table_properties({key: value}, raise_if_not_exists=False),
    )
