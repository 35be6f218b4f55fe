"""Arranging large tables: rows of one entity side by side, and proof that their captures are whole.

A look-up then opens a few row groups instead of all, and asks for the captures of young rows only.
Here: which column, when it is worth while, in which order. Not here: when upkeep runs.
"""

from contextlib import closing
from datetime import UTC, datetime, timedelta

from deltalake import DeltaTable

from warehouse.engine import Engine
from warehouse.evolution import WHOLE_BEFORE, retry_commits
from warehouse.lake import Lake, storage_errors
from warehouse.layout import ARRANGED_BY, writer_of

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

    Rows that a writer died over, older than an hour and without a capture, go first, from all
    tables: a small one is also read faster when no capture is to be looked for. A table is written
    anew, in the memory of a gigabyte and files beyond it; readers and writers go on.

    Raises:
        WarehouseUnavailableError: The lake cannot be read or written.
    """
    before = (now or datetime.now(UTC)) - SETTLED
    with closing(Engine(lake)) as engine:
        due = {name: rows for name in ARRANGED_BY if (rows := _rows_if_due(lake, engine, name))}
        if not due:
            return []
        for name in _observations(lake):
            _remove_orphans(lake, engine, name, before)
    for name, rows in due.items():
        _arrange(lake, name)
        _mark(lake, name, {ARRANGED_ROWS: str(rows)})
    for name in _observations(lake):
        _mark(lake, name, {WHOLE_BEFORE: before.isoformat()})
    return list(due)


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
    return rows if rows - int(known) >= max(FEW_ROWS, GROWTH * int(known)) else 0


def _remove_orphans(lake: Lake, engine: Engine, name: str, before: datetime) -> None:
    found = engine.rows(
        f"""
        select distinct capture_id from {name}
        where committed_at < $before and capture_id is not null
            and capture_id not in (select capture_id from raw.captures)
        """,  # noqa: S608  # as above
        {"before": before},
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
                )


def _mark(lake: Lake, name: str, marks: dict[str, str]) -> None:
    """Said only once it is done: after a crash in between it is done once more."""
    with storage_errors(f"marking {name}"):
        for attempt in retry_commits():
            with attempt:
                DeltaTable(lake.path(name)).alter.set_table_properties(
                    marks, raise_if_not_exists=False
                )
