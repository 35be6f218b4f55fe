"""Translation of storage library errors.

A library's message never goes into `detail`, because it can contain paths and URLs; the cause stays
attached for the log. What a damaged or missing file is called is taken from it, without its folder.
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
"""What libraries say of a damaged or missing file, and its name where they do not say it."""
_NO_PERMISSION = (
    "attempt to write a readonly database",
    "unable to open database file",
    "Permission denied",
    "Read-only file system",
)
"""What libraries and the system say of files on a read-only disk, or of another owner."""
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
            raise WarehouseUnavailableError(
                f"{what} failed: {damaged} is damaged or missing", hint=_HINT_OF_DAMAGE
            ) from error
        problem, hint = _explain(error)
        raise WarehouseUnavailableError(
            f"{what} failed{problem}", hint=hint, retry_after=retry_after
        ) from error


def _explain(error: Exception) -> tuple[str, str]:
    """What is wrong, as the end of a sentence, and what to do."""
    text = str(error)
    if any(said in text for said in _NO_PERMISSION):
        return ": the disk is read-only, or the files may not be written", _HINT_OF_PERMISSION
    if any(said in text for said in _DISK_FAULTS):
        return ": the disk reports an error", _HINT_OF_FAULT
    return f" ({type(error).__name__})", _HINT


def find_damaged_file(error: Exception) -> str | None:
    """Return the name of the file that an error says is damaged or missing; None for others."""
    text = str(error)
    for said, name in _DAMAGES.items():
        if said in text:
            found = _FILE.search(text)
            return name or (found[0] if found else "a file")
    return None
