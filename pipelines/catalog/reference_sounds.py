"""The reference sounds of a catalogue's tracks, as an index in which clips are looked up.

References are those that the newest scan of each track compared with; their features are in
`raw.sounds`. The index is kept in the cache folder of the data home, and grows. Not here: the
look-up (`pipelines/audio/index`).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import MeasuredSound, unpack_features
from pipelines.audio.index.index_folder import IndexFolder
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.catalogs import read_reference_sounds
from warehouse.queries.results import read_sounds
from warehouse.records.catalog.tracks import CatalogTrack
from warehouse.records.values import Row

_BATCH = 200
_KEPT_SOUNDS = 256


class CatalogReferenceSounds:
    """The references of the tracks that have a result.

    Args:
        engine: Reads the lake.
        tracks: The tracks of the catalogue.
        folder: Keeps the index.
    """

    def __init__(self, engine: Engine, tracks: Sequence[CatalogTrack], folder: Path | None) -> None:
        self._engine = engine
        self._kept = IndexFolder(folder)
        self.index = self._kept.index
        self.unusable = Counter[str]()
        labels = {one.music_id: one.given.label for one in tracks if one.music_id is not None}
        self._labels = labels
        self._tracks: dict[str, set[str]] = defaultdict(set)
        for row in read_reference_sounds(engine, sorted(labels)):
            self._tracks[row["reference_sha256"]].add(row["track_music_id"])
        self._read = lru_cache(maxsize=_KEPT_SOUNDS)(self._read_one)

    @property
    def count(self) -> int:
        """Number of references in the index that belong to these tracks."""
        return sum(key in self._tracks for key in self._kept.keys)

    def add_missing(self, on_added: Callable[[int, int], object]) -> None:
        """Add the references that the index lacks; tell how many of how many are done.

        Raises:
            ValueError: There are more references than an index holds.
            OSError: The index cannot be kept.
        """
        missing = self._kept.missing(sorted(self._tracks))
        for first in range(0, len(missing), _BATCH):
            batch = missing[first : first + _BATCH]
            rows = read_sounds(self._engine, batch, FEATURE_VERSION)
            usable = {key: to_sound(rows[key]) for key in batch if _is_usable(rows.get(key))}
            self.unusable["not_stored"] += len(batch) - len(usable)
            self._kept.add(list(usable), [sound.features.peaks for sound in usable.values()])
            on_added(first + len(batch), len(missing))

    def read_sound(self, number: int) -> MeasuredSound | None:
        """Return a reference by its number; None if it is none of these tracks, or was deleted."""
        sha256 = self.sha256(number)
        return self._read(sha256) if sha256 in self._tracks else None

    def sha256(self, number: int) -> str:
        """Return the hash of a reference."""
        return self._kept.keys[number]

    def tracks(self, number: int) -> set[str]:
        """Return the music ids of the tracks that a reference belongs to."""
        return self._tracks[self.sha256(number)]

    def name(self, number: int) -> str:
        """Return the labels of these tracks, or their music ids."""
        return ", ".join(self._labels[one] or one for one in sorted(self.tracks(number)))

    def _read_one(self, sha256: str) -> MeasuredSound | None:
        row = read_sounds(self._engine, [sha256], FEATURE_VERSION).get(sha256)
        return to_sound(row) if row is not None and _is_usable(row) else None


def to_sound(row: Row) -> MeasuredSound:
    """Return the measured sound of a row of `raw.sounds` with features."""
    return MeasuredSound(
        sha256=str(row["sound_sha256"]),
        features=unpack_features(row["features"]),
        duration_s=row["duration_s"],
        sample_rate_hz=row["sample_rate_hz"],
        codec=str(row["codec"]),
        feature_version=str(row["feature_version"]),
        library_version=str(row["library_version"]),
    )


def _is_usable(row: Row | None) -> bool:
    return row is not None and row["features"] is not None
