"""The reference sounds of a catalogue's tracks, as an index in which clips are looked up.

References are those that the newest scan of each track compared with; their features are in
`raw.sounds`. The index is kept in the cache folder of the data home, and grows. Not here: the
look-up (`pipelines/audio/index`).
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from pipelines.audio.features import sounds
from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.index.index_folder import IndexFolder
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.results import read_sounds
from warehouse.queries.sound_matches import read_reference_sounds
from warehouse.records.catalogs import CatalogTrack
from warehouse.records.values import Row

_BATCH = 200
_CACHED_SOUNDS = 256


class CatalogReferenceSounds:
    """The references of the tracks that have a result.

    Args:
        engine: Reads the lake.
        tracks: The tracks of the catalogue.
        folder: Keeps the index.
    """

    def __init__(self, engine: Engine, tracks: Sequence[CatalogTrack], folder: Path | None) -> None:
        self.engine = engine
        self._folder = IndexFolder(folder)
        self.index = self._folder.index
        self.unusable: list[tuple[str, str]] = []
        self._labels = {
            track.music_id: track.given.label for track in tracks if track.music_id is not None
        }
        # A reference may belong to several tracks, such as two uploads of one recording.
        self._uses: dict[str, list[Row]] = defaultdict(list)
        for row in read_reference_sounds(engine, self.music_ids):
            self._uses[row["reference_sha256"]].append(row)
        # One reference is compared with many sounds: do not read it from the lake each time.
        self._read_cached = lru_cache(maxsize=_CACHED_SOUNDS)(self._read)

    @property
    def music_ids(self) -> list[str]:
        """The music ids of the tracks."""
        return sorted(self._labels)

    @property
    def count(self) -> int:
        """Number of references in the index that belong to these tracks."""
        return sum(key in self._uses for key in self._folder.keys)

    @property
    def gone_count(self) -> int:
        """Number of references in the index that no track uses any more.

        In a search, each may get as many votes as the one that replaces it.
        """
        return self.index.count - self.count

    def add_missing(self, on_added: Callable[[int, int], object]) -> None:
        """Add the references that the index lacks; `on_added` gets the done and the total count.

        Raises:
            ValueError: There are more references than an index holds.
            OSError: The index cannot be kept.
        """
        reasons = self._folder.add_missing(
            sorted(self._uses), self._read_stored, on_added, at_once=_BATCH
        )
        for key, reason in reasons.items():
            tracks = {row["track_music_id"] for row in self._uses[key]}
            self.unusable.append((self._name_of(tracks), reason))

    def read_sound(self, number: int) -> sounds.MeasuredSound | None:
        """Return a reference by its number; None if no track uses it, or if it was deleted."""
        sha256 = self.sha256(number)
        return self._read_cached(sha256) if sha256 in self._uses else None

    def sha256(self, number: int) -> str:
        """Return the hash of a reference."""
        return self._folder.keys[number]

    def numbering(self, count: int) -> str:
        """Return a hash of the first `count` references: an index built anew has other numbers."""
        return sha256("\n".join(self._folder.keys[:count]).encode()).hexdigest()

    def uses(self, number: int) -> Sequence[Row]:
        """Return a row for each of these tracks that uses this reference."""
        return self._uses.get(self.sha256(number), ())

    def all_uses(self) -> set[tuple[str, str]]:
        """Return hash and track of every reference of these tracks."""
        return {(key, row["track_music_id"]) for key, rows in self._uses.items() for row in rows}

    def first_of(self, hashes: Collection[str]) -> int:
        """Return the lowest number among these references; the size of the index without any."""
        numbers = (number for number, key in enumerate(self._folder.keys) if key in hashes)
        return next(numbers, self.index.count)

    def tracks(self, number: int) -> set[str]:
        """Return the music ids of the tracks that a reference belongs to."""
        return {row["track_music_id"] for row in self.uses(number)}

    def name(self, number: int) -> str:
        """Return the labels of these tracks, or their music ids."""
        return self._name_of(self.tracks(number))

    def _name_of(self, music_ids: Collection[str]) -> str:
        return ", ".join(self._labels[music_id] or music_id for music_id in sorted(music_ids))

    def _read_stored(self, hashes: Sequence[str]) -> Iterator[sounds.SoundMeasurement]:
        rows = read_sounds(self.engine, hashes, FEATURE_VERSION)
        missing = sounds.NotComparable(sha256=None, reason="not_stored")
        return (
            sounds.sound_from_row(rows[sha256]) if sha256 in rows else missing for sha256 in hashes
        )

    def _read(self, sha256: str) -> sounds.MeasuredSound | None:
        (sound,) = self._read_stored([sha256])
        return sound if isinstance(sound, sounds.MeasuredSound) else None
