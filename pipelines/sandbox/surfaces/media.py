"""Media: playing by video id, the files themselves, covers.

Route names: `play` (302 to the media host), `media`, `image`. Sound is rendered when first asked
for, away from the event loop.
"""

import struct
import zlib

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.documents import read_video_id
from pipelines.sandbox.platform import Platform, share_of
from pipelines.sandbox.tickets import SILENT_FILE, is_valid, media_address
from pipelines.world.encoding import Codec

_TYPES: dict[Codec, str] = {"aac": "video/mp4", "mp3": "audio/mpeg"}


def routes(platform: Platform) -> list[BaseRoute]:
    """Play, files and images."""

    async def play(request: Request) -> Response:
        aweme_id = read_video_id(request.query_params.get("video_id", ""))
        work = None if aweme_id is None else platform.world.work_of(aweme_id)
        if work is None or not platform.world.is_public(work) or work.is_photo:
            return PlainTextResponse("", status_code=404)
        sound = platform.world.sounds.row(work.sound)
        return RedirectResponse(media_address(platform, sound, codec="aac"), status_code=302)

    async def media(request: Request) -> Response:
        name = request.path_params["name"]
        if name == SILENT_FILE:
            return FileResponse(platform.shelf.placeholder(), media_type=_TYPES["mp3"])
        query = request.query_params
        is_good = is_valid(
            platform, request.url.path, expires=query.get("x-expires", ""),
            mark=query.get("x-signature", ""),
        )  # fmt: skip
        music_id, _, ending = name.partition(".")
        sound = platform.world.sound_of(music_id)
        if not is_good or sound is None:
            return PlainTextResponse("", status_code=403)
        codec: Codec = "mp3" if ending == "mp3" else "aac"
        path = await platform.sound_file(sound, codec=codec)
        return FileResponse(path, media_type=_TYPES[codec])

    async def image(request: Request) -> Response:
        return Response(_png(request.path_params["name"]), media_type="image/png")

    return [
        Route("/aweme/v1/playwm/", play, name="play"),
        Route("/aweme/v1/play/", play, name="play"),
        Route("/obj/{folder}/{name}", media, name="media"),
        Route("/img/{name}.png", image, name="image"),
    ]


def _png(name: str, *, width: int = 36, height: int = 64) -> bytes:
    """A picture of one colour that stands for a cover."""
    colour = bytes(int(256 * share_of(name, part)) for part in "rgb")
    rows = (b"\0" + colour * width) * height

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
