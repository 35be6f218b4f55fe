"""A scan that gives way measures what it gets of the processor, and does not starve."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.repeated import BUSY
from pipelines.orchestration.worker.processor_share import (
    FLOOR,
    WINDOW_S,
    ProcessorTimes,
    ShareGuard,
    share_between,
)

SECONDS = st.floats(0, 1e6, allow_nan=False)
RESTORE = """
import os, time
from pipelines.orchestration.worker.low_priority import (
    NICENESS, lower_process_priority, restore_process_priority,
)
inherited = os.getpriority(os.PRIO_PROCESS, 0)  # the tests may run under `nice`
lower_process_priority()
lowered = os.getpriority(os.PRIO_PROCESS, 0)
assert lowered == min(inherited + NICENESS, 19)
is_restored = restore_process_priority()
assert os.getpriority(os.PRIO_PROCESS, 0) == (0 if is_restored else lowered)
print(is_restored)
"""
STARVE = """
import os, subprocess, sys, threading
from pipelines.orchestration.worker.low_priority import lower_process_priority
from pipelines.orchestration.worker.processor_share import guard_share

lines = []
os.setpriority(os.PRIO_PROCESS, 0, 0)  # the tests may run under `nice`
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
busy = subprocess.Popen([sys.executable, "-c", sys.argv[1]])
try:
    lower_process_priority()
    lines.append(os.getpriority(os.PRIO_PROCESS, 0))
    starved = threading.Event()
    guard_share(lambda is_starved: is_starved and starved.set(), window_s=1.0)
    while not starved.is_set():
        pass
    lines.append("starved")
    while os.getpriority(os.PRIO_PROCESS, 0) != 0:
        pass
    lines.append(os.getpriority(os.PRIO_PROCESS, 0))
finally:
    busy.kill()
    busy.wait()
# the other thread logs to the same stream, a line in two writes
os.write(1, "".join(f"\\n{line}\\n" for line in lines).encode())
"""


class Reports:
    """What a guard has told and done; `can_restore` is the operating system's answer."""

    def __init__(self, *, can_restore: bool = True) -> None:
        self.told: list[bool] = []
        self.restored = 0
        self._can_restore = can_restore
        self.guard = ShareGuard(self.told.append, restore=self.restore)
        self._ran = self._waited = 0.0
        self.window(ran=0.0, waited=0.0)

    def restore(self) -> bool:
        self.restored += 1
        return self._can_restore

    def window(self, *, ran: float, waited: float) -> None:
        self._ran += ran
        self._waited += waited
        self.guard.look(ProcessorTimes(self._ran, self._waited))


@given(SECONDS, SECONDS, SECONDS, SECONDS)
def test_a_share_is_between_nothing_and_everything(a: float, b: float, c: float, d: float) -> None:
    share = share_between(ProcessorTimes(a, b), ProcessorTimes(c, d), window_s=WINDOW_S)
    assert share is None or 0 <= share <= 1


def test_the_share_is_what_ran_of_what_was_wanted() -> None:
    before = ProcessorTimes(ran_s=5.0, waited_s=1.0)
    after = ProcessorTimes(ran_s=7.0, waited_s=7.0)
    assert share_between(before, after, window_s=10.0) == pytest.approx(0.25)


def test_who_wants_next_to_nothing_has_no_share() -> None:
    nothing = ProcessorTimes(0.0, 0.0)
    assert share_between(nothing, ProcessorTimes(0.1, 0.8), window_s=10.0) is None
    assert share_between(nothing, ProcessorTimes(0.1, 0.9), window_s=10.0) == pytest.approx(0.1)


def test_a_starved_process_takes_its_priority_back_and_says_so_until_it_is_over() -> None:
    reports = Reports()
    reports.window(ran=5.0, waited=1.0)
    assert (reports.told, reports.restored) == ([False], 0)
    reports.window(ran=0.2, waited=9.0)
    reports.window(ran=0.3, waited=9.0)
    assert (reports.told, reports.restored) == ([False, True, True], 1)
    reports.window(ran=4.0, waited=5.0)
    assert (reports.told, reports.restored) == ([False, True, True, False], 1)
    reports.window(ran=0.2, waited=9.0)  # whoever lowered the priority again
    assert (reports.told[-1], reports.restored) == (True, 2)


def test_at_the_floor_nobody_starves() -> None:
    reports = Reports()
    reports.window(ran=FLOOR * 8.0, waited=(1 - FLOOR) * 8.0)
    assert (reports.told, reports.restored) == ([False], 0)


def test_without_the_permission_it_is_said_all_the_same() -> None:
    reports = Reports(can_restore=False)
    reports.window(ran=0.2, waited=9.0)
    assert (reports.told, reports.restored) == ([True], 1)


def test_an_idle_process_is_not_starved() -> None:
    reports = Reports()
    reports.window(ran=0.01, waited=0.5)
    assert (reports.told, reports.restored) == ([False], 0)


def test_the_times_of_all_threads_are_added(tmp_path: Path) -> None:
    for thread, line in (("7", "2000000000 500000000 9"), ("8", "1000000000 250000000 4")):
        (tmp_path / "task" / thread).mkdir(parents=True)
        (tmp_path / "task" / thread / "schedstat").write_text(line)
    assert ProcessorTimes.read(tmp_path) == ProcessorTimes(ran_s=3.0, waited_s=0.75)


def test_a_kernel_that_does_not_count_gives_nothing(tmp_path: Path) -> None:
    assert ProcessorTimes.read(tmp_path) is None
    reports = Reports()
    reports.guard.look(None)
    assert reports.told == []


def test_the_priority_is_restored_where_that_is_permitted() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RESTORE], start_new_session=True, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.strip() in {"True", "False"}
    if os.geteuid() == 0:
        assert done.stdout.strip() == "True"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the permission to raise a priority")
@pytest.mark.skipif(ProcessorTimes.read() is None, reason="the kernel does not count waiting")
def test_beside_a_busy_process_on_one_processor_the_normal_priority_comes_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARVE, BUSY], start_new_session=True, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    priorities = [line for line in lines if line.isdigit()]  # the others are of the log
    assert (priorities[0], priorities[-1]) == ("10", "0")
    assert "starved" in lines
