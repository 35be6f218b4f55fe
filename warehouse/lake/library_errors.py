"""Translation of storage library errors.

A library's message never goes into `detail`, because it can contain paths and URLs; the cause stays
attached for the log. Of the message only the name of a damaged or missing file is used, without its
folder.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from warehouse.records.errors import WarehouseUnavailableError

_HINT = "check that the store is reachable, the free disk space and the owner of the files"
_HINT_OF_DAMAGE = (
    "restore the last backup with `sametrack restore` into a new DATA_HOME; "
    "no other file was changed, so keep this one to recover what is newer"
)
_HINT_OF_PERMISSION = (
    "mount the disk for writing, and check the owner and the permissions of the files in DATA_HOME"
)
_FILE = re.compile(r"[A-Za-z0-9_.=-]+\.(?:parquet|duckdb)")
_DAMAGES = {
    "file is not a database": "control.sqlite",
    "database disk image is malformed": "control.sqlite",
    "Kernel error: Json error": "a file of its transaction log (_delta_log)",
    "No magic bytes found": None,
    "too small to be a Parquet file": None,
    "No files found that match": None,
    "TProtocolException": None,
    "Invalid Parquet": None,
    "Requested range was invalid": None,
    "Object at location": None,
}
"""Messages of libraries about a damaged or missing file, and its name if they do not state it."""
_NO_PERMISSION = (
    "attempt to write a readonly database",
    "unable to open database file",
    "Permission denied",
    "Read-only file system",
)
"""Messages of libraries and the system about files on a read-only disk, or of another owner."""
_DISK_FAULTS = ("disk I/O error", "Input/output error")
_HINT_OF_FAULT = "look at the system's log: the disk may be broken, or read-only since an error"


@contextmanager
def translate_errors(
    what: str, *causes: type[Exception], retry_after: float | None = None
) -> Iterator[None]:
    """Translate `causes`, raised while doing `what`; `retry_after` as in `SametrackError`.

    Raises:
        WarehouseUnavailableError: In place of any of them.
    """
    try:
        yield
    except causes as error:
        damaged = find_damaged_file(error)
        if damaged is not None:
            # Trying again does not mend a file, so there is no `retry_after`.
            raise WarehouseUnavailableError(
                f"{what} failed: {damaged} is damaged or missing", hint=_HINT_OF_DAMAGE
            ) from error
        text = str(error)
        if any(message in text for message in _NO_PERMISSION):
            problem = ": the disk is read-only, or the files may not be written"
            hint = _HINT_OF_PERMISSION
        elif any(message in text for message in _DISK_FAULTS):
            problem, hint = ": the disk reports an error", _HINT_OF_FAULT
        else:
            problem, hint = f" ({type(error).__name__})", _HINT
        raise WarehouseUnavailableError(
            f"{what} failed{problem}", hint=hint, retry_after=retry_after
        ) from error


def find_damaged_file(error: Exception) -> str | None:
    """Return the name of the file that an error says is damaged or missing; None for others."""
    text = str(error)
    for message, name in _DAMAGES.items():
        if message in text:
            match = _FILE.search(text)
            return name or (match[0] if match else "a file")
    return None
