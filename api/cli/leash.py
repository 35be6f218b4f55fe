"""A keeper process that ends the others when the one who started them is gone.

Run as a script of its own (`python -I -S leash.py`), standard library only, so that it costs a few
megabytes. It reads lines `+PGID` and `-PGID` from stdin. When stdin ends without the word `done`,
its parent was killed: every process group still listed gets SIGTERM, then SIGKILL. A pipe tells
this on every Unix and for whole groups, which a parent-death signal does not.
"""

import os
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


def read_groups(lines: Callable[[], str]) -> set[int]:
    """Groups that were still listed when the input ended; empty after `done`."""
    groups: set[int] = set()
    for line in iter(lines, ""):
        word = line.strip()
        if word == "done":
            return set()
        if word[:1] == "+":
            groups.add(int(word[1:]))
        elif word[:1] == "-":
            groups.discard(int(word[1:]))
    return groups


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
    end_groups(read_groups(sys.stdin.readline))


if __name__ == "__main__":
    main()
