"""Pictures of the platform, covers and avatars: download one, make it small.

A picture is decoded here, so its format and its number of pixels are checked first, and what leaves
is a new file without metadata. Not here: which picture belongs to what, and where it is stored.
"""

from http import HTTPStatus
from io import BytesIO
from typing import Self

from PIL import Image

from pipelines.platform.http.client import BodySink, GuestClient, HttpRequest
from warehouse.records.errors import StructureChangedError, UnreachableError

SURFACE = "picture"
MAX_BYTES = 3_000_000
MAX_PIXELS = {"JPEG": 8_000_000, "PNG": 4_000_000, "WEBP": 4_000_000}
"""By format. A JPEG is decoded at an eighth of its size; the others are decoded whole."""
BOX = (144, 192)  # width and height in pixels: twice those of the largest place that shows one
QUALITY = 72
TOTAL_S = 10.0


class PictureSource:
    """Reads pictures from the picture hosts of a profile. Owns its client; a context manager."""

    def __init__(self, client: GuestClient) -> None:
        self._client = client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._client.aclose()

    async def fetch(self, url: str) -> bytes:
        """Return the file at a URL, within the rate limit; a failure is not repeated.

        Raises:
            UpstreamError: The URL leads off the picture hosts, or there is no picture any more.
        """
        request = HttpRequest(
            surface=SURFACE,
            url=url,
            allowed=self._client.profile.pictures.hosts,
            total_s=TOTAL_S,
            attempts=1,
        )
        sink = BodySink(surface=SURFACE, limit_bytes=MAX_BYTES)
        async with self._client.circuit(request):
            response = await self._client.save(request, sink)
        if response.status != HTTPStatus.OK:
            raise UnreachableError(
                f"the picture is gone: status {response.status}",
                surface=SURFACE,
                status=response.status,
            )
        return sink.body


def shrink(body: bytes) -> bytes:
    """Return a picture as a small JPEG of at most `BOX` pixels.

    Raises:
        StructureChangedError: It is no picture of a known format, or too large to decode.
    """
    try:
        with Image.open(BytesIO(body), formats=tuple(MAX_PIXELS)) as picture:
            # The header states the size, so a bomb of millions of pixels is never decoded.
            most = MAX_PIXELS[picture.format or "PNG"]
            if picture.width * picture.height > most:
                raise StructureChangedError(
                    f"the picture has more than {most} pixels",
                    surface=SURFACE,
                    reason="picture_too_large",
                )
            # Before anything is decoded: a JPEG is then decoded at a fraction of its size.
            picture.draft("RGB", BOX)
            picture.thumbnail(BOX)
            small = picture.convert("RGB")
            small.info.clear()  # comments and colour profiles would be written again
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise StructureChangedError(
            "the response is no picture", surface=SURFACE, reason="not_a_picture"
        ) from error
    file = BytesIO()
    small.save(file, "JPEG", quality=QUALITY, optimize=True)
    return file.getvalue()
