"""A pinned connection is still the named host's: its certificate is checked by name."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.http.host_policy import HostPolicy, HostRateLimiter
from pipelines.platform.profiles import PlatformProfile, load_profile
from tests.platform.lenient_hosts import AT_ONCE, NoCircuits
from tests.platform.sandbox_platform import PATIENT
from warehouse.records.errors import UnreachableError

pytestmark = pytest.mark.full

PAIR = Path(__file__).parents[2] / "data" / "tls" / "share.pem"
SHARE, OTHER = "share.vidplat.localhost", "www.vidplat.localhost"
LIMITS = replace(PATIENT, attempts=1)


@pytest.fixture
def names_asked() -> list[str]:
    return []


@pytest.fixture
async def secure_profile(names_asked: list[str]) -> AsyncIterator[PlatformProfile]:
    """A server on loopback that has a certificate for one name only."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PAIR)
    context.sni_callback = lambda _socket, name, _context: names_asked.append(name)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        host = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"host:"))
        body = host.partition(b": ")[2]
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    async with server:
        profile = load_profile("sandbox", sandbox_port=port)
        yield profile.model_copy(update={"scheme": "https"})


def _client(profile: PlatformProfile, control_store: Any, *, trusting: bool) -> GuestClient:
    tls = ssl.create_default_context(cafile=str(PAIR)) if trusting else None
    policy = HostPolicy(
        limiter=HostRateLimiter(control_store, AT_ONCE, daily_budget=100), circuits=NoCircuits()
    )
    return GuestClient(profile, policy, limits=LIMITS, tls=tls)


async def test_certificate_and_server_name_are_the_hosts(
    secure_profile: PlatformProfile, control_store: Any, names_asked: list[str]
) -> None:
    async with _client(secure_profile, control_store, trusting=True) as client:
        answer = await client.fetch(
            HttpRequest(surface="x", url=f"https://{SHARE}/", allowed=(SHARE,))
        )
    assert answer.body.decode() == f"{SHARE}:{secure_profile.port}"
    assert names_asked == [SHARE]


async def test_connection_of_one_name_never_serves_another_at_the_same_address(
    secure_profile: PlatformProfile, control_store: Any
) -> None:
    async with _client(secure_profile, control_store, trusting=True) as client:
        await client.fetch(HttpRequest(surface="x", url=f"https://{SHARE}/", allowed=(SHARE,)))
        with pytest.raises(UnreachableError):
            await client.fetch(HttpRequest(surface="x", url=f"https://{OTHER}/", allowed=(OTHER,)))


async def test_unknown_authority_is_refused(
    secure_profile: PlatformProfile, control_store: Any
) -> None:
    async with _client(secure_profile, control_store, trusting=False) as client:
        with pytest.raises(UnreachableError):
            await client.fetch(HttpRequest(surface="x", url=f"https://{SHARE}/", allowed=(SHARE,)))
