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
    """Why a path names no file that can be read: a stable reason, and a sentence."""

    reason: FileReason
    detail: str


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
        return FileProblem("file_unreadable", f"{name} cannot be read: {why}")
    kind = next((what for is_kind, what in _KINDS if is_kind(status.st_mode)), None)
    if kind is not None:
        return FileProblem("not_a_file", f"{name} is {kind}")
    if status.st_size == 0:
        return FileProblem("file_empty", f"{name} is empty")
    if not os.access(path, os.R_OK):
        return FileProblem("file_unreadable", f"{name} cannot be read: Permission denied")
    return None


def _missing(path: Path) -> FileProblem:
    """Say what a path is that leads to nothing."""
    name = str(path)
    if is_url(name):
        url = re.sub(":/+", "://", name, count=1)  # a path has lost one of the slashes
        return FileProblem("not_a_file", f"{url} is a URL, not a file: download it first")
    if name == "-":
        return FileProblem("not_a_file", "- is not a file: standard input is not read here")
    if path.is_symlink():
        return FileProblem("not_a_file", f"{name} is a link to a file that does not exist")
    return FileProblem("file_missing", f"{name} does not exist")


def check_file(path: Path, *, hint: str | None = None) -> None:
    """Refuse a path that names no file that can be read.

    Raises:
        InvalidParameterError: See `file_problem`.
    """
    problem = file_problem(path)
    if problem is not None:
        raise InvalidParameterError(problem.detail, hint=hint)
