"""What is wrong with a path that should name a file to read: one reason for every command."""

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from warehouse.records.errors import InvalidParameterError

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
