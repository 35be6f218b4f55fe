"""Static files of the console: media type, ETag, compressed once.

A name is looked up in a directory listing; no path is ever built from a request. Not here: what a
page may do (`api/routes/extensions/pages.py`).
"""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response

from api.responses.errors import NOT_MODIFIED
from api.server.middleware.compression import choose_coding

FOLDER = Path(__file__).parents[2] / "console"
SERVED_FOLDERS = ("app", "style", "vendor/preact", "vendor/htm", "vendor/signals")
TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}


@dataclass(frozen=True)
class StaticFile:
    """One static file. ETag and compressed form are computed on first use."""

    body: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        """`ETag` of the content."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'

    @cached_property
    def packed(self) -> bytes:
        """The content as gzip; equal contents give equal bytes."""
        return gzip.compress(self.body, compresslevel=9, mtime=0)

    def answer(self, headers: Headers, **more: str) -> Response:
        """Build the response that the request headers ask for: 304, gzip or plain.

        Args:
            headers: Request headers.
            more: Additional response headers, with `_` for `-`.
        """
        sent = {
            "ETag": self.tag,
            "Cache-Control": "no-cache",  # cached but always revalidated, so updates show at once
            "Vary": "Accept-Encoding",
            **{name.replace("_", "-"): value for name, value in more.items()},
        }
        known = [tag.strip().removeprefix("W/") for tag in _list_of(headers, "if-none-match")]
        if self.tag in known:
            return Response(status_code=NOT_MODIFIED, headers=sent)
        asked = ",".join(headers.getlist("accept-encoding")).encode("latin-1")
        if choose_coding(asked, among=("gzip",)) is not None:
            sent["Content-Encoding"] = "gzip"
            return Response(self.packed, media_type=self.media_type, headers=sent)
        return Response(self.body, media_type=self.media_type, headers=sent)


def static_file_names() -> list[str]:
    """Return the names of all files that the console may load, relative to its folder."""
    found = (path for part in SERVED_FOLDERS for path in sorted((FOLDER / part).rglob("*")))
    return [path.relative_to(FOLDER).as_posix() for path in found if path.suffix in TYPES]


def read_static_file(name: str) -> StaticFile | None:
    """Return a file of the console, or None if there is no such file."""
    if name != "index.html" and name not in static_file_names():
        return None
    path = FOLDER / name
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _read(path: Path, _changed_ns: int) -> StaticFile:
    """Read a file once per version on disk, so that edits show without a restart."""
    return StaticFile(path.read_bytes(), TYPES[path.suffix])


def _list_of(headers: Headers, name: str) -> list[str]:
    return [part for value in headers.getlist(name) for part in value.split(",")]
