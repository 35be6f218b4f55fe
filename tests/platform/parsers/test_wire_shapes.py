"""Ways to say no that only the wire shows: each shape is served, and read by the real client."""

import asyncio
import struct
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

import pytest

from pipelines.platform.http.circuit_breaker import CircuitBreaker
from pipelines.platform.http.client import GuestClient, download_sound
from pipelines.platform.parsers.lists import parse_detail_body
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.profiles import CircuitTimes
from pipelines.platform.refusal_table import refusal_of
from pipelines.platform.sources.planner import SurfaceReader
from pipelines.platform.sources.table import SourceRequest, read_video_page
from tests.platform.sandbox_platform import never
from tests.platform.shape_answers import SEEN_AT, Shape, read_index
from warehouse.control import open_control
from warehouse.records.errors import AudioUnavailableError, RateLimitedError, UpstreamError
from warehouse.records.times import observed_now
from warehouse.records.videos import UnavailableVideo, Video, VideoDetail

pytestmark = pytest.mark.full

WIRE = [shape for shape in read_index() if shape.level == "wire"]
SOUND = "/sound"


async def _reset(writer: asyncio.StreamWriter) -> None:
    """End the connection as a crash does."""
    socket = writer.get_extra_info("socket")
    socket.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    writer.close()


SERVED: dict[str | None, Any] = {"reset": _reset, "silence": never}


def _reply(shape: Shape) -> Any:
    if shape.wire:
        return SERVED[shape.wire]
    headers = {
        "Content-Type": "text/html",
        "Content-Length": str(len(shape.body)),
        "Location": shape.location,
        "Retry-After": shape.retry_after,
        "Connection": "close",
    }
    lines = [f"HTTP/1.1 {shape.status} {HTTPStatus(shape.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items() if value]
    return "\r\n".join([*lines, "", ""]).encode() + shape.body


async def _work(client: GuestClient, shape: Shape, _into: Path) -> object:
    reader = SurfaceReader(client)
    return (await read_video_page(reader, SourceRequest(entity_id=shape.asked))).value


async def _sound(client: GuestClient, shape: Shape, into: Path) -> object:
    return await _sound_read_at(SEEN_AT, client, shape, into)


async def _new_sound(client: GuestClient, shape: Shape, into: Path) -> object:
    return await _sound_read_at(observed_now(), client, shape, into)


async def _sound_read_at(
    read_at: datetime, client: GuestClient, shape: Shape, into: Path
) -> object:
    video = Video(aweme_id=shape.asked, surface="video_page", observed_at=read_at)
    url = f"http://media.vidplat.localhost:{client.profile.port}{SOUND}"
    return await download_sound(client, VideoDetail(video=video, play_urls=(url,)), into)


async def _sound_of_work(client: GuestClient, shape: Shape, into: Path) -> object:
    seen = ParseContext(surface="detail", observed_at=SEEN_AT, link_of=str)
    detail = parse_detail_body(shape.body, shape.asked, seen)
    assert isinstance(detail, VideoDetail)
    return await download_sound(client, detail, into)


READ = {
    "work_page": _work,
    "sound": _sound,
    "new_sound": _new_sound,
    "sound_of_work": _sound_of_work,
}


@pytest.mark.parametrize("served", WIRE, ids=[shape.file for shape in WIRE])
async def test_served_shape_gives_what_its_index_entry_says(
    served: Shape, scripted_server: Any, client: GuestClient, tmp_path: Path
) -> None:
    if served.wire == "silence":
        client.limits = replace(client.limits, total_s=0.2, media_total_s=0.2, attempts=1)
    scripted_server.answers = {
        f"/share/video/{served.asked}/": [_reply(served)],
        SOUND: [_reply(served)],
    }
    kind, row, status = await _outcome(client, served, tmp_path)
    assert (kind, row) == (served.outcome, served.row)
    assert status in {None, served.status}


async def _outcome(
    client: GuestClient, shape: Shape, into: Path
) -> tuple[str, str | None, int | None]:
    try:
        value = await READ[shape.parser](client, shape, into)
    except UpstreamError as error:
        row = refusal_of(error)
        return error.type, row.name if row else None, error.status
    return ("unavailable" if isinstance(value, UnavailableVideo) else "records"), shape.row, None


@pytest.mark.parametrize(
    ("name", "asked"), [("media/refused.html", 16), ("media/expired.html", 18)]
)
async def test_a_host_that_refuses_every_new_address_of_a_sound_is_left_alone(
    name: str, asked: int, scripted_server: Any, client: GuestClient, tmp_path: Path
) -> None:
    """An old address says nothing about its host: it may have expired."""
    (shape,) = (one for one in WIRE if one.file == name)
    scripted_server.answers = {SOUND: [_reply(shape)]}
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox")) as store:
        circuits = CircuitBreaker(store, CircuitTimes())
        client.policy = replace(client.policy, circuits=circuits)
        for _ in range(18):
            with pytest.raises(AudioUnavailableError):
                await READ[shape.parser](client, shape, tmp_path)
    assert scripted_server.count(SOUND) == asked


HTTP_FOUND = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nID3 tagged"
SLOW_DOWN = (
    b"HTTP/1.1 429 Slow down\r\nRetry-After: 3600\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)


async def test_after_a_pause_a_sound_is_read_at_another_host(
    scripted_server: Any, client: GuestClient, tmp_path: Path
) -> None:
    scripted_server.answers = {
        "/paused": [SLOW_DOWN],
        "/same": [HTTP_FOUND],
        "/other": [HTTP_FOUND],
    }
    hosts = {"/paused": "play.vidplat", "/same": "play.vidplat", "/other": "media.vidplat"}
    port = client.profile.port
    urls = [f"http://{host}.localhost:{port}{path}" for path, host in hosts.items()]
    video = Video(aweme_id="1", surface="video_page", observed_at=SEEN_AT)
    await download_sound(client, VideoDetail(video=video, play_urls=tuple(urls)), tmp_path)
    assert [scripted_server.count(path) for path in hosts] == [1, 0, 1]
    with pytest.raises(RateLimitedError):
        await download_sound(client, VideoDetail(video=video, play_urls=tuple(urls[:2])), tmp_path)
