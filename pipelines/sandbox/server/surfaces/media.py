"""Files: media and play URLs by video id, covers, scripts and styles of pages, robots.txt.

Route names: `play` (302 to the media host), `media`, `image`, `static`, `robots`. Sound is rendered
on first use, outside of the event loop. Short-link and media hosts have no robots.txt; the others
send `Last-Modified` and answer conditional requests with 304.
"""

import asyncio
import struct
import zlib
from pathlib import Path
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server import addresses
from pipelines.sandbox.server.addresses import PAGE_HOSTS
from pipelines.sandbox.server.documents.pages import LOADER
from pipelines.sandbox.server.documents.songs import length_of, track_of
from pipelines.sandbox.server.documents.videos import read_video_id
from pipelines.sandbox.server.media_tickets import SILENT_FILE, is_valid, video_address
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import ResponseVersion, conditional, host_of
from pipelines.sandbox.world.content.videos import Alteration
from pipelines.sandbox.world.random_streams import share_of
from pipelines.sandbox.world.sound.encoding import Codec

_ALTERED = b"\x7b"
"""What some media hosts put in place of the first byte, which belongs to the file type box."""
_TYPES: dict[Codec, str] = {"aac": "video/mp4", "mp3": "audio/mpeg"}


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of media, images and the files of pages."""
    media = _Media(platform)
    return [
        Route("/aweme/v1/playwm/", media.play, name="play"),
        Route("/aweme/v1/play/", media.play, name="play"),
        Route("/obj/{folder}/{name}", media.file, name="media"),
        Route("/img/{name}.png", media.image, name="image"),
        *_page_files(platform),
    ]


class _Media:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform

    async def play(self, request: Request) -> Response:
        if not self._may_load(request):
            return PlainTextResponse("", status_code=403)
        world = self.platform.world
        aweme_id = read_video_id(request.query_params.get("video_id", ""))
        work = None if aweme_id is None else world.video_of_id(aweme_id)
        if work is None or not world.is_public(work) or work.is_photo:
            return PlainTextResponse("", status_code=404)
        return RedirectResponse(video_address(self.platform, work), status_code=302)

    async def file(self, request: Request) -> Response:
        name = request.path_params["name"]
        identifier, _, ending = name.partition(".")
        codec: Codec = "mp3" if ending == "mp3" else "aac"
        if not self._may_load(request):
            path = None
        elif name == SILENT_FILE:
            path = self.platform.sound_cache.placeholder()
        else:
            path = await self._file(identifier, codec) if self._is_valid(request) else None
        if path is None:
            return PlainTextResponse("", status_code=403)
        if codec == "aac" and self.platform.switches.is_on("media_altered"):
            data = await asyncio.to_thread(path.read_bytes)
            return Response(_ALTERED + data[1:], media_type=_TYPES[codec])
        return FileResponse(path, media_type=_TYPES[codec])

    async def _file(self, identifier: str, codec: Codec) -> Path | None:
        """Return the file of a music id, of a song, or of a video with its own sound."""
        world = self.platform.world
        sound, track = world.sound_of(identifier), track_of(world, identifier)
        if sound is not None:
            return await self.platform.sound_file(sound, codec=codec)
        if track is not None:
            length_s = length_of(world.tracks[track])
            return await self.platform.song_file(track, length_s=length_s)
        work = world.video_of_id(identifier)
        if work is None or work.alteration is Alteration.NONE:
            return None
        return await self.platform.video_file(work)

    async def image(self, request: Request) -> Response:
        return Response(_png(request.path_params["name"]), media_type="image/png")

    def _may_load(self, request: Request) -> bool:
        """Return False for a request without the Referer that the platform's own pages send."""
        page = urlsplit(request.headers.get("referer", "")).hostname
        return page in PAGE_HOSTS or not self.platform.switches.is_on("media_needs_referer")

    def _is_valid(self, request: Request) -> bool:
        query = request.query_params
        expires, mark = query.get("x-expires", ""), query.get("x-signature", "")
        return is_valid(self.platform, request.url.path, expires=expires, mark=mark)


def _png(name: str, *, width: int = 36, height: int = 64) -> bytes:
    """Return a single-colour picture as a cover."""
    colour = bytes(int(256 * share_of(name, part)) for part in "rgb")
    rows = (b"\0" + colour * width) * height

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


_SCRIPT = "application/javascript"
ROBOTS = {
    addresses.WEB: "User-agent: *\nDisallow: /passport/\nAllow: /\n",
    addresses.SHARE: "User-agent: *\nDisallow: /private/\n",
    addresses.CHART: "User-agent: *\nAllow: /\n",
    addresses.CHART_MOBILE: "User-agent: *\nAllow: /\n",
    addresses.CHART_WEB: "User-agent: *\nDisallow: /admin/\n",
}
"""Hosts that have a robots.txt; every other host has none."""
_WRITTEN_BEFORE_S = 90 * 86_400


def _page_files(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes: scripts on every host, robots.txt on some."""
    written = platform.world.now - _WRITTEN_BEFORE_S

    async def robots(request: Request) -> Response:
        text = ROBOTS.get(host_of(request.scope))
        if text is None:
            return PlainTextResponse("not found", status_code=404)
        return conditional(
            request, ResponseVersion(modified=written), lambda: PlainTextResponse(text)
        )

    async def loader(_: Request) -> Response:
        return Response(LOADER, media_type=_SCRIPT)

    async def kit(_: Request) -> Response:
        return Response("/* on every page, proves nothing */", media_type=_SCRIPT)

    async def styles(_: Request) -> Response:
        return Response("li { margin: 0 }", media_type="text/css")

    return [
        Route("/robots.txt", robots, name="robots"),
        Route("/static/first-screen.js", loader, name="static"),
        Route("/captcha-sdk.js", kit, name="static"),
        Route("/static/page.css", styles, name="static"),
    ]
