"""The estimate of the time that a scan still takes has bounds, and there is none at first."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pipelines.scan.rules.remaining_time import remaining_time

COUNTS = st.integers(0, 2000)
PACES = st.fixed_dictionaries(
    {"spent_s": st.floats(0.1, 10_000)}
    | dict.fromkeys(("details_done", "sounds_done", "pooled", "limit", "sounds_total"), COUNTS)
)


def test_remaining_time_is_unknown_before_the_first_item() -> None:
    left = remaining_time(
        spent_s=9.0, details_done=0, sounds_done=0, pooled=50, limit=100, sounds_total=4
    )
    assert left is None


def test_remaining_time_is_extrapolated_from_details_read() -> None:
    left = remaining_time(
        spent_s=10.0, details_done=50, sounds_done=0, pooled=60, limit=100, sounds_total=0
    )
    assert left is not None
    assert left.low_s == 1.4  # ten pooled candidates at 0.2 s, a bit faster
    assert left.likely_s == 10.0
    assert left.high_s == 45.0  # fifty details and a hundred sounds, slower


@given(PACES)
def test_the_bounds_enclose_the_estimate(pace: dict[str, Any]) -> None:
    left = remaining_time(**pace)
    assert left is None or 0 <= left.low_s <= left.likely_s <= left.high_s
