"""A request that waits for a paused host says so, and one that waits for its turn does not."""

import asyncio
from contextvars import copy_context
from pathlib import Path

import pytest

from pipelines.platform.call_trace import watch_pauses
from pipelines.platform.http.host_policy import HostRateLimiter
from pipelines.platform.profiles import HostRate
from tests.fake_clock import FakeClock
from warehouse.control import hosts, open_control

HOST = "media.example"


@pytest.mark.parametrize(("pause_s", "steps"), [(0.0, []), (5.0, [1, -1])])
def test_a_pause_is_reported_while_a_request_waits_for_it(
    tmp_path: Path, pause_s: float, steps: list[int]
) -> None:
    clock = FakeClock()
    seen: list[int] = []
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    control = open_control(url, world="sandbox", clock=lambda: clock.now().timestamp())
    limiter = HostRateLimiter(
        control, HostRate(per_second=1.0, burst=1, parallel=1), daily_budget=100, clock=clock
    )
    if pause_s:
        hosts.pause_host(control, HOST, pause_s)

    async def two_requests() -> None:
        for _ in range(2):
            await limiter.wait(HOST, surface="media")

    context = copy_context()
    context.run(watch_pauses, seen.append)
    with asyncio.Runner() as runner:
        runner.run(two_requests(), context=context)
    control.close()
    assert seen == steps
