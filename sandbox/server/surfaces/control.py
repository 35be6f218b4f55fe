"""Control endpoints: ground truth, tracks, access log, clock, switches, faults, simulated device.

All paths begin with `/_world/`; they are not logged, delayed or subject to faults.
"""

import asyncio
from functools import partial

import psutil
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sandbox.server.addresses import MUSIC_SHORT, SHARE, to_code
from sandbox.server.device.phone import SimulatedPhone
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.pages import Document
from sandbox.server.documents.songs import is_paid, track_id_of
from sandbox.server.faults import Fault
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import Surface, read_non_negative
from sandbox.server.surfaces.lists import trends_path
from sandbox.server.surfaces.music_service import track_address
from sandbox.server.switches import switches_of
from sandbox.world.content.tables import SandboxSound
from sandbox.world.hardness import check_hardness

_SHOWN_TRACKS = 24
"""Default of `limit`: counting takes time in large worlds."""


async def _tracks(platform: SandboxPlatform, request: Request) -> Response:
    counted = request.query_params.get("counts") != "0"
    rows = platform.world.tracks[: read_non_negative(request, "limit", _SHOWN_TRACKS)]

    def shown(sound: SandboxSound) -> Document:
        if not counted:
            return _track(platform, sound)
        expected = platform.ground_truth(sound.music_id).counts()
        return {**_track(platform, sound), "expected": expected}

    tracks = await asyncio.to_thread(lambda: list(map(shown, rows)))
    return JSONResponse({"seed": platform.world.seed, "tracks": tracks})


async def _truth(platform: SandboxPlatform, request: Request) -> Response:
    """Return the ground truth now, or `at` so many seconds after the server's start."""
    at_s = read_non_negative(request, "at", platform.clock_offset_s)
    try:
        found = await asyncio.to_thread(
            platform.ground_truth, request.path_params["music_id"], at_s
        )
    except KeyError:
        return JSONResponse({"error": "no such music id"}, status_code=404)
    everything = request.query_params.get("all") == "1"
    works = await asyncio.to_thread(lambda: found.works(everything=everything))
    expected = await asyncio.to_thread(found.counts)
    track = {**_track(platform, found.asked), "expected": expected}
    return JSONResponse({**track, "works": [work.to_document() for work in works]})


async def _hardness(platform: SandboxPlatform, _: Request) -> Response:
    report = await asyncio.to_thread(check_hardness, platform.first.at(0))
    return JSONResponse(report.to_document())


async def _log_summary(platform: SandboxPlatform, request: Request) -> Response:
    if request.method == "DELETE":
        platform.log.clear()
    return JSONResponse(platform.log.summary())


async def _log_requests(platform: SandboxPlatform, request: Request) -> Response:
    query = request.query_params
    found = platform.log.requests(
        host=query.get("host"), surface=query.get("surface"),
        limit=read_non_negative(request, "limit", 1000),
    )  # fmt: skip
    return JSONResponse({"requests": found})


async def _log_challenges(platform: SandboxPlatform, _: Request) -> Response:
    return JSONResponse({"challenges": platform.log.challenges()})


async def _cpu(_: SandboxPlatform, __: Request) -> Response:
    return JSONResponse(_cpu_seconds())


async def _switches(platform: SandboxPlatform, request: Request) -> Response:
    """Turn on the `switches` and those of the `mode` of a POST; DELETE turns all off."""
    try:
        if request.method == "DELETE":
            platform.switches.clear()
        elif request.method == "POST":
            asked = await request.json()
            for text in switches_of(asked.get("mode", "generous"), asked.get("switches", ())):
                platform.switches.set(text)
    except ValueError as exc:
        return _refused(exc)
    return JSONResponse(platform.switches.to_document())


async def _faults(platform: SandboxPlatform, request: Request) -> Response:
    try:
        if request.method == "DELETE":
            platform.faults.clear()
        else:
            platform.faults.add(Fault(**await request.json()))
    except (TypeError, ValueError) as exc:
        return _refused(exc)
    return JSONResponse({"faults": len(platform.faults)})


async def _clock(platform: SandboxPlatform, request: Request) -> Response:
    if request.method == "POST":
        await platform.move_clock(int((await request.json()).get("advance_s", 0)))
    return JSONResponse({"now": platform.now, "offset_s": platform.clock_offset_s})


async def _device(phone: SimulatedPhone, request: Request) -> Response:
    try:
        if request.method == "DELETE":
            phone.restore()
        elif request.method == "POST":
            phone.script.change(**await request.json())
    except (TypeError, ValueError) as exc:
        return _refused(exc)
    return JSONResponse({"serial": phone.serial, "log": phone.log.to_document()})


def _refused(exc: Exception) -> Response:
    return JSONResponse({"error": str(exc)}, status_code=400)


_READ_AND_SET = ("GET", "POST", "DELETE")
SURFACES = tuple(
    Surface("control", answer, f"/_world/{path}", methods=methods, source=forms.OWN)
    for path, answer, methods in (
        ("tracks", _tracks, ("GET",)),
        ("truth/{music_id}", _truth, ("GET",)),
        ("hardness", _hardness, ("GET",)),
        ("access-log/summary", _log_summary, ("GET", "DELETE")),
        ("access-log/requests", _log_requests, ("GET",)),
        ("access-log/challenges", _log_challenges, ("GET",)),
        ("cpu", _cpu, ("GET",)),
        ("faults", _faults, ("POST", "DELETE")),
        ("switches", _switches, _READ_AND_SET),
        ("clock", _clock, ("GET", "POST")),
    )
)
"""The endpoints for tests and benches."""


def device_routes(phone: SimulatedPhone) -> list[BaseRoute]:
    """Return the endpoint of a simulated device: its faults to inject, and what was done on it."""
    answer = partial(_device, phone)
    return [Route("/_world/device", answer, methods=_READ_AND_SET, name="control")]


def _track(platform: SandboxPlatform, sound: SandboxSound) -> Document:
    """Return a music id, its links, and the text that the platform's share button copies."""
    world, addresses = platform.world, platform.addresses
    title, author = world.sound_title(sound), world.sound_author(sound)
    short = addresses.short_link("music", int(sound.music_id))
    rows = world.music_list(sound.index)
    first = str(world.works.aweme_id[int(rows[0])]) if rows.size else None
    return {
        "music_id": sound.music_id, "title": title, "author": author,
        "duration_s": round(sound.duration_s, 3), "listed_count": int(rows.size),
        "short_link": short,
        "share_link": addresses.on(SHARE, f"/share/music/{sound.music_id}/"),
        "prose": f"7.43 复制打开看看【{author}创作的《{title}》】{short}，快来听听！ # 音乐",
        "aweme_id": first,
        "video_link": addresses.short_link("video", int(first)) if first else None,
        "trends_link": addresses.on(SHARE, trends_path(sound.music_id)),
        **_on_music_service(platform, sound),
    }  # fmt: skip


def _on_music_service(platform: SandboxPlatform, sound: SandboxSound) -> Document:
    """Return the links of a track on the music service; None for one that it lacks."""
    track_id = track_id_of(platform.world, sound)
    if track_id is None:
        return {"track_id": None, "track_link": None}
    old = platform.addresses.on(MUSIC_SHORT, f"/s/{to_code('track', int(track_id))}/")
    return {
        "track_id": track_id, "track_link": track_address(platform, track_id),
        "track_short_link": platform.addresses.short_link("track", int(track_id)),
        "track_short_link_old": old, "is_paid": is_paid(sound),
    }  # fmt: skip


def _cpu_seconds() -> Document:
    """Return CPU seconds of the server and of its rendering processes."""
    process = psutil.Process()
    own = process.cpu_times()
    rendering = 0.0
    for child in process.children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        rendering += times.user + times.system
    server = own.user + own.system
    return {"server_s": server, "rendering_s": rendering, "total_s": server + rendering}
