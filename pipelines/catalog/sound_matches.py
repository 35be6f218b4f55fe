"""Look up the sounds that scans have fetched in the index of all references of a catalogue.

A scan compares a sound with the references of its own track. Here the index proposes which other
tracks it may carry, and the matcher decides. The next scan of such a track takes the video as a
known candidate, and judges it by its own references. Each sound is looked up once, and again when
the index has grown, or a reference in it belongs to one more track.
"""

import fcntl
import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path

import structlog

from pipelines.audio.features import sounds
from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import MeasuredSound, judging_version, sound_from_row
from pipelines.audio.index.identify import MOST_TRIED
from pipelines.audio.index.reference_index import BRIEF, INDEX_VERSION, IndexFolder, IndexHit
from pipelines.audio.matching.common_sounds import CommonSound
from pipelines.audio.matching.verify import compare_pair
from pipelines.scan.common_sounds import load_common_sounds
from pipelines.scan.marts import comparison_row
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries import catalogs
from warehouse.queries.results import read_sounds
from warehouse.records.catalogs import CatalogTrack
from warehouse.records.evidence import (
    ALGORITHM,
    MATCHES,
    VERDICT_REVISION,
    Comparison,
    MatchThresholds,
)
from warehouse.records.values import Row

# The reference sounds of a catalogue's tracks, as an index in which clips are looked up.
#
# References are those that the newest scan of each track compared with; their features are in
# `raw.sounds`. The index is kept in the cache folder of the data home, and grows.

_SOUNDS_PER_BATCH = 200
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
        for row in catalogs.read_reference_sounds(engine, self.music_ids):
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
            sorted(self._uses), self._read_stored, on_added, at_once=_SOUNDS_PER_BATCH
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


TABLE = "marts.catalog_matches"
LEAST_SURPRISE = 15.0
"""Hits below this surprise are chance; `docs/catalog.md` has the measurements."""
_BATCH = 100

log = structlog.get_logger("catalog")
_VERSION = f"{INDEX_VERSION}.{ALGORITHM}.{VERDICT_REVISION}.{LEAST_SURPRISE}"


@dataclass(slots=True)
class MatchCounts:
    """What a look-up did: sounds looked up, pairs compared, and how many of these match."""

    sounds: int = 0
    compared: int = 0
    matches: int = 0


class SoundMatches:
    """The look-up of one catalogue.

    Args:
        references: The references of the catalogue's tracks.
        folder: Keeps how much of the index each sound was looked up in; None keeps it in memory.
        limits: Limits of the matcher.
    """

    def __init__(
        self, references: CatalogReferenceSounds, folder: Path | None, *, limits: MatchThresholds
    ) -> None:
        self._engine = references.engine
        self._references = references
        self._limits = limits
        self._common_sounds: list[CommonSound] = []
        self._file = None if folder is None else folder / "looked-up.json"
        self._looked_up, self._uses = _read(self._file, references)

    def find(self, on_done: Callable[[int, int], object]) -> MatchCounts:
        """Look up the sounds that there are new references for.

        Calls `on_done` with the done and the total count after each batch.

        Raises:
            ValueError: There are more references than an index holds.
            OSError: The index cannot be kept.
            WarehouseUnavailableError: The lake cannot be read or written.
        """
        self._references.add_missing(lambda *_: None)
        # A reference that belongs to another track by now counts as new: look up all sounds again
        # from the first such reference on.
        uses = self._references.all_uses()
        first_changed = self._references.first_of({sha256 for sha256, _ in uses - self._uses})
        self._looked_up = {
            sha256: min(count, first_changed) for sha256, count in self._looked_up.items()
        }
        self._uses = uses
        tracks, size = self._references.music_ids, self._references.index.count
        # Sounds that the index has new references for.
        fetched = [
            row
            for row in catalogs.read_fetched_sounds(self._engine, tracks)
            if self._looked_up.get(row["sound_sha256"], 0) < size
        ]
        self._common_sounds = load_common_sounds(self._engine)
        counts = MatchCounts()
        compared = catalogs.read_compared_pairs(
            self._engine, tracks, library_version=judging_version()
        )
        for first in range(0, len(fetched), _BATCH):
            batch = fetched[first : first + _BATCH]
            hashes = [row["sound_sha256"] for row in batch]
            stored = read_sounds(self._engine, hashes, FEATURE_VERSION)
            pairs = [
                pair
                for row in batch
                if row["sound_sha256"] in stored
                for pair in self._compare(row, stored[row["sound_sha256"]], compared)
            ]
            # Pairs are stored before their sounds count as looked up, so a kill loses nothing.
            self._engine.lake.append(TABLE, pairs)
            self._looked_up |= dict.fromkeys(hashes, size)
            self._save()
            counts.sounds += len(batch)
            counts.compared += len(pairs)
            counts.matches += sum(pair["verdict"] in MATCHES for pair in pairs)
            on_done(first + len(batch), len(fetched))
        return counts

    def _compare(
        self, fetched: Row, stored: Row, compared: set[tuple[str, str, str]]
    ) -> Iterator[dict[str, object]]:
        """Compare a sound with the proposed references of tracks that it was not compared with."""
        sound = sound_from_row(stored)
        if not isinstance(sound, MeasuredSound):
            return
        done_tracks = set(fetched["track_music_ids"])
        for hit in self._proposed(sound):
            pair = (sound.sha256, self._references.sha256(hit.reference))
            # The tracks of this reference that the sound was not compared with.
            uses = [
                row
                for row in self._references.uses(hit.reference)
                if row["track_music_id"] not in done_tracks
                and (*pair, row["track_music_id"]) not in compared
            ]
            reference = self._references.read_sound(hit.reference)
            if not uses or reference is None:
                continue
            # Two tracks may share a reference: it is compared once, with a row for each track.
            evidence = compare_pair(
                reference, sound, limits=self._limits, common_sounds=self._common_sounds
            )
            if evidence.verdict in MATCHES:  # further references of the track add nothing
                done_tracks |= {row["track_music_id"] for row in uses}
            for use in uses:
                comparison = Comparison(
                    comparison_id=str(uuid.uuid4()),
                    reference_aweme_id=use["reference_aweme_id"],
                    candidate_aweme_id=fetched["aweme_id"],
                    reference_music_id=use["reference_music_id"],
                    candidate_music_id=fetched["music_id"],
                    pair=evidence,
                    limits=self._limits,
                    algorithm=ALGORITHM,
                    feature_version=FEATURE_VERSION,
                    library_version=judging_version(),
                    reference_source=use["reference_source"],
                )
                yield {
                    "job_id": fetched["job_id"],
                    **comparison_row(
                        comparison,
                        track_music_id=use["track_music_id"],
                        hashes=(use["reference_sha256"], sound.sha256),
                    ),
                    "vote_count": hit.votes,
                }

    def _proposed(self, sound: MeasuredSound) -> Iterator[IndexHit]:
        """Yield the likeliest references that the sound was not looked up in, the best first."""
        since = self._looked_up.get(sound.sha256, 0)
        # References that no track uses any more take places among the hits: ask for as many more.
        hits = self._references.index.search(
            sound.features.peaks,
            most=MOST_TRIED + self._references.gone_count,
            effort=BRIEF,
            since=since,
        )
        used = (hit for hit in hits if self._references.uses(hit.reference))
        for hit in islice(used, MOST_TRIED):
            if hit.surprise >= LEAST_SURPRISE and hit.reference >= since:
                yield hit

    def _save(self) -> None:
        if self._file is None:
            return
        part = self._file.with_suffix(".part")
        size = self._references.index.count
        document = {
            "version": _VERSION,
            "size": size,
            "numbering": self._references.numbering(size),
            "uses": sorted(self._uses),
            "sounds": self._looked_up,
        }
        part.write_text(json.dumps(document))
        part.replace(self._file)


def _read(
    file: Path | None, references: CatalogReferenceSounds
) -> tuple[dict[str, int], set[tuple[str, str]]]:
    """Return how many references each sound was looked up in, by its hash, and their uses then.

    Empty if the file is not about this index: all sounds are then looked up again.
    """
    if file is None or not file.exists():
        return {}, set()
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        log.warning("all sounds are looked up again", file=file.name, reason=str(error))
        return {}, set()
    # An index that was built anew, or by another version, numbers its references differently.
    if (
        stored.get("version") != _VERSION
        or references.numbering(stored["size"]) != stored["numbering"]
    ):
        return {}, set()
    return stored["sounds"], {(sha256, track) for sha256, track in stored.get("uses", ())}


@contextmanager
def held(folder: Path, *, waits: bool = False) -> Iterator[bool]:
    """Hold the look-ups of a folder for this process; yield False if another one holds them.

    If `waits`, wait until the other process has ended.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "look-up.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True  # closing the file releases it
