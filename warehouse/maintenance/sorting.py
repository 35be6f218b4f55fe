"""Arranging large tables: rows of one entity side by side, and proof that their captures are whole.

A look-up then opens a few row groups instead of all, and asks for the captures of young rows only.
Here: which column, when it is worth while, in which order. Not here: when upkeep runs.
"""

from contextlib import closing
from datetime import UTC, datetime, timedelta

from deltalake import DeltaTable

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.file_layout import ARRANGED_BY, writer_of
from warehouse.lake.schema_evolution import WHOLE_BEFORE, retry_commits
from warehouse.lake.store import Lake, storage_errors

CAPTURES = "raw.captures"
FEW_ROWS = 30_000  # two row groups; 75,000 accounts in one piece took 15 ms to look one up, now 4
GROWTH = 0.25  # rows are then written again five times in their life, on average
SETTLED = timedelta(hours=1)
"""A batch is written within seconds; what has no capture after so long will never have one."""

SPILL_BYTES = 1_000_000_000
ARRANGED_ROWS = "sametrack.arranged_rows"
_AT_ONCE = 1000


def arrange_lake(lake: Lake, *, now: datetime | None = None) -> list[str]:
    """Arrange the tables that have grown by a quarter since they were arranged; returns which.

    Rows that a writer died over, older than an hour and without a capture, go first, every time and
    from every table: what is left needs no look for its capture any more, which in a large lake
    costs more than the look-up itself. A table is written anew, in the memory of a gigabyte and
    files beyond it; readers and writers go on.

    Raises:
        WarehouseUnavailableError: The lake cannot be read or written.
    """
    before = (now or datetime.now(UTC)) - SETTLED
    with closing(Engine(lake)) as engine:
        _settle(lake, engine, before)
        due = {name: rows for name in ARRANGED_BY if (rows := _rows_if_due(lake, engine, name))}
    for name, rows in due.items():
        _arrange(lake, name)
        _mark(lake, name, {ARRANGED_ROWS: str(rows)})
    return list(due)


def _settle(lake: Lake, engine: Engine, before: datetime) -> None:
    """Prove of all tables of observations that what is older is whole; once there is any."""
    if not _holds(engine, CAPTURES):
        return
    for name in _observations(lake):
        since = engine.whole_before(name)
        if since is not None and since >= before:
            continue
        _remove_orphans(lake, engine, name, since=since, before=before)
        _mark(lake, name, {WHOLE_BEFORE: before.isoformat()})


def _holds(engine: Engine, name: str) -> bool:
    return bool(engine.rows(f"select 1 from {name} limit 1"))  # noqa: S608  # a name of this module


def _observations(lake: Lake) -> list[str]:
    """Tables whose rows belong to a capture."""
    return [
        table.name
        for table in lake.tables
        if table.name != CAPTURES and any(column.name == "capture_id" for column in table.columns)
    ]


def _rows_if_due(lake: Lake, engine: Engine, name: str) -> int:
    """How many rows a table has where it is to be arranged; 0 where it is not."""
    rows = int(str(engine.rows(f"select count(*) as n from {name}")[0]["n"]))  # noqa: S608  # a name of this module
    with storage_errors(f"reading {name}"):
        known = DeltaTable(lake.path(name)).metadata().configuration.get(ARRANGED_ROWS, "0")
    return rows if has_grown(rows, arranged=int(known)) else 0


def has_grown(rows: int, *, arranged: int) -> bool:
    """True when so much came to the rows arranged before that arranging all of them is worth it."""
    return rows - arranged >= max(FEW_ROWS, GROWTH * arranged)


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
    for first in range(0, len(ids), _AT_ONCE):
        lake.delete(name, "capture_id", ids[first : first + _AT_ONCE])


def _arrange(lake: Lake, name: str) -> None:
    with storage_errors(f"arranging {name}"):
        for attempt in retry_commits():
            with attempt:
                DeltaTable(lake.path(name)).optimize.z_order(
                    [ARRANGED_BY[name]],
                    writer_properties=writer_of(name),
                    max_spill_size=SPILL_BYTES,
                    max_concurrent_tasks=1,  # two share the memory, which one may lack
                )


def _mark(lake: Lake, name: str, marks: dict[str, str]) -> None:
    """Said only once it is done: after a crash in between it is done once more."""
    with storage_errors(f"marking {name}"):
        for attempt in retry_commits():
            with attempt:
                DeltaTable(lake.path(name)).alter.set_table_properties(
                    marks, raise_if_not_exists=False
                )
