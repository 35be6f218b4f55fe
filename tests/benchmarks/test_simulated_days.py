"""A bounded part of `make simulate`: promises hold, a seed repeats itself, bugs are found."""

import sys

import pytest

from benchmarks.simulation.__main__ import main
from benchmarks.simulation.bugs import BUGS
from benchmarks.simulation.days import BrokenPromiseError, simulate
from benchmarks.simulation.lives import find_bug

pytestmark = pytest.mark.full

DAYS = 1.0
FOUND_AT_ONCE = ("circuits open too early", "an equal request makes a second job")
SEEDS = range(1, 41)
"""One in five finds the rarer of the two; which, changes with every transaction of the product."""
AT_LEAST = 20


def test_a_seed_breaks_no_promise_and_leads_to_the_same_trace_again() -> None:
    assert simulate(1, days=DAYS) == simulate(1, days=DAYS)


def test_another_seed_leads_to_another_trace() -> None:
    assert simulate(2, days=DAYS) != simulate(3, days=DAYS)


def test_there_are_as_many_bugs_to_plant_as_are_promised() -> None:
    assert len(BUGS) >= AT_LEAST


@pytest.mark.parametrize("bug", FOUND_AT_ONCE)
def test_a_planted_bug_breaks_a_promise(bug: str) -> None:
    assert find_bug(bug, seeds=SEEDS, days=DAYS) is not None


def test_a_failing_seed_says_how_to_replay_it_and_fails_in_the_same_way_again() -> None:
    reported = []
    for _ in range(2):
        with BUGS["a new run keeps the old number"](), pytest.raises(BrokenPromiseError) as broken:
            simulate(1, days=DAYS)
        reported.append(str(broken.value))
    assert reported[0] == reported[1]
    assert "make simulate SEED=1 DAYS=1" in reported[0]


@pytest.mark.soak
def test_the_command_divides_the_seeds_among_processes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--seeds", "2", "--days", "0.1", "--processes", "2"]
    monkeypatch.setattr(sys, "argv", ["simulation", *options])
    assert main() == 0
    said = capsys.readouterr().out
    assert said.startswith("2 seeds of 0.1 days, each lived twice, with the same trace")
