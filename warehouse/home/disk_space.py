"""Room on a disk: refusing to write while a write would still succeed.

Not here: refusing new work, which is done long before (`MIN_FREE_DISK_MB`).
"""

import shutil
from collections.abc import Callable

from warehouse.records.errors import CapacityExhaustedError

FLOOR_BYTES = 50 * 1024 * 1024
"""A full disk breaks more than one write, and what runs shall still end in order."""

type FreeBytes = Callable[[str], int]
"""How many bytes are free on the disk of a folder."""


def free_bytes(folder: str) -> int:
    """As the file system says."""
    return shutil.disk_usage(folder).free


def check_room(folder: str, *, free: FreeBytes) -> None:
    """Refuse to write where the disk is nearly full.

    Raises:
        CapacityExhaustedError: There is less room than `FLOOR_BYTES`.
    """
    found = free(folder)
    if found < FLOOR_BYTES:
        raise CapacityExhaustedError(
            f"only {found // 1_000_000} MB of disk are free, so nothing more is written",
            hint="free disk space, or run `sametrack maintain`",
        )
