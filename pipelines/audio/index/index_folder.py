"""An index that is kept in a folder, so that only new references are measured and added.

One file of entries per batch, mapped into memory, and the keys of the references. A key names what
a reference was measured from. A search costs time for each batch, so a small batch is merged with
the next one. The compiled loops trust the entries, so they have a checksum; a damaged index is
built anew. Not here: measuring, the search.
"""

import fcntl
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

import numpy as np
import structlog
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import FEATURE_VERSION, Peaks
from pipelines.audio.features.sounds import MeasuredSound, SoundMeasurement
from pipelines.audio.index import reference_index

_KEYS = "references.json"
_LAYOUT = "3"
"""Increased whenever the files of a folder are named or arranged otherwise."""
INDEX_VERSION = f"{FEATURE_VERSION}.{reference_index.INDEX_REVISION}.{_LAYOUT}"
"""An index of another version is built anew, and may number its references otherwise."""
_FULL_BATCH = 200
"""References; a batch of fewer is merged with the next one."""

log = structlog.get_logger("audio")


class IndexFolder:
    """An index with the keys of its references, in the order of their numbers.

    Args:
        folder: Where it is kept; created with the first reference. None keeps it in memory alone.
    """

    def __init__(self, folder: Path | None) -> None:
        self.index = reference_index.ReferenceIndex()
        self.keys: list[str] = []
        self._folder = folder
        self._batches: list[int] = []
        self._checksums: list[int] = []
        if folder is not None and (folder / _KEYS).exists():
            self._load(folder)

    def add_missing(
        self,
        keys: Sequence[str],
        read: Callable[[Sequence[str]], Iterable[SoundMeasurement]],
        on_read: Callable[[int, int], object],
        *,
        at_once: int,
    ) -> dict[str, str]:
        """Add the references of missing keys; return why others could not be added, by key.

        Args:
            keys: Keys of all references.
            read: Returns the sounds of some keys in their order.
            on_read: Called with how many sounds of how many were read.
            at_once: How many are read and added at a time.

        Raises:
            ValueError: The index is full.
            OSError: The folder cannot be written.
        """
        indexed, unusable = set(self.keys), dict[str, str]()
        missing = [key for key in dict.fromkeys(keys) if key not in indexed]
        for first in range(0, len(missing), at_once):
            batch = missing[first : first + at_once]
            usable = {}
            for place, (key, sound) in enumerate(zip(batch, read(batch), strict=True), first + 1):
                if isinstance(sound, MeasuredSound):
                    usable[key] = sound.features.peaks
                else:
                    unusable[key] = sound.reason
                on_read(place, len(missing))
            self.add(list(usable), list(usable.values()))
        return unusable

    def add(self, keys: Sequence[str], sounds: Sequence[Peaks]) -> None:
        """Add references and keep them in the folder.

        Raises:
            ValueError: The index is full.
            OSError: The folder cannot be written.
        """
        entries = self.index.add(sounds)
        self.keys.extend(keys)
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        with _locked(self._folder):
            if _stored(self._folder)["batches"] != self._batches:
                raise OSError(f"{self._folder} was changed by another process")
            # A small last batch is merged with the new one.
            batches, checksums = [*self._batches, len(keys)], self._checksums
            if self._batches and self._batches[-1] < _FULL_BATCH:
                batches[-2:], checksums = [sum(batches[-2:])], checksums[:-1]
                last = np.load(_entries_file(self._folder, self._batches))
                entries = reference_index.in_code_order(np.concatenate((last, entries)))
            # Entries come before the keys that name them: a process killed in between leaves a file
            # that nobody reads, and the next addition removes.
            part = self._folder / "entries.part"
            with part.open("wb") as file:
                np.save(file, entries)
            part.replace(_entries_file(self._folder, batches))
            self._batches, self._checksums = batches, [*checksums, _checksum(entries)]
            stored = _Stored(
                version=INDEX_VERSION, batches=batches, checksums=self._checksums, keys=self.keys
            )
            part.write_text(json.dumps(stored), encoding="utf-8")
            part.replace(self._folder / _KEYS)
            # Files that the keys do not name are removed; another process may have mapped them.
            named = {
                _entries_file(self._folder, batches[: place + 1]) for place in range(len(batches))
            }
            for unnamed in set(self._folder.glob("entries-*.npy")) - named:
                unnamed.unlink()

    def _load(self, folder: Path) -> None:
        """Map the batches; an index that is damaged or of another version is built anew."""
        with _locked(folder):
            stored = _stored(folder)
            try:
                mapped = list(_map_batches(folder, stored))
            except (OSError, EOFError, ValueError) as error:
                log.warning("a damaged index of references is built anew", reason=str(error))
                (folder / _KEYS).unlink()
                return
        for count, entries in zip(stored["batches"], mapped, strict=True):
            self.index.add_entries(entries, count=count)
        self._batches, self.keys = stored["batches"], stored["keys"]
        self._checksums = stored["checksums"]


class _Stored(TypedDict):
    """Content of the file of keys: version, size and checksum of each batch, and all keys."""

    version: str
    batches: list[int]
    checksums: list[int]
    keys: list[str]


def _stored(folder: Path) -> _Stored:
    """Return what is stored, or an empty index if it is damaged or of another version."""
    empty = _Stored(version=INDEX_VERSION, batches=[], checksums=[], keys=[])
    if not (folder / _KEYS).exists():
        return empty
    try:
        stored: _Stored = json.loads((folder / _KEYS).read_text(encoding="utf-8"))
        is_usable = (
            stored["version"] == INDEX_VERSION
            and len(stored["keys"]) == sum(stored["batches"])
            and len(stored["checksums"]) == len(stored["batches"])
        )
    except (ValueError, TypeError, KeyError) as error:
        log.warning("a damaged index of references is built anew", reason=repr(error))
        return empty
    return stored if is_usable else empty


def _map_batches(folder: Path, stored: _Stored) -> Iterator[NDArray[np.void]]:
    for number, checksum in enumerate(stored["checksums"], start=1):
        file = _entries_file(folder, stored["batches"][:number])
        entries = np.load(file, mmap_mode="r")
        if entries.dtype != reference_index.ENTRY or _checksum(entries) != checksum:
            raise ValueError(f"{file.name} is not what was written")
        yield entries


def _checksum(entries: NDArray[np.void]) -> int:
    return zlib.crc32(np.ascontiguousarray(entries).view(np.uint8))


def _entries_file(folder: Path, batches: Sequence[int]) -> Path:
    """Return the file of the last of these batches."""
    return folder / f"entries-{sum(batches[:-1])}-{batches[-1]}.npy"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Take an exclusive lock on the folder, so that two processes do not write one batch."""
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


def file_key(path: Path) -> str:
    """Return the key of a file: its size, time of change and path, like `82-17-/a.mp3`."""
    status = path.stat()
    return f"{status.st_size}-{status.st_mtime_ns}-{os.fspath(path)}"
