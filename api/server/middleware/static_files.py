"""Files of the console as they go over the wire: type, fingerprint, compressed once.

What belongs here: which files there are and how they are sent. Not here: what a page may do
(`routes/console.py`), what is in them. No path is ever built from a request: a name is looked up
in the list of files that the folder had when it was asked for.
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

FOLDER = Path(__file__).parents[2] / "console"
SHOWN = ("app", "style", "vendor/preact", "vendor/htm", "vendor/signals")
TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}


@dataclass(frozen=True)
class PageFile:
    """One file of a page. `body` is what was read; the rest is made when first asked for."""

    body: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        """Fingerprint of the content, as an `ETag`."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'

    @cached_property
    def packed(self) -> bytes:
        """The content as gzip; equal contents give equal bytes."""
        return gzip.compress(self.body, compresslevel=9, mtime=0)

    def answer(self, headers: Headers, **more: str) -> Response:
        """The file as this reader may have it: not again, compressed, or plain.

        Args:
            headers: Of the request.
            more: Headers to add, with `_` for `-`.
        """
        sent = {
            "ETag": self.tag,
            "Cache-Control": "no-cache",  # kept, and asked about: an update is seen at once
            "Vary": "Accept-Encoding",
            **{name.replace("_", "-"): value for name, value in more.items()},
        }
        known = [tag.strip().removeprefix("W/") for tag in _list_of(headers, "if-none-match")]
        if self.tag in known:
            return Response(status_code=NOT_MODIFIED, headers=sent)
        accepted = {coding.partition(";")[0].strip() for coding in _list_of(headers, _CODINGS)}
        if "gzip" in accepted:
            sent["Content-Encoding"] = "gzip"
            return Response(self.packed, media_type=self.media_type, headers=sent)
        return Response(self.body, media_type=self.media_type, headers=sent)


_CODINGS = "accept-encoding"


def page_names() -> list[str]:
    """Every file that the console's page may ask for, as paths below its folder."""
    found = (path for part in SHOWN for path in sorted((FOLDER / part).rglob("*")))
    return [path.relative_to(FOLDER).as_posix() for path in found if path.suffix in TYPES]


def read_page_file(name: str) -> PageFile | None:
    """A file of the console; None if it has no such file."""
    if name != "index.html" and name not in page_names():
        return None
    path = FOLDER / name
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _read(path: Path, _changed_ns: int) -> PageFile:
    """Read once per version on disk: whoever edits a file sees it without a restart."""
    return PageFile(path.read_bytes(), TYPES[path.suffix])


def _list_of(headers: Headers, name: str) -> list[str]:
    return [part for value in headers.getlist(name) for part in value.split(",")]
