"""How often one address may ask."""

import pytest

from api.responses.errors import error_spec
from api.server.middleware import RateLimit
from tests.api.server.moved_time import MovedTime, request_time
from warehouse.records.errors import SametrackError

__all__ = ["request_time"]


class LimitedService:
    """The limit, and what it refused."""

    def __init__(self, per_s: float = 2, burst: int = 4) -> None:
        self.limit = RateLimit(per_s=per_s, burst=burst)
        self.errors: list[SametrackError] = []

    def ask(self, host: str = "192.0.2.1", path: str = "/x") -> int:
        error = self.limit.count({"type": "http", "path": path, "client": (host, 1)})
        if error is None:
            return 200
        self.errors.append(error)
        return error_spec(error.type).status


def test_a_burst_is_let_through_and_then_a_steady_rate(request_time: MovedTime) -> None:
    service = LimitedService()
    assert [service.ask() for _ in range(5)] == [200, 200, 200, 200, 429]
    assert service.errors[0].type == "local_rate_limit"
    assert service.errors[0].retry_after == 2
    request_time.now += 2.1
    allowed = 0
    for _ in range(40):
        allowed += service.ask() == 200
        request_time.now += 0.51
    assert allowed == 40
    request_time.now += 100
    assert [service.ask() for _ in range(5)] == [200, 200, 200, 200, 429]


def test_a_client_is_told_when_its_oldest_request_no_longer_counts(
    request_time: MovedTime,
) -> None:
    service = LimitedService()
    for _ in range(4):
        service.ask()
        request_time.now += 0.25
    assert service.ask() == 429
    assert service.errors[0].retry_after == 1
    request_time.now += 1.1
    assert [service.ask() for _ in range(2)] == [200, 429]


@pytest.mark.parametrize(
    ("per_s", "burst", "at_once", "window_s"),
    [(100, 500, 500, 5), (200, 500, 600, 3), (1000, 500, 1000, 1), (0.001, 1, 1, 1000)],
)
def test_the_window_is_of_whole_seconds_and_holds_the_rate(
    request_time: MovedTime, per_s: float, burst: int, at_once: int, window_s: float
) -> None:
    service = LimitedService(per_s, burst)
    assert [service.ask() for _ in range(at_once + 1)] == [200] * at_once + [429]
    assert service.errors[0].retry_after == window_s
    assert request_time.now == 1_800_000_000


def test_each_client_address_has_its_own_rate_limit() -> None:
    service = LimitedService()
    for _ in range(5):
        service.ask()
    assert service.ask("192.0.2.2") == 200


@pytest.mark.parametrize(
    ("other", "status"),
    [("2001:db8:0:1::ffff", 429), ("2001:db8:0:2::1", 200), ("::ffff:192.0.2.1", 200)],
)
def test_the_addresses_of_one_ipv6_network_share_one(other: str, status: int) -> None:
    service = LimitedService()
    for _ in range(5):
        service.ask("2001:db8:0:1::1")
    assert service.ask(other) == status


def test_whether_the_process_lives_may_always_be_asked() -> None:
    service = LimitedService()
    assert {service.ask(path="/healthz") for _ in range(10)} == {200}


def test_the_memory_of_addresses_is_bounded(
    request_time: MovedTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.server.middleware.MAX_ADDRESSES", 20)
    service = LimitedService()
    for number in range(90):
        assert service.ask(f"192.0.2.{number}") == 200
        assert len(service.limit._storage.events) <= 20
    assert request_time.now == 1_800_000_000
