"""How often one address may ask."""

from dataclasses import dataclass
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from api.server.middleware.rate_limit import MAX_ADDRESSES, RateLimit
from warehouse.records.errors import SametrackError


@dataclass
class House:
    """The limit around something that always answers."""

    now: float = 0.0

    def __post_init__(self) -> None:
        self.limit = RateLimit(
            self._inside, per_s=2, burst=3, reject=self._refuse, clock=lambda: self.now
        )
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


async def test_a_burst_is_let_through_and_then_a_steady_rate() -> None:
    house = House()
    assert [await house.ask() for _ in range(4)] == [200, 200, 200, 429]
    assert house.errors[0].type == "local_rate_limit"
    assert house.errors[0].retry_after == 0.5
    house.now = 0.5
    assert [await house.ask() for _ in range(2)] == [200, 429]
    house.now = 100
    assert [await house.ask() for _ in range(4)] == [200, 200, 200, 429]


async def test_each_address_has_its_own() -> None:
    house = House()
    for _ in range(4):
        await house.ask()
    assert await house.ask("192.0.2.2") == 200


@pytest.mark.parametrize(
    ("other", "status"),
    [("2001:db8:0:1::ffff", 429), ("2001:db8:0:2::1", 200), ("::ffff:192.0.2.1", 200)],
)
async def test_the_addresses_of_one_ipv6_network_share_one(other: str, status: int) -> None:
    house = House()
    for _ in range(4):
        await house.ask("2001:db8:0:1::1")
    assert await house.ask(other) == status


async def test_whether_the_process_lives_may_always_be_asked() -> None:
    house = House()
    assert {await house.ask(path="/healthz") for _ in range(10)} == {200}


async def test_the_memory_of_addresses_is_bounded() -> None:
    house = House()
    for number in range(MAX_ADDRESSES + 50):
        house.limit._take(str(number))
    assert len(house.limit._buckets) == MAX_ADDRESSES
