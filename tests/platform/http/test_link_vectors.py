"""No address leads off the list: hundreds of hostile ones through the real client, at once and as
the target of a redirect, while a listener beside the platform counts who comes.
"""

import asyncio
import gzip
import itertools
import sys
import tomllib
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import zstandard

from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.http.host_policy import HostPolicy, HostRateLimiter
from pipelines.platform.http.link_gate import Dialler
from pipelines.platform.profiles import PlatformProfile, load_profile
from tests.platform.lenient_hosts import AT_ONCE, NoCircuits
from warehouse.records.errors import StructureChangedError, SubstitutionError, UpstreamError

pytestmark = pytest.mark.full

HOST = "www.vidplat.localhost"
OPEN_HOST = "media.example.com"
VECTORS = Path(__file__).parents[2] / "data" / "links" / "refused.toml"
GROUPS: list[dict[str, Any]] = tomllib.loads(VECTORS.read_text(encoding="utf-8"))["group"]
PERMITTED = "93.184.215.14"
SPECIAL = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.9.9", "192.168.0.1", "169.254.169.254",
    "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
    "2002:7f00:1::", "2002:a00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "fe80::1",
    "fe80::1%lo", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "100::1", "fec0::1",
]  # fmt: skip


@dataclass
class Ear:
    """A listener that nobody should reach, and every connection that this process tried."""

    port: int = 0
    visits: int = 0
    dialled: set[Any] = field(default_factory=set)
    is_listening: bool = True

    async def visit(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visits += 1
        writer.close()

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_listening and event == "socket.connect" and isinstance(arguments[1], tuple):
            self.dialled.add(arguments[1][:2])


@pytest.fixture
async def ear() -> AsyncIterator[Ear]:
    ear = Ear()
    sys.addaudithook(ear.hear)  # for good: it cannot be taken away, only made deaf
    server = await asyncio.start_server(ear.visit, "127.0.0.1", 0)
    ear.port = server.sockets[0].getsockname()[1]
    async with server:
        yield ear
    ear.is_listening = False


def vectors(*, port: int, canary: int) -> Iterator[str]:
    for address in itertools.chain.from_iterable(group["addresses"] for group in GROUPS):
        filled = address.replace("{host}", HOST).replace("{port}", str(port))
        yield filled.replace("{canary}", str(canary))


def question(url: str, profile: PlatformProfile) -> HttpRequest:
    return HttpRequest(surface="short_link", url=url, allowed=profile.links.redirect)


def test_link_vectors_have_three_hundred_hostile_addresses() -> None:
    assert sum(len(group["addresses"]) for group in GROUPS) >= 300


async def test_a_hostile_address_is_not_contacted(
    client: GuestClient, scripted_server: Any, scripted_profile: PlatformProfile, ear: Ear
) -> None:
    for address in vectors(port=scripted_server.port, canary=ear.port):
        with pytest.raises(SubstitutionError):
            await client.fetch(question(address, scripted_profile))
    assert (ear.visits, ear.dialled) == (0, set())


async def test_client_follows_no_redirect_to_a_hostile_address(
    client: GuestClient, scripted_server: Any, scripted_profile: PlatformProfile, ear: Ear
) -> None:
    for address in vectors(port=scripted_server.port, canary=ear.port):
        if {"\r", "\n"} & set(address):
            continue  # ends the header: no redirect can say it
        target = f"Location: {address}".encode()
        head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\n"
        scripted_server.answers["/go"] = [head + target + b"\r\n\r\n"]
        with pytest.raises(UpstreamError):
            await client.fetch(question(f"http://{HOST}/go", scripted_profile))
    assert ear.visits == 0
    assert ear.dialled == {("127.0.0.1", scripted_server.port)}
    assert {seen.headers["host"].partition(":")[0] for seen in scripted_server.seen} == {HOST}


async def test_each_step_of_a_chain_is_checked(
    client: GuestClient, scripted_server: Any, scripted_profile: PlatformProfile, ear: Ear
) -> None:
    for step in range(6):
        scripted_server.seen.clear()
        for number in range(step):
            scripted_server.answers[f"/{number}"] = [redirect(f"http://{HOST}/{number + 1}")]
        scripted_server.answers[f"/{step}"] = [redirect(f"http://127.0.0.1:{ear.port}/")]
        with pytest.raises(SubstitutionError):
            await client.fetch(question(f"http://{HOST}/0", scripted_profile))
        assert ear.visits == 0, step
        assert len(scripted_server.seen) == step + 1


async def test_client_connects_to_permitted_addresses(
    client: GuestClient, scripted_server: Any, scripted_profile: PlatformProfile, ear: Ear
) -> None:
    scripted_server.answers["/"] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
    ]
    for address in (f"http://{HOST}", f"http://{HOST.upper()}/?a=1#b", f"HTTP://{HOST}:80/"):
        assert (await client.fetch(question(address, scripted_profile))).body == b"hi"
    assert ear.dialled == {("127.0.0.1", scripted_server.port)}


async def test_a_name_that_leads_inside_is_not_dialled(control_store: Any, ear: Ear) -> None:
    """Alone, and hidden behind an address that would be permitted."""
    policy = HostPolicy(
        limiter=HostRateLimiter(control_store, AT_ONCE, daily_budget=1000, max_wait_s=3),
        circuits=NoCircuits(),
    )
    document = load_profile("sandbox", sandbox_port=ear.port).model_dump()
    profile = PlatformProfile.model_validate({**document, "name": "elsewhere", "pins": {}})
    for answers in (answers for found in SPECIAL for answers in ([found], [PERMITTED, found])):

        async def resolve(_host: str, _port: int, answers: list[str] = answers) -> list[str]:
            return answers

        dialler = Dialler(profile, resolve=resolve)
        async with GuestClient(profile, policy, dialler=dialler) as client:
            ask = HttpRequest(surface="media", url=f"http://{OPEN_HOST}/", allowed=(OPEN_HOST,))
            with pytest.raises(SubstitutionError):
                await client.fetch(ask)
    assert (ear.visits, ear.dialled) == (0, set())


BOMBS = {
    "gzip": gzip.compress(bytes(30_000_000)),
    "deflate": zlib.compress(bytes(30_000_000)),
    "zstd": zstandard.ZstdCompressor().compress(bytes(300_000_000)),
    "br": b"\x5b\xff\xff\x03" * 100,
    "gzip, gzip": gzip.compress(gzip.compress(bytes(30_000_000))),
}


@pytest.mark.parametrize("coding", list(BOMBS))
async def test_client_stops_reading_a_body_that_unpacks_beyond_the_limit(
    coding: str, client: GuestClient, scripted_server: Any, scripted_profile: PlatformProfile
) -> None:
    bomb = BOMBS[coding]
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {len(bomb)}\r\n"
        "Connection: close\r\n\r\n"
    )
    scripted_server.answers["/bomb"] = [head.encode() + bomb]
    with pytest.raises(StructureChangedError) as caught:
        await client.fetch(question(f"http://{HOST}/bomb", scripted_profile))
    asked_for = coding in {"gzip", "deflate"}
    assert caught.value.reason == ("body_too_large" if asked_for else "undecodable_body")


def redirect(target: str) -> bytes:
    return (
        f"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: {target}"
        "\r\n\r\n"
    ).encode()
