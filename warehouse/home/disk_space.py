"""Free disk space: refuse to write before the disk is full; and whether a folder can be written.

New jobs are refused much earlier (`MIN_FREE_DISK_MB`).
"""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile

from warehouse.records.errors import CapacityExhaustedError

MIN_FREE_BYTES = 50 * 1024 * 1024
"""A full disk breaks more than one write, and running scans must still be able to finish."""

_MEGABYTE = 1024 * 1024

type FreeBytes = Callable[[str], int]
"""Returns the free bytes on the disk of a folder."""


def free_bytes(folder: str) -> int:
    """Return the free bytes as reported by the file system."""
    return shutil.disk_usage(folder).free


def free_megabytes(folder: Path) -> int:
    """Return the free space on the disk of a folder, which `MIN_FREE_DISK_MB` is compared with."""
    return free_bytes(str(folder)) // _MEGABYTE


def why_unwritable(folder: Path) -> str | None:
    """Return why a folder cannot be written, or None if it can.

    For example `it is read-only for this process`.
    """
    # Writing is the only test: a file system that became read-only after an error still grants
    # the permission.
    try:
        with TemporaryFile(dir=folder):
            return None
    except OSError as error:
        if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
            return "it is read-only for this process"
        return f"it cannot be written ({error.strerror})"


def check_free_space(folder: str, *, free: FreeBytes) -> None:
    """Refuse to write if the disk is nearly full.

    Raises:
        CapacityExhaustedError: Less than `MIN_FREE_BYTES` are free.
    """
    size = free(folder)
    if size < MIN_FREE_BYTES:
        raise CapacityExhaustedError(
            f"only {size // 1_000_000} MB of disk space are free, so nothing is written",
            hint="free disk space, or run `sametrack maintain`",
        )
