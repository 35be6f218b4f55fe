"""Control endpoints: ground truth, tracks, access log, clock, switches, faults, simulated device.

All paths begin with `/_world/`; they are not logged, delayed or subject to faults.
"""

import asyncio
from dataclasses import replace
from functools import lru_cache

import psutil
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.addresses import MUSIC_SHORT, SHARE, to_code
from pipelines.sandbox.server.device.phone import SimulatedPhone
from pipelines.sandbox.server.documents.songs import is_paid, track_id_of
from pipelines.sandbox.server.documents.videos import Document
from pipelines.sandbox.server.faults import Fault
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import read_non_negative
from pipelines.sandbox.server.surfaces.music import trends_path
from pipelines.sandbox.server.surfaces.music_service import track_address
from pipelines.sandbox.server.switches import switches_of
from pipelines.sandbox.world.content.sounds import SandboxSound
from pipelines.sandbox.world.ground_truth import GroundTruth
from pipelines.sandbox.world.guest_view import GuestView
from pipelines.sandbox.world.hardness import check_hardness

_SHOWN_TRACKS = 24
"""Default of `limit`: counting takes time in large worlds."""
_MAX_CACHED_TRUTHS = 2000


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the endpoints for tests and benches."""
    return [*_fact_routes(platform), *_access_log_routes(platform), *_control_routes(platform)]


def _fact_routes(platform: SandboxPlatform) -> list[BaseRoute]:
    known = _TrackFacts(platform)
    return [
        Route("/_world/tracks", known.tracks, name="control"),
        Route("/_world/truth/{music_id}", known.truth, name="control"),
        Route("/_world/hardness", known.hardness, name="control"),
    ]


class _TrackFacts:
    """Ground truth. Counting takes time, so it runs in threads and is cached."""

    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform
        self._truths = lru_cache(maxsize=_MAX_CACHED_TRUTHS)(_ground_truth)

    async def tracks(self, request: Request) -> Response:
        counted = request.query_params.get("counts") != "0"
        rows = self.platform.world.tracks[: read_non_negative(request, "limit", _SHOWN_TRACKS)]
        listed = await asyncio.to_thread(
            lambda: [
                {**_track(self.platform, sound), **(self._counts(sound) if counted else {})}
                for sound in rows
            ]
        )
        return JSONResponse({"seed": self.platform.world.seed, "tracks": listed})

    def truth_of(self, music_id: str) -> GroundTruth:
        return self._truths(self.platform.view, music_id)

    async def truth(self, request: Request) -> Response:
        """Return the ground truth now, or `at` so many seconds after the server's start."""
        try:
            found = await asyncio.to_thread(self._truth_at, request)
        except KeyError:
            return JSONResponse({"error": "no such music id"}, status_code=404)
        everything = request.query_params.get("all") == "1"
        works = await asyncio.to_thread(lambda: found.works(everything=everything))
        expected = await asyncio.to_thread(found.counts)
        track = {**_track(self.platform, found.asked), "expected": expected}
        return JSONResponse({**track, "works": [work.to_document() for work in works]})

    def _truth_at(self, request: Request) -> GroundTruth:
        music_id, now_s = request.path_params["music_id"], self.platform.clock_offset_s
        passed_s = read_non_negative(request, "at", now_s)
        if passed_s == now_s:
            return self.truth_of(music_id)
        then = replace(self.platform.view, world=self.platform.world_at(passed_s))
        return _ground_truth(then, music_id)

    async def hardness(self, _: Request) -> Response:
        report = await asyncio.to_thread(check_hardness, self.platform.first.at(0))
        return JSONResponse(report.to_document())

    def _counts(self, sound: SandboxSound) -> Document:
        return {"expected": self.truth_of(sound.music_id).counts()}


def _ground_truth(view: GuestView, music_id: str) -> GroundTruth:
    return GroundTruth(view.world, music_id, view=view)


def _access_log_routes(platform: SandboxPlatform) -> list[BaseRoute]:
    async def summary(request: Request) -> Response:
        if request.method == "DELETE":
            platform.log.clear()
        return JSONResponse(platform.log.summary())

    async def rates(request: Request) -> Response:
        window = max(1, read_non_negative(request, "window_ms", 1000)) / 1000
        return JSONResponse({"window_s": window, "hosts": platform.log.rates(window_s=window)})

    async def requests(request: Request) -> Response:
        query = request.query_params
        found = platform.log.requests(
            host=query.get("host"), surface=query.get("surface"),
            limit=read_non_negative(request, "limit", 1000),
        )  # fmt: skip
        return JSONResponse({"requests": found})

    async def challenges(_: Request) -> Response:
        return JSONResponse({"challenges": platform.log.challenges()})

    async def cpu(_: Request) -> Response:
        return JSONResponse(_cpu_seconds())

    return [
        Route("/_world/access-log/summary", summary, methods=["GET", "DELETE"], name="control"),
        Route("/_world/access-log/rates", rates, name="control"),
        Route("/_world/access-log/requests", requests, name="control"),
        Route("/_world/access-log/challenges", challenges, name="control"),
        Route("/_world/cpu", cpu, name="control"),
    ]


def _control_routes(platform: SandboxPlatform) -> list[BaseRoute]:
    async def switches(request: Request) -> Response:
        try:
            await _switched(platform, request)
        except ValueError as exc:
            return JSONResponse({"error": str(exc)}, status_code=400)
        return JSONResponse(platform.switches.to_document())

    async def faults(request: Request) -> Response:
        if request.method == "DELETE":
            platform.faults.clear()
        else:
            try:
                platform.faults.add(Fault(**await request.json()))
            except (TypeError, ValueError) as exc:
                return JSONResponse({"error": str(exc)}, status_code=400)
        return JSONResponse({"faults": len(platform.faults)})

    async def clock(request: Request) -> Response:
        if request.method == "POST":
            await platform.move_clock(int((await request.json()).get("advance_s", 0)))
        return JSONResponse({"now": platform.now, "offset_s": platform.clock_offset_s})

    return [
        Route("/_world/faults", faults, methods=["POST", "DELETE"], name="control"),
        Route("/_world/switches", switches, methods=["GET", "POST", "DELETE"], name="control"),
        Route("/_world/clock", clock, methods=["GET", "POST"], name="control"),
    ]


async def _switched(platform: SandboxPlatform, request: Request) -> None:
    """Turn on the `switches` and those of the `mode` of a POST; DELETE turns all off."""
    if request.method == "DELETE":
        platform.switches.clear()
    elif request.method == "POST":
        asked = await request.json()
        for text in switches_of(asked.get("mode", "generous"), asked.get("switches", ())):
            platform.switches.set(text)


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


def device_routes(phone: SimulatedPhone) -> list[BaseRoute]:
    """Return the endpoint of a simulated device: its faults to inject, and what was done on it."""

    async def handle(request: Request) -> Response:
        if request.method == "DELETE":
            phone.restore()
        elif request.method == "POST":
            try:
                phone.script.change(**await request.json())
            except (TypeError, ValueError) as exc:
                return JSONResponse({"error": str(exc)}, status_code=400)
        return JSONResponse({"serial": phone.serial, "log": phone.log.to_document()})

    return [Route("/_world/device", handle, methods=["GET", "POST", "DELETE"], name="control")]
