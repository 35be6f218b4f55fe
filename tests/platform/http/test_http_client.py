"""The one client over a real socket: capped, patient within limits, gated at every step."""

import asyncio
import gzip
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from pipelines.platform.call_trace import open_call_trace
from pipelines.platform.http.client import USER_AGENT, FileSink, GuestClient, HttpRequest
from pipelines.platform.profiles import PlatformProfile
from tests.fake_clock import START, FakeClock
from tests.platform.sandbox_platform import never
from warehouse.control import ControlStore
from warehouse.control.schema import HOSTS
from warehouse.records.errors import (
    AudioUnavailableError,
    RateLimitedError,
    StructureChangedError,
    SubstitutionError,
    UnreachableError,
)

pytestmark = pytest.mark.full

HOST = "share.vidplat.localhost"


def reply(status: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.fixture
def ask(scripted_profile: PlatformProfile) -> Callable[..., HttpRequest]:
    allowed = scripted_profile.links.redirect
    return lambda path, **over: HttpRequest(
        surface="page", url=f"http://{HOST}{path}", allowed=allowed, **over
    )


async def test_guest_is_honest_about_itself(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [reply("200 OK", b"hello")]
    answer = await client.fetch(replace(ask("/a"), params={"aweme_ids": "[12345]"}))
    sent = scripted_server.seen[0]
    assert answer.body == b"hello"
    assert sent.target == "/a?aweme_ids=%5B12345%5D"
    assert sent.headers["host"] == f"{HOST}:{scripted_server.port}"
    assert sent.headers["user-agent"] == USER_AGENT
    assert "Sametrack" in USER_AGENT
    assert not {"cookie", "origin", "referer", "authorization"} & set(sent.headers)


async def test_the_referer_is_the_given_page_and_goes_along_a_redirect(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    page = f"http://{HOST}/share/video/1/"
    scripted_server.answers["/a"] = [reply("302 Found", b"", "Location: /b")]
    scripted_server.answers["/b"] = [reply("200 OK", b"sound")]
    await client.fetch(ask("/a", referer=page))
    assert [request.headers.get("referer") for request in scripted_server.seen] == [page, page]
    assert not any("origin" in request.headers for request in scripted_server.seen)


async def test_cookies_are_those_the_server_set(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [
        reply("200 OK", b"x", "Set-Cookie: guest=1%7Cabc; Path=/; HttpOnly")
    ]
    await client.fetch(ask("/a"))
    await client.fetch(ask("/a"))
    assert [request.headers.get("cookie") for request in scripted_server.seen] == [
        None,
        "guest=1%7Cabc",
    ]


async def test_redirects_within_the_platform_are_followed(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    there = f"Location: http://www.vidplat.localhost:{scripted_server.port}/b"
    scripted_server.answers = {
        "/a": [reply("302 Found", b"", there)],
        "/b": [reply("200 OK", b"end")],
    }
    with open_call_trace() as call_trace:
        answer = await client.fetch(ask("/a"))
    assert (answer.body, answer.path, call_trace.request_count) == (b"end", "/b", 2)
    assert (
        scripted_server.seen[1].headers["host"] == f"www.vidplat.localhost:{scripted_server.port}"
    )


@pytest.mark.parametrize(
    "location",
    [
        "http://evil.example/",
        "http://127.0.0.1/",
        "http://127.0.0.1:1/",
        "http://localhost/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://share.vidplat.localhost@evil.example/",
        "//evil.example/x",
        "\\\\evil.example\\x",
        "http://share.vidplat.localhost:22/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://media.vidplat.localhost/x",
    ],
)
async def test_redirect_off_the_platform_is_refused(
    location: str, scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [reply("302 Found", b"", f"Location: {location}")]
    with pytest.raises(SubstitutionError):
        await client.fetch(ask("/a"))
    assert len(scripted_server.seen) == 1


async def test_redirect_loop_ends_after_five_steps(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [reply("302 Found", b"", "Location: /a")]
    with pytest.raises(SubstitutionError, match="more than 5"):
        await client.fetch(ask("/a"))
    assert len(scripted_server.seen) == 6


async def test_redirect_can_be_the_answer(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [
        reply("302 Found", b"", "Location: http://elsewhere.example/gone")
    ]
    answer = await client.fetch(ask("/a", ends_at=lambda target: "gone" in target))
    assert answer.location == "http://elsewhere.example/gone"


async def test_body_over_the_cap_is_refused(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [reply("200 OK", b"x" * 100_001)]
    with pytest.raises(StructureChangedError):
        await client.fetch(ask("/a"))


async def test_decompression_bomb_is_capped_while_it_unpacks(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    scripted_server.answers["/a"] = [reply("200 OK", bomb, "Content-Encoding: gzip")]
    with pytest.raises(StructureChangedError) as caught:
        await client.fetch(ask("/a"))
    assert caught.value.reason == "body_too_large"


async def test_broken_compression_is_named(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [reply("200 OK", b"no gzip", "Content-Encoding: gzip")]
    with pytest.raises(StructureChangedError):
        await client.fetch(ask("/a"))


async def test_body_that_drips_for_ever_is_ended(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    """However long the client waits for each part."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
        await never(writer)

    client.limits = replace(client.limits, attempts=1, total_s=0.4)
    scripted_server.answers["/a"] = [drip]
    with pytest.raises(UnreachableError):
        await client.fetch(ask("/a"))


async def test_only_unreachable_is_tried_again(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [reply("503 Busy"), reply("500 Oops"), reply("200 OK", b"well")]
    with open_call_trace() as call_trace:
        answer = await client.fetch(ask("/a"))
    assert (answer.body, call_trace.request_count) == (b"well", 3)


async def test_client_tries_a_failing_request_three_times(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [reply("502 Bad")]
    with pytest.raises(UnreachableError) as caught:
        await client.fetch(ask("/a"))
    assert (caught.value.status, len(scripted_server.seen)) == (502, 3)


@pytest.mark.parametrize("status", ["403 Forbidden", "404 Not Found", "401 Unauthorized"])
async def test_refusal_is_not_tried_again(
    status: str, scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [reply(status, b"no")]
    assert (await client.fetch(ask("/a"))).status == int(status[:3])
    assert len(scripted_server.seen) == 1


async def test_connection_that_is_cut_is_unreachable(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"]
    with pytest.raises(UnreachableError):
        await client.fetch(ask("/a"))


async def test_closed_port_raises_unreachable(
    scripted_profile: PlatformProfile, client: GuestClient, unused_port: int
) -> None:
    client.profile = scripted_profile.model_copy(update={"port": unused_port})
    with pytest.raises(UnreachableError):
        await client.fetch(HttpRequest(surface="page", url=f"http://{HOST}/", allowed=(HOST,)))


async def test_retry_after_pauses_the_host_for_everybody(
    scripted_server: Any,
    client: GuestClient,
    ask: Any,
    control_store: ControlStore,
    clock: FakeClock,
) -> None:
    asked_after: list[float] = []

    async def note(writer: asyncio.StreamWriter) -> None:
        asked_after.append(clock.monotonic())
        is_first = len(asked_after) == 1
        slow, fine = reply("429 Slow down", b"", "Retry-After: 20"), reply("200 OK", b"ok")
        writer.write(slow if is_first else fine)

    scripted_server.answers["/a"] = [note]
    answer = await client.fetch(ask("/a"))
    assert (answer.body, asked_after) == (b"ok", [0, 20])
    with control_store.read() as connection:
        (pause,) = connection.execute(select(HOSTS.c.paused_until)).scalars()
    assert pause == (START + timedelta(seconds=20)).timestamp()


async def test_pause_longer_than_our_patience_is_handed_on(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [reply("429 Slow down", b"", "Retry-After: 120")]
    with pytest.raises(RateLimitedError) as caught:
        await client.fetch(ask("/a"))
    assert (caught.value.retry_after, len(scripted_server.seen)) == (120, 1)
    with pytest.raises(RateLimitedError):
        await client.fetch(ask("/a"))
    assert len(scripted_server.seen) == 1


async def test_cancelling_ends_a_wait_for_upstream_at_once(
    scripted_server: Any, client: GuestClient, ask: Any
) -> None:
    scripted_server.answers["/a"] = [never]
    task = asyncio.create_task(client.fetch(ask("/a")))
    await scripted_server.asked("/a")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_no_more_than_the_profile_allows_are_in_flight(
    scripted_server: Any, client: GuestClient, ask: Any, scripted_profile: PlatformProfile
) -> None:
    """Another host is asked last: when that is answered, whoever could ask has asked."""
    parallel = scripted_profile.rate.parallel
    release = asyncio.Event()

    async def held(writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(reply("200 OK", b"x"))

    scripted_server.answers = {"/a": [held], "/b": [reply("200 OK", b"y")]}
    elsewhere = replace(ask("/b"), url="http://www.vidplat.localhost/b")
    async with asyncio.TaskGroup() as group:
        for _ in range(40):
            group.create_task(client.fetch(ask("/a")))
        await scripted_server.asked("/a", times=parallel)
        await client.fetch(elsewhere)
        in_flight = scripted_server.count("/a")
        release.set()
    assert (in_flight, scripted_server.count("/a")) == (parallel, 40)


async def test_file_over_the_cap_is_refused(
    scripted_server: Any, client: GuestClient, ask: Any, tmp_path: Path
) -> None:
    scripted_server.answers["/a"] = [reply("200 OK", b"x" * 300_001)]
    with (tmp_path / "part").open("w+b") as file:
        sink = FileSink(file, surface="media", limit_bytes=client.limits.media_bytes)
        with pytest.raises(AudioUnavailableError):
            await client.save(ask("/a"), sink)
