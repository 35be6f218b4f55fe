"""Sorting of large tables by the column they are queried by, and removal of orphaned rows.

A lookup then opens a few row groups instead of all, and checks the captures of recent rows only.
When maintenance runs is decided elsewhere.
"""

from contextlib import closing
from datetime import UTC, datetime, timedelta

from deltalake import DeltaTable

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.file_layout import SORT_COLUMNS, rewrite_properties
from warehouse.lake.schema_evolution import COMPLETE_BEFORE, SORTED_ROWS
from warehouse.lake.store import Lake, storage_errors

CAPTURES = "raw.captures"
MIN_NEW_ROWS = 30_000  # two row groups; in 75,000 unsorted accounts a lookup took 15 ms, sorted 4
GROWTH = 0.25  # each row is then rewritten five times on average
SETTLED = timedelta(hours=1)
"""A batch is written within seconds; rows without a capture after this time never get one."""

SPILL_BYTES = 1_000_000_000
_AT_ONCE = 1000


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
    with closing(Engine(lake)) as engine:
        _verify_captures(lake, engine, before)
        due = {name: rows for name in SORT_COLUMNS if (rows := _rows_if_due(lake, engine, name))}
    for name, rows in due.items():
        _sort_table(lake, name)
        _set_properties(lake, name, {SORTED_ROWS: str(rows)})
    return list(due)


def _verify_captures(lake: Lake, engine: Engine, before: datetime) -> None:
    """Prove that older rows of all observation tables have their capture."""
    if not engine.rows(f"select 1 from {CAPTURES} limit 1"):  # noqa: S608  # a name of this module
        return
    for name in (table.name for table in lake.tables if table.is_observed):
        since = engine.complete_before(name)
        if since is not None and since >= before:
            continue
        _remove_orphans(lake, engine, name, since=since, before=before)
        _set_properties(lake, name, {COMPLETE_BEFORE: before.isoformat()})


def _rows_if_due(lake: Lake, engine: Engine, name: str) -> int:
    """Return the row count of a table that needs sorting, else 0."""
    rows = int(str(engine.rows(f"select count(*) as n from {name}")[0]["n"]))  # noqa: S608  # a name of this module
    with storage_errors(f"reading {name}"):
        known = DeltaTable(lake.path(name)).metadata().configuration.get(SORTED_ROWS, "0")
    return rows if has_grown(rows, arranged=int(known)) else 0


def has_grown(rows: int, *, arranged: int) -> bool:
    """Return True if enough rows were added since the last sort to be worth sorting all of them."""
    return rows - arranged >= max(MIN_NEW_ROWS, GROWTH * arranged)


def _remove_orphans(
    lake: Lake, engine: Engine, name: str, *, since: datetime | None, before: datetime
) -> None:
    found = engine.rows(
        f"""
        select distinct capture_id from {name}
        where committed_at < $before and ($since::timestamptz is null or committed_at >= $since)
            and capture_id is not null
            and capture_id not in (select capture_id from raw.captures)
        """,  # noqa: S608  # as above
        {"since": since, "before": before},
    )
    ids = [str(row["capture_id"]) for row in found]
    # The ids are part of the condition, whose length is bounded this way.
    for first in range(0, len(ids), _AT_ONCE):
        lake.delete(name, "capture_id", ids[first : first + _AT_ONCE])


def _sort_table(lake: Lake, name: str) -> None:
    lake.commit(
        name,
        f"arranging {name}",
        lambda delta: delta.optimize.z_order(
            [SORT_COLUMNS[name]],
            writer_properties=rewrite_properties(name),
            max_spill_size=SPILL_BYTES,
            max_concurrent_tasks=1,  # concurrent tasks would share the memory limit
        ),
    )


def _set_properties(lake: Lake, name: str, marks: dict[str, str]) -> None:
    """Write table properties after the work is done: after a crash in between it is repeated."""
    lake.commit(
        name,
        f"marking {name}",
        lambda delta: delta.alter.set_table_properties(marks, raise_if_not_exists=False),
    )
