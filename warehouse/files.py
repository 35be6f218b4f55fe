"""Files and the disk below them: what is wrong with them, in our words.

A path that should name a file to read has one reason for every command. A disk may be full, or a
folder not writable. Errors of the libraries that read and write the files of the stores become our
own here.
"""

import errno
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal
from uuid import uuid4

from warehouse.records.errors import InvalidParameterError, WarehouseUnavailableError

# Paths that users name: what is wrong with one that should be a file to read, or a folder.

type FileReason = Literal["file_missing", "not_a_file", "file_empty", "file_unreadable"]
_URL = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder, not a file"),
    (stat.S_ISFIFO, "a pipe, not a file: write its content to a file first"),
    (stat.S_ISSOCK, "a socket, not a file"),
    (stat.S_ISCHR, "a device, not a file"),
    (stat.S_ISBLK, "a device, not a file"),
)


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Why a path names no file that can be read.

    Attributes:
        reason: Stable code.
        name: The path as it was given.
        what: The end of a sentence that begins with a name.
    """

    reason: FileReason
    name: str
    what: str

    @property
    def detail(self) -> str:
        """The whole sentence."""
        return f"{self.name} {self.what}"


def is_url(text: str) -> bool:
    """Return True if a text begins as a URL does, also after a path has joined its slashes."""
    return _URL.match(text) is not None


def file_problem(path: Path) -> FileProblem | None:
    """Return what is wrong with a path, or None if it names a file that is readable and not empty.

    Nothing of the file is read, and a pipe is not opened.
    """
    name = str(path)
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return _missing(path)
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        why = getattr(error, "strerror", None) or str(error)
        return FileProblem("file_unreadable", name, f"cannot be read: {why}")
    kind = next((what for is_kind, what in _KINDS if is_kind(status.st_mode)), None)
    if kind is not None:
        return FileProblem("not_a_file", name, f"is {kind}")
    if status.st_size == 0:
        return FileProblem("file_empty", name, "is empty")
    if not os.access(path, os.R_OK):
        return FileProblem("file_unreadable", name, "cannot be read: Permission denied")
    return None


def _missing(path: Path) -> FileProblem:
    """Say what a path is that leads to nothing."""
    name = str(path)
    if is_url(name):
        url = re.sub(":/+", "://", name, count=1)  # a path has lost one of the slashes
        return FileProblem("not_a_file", url, "is a URL, not a file: download it first")
    if name == "-":
        return FileProblem("not_a_file", name, "is not a file: standard input is not read here")
    if path.is_symlink():
        return FileProblem("not_a_file", name, "is a link to a file that does not exist")
    return FileProblem("file_missing", name, "does not exist")


def folder_problem(path: Path) -> str | None:
    """Return a sentence on a path that names no folder, or None."""
    if path.is_dir():
        return None
    problem = None if path.exists() else file_problem(path)
    return f"{path} is not a folder" if problem is None else problem.detail


def read_text(path: Path, *, what: str | None = None, hint: str | None = None) -> str:
    """Return the text of a file.

    Args:
        path: The file.
        what: How messages name it; None: by its path.
        hint: What to do if it cannot be read.

    Raises:
        InvalidParameterError: The path names no file, or the file is empty or no text in UTF-8.
    """
    problem = file_problem(path)
    if problem is not None:
        raise InvalidParameterError(f"{what or problem.name} {problem.what}", hint=hint)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidParameterError(f"{what or path} is not a text in UTF-8", hint=hint) from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InvalidParameterError(f"{what or path} cannot be read: {why}", hint=hint) from error


def check_file(path: Path, *, hint: str | None = None) -> None:
    """Refuse a path that names no file that can be read.

    Raises:
        InvalidParameterError: See `file_problem`.
    """
    problem = file_problem(path)
    if problem is not None:
        raise InvalidParameterError(problem.detail, hint=hint)


def write_once(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read; of several processes the first one wins."""
    draft = path.with_name(f"{path.name}.{uuid4().hex}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())  # before the link, which may reach the disk first
    try:
        # A link fails if the file exists, where a rename would replace what another process wrote.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


# Free disk space, and whether a folder can be written.

MIN_FREE_BYTES = 50 * 1024 * 1024
"""With less the lake writes nothing: a full disk breaks more than one write. Running scans must
still be able to finish, so new jobs are refused much earlier (`MIN_FREE_DISK_MB`)."""

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


# Errors of the libraries that read and write the files of the stores, as errors of our own.
#
# A library's message never goes into `detail`, because it can contain paths and URLs; the cause
# stays attached for the log. Of the message only the name of a damaged or missing file is used,
# without its folder.

_HINT_OF_STORE = "check that the store is reachable, the free disk space and the owner of the files"
_HINT_OF_DAMAGE = (
    "restore the last backup with `sametrack restore` into a new DATA_HOME; "
    "no other file was changed, so keep this one to recover what is newer"
)
_HINT_OF_PERMISSION = (
    "mount the disk for writing, and check the owner and the permissions of the files in DATA_HOME"
)
_DATA_FILE = re.compile(r"[A-Za-z0-9_.=-]+\.(?:parquet|duckdb)")
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
    what: str, *, causes: tuple[type[Exception], ...], retry_after: float | None = None
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
            problem, hint = f" ({type(error).__name__})", _HINT_OF_STORE
        raise WarehouseUnavailableError(
            f"{what} failed{problem}", hint=hint, retry_after=retry_after
        ) from error


def find_damaged_file(error: Exception) -> str | None:
    """Return the name of the file that an error says is damaged or missing; None for others."""
    text = str(error)
    for message, name in _DAMAGES.items():
        if message in text:
            match = _DATA_FILE.search(text)
            return name or (match[0] if match else "a file")
    return None
