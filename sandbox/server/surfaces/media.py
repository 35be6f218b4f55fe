"""Files: media and play URLs by video id, covers, scripts and styles of pages, robots.txt.

Surfaces: `play` (302 to the media host), `media`, `image`, `static`, `robots`. Sound is rendered
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

from sandbox.server import addresses
from sandbox.server.addresses import PAGE_HOSTS
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.pages import LOADER, TOKEN_LOADER
from sandbox.server.documents.songs import length_of, track_of
from sandbox.server.documents.videos import read_video_id
from sandbox.server.media_tickets import SILENT_FILE, is_valid, video_address
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import Surface, conditional, host_of
from sandbox.world.content.tables import Alteration
from sandbox.world.random_streams import share_of
from sandbox.world.sound.sound_cache import Codec, SandboxSilence, SandboxSong

_ALTERED = b"\x7b"
"""What some media hosts put in place of the first byte, which belongs to the file type box."""
_TYPES: dict[Codec, str] = {"aac": "video/mp4", "mp3": "audio/mpeg"}


async def _play(platform: SandboxPlatform, request: Request) -> Response:
    if not _may_load(platform, request):
        return PlainTextResponse("", status_code=403)
    aweme_id = read_video_id(request.query_params.get("video_id", ""))
    work = None if aweme_id is None else platform.world.video_of_id(aweme_id)
    if work is None or not work.is_public or work.is_photo:
        return PlainTextResponse("", status_code=404)
    return RedirectResponse(video_address(platform, work), status_code=302)


async def _file(platform: SandboxPlatform, request: Request) -> Response:
    name = request.path_params["name"]
    identifier, _, ending = name.partition(".")
    codec: Codec = "mp3" if ending == "mp3" else "aac"
    if not _may_load(platform, request):
        path = None
    elif name == SILENT_FILE:
        path = await platform.sound_file(SandboxSilence(), codec="mp3")
    else:
        path = await _path(platform, identifier, codec) if _is_valid(platform, request) else None
    if path is None:
        return PlainTextResponse("", status_code=403)
    if codec == "aac" and platform.switches.is_on("media_altered"):
        data = await asyncio.to_thread(path.read_bytes)
        return Response(_ALTERED + data[1:], media_type=_TYPES[codec])
    return FileResponse(path, media_type=_TYPES[codec])


async def _path(platform: SandboxPlatform, identifier: str, codec: Codec) -> Path | None:
    """Return the file of a music id, of a song, or of a video with its own sound."""
    world = platform.world
    sound, track = world.sound_of(identifier), track_of(world, identifier)
    if sound is not None:
        return await platform.sound_file(sound, codec=codec)
    if track is not None:
        return await platform.sound_file(SandboxSong(track, length_of(world.tracks[track])))
    work = world.video_of_id(identifier)
    if work is None or work.alteration is Alteration.NONE:
        return None
    return await platform.sound_file(work)


def _may_load(platform: SandboxPlatform, request: Request) -> bool:
    """Return False for a request without the Referer that the platform's own pages send."""
    page = urlsplit(request.headers.get("referer", "")).hostname
    return page in PAGE_HOSTS or not platform.switches.is_on("media_needs_referer")


def _is_valid(platform: SandboxPlatform, request: Request) -> bool:
    query = request.query_params
    expires, mark = query.get("x-expires", ""), query.get("x-signature", "")
    return is_valid(platform, request.url.path, expires=expires, mark=mark)


async def _image(_: SandboxPlatform, request: Request) -> Response:
    return Response(_png(request.path_params["name"]), media_type="image/png")


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


ROBOTS = {
    addresses.WEB: "User-agent: *\nDisallow: /passport/\nAllow: /\n",
    addresses.SHARE: "User-agent: *\nDisallow: /private/\n",
    addresses.CHART: "User-agent: *\nAllow: /\n",
    addresses.CHART_MOBILE: "User-agent: *\nAllow: /\n",
    addresses.CHART_WEB: "User-agent: *\nDisallow: /admin/\n",
}
"""Hosts that have a robots.txt; every other host has none."""
_WRITTEN_BEFORE_S = 90 * 86_400


async def _robots(platform: SandboxPlatform, request: Request) -> Response:
    text = ROBOTS.get(host_of(request.scope))
    if text is None:
        return PlainTextResponse("not found", status_code=404)
    written = platform.first.now - _WRITTEN_BEFORE_S
    return conditional(request, lambda: PlainTextResponse(text), modified=written)


_PAGE_FILES = {
    "/static/first-screen.js": (LOADER, "application/javascript"),
    "/static/reflow.js": (TOKEN_LOADER, "application/javascript"),
    "/captcha-sdk.js": ("/* on every page, proves nothing */", "application/javascript"),
    "/static/page.css": ("li { margin: 0 }", "text/css"),
}
"""Scripts and styles of pages, on every host."""


async def _static(_: SandboxPlatform, request: Request) -> Response:
    text, media_type = _PAGE_FILES[request.url.path]
    return Response(text, media_type=media_type)


SURFACES = (
    Surface("play", _play, "/aweme/v1/playwm/", "/aweme/v1/play/", source=forms.DETAIL),
    Surface("media", _file, "/obj/{folder}/{name}", source=forms.DETAIL),
    Surface("image", _image, "/img/{name}.png", source=forms.DETAIL),
    Surface("robots", _robots, "/robots.txt", source=forms.ROBOTS),
    Surface("static", _static, *_PAGE_FILES, source=forms.SHARE_PAGE),
)
