"""How often one address may ask."""

from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from api.server.middleware.guard import RateLimit
from tests.api.server.moved_time import MovedTime, request_time
from warehouse.records.errors import SametrackError

__all__ = ["request_time"]


class LimitedService:
    """The limit around something that always answers."""

    def __init__(self, per_s: float = 2, burst: int = 4) -> None:
        self.limit = RateLimit(self._inside, per_s=per_s, burst=burst, reject=self._refuse)
        self.errors: list[SametrackError] = []

    async def ask(self, host: str = "192.0.2.1", path: str = "/x") -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request"}

        scope = {"type": "http", "path": path, "client": (host, 1), "method": "GET", "headers": []}
        await self.limit(scope, receive, send)
        return int(sent[0]["status"])

    async def _inside(self, scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("yes")(scope, receive, send)

    def _refuse(self, _scope: Scope, error: SametrackError) -> PlainTextResponse:
        self.errors.append(error)
        return PlainTextResponse("no", status_code=429)


async def test_a_burst_is_let_through_and_then_a_steady_rate(request_time: MovedTime) -> None:
    service = LimitedService()
    assert [await service.ask() for _ in range(5)] == [200, 200, 200, 200, 429]
    assert service.errors[0].type == "local_rate_limit"
    assert service.errors[0].retry_after == 2
    request_time.now += 2.1
    allowed = 0
    for _ in range(40):
        allowed += await service.ask() == 200
        request_time.now += 0.51
    assert allowed == 40
    request_time.now += 100
    assert [await service.ask() for _ in range(5)] == [200, 200, 200, 200, 429]


async def test_a_client_is_told_when_its_oldest_request_no_longer_counts(
    request_time: MovedTime,
) -> None:
    service = LimitedService()
    for _ in range(4):
        await service.ask()
        request_time.now += 0.25
    assert await service.ask() == 429
    assert service.errors[0].retry_after == 1
    request_time.now += 1.1
    assert [await service.ask() for _ in range(2)] == [200, 429]


@pytest.mark.parametrize(
    ("per_s", "burst", "at_once", "window_s"),
    [(100, 500, 500, 5), (200, 500, 600, 3), (1000, 500, 1000, 1), (0.001, 1, 1, 1000)],
)
async def test_the_window_is_of_whole_seconds_and_holds_the_rate(
    request_time: MovedTime, per_s: float, burst: int, at_once: int, window_s: float
) -> None:
    service = LimitedService(per_s, burst)
    assert [await service.ask() for _ in range(at_once + 1)] == [200] * at_once + [429]
    assert service.errors[0].retry_after == window_s
    assert request_time.now == 1_800_000_000


async def test_each_client_address_has_its_own_rate_limit() -> None:
    service = LimitedService()
    for _ in range(5):
        await service.ask()
    assert await service.ask("192.0.2.2") == 200


@pytest.mark.parametrize(
    ("other", "status"),
    [("2001:db8:0:1::ffff", 429), ("2001:db8:0:2::1", 200), ("::ffff:192.0.2.1", 200)],
)
async def test_the_addresses_of_one_ipv6_network_share_one(other: str, status: int) -> None:
    service = LimitedService()
    for _ in range(5):
        await service.ask("2001:db8:0:1::1")
    assert await service.ask(other) == status


async def test_whether_the_process_lives_may_always_be_asked() -> None:
    service = LimitedService()
    assert {await service.ask(path="/healthz") for _ in range(10)} == {200}


async def test_the_memory_of_addresses_is_bounded(
    request_time: MovedTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.server.middleware.guard.MAX_ADDRESSES", 20)
    service = LimitedService()
    for number in range(90):
        assert await service.ask(f"192.0.2.{number}") == 200
        assert len(service.limit._storage.events) <= 20
    assert request_time.now == 1_800_000_000
