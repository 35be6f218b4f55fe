"""A watchdog process that stops the children of its parent if the parent is killed.

Runs as a script (`python -I -S parent_watchdog.py`) on the standard library alone, so that it
needs only a few megabytes. It reads lines `+PGID`, `-PGID` and `~FOLDER` from stdin. If stdin ends
without the line `done`, the parent was killed: every registered process group gets SIGTERM, then
SIGKILL, and the folders are removed. A parent-death signal (PR_SET_PDEATHSIG) does not suffice:
only Linux has it, it is sent when the thread that started the child ends, and it reaches one
process. A pipe works on every Unix, and for whole process groups.
"""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable

GRACE_S = 30.0
"""How long processes have to end after SIGTERM. No user waits for it, and a process that starts on
a busy machine takes seconds to react."""
KILLED_S = 2.0
"""How long the kernel has to end them after SIGKILL."""
POLL_INTERVAL_S = 0.1


def signal_group(pgid: int, number: int) -> bool:
    """Send a signal to a process group; return False if the group no longer exists."""
    try:
        os.killpg(pgid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def read_registered(lines: Callable[[], str]) -> tuple[set[int], list[str]]:
    """Return the groups and folders registered at the end of input; both are empty after `done`."""
    groups: set[int] = set()
    folders: list[str] = []
    for line in iter(lines, ""):
        message = line.rstrip("\n")
        if message == "done":
            return set(), []
        sign, name = message[:1], message[1:]
        if sign == "~":
            folders.append(name)
        elif sign == "+":
            groups.add(int(name))
        elif sign == "-":
            groups.discard(int(name))
    return groups, folders


def terminate_groups(groups: set[int], *, grace_s: float = GRACE_S) -> None:
    """Send SIGTERM to all groups, and SIGKILL to those left after `grace_s`; wait for their end."""
    alive = _wait_for_end({pgid for pgid in groups if signal_group(pgid, signal.SIGTERM)}, grace_s)
    _wait_for_end({pgid for pgid in alive if signal_group(pgid, signal.SIGKILL)}, KILLED_S)


def _wait_for_end(groups: set[int], limit_s: float) -> set[int]:
    """Return the groups that still exist after at most `limit_s`."""
    until = time.monotonic() + limit_s
    while groups and time.monotonic() < until:
        time.sleep(POLL_INTERVAL_S)
        groups = {pgid for pgid in groups if signal_group(pgid, 0)}
    return groups


def main() -> None:
    """Read stdin until it ends. Signals meant for the parent must not stop the watchdog."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups, folders = read_registered(sys.stdin.readline)
    terminate_groups(groups)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
