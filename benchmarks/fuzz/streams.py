"""A response with any coding and body, read by the client of the platform over loopback."""

import asyncio
from contextlib import suppress

from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.http.host_policy import HostPolicy
from pipelines.platform.profiles import load_profile
from tests.platform.lenient_hosts import NoCircuits, NoRateLimit

PIECE = 65_536


def read_response(body: bytes, coding: str) -> int:
    """The size of the body that the client reads; raises its named error."""
    return asyncio.run(_read(body, coding))


async def _read(body: bytes, coding: str) -> int:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode())
            for start in range(0, len(body), PIECE):
                writer.write(body[start : start + PIECE])
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    profile = load_profile("sandbox", sandbox_port=port)
    async with (
        server,
        GuestClient(profile, HostPolicy(limiter=NoRateLimit(), circuits=NoCircuits())) as client,
    ):
        host = profile.hosts.share
        ask = HttpRequest(
            surface="music_list", url=f"http://{host}:{port}/", allowed=(host,), attempts=1
        )
        return len((await client.fetch(ask)).body)
