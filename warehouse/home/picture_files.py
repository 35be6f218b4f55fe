"""Small pictures stored as files up to a number and a total size. Any may be missing.

An empty file says that there was no picture, so that nobody asks again at once. A file that is no
whole JPEG counts as missing, and is written again.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from warehouse.home.folder import Home

FOLDER = "pictures"
_SUFFIX = ".jpg"
_ABSENT_S = 3600.0
_BEGIN, _END = b"\xff\xd8", b"\xff\xd9"  # JPEG's markers


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureFolder:
    """A folder of JPEG files, named by the hash of what they show.

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
        """Store a picture atomically; empty bytes say that there is none."""
        path = self._path(name)
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{uuid4().hex}.part")
        draft.write_bytes(picture)
        draft.replace(path)

    def read(self, name: str) -> bytes | None:
        """Return a stored picture, empty bytes if there was none lately, or None: unknown."""
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
        if not self.folder.is_dir():
            return
        found = [(path, path.stat()) for path in self.folder.glob(f"*{_SUFFIX}")]
        kept = 0
        for at, (path, status) in enumerate(sorted(found, key=lambda one: -one[1].st_mtime)):
            kept += status.st_size
            if kept > self.max_bytes or at >= self.max_count:
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()}{_SUFFIX}"


def open_pictures(home: Home, *, max_mb: int, max_count: int) -> PictureFolder:
    """Return the folder of pictures of a world with these limits."""
    return PictureFolder(
        folder=home.cache_dir / FOLDER, max_bytes=max_mb * 1_000_000, max_count=max_count
    )
