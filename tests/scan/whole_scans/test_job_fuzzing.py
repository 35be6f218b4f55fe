"""A bounded part of `python -m benchmarks.fuzz.jobs`."""

import pytest

from benchmarks.fuzz.jobs import live

pytestmark = pytest.mark.full


def test_jobs_keep_their_promises_in_any_order_of_events() -> None:
    assert live(operations=300, drawn=1).total() >= 300
