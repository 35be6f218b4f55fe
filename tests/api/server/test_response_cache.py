"""Kept answers: told again without the route, and never longer than they hold."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
import pytest
from fastapi import FastAPI, Request
from starlette.responses import Response

from api.responses.envelope import conditional_response, record_parameters
from api.responses.errors import NotFoundError
from api.server.middleware import RequestContext, with_request_id
from api.server.response_cache import EntityChanges, ResponseCache, cache_response
from warehouse.records.errors import WarehouseUnavailableError

ENTITY = "music:12345"


@dataclass
class Clock:
    """Monotonic seconds, moved by hand."""

    at: float = 100.0

    def __call__(self) -> float:
        return self.at


@dataclass
class Store:
    """Generations as another process counts them."""

    counts: dict[str, int] = field(default_factory=dict)
    is_broken: bool = False
    looks: int = 0

    def generations(self, entities: Any) -> dict[str, int]:
        self.looks += 1
        if self.is_broken:
            raise WarehouseUnavailableError("gone")
        return {name: self.counts[name] for name in entities if name in self.counts}

    def capture(self, entity: str) -> None:
        for name in (entity, "*"):
            self.counts[name] = self.counts.get(name, 0) + 1


@dataclass
class CachedService:
    """A service of one route that counts how often it is asked."""

    store: Store = field(default_factory=Store)
    clock: Clock = field(default_factory=Clock)
    max_bytes: int = 1_000_000
    asked: int = 0
    seen: int = 0
    until: datetime | None = None
    entities: tuple[tuple[str, str], ...] = (("music_list", "12345"),)
    on_read: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.now = datetime(2026, 11, 21, tzinfo=UTC)
        self.changes = EntityChanges(self.store.generations, see=self.see, clock=self.clock)
        app = FastAPI()
        app.add_api_route("/things/{name}", self.thing)
        app.add_api_route("/broken", self.broken)
        self.cache = ResponseCache(app, changes=self.changes, max_bytes=self.max_bytes)
        self.app = with_request_id(
            RequestContext(self.cache, time_zone=ZoneInfo("Asia/Shanghai"), clock=lambda: self.now)
        )

    def see(self) -> None:
        self.seen += 1

    async def thing(self, request: Request, name: str, refresh: bool = False) -> Response:
        self.asked += 1
        data = {"name": name, "times": self.store.counts.get(ENTITY, 0), "说": "好"}
        self.on_read()
        record_parameters(request.scope, {"name": name, "refresh": refresh})
        cache_response(request.scope, entities=self.entities, until=self.until)
        return conditional_response(request.scope, data, headers={"X-More": "1"})

    async def broken(self, request: Request) -> Response:
        self.asked += 1
        cache_response(request.scope)
        raise NotFoundError("no")

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx2.AsyncClient]:
        transport = httpx2.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
            yield client


async def ask(service: CachedService, path: str = "/things/a", **headers: str) -> httpx2.Response:
    async with service.client() as client:
        return await client.get(path, headers=headers)


async def warm(service: CachedService, path: str = "/things/a") -> None:
    """Ask until the entity is known: what was read before the first look is not trusted."""
    for _ in range(3):
        await ask(service, path)
    service.asked = 0


async def test_a_repeated_read_is_answered_without_the_route() -> None:
    service = CachedService()
    first = await ask(service, "/things/a?x=1")
    await warm(service, "/things/a?x=1")
    again = await ask(service, "/things/a?x=1")
    assert service.asked == 0
    assert again.status_code == 200
    fresh = {"request_id", "time", "time_stamp"}
    kept = [{k: v for k, v in r.json().items() if k not in fresh} for r in (first, again)]
    assert kept[0] == kept[1]
    assert list(first.json()) == list(again.json())
    names = {"content-type", "etag", "cache-control", "x-more", "content-length"}
    assert {n: first.headers[n] for n in names} == {n: again.headers[n] for n in names}
    assert again.headers["x-content-type-options"] == "nosniff"


async def test_each_answer_has_its_own_id_and_time() -> None:
    service = CachedService()
    await warm(service)
    first = (await ask(service)).json()
    service.now += timedelta(seconds=75)
    again = (await ask(service)).json()
    assert service.asked == 0
    assert first["request_id"] != again["request_id"]
    assert (first["time"], again["time"]) == ("2026-11-21 08:00:00", "2026-11-21 08:01:15")
    assert again["time_stamp"] - first["time_stamp"] == 75


async def test_matching_etag_gets_304_from_the_cache() -> None:
    service = CachedService()
    await warm(service)
    tag = (await ask(service)).headers["etag"]
    same = await ask(service, **{"if-none-match": f'"other", {tag}'})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert (await ask(service, **{"if-none-match": '"other"'})).status_code == 200
    assert service.asked == 0


async def test_response_cache_distinguishes_paths_and_queries() -> None:
    service = CachedService()
    await warm(service)
    for path in ("/things/b", "/things/a?x=1", "/things/a?x=2"):
        await ask(service, path)
    assert service.asked == 3


async def test_a_capture_of_another_process_ends_the_keeping_within_a_look() -> None:
    service = CachedService()
    await warm(service)
    service.store.capture(ENTITY)
    assert (await ask(service)).json()["data"]["times"] == 0  # not looked yet
    service.clock.at += 0.5
    assert (await ask(service)).json()["data"]["times"] == 1
    assert service.seen > 0  # this process saw the commit before it read again


async def test_a_capture_of_something_else_does_not() -> None:
    service = CachedService()
    await warm(service)
    service.store.capture("music:99999")
    service.clock.at += 0.5
    await ask(service)
    assert service.asked == 0


async def test_a_capture_of_this_process_ends_the_keeping_at_once() -> None:
    service = CachedService()
    await warm(service)
    service.store.capture(ENTITY)
    await asyncio.to_thread(service.changes.report_changed, [ENTITY])
    assert (await ask(service)).json()["data"]["times"] == 1


async def test_response_is_not_cached_if_its_entity_changed_during_the_read() -> None:
    service = CachedService()
    await warm(service)

    def capture() -> None:
        service.store.capture(ENTITY)
        service.changes._apply_own_changes([ENTITY])

    service.on_read = capture
    await ask(service, "/things/b")
    service.on_read = lambda: None
    assert (await ask(service, "/things/b")).json()["data"]["times"] == 1


async def test_an_answer_ends_at_its_time() -> None:
    service = CachedService()
    service.until = service.now + timedelta(seconds=30)
    await warm(service)
    service.now += timedelta(seconds=29)
    await ask(service)
    assert service.asked == 0
    service.now += timedelta(seconds=1)
    await ask(service)
    assert service.asked == 1


async def test_cached_response_expires_after_ten_minutes() -> None:
    service = CachedService(entities=())
    await ask(service)
    service.now += timedelta(seconds=601)
    await ask(service)
    assert service.asked == 2


async def test_when_changes_cannot_be_looked_at_the_route_is_asked() -> None:
    service = CachedService()
    await warm(service)
    service.store.is_broken = True
    service.clock.at += 0.5
    assert (await ask(service)).status_code == 200
    assert service.asked == 1


async def test_many_requests_share_one_look() -> None:
    service = CachedService()
    await warm(service)
    looks = service.store.looks
    for _ in range(50):
        await ask(service)
    assert service.store.looks == looks
    assert service.asked == 0


@pytest.mark.parametrize("path", ["/things/a?refresh=true", "/broken", "/none"])
async def test_errors_and_refreshed_reads_are_not_cached(path: str) -> None:
    service = CachedService(entities=())
    await ask(service, path)
    await ask(service, path)
    assert len(service.cache._entries) == 0


async def test_memory_is_bounded_and_the_oldest_goes() -> None:
    service = CachedService(entities=(), max_bytes=5_000)
    for number in range(20):
        await ask(service, f"/things/{number}")
    assert service.cache._size <= 5_000
    assert len(service.cache._entries) == 4
    service.asked = 0
    await ask(service, "/things/19")
    await ask(service, "/things/0")
    assert service.asked == 1


async def test_more_entities_than_can_be_watched_end_older_answers() -> None:
    service = CachedService()
    await warm(service)
    service.changes._apply_own_changes([f"video:{number}" for number in range(2_100)])
    await ask(service)
    assert service.asked == 1
