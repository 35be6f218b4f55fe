"""Run scans at low priority, so that the API responds within milliseconds on a busy machine.

On an idle machine this changes nothing. Not here: which processes use it (`worker.py`, `runs/`),
and whether (`WORKER_GIVES_WAY`).
"""

import os
from pathlib import Path

NICENESS = 10
_SELF = Path("/proc/self")


def lower_process_priority() -> None:
    """Lower the priority of this process within its session."""
    os.nice(NICENESS)


def lower_session_priority(proc: Path = _SELF) -> bool:
    """Lower the priority of this process's session; return False if that is not possible.

    Linux shares the CPU among sessions first (sched(7), autogroup), and niceness counts only
    within a session: next to a service in its own session, nice scans would get as much CPU as
    the service. A session led by another process, such as a terminal, is left unchanged.
    """
    if os.getsid(0) != os.getpid():
        return False
    try:
        (proc / "autogroup").write_text(str(NICENESS))
    except OSError:  # not Linux, a kernel without autogroup, or a container without permission
        return False
    return True
