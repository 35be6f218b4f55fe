"""A keeper process that ends the others when the one who started them is gone.

Run as a script of its own (`python -I -S leash.py`), standard library only, so that it costs a few
megabytes. It reads lines `+PGID`, `-PGID` and `~FOLDER` from stdin. When stdin ends without the
word `done`, its parent was killed: every process group still listed gets SIGTERM, then SIGKILL,
and the folders are removed. A pipe tells this on every Unix and for whole groups, which a
parent-death signal does not.
"""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable

GRACE_S = 4.0
LOOK_EVERY_S = 0.1


def signal_group(pgid: int, number: int) -> bool:
    """Send a signal to a process group; False when nobody of it is left."""
    try:
        os.killpg(pgid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def read_estate(lines: Callable[[], str]) -> tuple[set[int], list[str]]:
    """Groups and folders that were still listed when the input ended; nothing after `done`."""
    groups: set[int] = set()
    folders: list[str] = []
    for line in iter(lines, ""):
        word = line.rstrip("\n")
        if word == "done":
            return set(), []
        if word[:1] == "~":
            folders.append(word[1:])
        elif word[:1] == "+":
            groups.add(int(word[1:]))
        elif word[:1] == "-":
            groups.discard(int(word[1:]))
    return groups, folders


def end_groups(groups: set[int], *, grace_s: float = GRACE_S) -> None:
    """SIGTERM to all groups, SIGKILL to those that are still there after the grace."""
    left = {pgid for pgid in groups if signal_group(pgid, signal.SIGTERM)}
    until = time.monotonic() + grace_s
    while left and time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
        left = {pgid for pgid in left if signal_group(pgid, 0)}
    for pgid in left:
        signal_group(pgid, signal.SIGKILL)


def main() -> None:
    """Watch stdin until it ends. Signals meant for the parent must not end the keeper."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups, folders = read_estate(sys.stdin.readline)
    end_groups(groups)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
