"""Turns at a table in a folder: many write at once, and one forgets old versions alone.

Files that are just being written are in no version yet, so that forgetting would delete them. At an
object store there are no turns.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TURN = "_forgetting.lock"  # Delta takes files that begin with an underscore for its own


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Write to the table at `path`, beside others; waits while old versions are forgotten."""
    with _turn(path, fcntl.LOCK_SH):
        yield


@contextmanager
def writing_alone(path: str) -> Iterator[bool]:
    """Wait until nobody writes to the table, and let nobody; False if there are no turns."""
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
