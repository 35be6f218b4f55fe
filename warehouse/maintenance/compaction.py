"""Maintenance of the lake's files, in order: sort, merge, delete, index.

The steps are in `sorting`, `video_index` and `lake`; other maintenance is in
`pipelines.orchestration.worker.maintenance`.
"""

from dataclasses import dataclass
from datetime import datetime

from warehouse.lake.store import Lake
from warehouse.lake.video_index import WORKS
from warehouse.maintenance.sorting import arrange_lake
from warehouse.maintenance.video_index import renew_index

TIDY_FILES = 8
"""Compact tables with more files than this; during scans the limit is `CROWDED_FILES`."""


@dataclass(frozen=True, slots=True)
class Tidied:
    """Number of tables, files and observations processed."""

    tables_arranged: int
    files_merged: int
    files_deleted: int
    works_indexed: int


def tidy_lake(lake: Lake, *, now: datetime | None = None) -> Tidied:
    """Rewrite what has grown so that lookups are fast, and free disk space.

    Files are deleted a week after the last version that uses them, so a reader's files never
    disappear.

    Raises:
        CapacityExhaustedError: The disk is nearly full.
        WarehouseUnavailableError: The lake cannot be read or written.
    """
    # Sort first: what it rewrites needs no merge, and it proves which rows have their capture.
    arranged = arrange_lake(lake, now=now)
    merged = sum(map(lake.compact, lake.crowded(files=TIDY_FILES)))
    deleted = sum(lake.vacuum(table.name) for table in lake.tables)
    # Rebuild the index when the table is rewritten: otherwise its pages get fragmented too.
    indexed = renew_index(lake, anew=WORKS in arranged)
    return Tidied(len(arranged), merged, deleted, indexed)
