"""What the adb server of the simulated phone answers, word by word as a client sends it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sandbox.server.device.phone import SimulatedPhone
from sandbox.server.device.server import FEATURES, AdbServer
from sandbox.server.platform import SandboxPlatform


@pytest.fixture
async def server(platform: SandboxPlatform) -> AsyncIterator[AdbServer]:
    made = AdbServer(SimulatedPhone(platform))
    await made.start(0)
    yield made
    await made.close()


def framed(word: str) -> bytes:
    return f"{len(word):04x}{word}".encode()


async def send_request(server: AdbServer, *words: str) -> bytes:
    """All that the server says to these requests on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"".join(map(framed, words)))
    said = await reader.read()
    writer.close()
    await writer.wait_closed()
    return said


async def test_a_server_that_was_never_started_closes(platform: SandboxPlatform) -> None:
    server = AdbServer(SimulatedPhone(platform))
    await server.close()
    assert server.port == 0


@pytest.mark.parametrize(
    "word",
    ["elsewhere:version", "host:no-such-service", "host-serial:stand-in-1:no-such-word"],
    ids=["no prefix", "no service", "no word"],
)
async def test_a_request_that_is_none_is_refused(word: str, server: AdbServer) -> None:
    assert await send_request(server, word) == b"FAIL" + framed("unknown host service")


async def test_a_device_that_is_named_says_what_it_is(server: AdbServer) -> None:
    said = {
        word: await send_request(server, f"host-serial:stand-in-1:{word}")
        for word in ("get-state", "get-serialno", "features")
    }
    assert said == {
        "get-state": b"OKAY" + framed("device"),
        "get-serialno": b"OKAY" + framed("stand-in-1"),
        "features": b"OKAY" + framed(FEATURES),
    }


async def test_a_transport_has_an_id_only_where_the_client_asks_for_one(server: AdbServer) -> None:
    shell = "shell:echo one"
    assert await send_request(server, "host:transport:stand-in-1", shell) == b"OKAYOKAYone\n"
    with_id = b"OKAY" + (1).to_bytes(8, "little") + b"OKAYone\n"
    assert await send_request(server, "host:tport:serial:stand-in-1", shell) == with_id


async def test_a_service_that_the_device_lacks_is_closed(server: AdbServer) -> None:
    said = await send_request(server, "host:transport:stand-in-1", "jdwp:1")
    assert said == b"OKAYFAIL" + framed("closed")


@pytest.mark.parametrize("word", ["devices", "devices-l"])
async def test_a_device_that_is_away_is_not_listed(word: str, server: AdbServer) -> None:
    assert b"stand-in-1" in await send_request(server, f"host:{word}")
    server.phone.script.state = "absent"
    assert await send_request(server, f"host:{word}") == b"OKAY0000"


async def test_adb_server_closes_a_connection_with_another_protocol(server: AdbServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"GET ")  # no length in hex digits
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
