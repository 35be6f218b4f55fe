"""Scans and their listeners give way to the front door: whoever looks at a job on a machine that is
busy with scans has an answer within milliseconds. On an idle machine it changes nothing.

Here: how a process says so to the scheduler. Not here: which processes do (`worker`, `runs`), and
whether (`WORKER_GIVES_WAY`).
"""

import os
from pathlib import Path

NICENESS = 10
_SELF = Path("/proc/self")


def give_way() -> None:
    """This process is less urgent than the others of its session."""
    os.nice(NICENESS)


def give_way_as_session(proc: Path = _SELF) -> bool:
    """The session of this process is less urgent than other sessions; False where that is not so.

    Linux shares the processor among sessions first (sched(7), autogroup), and niceness counts
    only within one: beside a service in a session of its own, nice scans take as much as it does.
    A session that somebody else leads, a terminal's, stays as it is.
    """
    if os.getsid(0) != os.getpid():
        return False
    try:
        (proc / "autogroup").write_text(str(NICENESS))
    except OSError:  # another system, a kernel without it, or a container that may not
        return False
    return True
