"""One reader at a time has a device, whatever process it is in."""

import os

import pytest

from pipelines.platform.mobileapp.phone import Claim
from tests.fake_clock import FakeClock
from warehouse.records.errors import DeviceUnavailableError

ADDRESS = f"test-{os.getpid()}@1"


async def test_a_second_reader_waits_and_is_told_when_its_patience_ends() -> None:
    clock = FakeClock()
    first, second = (Claim(ADDRESS, clock=clock, max_wait_s=3) for _ in range(2))
    async with first.held():
        with pytest.raises(DeviceUnavailableError) as caught:
            async with second.held():
                raise AssertionError("both have it")
    assert (caught.value.reason, sum(clock.slept)) == ("in_use", 3.0)


async def test_a_reader_is_told_whether_somebody_else_had_the_device_meanwhile() -> None:
    clock = FakeClock()
    first, second = (Claim(ADDRESS, clock=clock) for _ in range(2))
    reported = []
    for claim in (first, first, second, first):
        async with claim.held() as is_ours:
            reported.append(is_ours)
    assert reported[1:] == [True, False, False]
