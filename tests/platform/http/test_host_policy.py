"""Towards a host: circuits, conditional questions and robots.txt, over a real socket and store."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.platform.call_trace import open_call_trace
from pipelines.platform.http.circuit_breaker import OPEN_REASON, CircuitBreaker, LearnedHealth
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.http.host_policy import (
    FETCH_LEASE_S,
    MAX_POLLS,
    HostPolicy,
    HostRateLimiter,
    RobotsPolicy,
    StoredResponses,
)
from pipelines.platform.profiles import CircuitTimes, PlatformProfile
from pipelines.platform.sources.planner import SurfaceReader
from pipelines.platform.sources.table import SourceRequest
from tests.fake_clock import FakeClock
from tests.platform.sandbox_platform import PATIENT, never
from warehouse.control import ControlStore, hosts, open_control
from warehouse.records.errors import (
    EmptyAnswerError,
    ForbiddenError,
    SametrackError,
    StructureChangedError,
    UnreachableError,
    VerificationDemandedError,
)

pytestmark = pytest.mark.full

HOST = "share.vidplat.localhost"
LIMITS = replace(PATIENT, attempts=1)


def reply(status: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.fixture
def control(tmp_path: Path, clock: FakeClock) -> Iterator[ControlStore]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    control = open_control(url, world="sandbox", clock=clock.unix)
    yield control
    control.close()


class Shelf(dict[str, bytes]):
    """Bodies by their hash."""

    def put(self, body: bytes) -> None:
        self[hashlib.sha256(body).hexdigest()] = body

    def read_body(self, sha256: str) -> bytes | None:
        return self.get(sha256)


@pytest.fixture
def sound_cache() -> Shelf:
    return Shelf()


Open = Callable[..., Awaitable[GuestClient]]


@pytest.fixture
async def connect(
    scripted_server: Any,
    scripted_profile: PlatformProfile,
    control: ControlStore,
    sound_cache: Shelf,
    clock: FakeClock,
) -> AsyncIterator[Open]:
    """Another client, as another process would have it. No robots.txt unless a test has one."""
    scripted_server.answers["/robots.txt"] = [reply("404 Not Found")]
    async with AsyncExitStack() as stack:

        async def connect(*, obeys: bool = False) -> GuestClient:
            times = CircuitTimes(open_s=60, longest_s=600, probe_s=60)
            profile = scripted_profile.model_copy(update={"circuit": times})
            policy = HostPolicy(
                limiter=HostRateLimiter(control, profile.rate, daily_budget=10_000, clock=clock),
                circuits=CircuitBreaker(control, times),
                responses=StoredResponses(control, sound_cache.read_body),
                robots=RobotsPolicy(control, is_obeyed=obeys, clock=clock),
                health=LearnedHealth(control, clock=clock),
            )
            client = GuestClient(profile, policy, limits=LIMITS)
            return await stack.enter_async_context(client)

        yield connect


WHAT = SourceRequest(entity_id="1")


def ask(path: str, surface: str = "page") -> HttpRequest:
    return HttpRequest(surface=surface, url=f"http://{HOST}{path}", allowed=(HOST,))


async def read(client: GuestClient, path: str, surface: str = "page") -> bytes:
    """Ask and judge, as every surface is read."""

    def parse(body: bytes, *_: object) -> bytes:
        return body

    return (await SurfaceReader(client).read(ask(path, surface), WHAT, parse)).value


async def refused(client: GuestClient, path: str, surface: str = "page") -> SametrackError:
    with pytest.raises(SametrackError) as caught:
        await read(client, path, surface)
    return caught.value


async def test_one_forbidden_opens_the_circuit_for_every_process(
    scripted_server: Any, connect: Open
) -> None:
    scripted_server.answers["/a"] = [reply("403 Forbidden", b"no")]
    one, other = await connect(), await connect()
    await refused(one, "/a")
    error = await refused(other, "/a")
    assert isinstance(error, ForbiddenError)
    assert (error.reason, scripted_server.count("/a")) == (OPEN_REASON, 1)
    assert error.retry_after == 60


async def test_circuit_is_of_one_surface_at_one_host(scripted_server: Any, connect: Open) -> None:
    scripted_server.answers["/a"] = [reply("403 Forbidden", b"no")]
    scripted_server.answers["/b"] = [reply("200 OK", b"fine")]
    client = await connect()
    await refused(client, "/a", "music_list")
    assert await read(client, "/b", "music_info") == b"fine"


@pytest.mark.parametrize(
    ("answer", "error", "count"),
    [
        (reply("500 Oops"), UnreachableError, 5),
        (reply("200 OK"), EmptyAnswerError, 8),
        (reply("200 OK", b"blocked"), EmptyAnswerError, 8),
        (reply("404 Not Found", b"none"), StructureChangedError, 8),
    ],
)
async def test_burst_of_nothing_opens_the_circuit(
    answer: bytes, error: type, count: int, scripted_server: Any, connect: Open
) -> None:
    scripted_server.answers["/a"] = [answer]
    client = await connect()
    errors = [await refused(client, "/a") for _ in range(count + 3)]
    assert {type(each) for each in errors} == {error}
    assert scripted_server.count("/a") == count


async def test_success_in_between_starts_the_count_again(
    scripted_server: Any, connect: Open
) -> None:
    fault, fine = reply("500 Oops"), reply("200 OK", b"fine")
    scripted_server.answers["/a"] = [*[fault] * 4, fine, *[fault] * 4, fine]
    client = await connect()
    for _ in range(2):
        for _ in range(4):
            await refused(client, "/a")
        assert await read(client, "/a") == b"fine"


async def test_empty_answers_about_one_item_do_not_open_the_circuit(
    scripted_server: Any, connect: Open
) -> None:
    scripted_server.answers["/a"] = [reply("200 OK", b"{}")]
    client = await connect()

    def parse(*_: object) -> None:
        raise EmptyAnswerError("neither video nor reason", surface="page", reason="empty_detail")

    for _ in range(12):
        with pytest.raises(EmptyAnswerError):
            await SurfaceReader(client).read(ask("/a"), WHAT, parse)
    assert scripted_server.count("/a") == 12


async def test_of_all_processes_one_probes_and_its_success_closes_the_circuit(
    scripted_server: Any, connect: Open, control: ControlStore, clock: FakeClock
) -> None:
    release = asyncio.Event()

    async def slowly(writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(reply("200 OK", b"fine"))

    scripted_server.answers["/a"] = [reply("403 Forbidden", b"no"), slowly]
    clients = [await connect() for _ in range(3)]
    await refused(clients[0], "/a")
    clock.advance(60)
    probe = asyncio.create_task(read(clients[1], "/a"))
    await scripted_server.asked("/a", times=2)
    errors = [await refused(clients[0], "/a"), await refused(clients[2], "/a")]
    assert {type(error) for error in errors} == {ForbiddenError}
    assert scripted_server.count("/a") == 2
    release.set()
    assert await probe == b"fine"
    assert await read(clients[2], "/a") == b"fine"
    assert [(state.surface, state.open_until) for state in hosts.read_circuits(control)] == [
        ("page", None)
    ]


async def test_failed_probe_opens_the_circuit_for_longer(
    scripted_server: Any, connect: Open, clock: FakeClock
) -> None:
    scripted_server.answers["/a"] = [reply("403 Forbidden", b"no")]
    client = await connect()
    waits = []
    for _ in range(5):
        await refused(client, "/a")
        waits.append((await refused(client, "/a")).retry_after or 0)
        clock.advance(waits[-1])
    assert scripted_server.count("/a") == 5
    assert waits == pytest.approx([60, 120, 240, 480, 600])


CHALLENGE = reply("200 OK", b"<html><script>/* waf-jschallenge */</script></html>")


async def test_two_challenged_surfaces_close_the_host_for_every_process(
    scripted_server: Any, connect: Open, clock: FakeClock
) -> None:
    scripted_server.answers["/a"] = [CHALLENGE]
    scripted_server.answers["/b"] = [reply("200 OK", b"fine")]
    one, other = await connect(), await connect()
    await challenged(one, "video_page")
    assert await read(other, "/b", "slides_info") == b"fine"
    await challenged(one, "user_posts")
    error = await refused(other, "/b", "slides_info")
    assert (type(error), error.reason) == (VerificationDemandedError, OPEN_REASON)  # type: ignore[attr-defined]
    clock.advance(60)
    assert await read(other, "/b", "slides_info") == b"fine"
    assert await read(one, "/b", "music_list") == b"fine"


async def test_probe_of_a_closed_host_that_is_challenged_keeps_it_closed(
    scripted_server: Any, connect: Open, clock: FakeClock
) -> None:
    scripted_server.answers["/a"] = [CHALLENGE]
    client = await connect()
    for surface in ("video_page", "user_posts"):
        await challenged(client, surface)
    clock.advance(60)
    await challenged(client, "slides_info")
    asked = scripted_server.count("/a")
    assert (await refused(client, "/a", "music_list")).retry_after == 120
    assert scripted_server.count("/a") == asked


async def test_request_that_waited_for_its_turn_is_not_sent_after_a_demand(
    scripted_server: Any, connect: Open
) -> None:
    """Sixteen details are under way when the first one is challenged; eight connections send."""
    release = asyncio.Event()

    async def challenge(writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(CHALLENGE)

    scripted_server.answers["/a"] = [challenge]
    client = await connect()
    asking = [asyncio.create_task(challenged(client, "slides_info")) for _ in range(16)]
    await scripted_server.asked("/a", times=client.profile.rate.parallel)
    release.set()
    await asyncio.gather(*asking)
    assert scripted_server.count("/a") < 16


async def challenged(client: GuestClient, surface: str) -> None:
    def parse(*_: object) -> None:
        raise StructureChangedError("no container", surface=surface, reason="no_container")

    with pytest.raises(VerificationDemandedError):
        await SurfaceReader(client).read(ask("/a", surface), WHAT, parse)


async def test_cancelled_probe_lets_another_try(
    scripted_server: Any, connect: Open, clock: FakeClock
) -> None:
    scripted_server.answers["/a"] = [reply("403 Forbidden", b"no"), never, reply("200 OK", b"fine")]
    client = await connect()
    await refused(client, "/a")
    clock.advance(60)
    probe = asyncio.create_task(read(client, "/a"))
    await scripted_server.asked("/a", times=2)
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert await read(client, "/a") == b"fine"


async def test_fault_pauses_the_host_for_every_process(
    scripted_server: Any, connect: Open, control: ControlStore, clock: FakeClock
) -> None:
    scripted_server.answers["/a"] = [reply("503 Busy")]
    client = await connect()
    client.limits = replace(LIMITS, wait_initial_s=5, wait_max_s=5, wait_jitter_s=1)
    await refused(client, "/a")
    until = hosts.paused_until(control, HOST)
    assert until is not None
    assert 5 <= (until - clock.now()).total_seconds() <= 6


@pytest.mark.parametrize(
    ("offered", "sent"),
    [
        ('ETag: "v1"', ("if-none-match", '"v1"')),
        (
            "Last-Modified: Fri, 20 Nov 2026 08:00:00 GMT",
            ("if-modified-since", "Fri, 20 Nov 2026 08:00:00 GMT"),
        ),
    ],
)
async def test_client_sends_validators_of_the_last_response(
    offered: str, sent: tuple[str, str], scripted_server: Any, connect: Open, sound_cache: Shelf
) -> None:
    scripted_server.answers["/a"] = [
        reply("200 OK", b"first", offered),
        reply("304 Not Modified"),
        reply("200 OK", b"second", offered),
    ]
    one, other = await connect(), await connect()
    await one.fetch(ask("/a"))
    sound_cache.put(b"first")
    again = await other.fetch(ask("/a"))
    assert (again.body, again.status, again.is_unchanged) == (b"first", 200, True)
    assert scripted_server.seen[-1].headers[sent[0]] == sent[1]
    assert (await one.fetch(ask("/a"))).body == b"second"


@pytest.mark.parametrize(
    "headers",
    [
        (),
        ('ETag: "v1"', "Cache-Control: private, no-store"),
        ('ETag: "\N{LATIN SMALL LETTER E WITH ACUTE}"',),  # which no request can carry
    ],
)
async def test_client_sends_no_validators_if_none_were_offered(
    headers: tuple[str, ...], scripted_server: Any, connect: Open, sound_cache: Shelf
) -> None:
    scripted_server.answers["/a"] = [reply("200 OK", b"body", *headers)]
    client = await connect()
    sound_cache.put(b"body")
    for _ in range(2):
        assert (await client.fetch(ask("/a"))).body == b"body"
    assert not {"if-none-match", "if-modified-since"} & set(scripted_server.seen[-1].headers)


async def test_body_that_is_not_kept_is_asked_for_whole(
    scripted_server: Any, connect: Open
) -> None:
    scripted_server.answers["/a"] = [reply("200 OK", b"body", 'ETag: "v1"')]
    client = await connect()
    await client.fetch(ask("/a"))
    await client.fetch(ask("/a"))
    assert "if-none-match" not in scripted_server.seen[-1].headers


async def test_redirect_is_not_asked_with_the_first_addresss_words(
    scripted_server: Any, connect: Open, sound_cache: Shelf
) -> None:
    scripted_server.answers["/a"] = [
        reply("200 OK", b"body", 'ETag: "v1"'),
        reply("302 Found", b"", f"Location: http://{HOST}:{scripted_server.port}/b"),
    ]
    scripted_server.answers["/b"] = [reply("200 OK", b"other", 'ETag: "v2"')]
    client = await connect()
    await client.fetch(ask("/a"))
    sound_cache.put(b"body")
    assert (await client.fetch(ask("/a"))).body == b"other"
    assert "if-none-match" not in scripted_server.seen[-1].headers


DENY = reply("200 OK", b"User-agent: *\nDisallow: /a\nAllow: /a/open*\n")


@pytest.mark.parametrize(
    ("file", "path", "decision"),
    [
        (DENY, "/a", "disallowed"),
        (DENY, "/a/open?x=1", "allowed"),
        (DENY, "/b", "allowed"),
        (reply("200 OK", b"User-agent: Sametrack\nDisallow:\nUser-agent: *\nDisallow: /"), "/a",
         "allowed"),
        (reply("200 OK", b"User-agent: *\nDisallow: /*?"), "/a?x=1", "disallowed"),
        (reply("404 Not Found"), "/a", "allowed"),
        (reply("403 Forbidden"), "/a", "allowed"),
        (reply("500 Oops"), "/a", "unknown"),
        (reply("302 Found", b"", "Location: http://elsewhere.example/robots.txt"), "/a", "unknown"),
        (reply("200 OK", b"\x00\xff\xfe garbage \xf0"), "/a", "allowed"),
    ],
)  # fmt: skip
async def test_robots_decision_is_kept_and_the_page_is_read_all_the_same(
    file: bytes,
    path: str,
    decision: str,
    scripted_server: Any,
    connect: Open,
    control: ControlStore,
) -> None:
    client = await connect()
    scripted_server.answers["/robots.txt"] = [file]
    scripted_server.answers[path.partition("?")[0]] = [reply("200 OK", b"fine")]
    with open_call_trace() as call_trace:
        await client.fetch(ask(path, "music_list"))
    kept = hosts.robots_decisions(control)
    assert [(each.host, each.surface, each.decision) for each in kept] == [
        (HOST, "music_list", decision)
    ]
    assert kept[0].reason
    assert call_trace.request_count == 1


async def test_robots_file_is_read_once_by_all_processes(
    scripted_server: Any, connect: Open, control: ControlStore, clock: FakeClock
) -> None:
    release = asyncio.Event()

    async def slowly(writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(DENY)

    scripted_server.answers["/robots.txt"] = [slowly]
    scripted_server.answers["/a"] = scripted_server.answers["/b"] = [reply("200 OK", b"fine")]
    clients = [await connect() for _ in range(3)]
    clock.is_held = True
    reading = [asyncio.ensure_future(one.fetch(ask("/a", "music_list"))) for one in clients]
    await clock.asleep(2)  # one reads the file, the others look for what it keeps
    clock.is_held = False
    release.set()
    await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
    clock.advance(FETCH_LEASE_S / MAX_POLLS)
    await asyncio.gather(*reading)
    await asyncio.gather(*(client.fetch(ask("/b", "user_info")) for client in clients))
    assert scripted_server.count("/robots.txt") == 1
    assert [(each.surface, each.decision) for each in hosts.robots_decisions(control)] == [
        ("music_list", "disallowed"),
        ("user_info", "allowed"),
    ]


async def test_operator_may_have_robots_obeyed(scripted_server: Any, connect: Open) -> None:
    client = await connect(obeys=True)
    scripted_server.answers["/robots.txt"] = [DENY]
    scripted_server.answers["/b"] = [reply("200 OK", b"fine")]
    error = await refused(client, "/a", "music_list")
    assert isinstance(error, ForbiddenError)
    assert (error.reason, scripted_server.count("/a")) == ("robots_disallow", 0)
    assert error.hint
    assert await read(client, "/b", "music_list") == b"fine"


async def test_robots_refusal_does_not_pause_the_host(
    scripted_server: Any, connect: Open, control: ControlStore
) -> None:
    scripted_server.answers["/robots.txt"] = [DENY]
    client = await connect(obeys=True)
    client.limits = replace(LIMITS, wait_initial_s=5, wait_max_s=5)
    assert isinstance(await refused(client, "/a", "music_list"), ForbiddenError)
    assert scripted_server.count("/a") == 0
    assert hosts.paused_until(control, HOST) is None
