"""Maintenance of the lake's files, in order: sort, merge, delete, index.

The steps are in `sorting`, `video_index` and `lake`; other maintenance is in
`pipelines.orchestration.worker.maintenance`.
"""

from dataclasses import dataclass
from datetime import datetime

from warehouse.lake.store import Lake
from warehouse.lake.video_index import VIDEOS_TABLE
from warehouse.maintenance.sorting import sort_lake
from warehouse.maintenance.video_index import update_video_index

COMPACTED_ABOVE_FILES = 8
"""Compact tables with more files than this; during scans the limit is `MAX_TABLE_FILES`."""


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
    arranged = sort_lake(lake, now=now)
    merged = lake.compact_crowded(files=COMPACTED_ABOVE_FILES)
    deleted = sum(lake.vacuum(table.name) for table in lake.tables)
    # Rebuild the index when the table is rewritten: otherwise its pages get fragmented too.
    indexed = update_video_index(lake, anew=VIDEOS_TABLE in arranged)
    return LakeMaintenance(len(arranged), merged, deleted, indexed)
