"""The share of the processor that a process gets of what it wants, and what follows if it is small.

A process that gives way to others could starve on a busy machine. So it measures its own share, and
takes back its normal priority when that stays below a floor. Without the permission for that (it
needs `CAP_SYS_NICE`) the scan goes on slowly and says that it waits for the processor.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import structlog

from pipelines.orchestration.worker.low_priority import restore_process_priority

FLOOR = 0.25
"""Share of the wanted processor time below which a process counts as starved."""
WINDOW_S = 10.0
LEAST_WANTED = 0.1
"""A process that wants less than this share of a window has no use for a better priority."""
_SELF = Path("/proc/self")
_NS = 1e9

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ProcessorTimes:
    """Seconds that all threads of a process have run, and have waited to run."""

    ran_s: float
    waited_s: float

    @classmethod
    def read(cls, proc: Path = _SELF) -> Self | None:
        """Return the times of this process; None where the kernel does not count them.

        The source is `/proc/self/task/*/schedstat` (Linux, `CONFIG_SCHED_INFO`).
        """
        counted = [one.split() for one in _read_all(proc / "task")]
        if not counted:
            return None
        return cls(
            sum(int(one[0]) for one in counted) / _NS, sum(int(one[1]) for one in counted) / _NS
        )


def _read_all(tasks: Path) -> Iterator[str]:
    for task in tasks.glob("*"):
        try:
            yield (task / "schedstat").read_text()
        except OSError:  # the thread has ended meanwhile
            continue


def share_between(
    before: ProcessorTimes, after: ProcessorTimes, *, window_s: float
) -> float | None:
    """Return the share of the wanted time that a process got; None if it wanted next to nothing.

    Threads that have ended take their times with them, so a difference can be negative.
    """
    ran, waited = max(0.0, after.ran_s - before.ran_s), max(0.0, after.waited_s - before.waited_s)
    wanted = ran + waited
    return ran / wanted if wanted >= LEAST_WANTED * window_s else None


class ShareGuard:
    """Measures the share once per window; restores the priority when it falls below the floor.

    Args:
        tell: Called with True when the process starves, and with False when it does no more.
        restore: Takes the normal priority back; returns whether it could.
        window_s: Seconds between two looks.
    """

    def __init__(
        self,
        tell: Callable[[bool], object],
        *,
        restore: Callable[[], bool] = restore_process_priority,
        window_s: float = WINDOW_S,
    ) -> None:
        self._tell = tell
        self._restore = restore
        self.window_s = window_s
        self._before: ProcessorTimes | None = None
        self._has_tried = False

    def look(self, times: ProcessorTimes | None) -> None:
        """Take the times at the end of a window."""
        before, self._before = self._before, times
        if before is None or times is None:
            return
        share = share_between(before, times, window_s=self.window_s)
        is_starved = share is not None and share < FLOOR
        self._tell(is_starved)
        # One attempt per period of starvation: what the system refused, it would refuse again.
        had_tried, self._has_tried = self._has_tried, is_starved
        if is_starved and not had_tried:
            is_restored = self._restore()
            log.warning("too little processor time", share=share, priority_restored=is_restored)


def guard_share(
    tell: Callable[[bool], object],
    *,
    restore: Callable[[], bool] = restore_process_priority,
    window_s: float = WINDOW_S,
) -> None:
    """Watch the share of this process in a thread, as long as it lives; as `ShareGuard` does."""
    guard = ShareGuard(tell, restore=restore, window_s=window_s)

    def watch() -> None:
        while True:
            guard.look(ProcessorTimes.read())
            time.sleep(guard.window_s)

    threading.Thread(target=watch, name="processor-share", daemon=True).start()
