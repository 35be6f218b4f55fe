"""Run scans at low priority, so that the API responds within milliseconds on a busy machine.

On an idle machine this changes nothing. Not here: which processes use it (`worker.py`, `runs/`),
whether (`WORKER_GIVES_WAY`), and when it is too much (`processor_share.py`).
"""

import os
from pathlib import Path

import psutil

NICENESS = 10
_SELF = Path("/proc/self")


def lower_process_priority() -> None:
    """Lower the priority of this process within its session."""
    os.nice(NICENESS)


def restore_process_priority(proc: Path = _SELF) -> bool:
    """Give this process, what it has started and its session the normal priority back.

    Returns False if the operating system does not permit that.
    """
    own = psutil.Process()
    try:
        for one in (own, *own.children(recursive=True)):
            for thread in one.threads():  # on Linux each thread has a niceness of its own
                os.setpriority(os.PRIO_PROCESS, thread.id, 0)
    except (OSError, psutil.Error):
        return False
    restore_session_priority(proc)  # the niceness within the session counts anyway
    return True


def restore_session_priority(proc: Path = _SELF) -> bool:
    """Give the session of this process the normal priority back; return whether it could."""
    return _set_session_niceness(0, proc)


def lower_session_priority(proc: Path = _SELF, *, leader: int | None = None) -> bool:
    """Lower the priority of this process's session; return False if that is not possible.

    Linux shares the CPU among sessions first (sched(7), autogroup), and niceness counts only
    within a session: next to a service in its own session, nice scans would get as much CPU as
    the service. A session led by another process than `leader` (by default this process), such as
    a terminal, is left unchanged.
    """
    if os.getsid(0) != (os.getpid() if leader is None else leader):
        return False
    return _set_session_niceness(NICENESS, proc)


def _set_session_niceness(niceness: int, proc: Path) -> bool:
    try:
        (proc / "autogroup").write_text(str(niceness))
    except OSError:  # not Linux, a kernel without autogroup, or a container without permission
        return False
    return True
