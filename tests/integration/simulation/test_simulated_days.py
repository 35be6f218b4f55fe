"""A bounded part of `make simulate`: promises hold, a seed repeats itself, bugs are found."""

import pytest

from tests.simulation.__main__ import find_bug
from tests.simulation.days import simulate

DAYS = 0.25
FOUND_AT_ONCE = ("a stopped worker costs an attempt", "circuits open too early")


def test_a_seed_breaks_no_promise_and_leads_to_the_same_trace_again() -> None:
    assert simulate(1, days=DAYS) == simulate(1, days=DAYS)


def test_another_seed_leads_to_another_trace() -> None:
    assert simulate(1, days=DAYS) != simulate(2, days=DAYS)


@pytest.mark.parametrize("bug", FOUND_AT_ONCE)
def test_a_planted_bug_breaks_a_promise(bug: str) -> None:
    assert find_bug(bug, seeds=range(1, 5), days=DAYS) is not None
