"""Excerpts of compared sounds, stored as files up to an age and a total size.

They cannot be created again once the sounds are deleted, but nothing depends on them: any may be
missing, and one that was cut off counts as missing. Their position in the sound is chosen in
`warehouse/records/evidence.py`.
"""

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from warehouse.home.folder import Home
from warehouse.records.evidence import Excerpt

_HASH = re.compile("[0-9a-f]{64}")
_LENGTH = re.compile(rb"(?:Info|Xing).{8}(.{4})", re.DOTALL)
"""Of the header that LAME writes into the first frame: a name, flags, frames, bytes from there."""
_HEAD_BYTES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptFolder:
    """A folder of MP3 files, named by the hash of the sound and the position of the excerpt.

    Attributes:
        folder: The folder; created with the first file.
        max_bytes: Total size; the oldest files are deleted first. 0 stores none.
        max_age_s: Older files are not served, and deleted.
    """

    folder: Path
    max_bytes: int
    max_age_s: float

    def write(self, excerpt: Excerpt, encoded: bytes) -> None:
        """Store an excerpt atomically."""
        path = self._path(excerpt)
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{uuid4().hex}.part")
        draft.write_bytes(encoded)
        draft.replace(path)

    def read(self, excerpt: Excerpt) -> bytes | None:
        """Return a stored excerpt, or None if there is none, or it is damaged or too old."""
        return self._path(excerpt).read_bytes() if self.has(excerpt) else None

    def has(self, excerpt: Excerpt) -> bool:
        """Return True if `read` would find the excerpt."""
        try:
            with self._path(excerpt).open("rb") as file:
                status = os.fstat(file.fileno())
                return self._is_young(status.st_mtime) and _has_length(
                    file.read(_HEAD_BYTES), status.st_size
                )
        except FileNotFoundError:
            return False

    def delete_surplus(self) -> None:
        """Delete what is too old, then the oldest files until the rest fits."""
        if not self.folder.is_dir():
            return
        newest_first = sorted(
            ((path, path.stat()) for path in self.folder.iterdir() if path.suffix == ".mp3"),
            key=lambda entry: -entry[1].st_mtime,
        )
        kept = 0
        for path, status in newest_first:
            kept += status.st_size
            if kept > self.max_bytes or not self._is_young(status.st_mtime):
                path.unlink(missing_ok=True)

    def _path(self, excerpt: Excerpt) -> Path:
        if not _HASH.fullmatch(excerpt.sha256):
            raise ValueError("an excerpt is named by the hash of its sound")
        start, length = round(1000 * excerpt.start_s), round(1000 * excerpt.duration_s)
        return self.folder / f"{excerpt.sha256}-{start}-{length}.mp3"

    def _is_young(self, modified: float) -> bool:
        return time.time() - modified <= self.max_age_s


def open_excerpts(home: Home, *, max_mb: int, days: int) -> ExcerptFolder:
    """Return the excerpt folder of a world with these limits."""
    return ExcerptFolder(
        folder=home.cache_dir / "excerpts", max_bytes=max_mb * 1_000_000, max_age_s=days * 86_400.0
    )


def _has_length(head: bytes, size: int) -> bool:
    """Return True if an MP3 is as long as its first frame states."""
    found = _LENGTH.search(head)
    tags = head.find(b"\xff")  # an ID3 tag comes before the frames; its lengths have no such byte
    return found is not None and size == tags + int.from_bytes(found[1])
