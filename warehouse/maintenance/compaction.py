"""What upkeep does about the files of a lake: written in order, merged, let go of, indexed.

Here: the order of it. Not here: each of them (`arranging`, `indexing`, `lake`), what else upkeep
does (`pipelines.orchestration.worker.maintenance`).
"""

from dataclasses import dataclass
from datetime import datetime

from warehouse.lake.store import Lake
from warehouse.lake.video_index import WORKS
from warehouse.maintenance.sorting import arrange_lake
from warehouse.maintenance.video_index import renew_index

TIDY_FILES = 8
"""A table of more files is compacted; beside scans it is at `CROWDED_FILES`."""


@dataclass(frozen=True, slots=True)
class Tidied:
    """How many tables, files and observations of works it was about."""

    tables_arranged: int
    files_merged: int
    files_deleted: int
    works_indexed: int


def tidy_lake(lake: Lake, *, now: datetime | None = None) -> Tidied:
    """Write what has grown so that it is found quickly, and give the disk its space back.

    Files go a week after the last version that names them: no reader meets a vanished one.

    Raises:
        CapacityExhaustedError: The disk is nearly full.
        WarehouseUnavailableError: The lake cannot be read or written.
    """
    # Arranging first: what it writes anew need not be merged before, and it tells what is whole.
    arranged = arrange_lake(lake, now=now)
    merged = sum(map(lake.compact, lake.crowded(files=TIDY_FILES)))
    deleted = sum(lake.vacuum(table.name) for table in lake.tables)
    # Anew as often as the table itself: added to for long, its pages would lie scattered as well.
    indexed = renew_index(lake, anew=WORKS in arranged)
    return Tidied(len(arranged), merged, deleted, indexed)
