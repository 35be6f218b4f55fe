"""Locks on a table in a folder: shared by writers, exclusive for deleting old versions.

Files that are just being written belong to no version yet, so deleting old versions would delete
them. An object store has no such locks.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TURN = "_forgetting.lock"  # Delta takes files that begin with an underscore for its own


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Write to the table at `path` at the same time as others.

    Waits while a process deletes old versions.
    """
    with _turn(path, fcntl.LOCK_SH):
        yield


@contextmanager
def writing_alone(path: str) -> Iterator[bool]:
    """Take an exclusive lock on the table; yields False in an object store, which has no locks."""
    with _turn(path, fcntl.LOCK_EX) as is_alone:
        yield is_alone


@contextmanager
def _turn(path: str, kind: int) -> Iterator[bool]:
    if not Path(path).is_dir():  # an object store, or a folder that has vanished
        yield False
        return
    with Path(path, TURN).open("w") as turn:
        fcntl.flock(turn, kind)
        try:
            yield True
        finally:
            fcntl.flock(turn, fcntl.LOCK_UN)  # closing does not, if a fork has inherited it
