"""Files next to the lake that may be missing: excerpts of compared sounds, and small pictures.

Excerpts cannot be created again once the sounds are deleted, but nothing depends on them; their
position in the sound is chosen in `warehouse/records/evidence.py`. A file that was cut off counts
as missing.
"""

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from warehouse.home import Home
from warehouse.records.evidence import Excerpt

_HASH = re.compile("[0-9a-f]{64}")
_LENGTH = re.compile(rb"(?:Info|Xing).{8}(.{4})", re.DOTALL)
"""Of the header that LAME writes into the first frame: a name, flags, frames, bytes from there."""
_HEAD_BYTES = 200
_ABSENT_S = 3600.0
_BEGIN, _END = b"\xff\xd8", b"\xff\xd9"  # JPEG's markers


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptFolder:
    """A folder of MP3 files, named by the hash of the sound and the position of the excerpt.

    Attributes:
        folder: The folder; created with the first file.
        max_bytes: Total size; the oldest files are deleted first. 0 keeps no file.
        max_age_s: Older files are not served, and deleted.
    """

    folder: Path
    max_bytes: int
    max_age_s: float

    def write(self, excerpt: Excerpt, encoded: bytes) -> None:
        """Store an excerpt atomically."""
        _write(self._path(excerpt), encoded)

    def read(self, excerpt: Excerpt) -> bytes | None:
        """Return a stored excerpt, or None if it is missing, damaged or too old."""
        return self._path(excerpt).read_bytes() if self.has(excerpt) else None

    def has(self, excerpt: Excerpt) -> bool:
        """Return True if `read` would return the excerpt."""
        try:
            with self._path(excerpt).open("rb") as file:
                status, head = os.fstat(file.fileno()), file.read(_HEAD_BYTES)
        except FileNotFoundError:
            return False
        # A file that was cut off is shorter than its first frame states. An ID3 tag comes before
        # the frames; its lengths have no byte 0xff.
        length = _LENGTH.search(head)
        if length is None or status.st_size != head.find(b"\xff") + int.from_bytes(length[1]):
            return False
        return self._is_young(status.st_mtime)

    def delete_surplus(self) -> None:
        """Delete what is too old, then the oldest files until the rest fits."""
        for path, modified, size_so_far in _newest_first(self.folder, "*.mp3"):
            if size_so_far > self.max_bytes or not self._is_young(modified):
                path.unlink(missing_ok=True)

    def _path(self, excerpt: Excerpt) -> Path:
        if not _HASH.fullmatch(excerpt.sha256):
            raise ValueError("an excerpt is named by the hash of its sound")
        start, length = round(1000 * excerpt.start_s), round(1000 * excerpt.duration_s)
        return self.folder / f"{excerpt.sha256}-{start}-{length}.mp3"

    def _is_young(self, modified: float) -> bool:
        return time.time() - modified <= self.max_age_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureFolder:
    """A folder of JPEG files, named by the hash of what they show.

    An empty file says that there was no picture, so that it is not requested again at once.

    Attributes:
        folder: The folder; created with the first file.
        max_bytes: Total size; the oldest files are deleted first.
        max_count: Number of files.
        clock: Returns the present time in Unix seconds.
    """

    folder: Path
    max_bytes: int
    max_count: int
    clock: Callable[[], float] = time.time

    def write(self, name: str, picture: bytes) -> None:
        """Store a picture atomically; empty bytes say that the video has no picture."""
        _write(self._path(name), picture)

    def read(self, name: str) -> bytes | None:
        """Return a stored picture, empty bytes if there was no picture, or None if unknown."""
        path = self._path(name)
        try:
            picture, written = path.read_bytes(), path.stat().st_mtime
        except FileNotFoundError:
            return None
        if not picture:
            return None if self.clock() - written > _ABSENT_S else picture
        return picture if picture.startswith(_BEGIN) and picture.endswith(_END) else None

    def delete_surplus(self) -> None:
        """Delete the oldest files until number and size fit."""
        files = _newest_first(self.folder, "*.jpg")
        for at, (path, _, size_so_far) in enumerate(files):
            if size_so_far > self.max_bytes or at >= self.max_count:
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()}.jpg"


def open_excerpts(home: Home, *, max_mb: int, days: int) -> ExcerptFolder:
    """Return the excerpt folder of a world with these limits."""
    return ExcerptFolder(
        folder=home.cache_dir / "excerpts", max_bytes=max_mb * 1_000_000, max_age_s=days * 86_400.0
    )


def open_pictures(home: Home, *, max_mb: int, max_count: int) -> PictureFolder:
    """Return the folder of pictures of a world with these limits."""
    return PictureFolder(
        folder=home.cache_dir / "pictures", max_bytes=max_mb * 1_000_000, max_count=max_count
    )


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{uuid4().hex}.part")
    draft.write_bytes(content)
    draft.replace(path)


def _newest_first(folder: Path, pattern: str) -> Iterator[tuple[Path, float, int]]:
    """Yield each file, when it was modified, and the bytes of it and of all newer files."""
    files = [(path, path.stat()) for path in folder.glob(pattern)]
    size_so_far = 0
    for path, status in sorted(files, key=lambda file: -file[1].st_mtime):
        size_so_far += status.st_size
        yield path, status.st_mtime, size_so_far
