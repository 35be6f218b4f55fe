"""No window of time ever holds more requests than burst and rate allow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.control.hosts import DAY_S, Bucket, take

START = 1_790_000_000.0
UNLIMITED = 10**9


def start_times(pauses: list[float], *, rate_per_s: float, burst: float) -> list[float]:
    """When the requests start if each is asked for after a pause and waits as it is told."""
    now, bucket, starts = START, Bucket(tokens=burst, filled_at=START), []
    for pause in pauses:
        now += pause
        bucket, grant = take(
            bucket, now, rate_per_s=rate_per_s, burst=burst, daily_budget=UNLIMITED
        )
        starts.append(now + grant.wait_s)
    return starts


@given(
    st.lists(st.floats(0, 3), min_size=2, max_size=60),
    st.floats(0.5, 50),
    st.integers(1, 10),
)
def test_no_window_exceeds_rate_and_burst(
    pauses: list[float], rate_per_s: float, burst: int
) -> None:
    starts = start_times(pauses, rate_per_s=rate_per_s, burst=burst)
    assert starts == sorted(starts)
    for first in range(len(starts)):
        for last in range(first, len(starts)):
            allowed = burst + (starts[last] - starts[first]) * rate_per_s
            assert last - first + 1 <= allowed + 1e-3


def test_burst_goes_at_once_and_the_rest_in_line() -> None:
    starts = start_times([0.0] * 6, rate_per_s=2, burst=3)
    assert [round(start - START, 3) for start in starts] == [0, 0, 0, 0.5, 1.0, 1.5]


def test_spent_budget_says_how_long_the_day_still_is() -> None:
    now = 20_000 * DAY_S + 600.0
    bucket = Bucket(tokens=5, filled_at=now)
    for _ in range(2):
        bucket, grant = take(bucket, now, rate_per_s=1, burst=5, daily_budget=2)
        assert grant.waits_for == "turn"
    same, grant = take(bucket, now, rate_per_s=1, burst=5, daily_budget=2)
    assert grant.waits_for == "day"
    assert grant.wait_s == pytest.approx(DAY_S - 600)
    assert same == bucket
    _, grant = take(bucket, now + DAY_S, rate_per_s=1, burst=5, daily_budget=2)
    assert grant.waits_for == "turn"


def test_clock_that_goes_back_gives_no_tokens() -> None:
    bucket = Bucket(tokens=1, filled_at=START)
    bucket, _ = take(bucket, START, rate_per_s=1, burst=1, daily_budget=9)
    after, grant = take(bucket, START - 100, rate_per_s=1, burst=1, daily_budget=9)
    assert after.filled_at == START
    assert grant.wait_s == pytest.approx(1)
