"""The index: constellations of the peaks of up to 60,000 references, and a clip's likeliest ones.

A constellation is four peaks. Its code holds the ratios of their times and of their frequencies,
which a change of speed, tempo or pitch keeps (R. Sonnleitner and G. Widmer, "Robust quad-based
audio fingerprinting", 2016, with frequencies on a logarithmic axis). The change itself follows from
the spans and the pitches of two equal codes, so agreeing constellations vote for a reference, a
tempo and a pitch; then they must agree on a place. Not here: the verdict (`identify.py`), files.
"""

import fcntl
import json
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np
import structlog
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import FEATURE_VERSION, Peaks
from pipelines.audio.features.sounds import MeasuredSound, SoundMeasurement
from pipelines.audio.index import kernels

INDEX_REVISION = "1"
"""Increased whenever the same peaks would give other entries."""
ENTRY = np.dtype(
    [("code", "<u4"), ("reference", "<u2"), ("frame", "<u2"), ("span", "<u2"), ("cents", "<u2")]
)
"""An entry of the index, 12 bytes. `frame` and `cents` are those of its first peak, above 1 Hz."""
MOST_REFERENCES = 60_000
_CODES = 1 << 20
_SPANS = (24, 56)
"""Frames from the first to the last peak in a reference: 0.56 to 1.3 s."""
_CLIP_SPANS = (12, 112)
"""The same in a clip that plays twice as fast, or half as fast."""
_PARTS, _STEP_CENTS = 10, 50
_SAMPLED = 24
_GAP = 12
_CLIP_GAP = 8  # repeated notes of a faster clip follow one another sooner
_MOST_ENTRIES = 400_000  # of a reference; a minute of dense music has a tenth of that
_MOST_OF_CLIP = 1_000_000  # of a clip: 20 s of dense music have half of that; a longer one is cut
_TEMPOS_PER_OCTAVE = 10
_PITCH_LOW, _PITCHES, _CELL_CENTS = -1_250.0, 54, 50.0
_SQUARES = 4  # the last one is that of the unchanged clip
_MOST_PAIRS = 1_000_000
_TRIED_TEMPOS = np.linspace(0.0, 2 / _TEMPOS_PER_OCTAVE, 21)
_PLACES = 400  # of 4 frames in 37 s
_SAME_PLACE = 4  # frames; half a cell of 0.7 % over 20 s is 3 frames


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHit:
    """A reference that a clip may carry.

    Attributes:
        reference: Its number in the order of adding.
        votes: Peaks of the clip that begin a constellation of the reference at one place.
        surprise: How unlikely so many are by chance: a logarithm of likelihoods.
        tempo: Tempo of the clip relative to the reference; to about 1 %.
        semitones: Pitch of the clip relative to the reference.
    """

    reference: int
    votes: int
    surprise: float
    tempo: float
    semitones: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEffort:
    """How much of a clip is looked up, and at which tempos.

    Attributes:
        spans: Fewest and most frames of a constellation of the clip.
        codes: Codes from this one on are not looked up, in the clip and so in all references.
        tempo_low: Least tempo, in octaves.
        tempos: Number of tempos, a tenth of an octave each.
        placed: Number of references whose votes must agree on a place.
        blurred: In constellations of the clip up to this span, in frames, a time near the edge of
            a part is looked up in both parts.
    """

    spans: tuple[int, int]
    codes: int
    tempo_low: float
    tempos: int
    placed: int
    blurred: int

    @property
    def cells(self) -> tuple[float, float, float, float]:
        """Least tempo, tempos per octave, least pitch in cents, cents of a cell."""
        return self.tempo_low, float(_TEMPOS_PER_OCTAVE), _PITCH_LOW, _CELL_CENTS

    @property
    def unchanged_square(self) -> tuple[int, int]:
        """First tempo and first pitch of the cells around an unchanged clip."""
        tempo, pitch = -self.tempo_low * _TEMPOS_PER_OCTAVE, -_PITCH_LOW / _CELL_CENTS
        return round(tempo) - 1, round(pitch) - 1


WHOLE = SearchEffort(
    spans=_CLIP_SPANS, codes=_CODES, tempo_low=-1.3, tempos=26, placed=1_000, blurred=40
)
"""All of a clip, from half to double the tempo."""
BRIEF = SearchEffort(
    spans=(16, 80), codes=_CODES // 8, tempo_low=-0.6, tempos=13, placed=32, blurred=0
)
"""An eighth of a clip, from 0.67 times to 1.5 times the tempo: `docs/catalog.md` has what it costs
and what it misses."""


class ReferenceIndex:
    """Constellations of references by code. References are added in batches, none is removed."""

    def __init__(self) -> None:
        self._batches: list[_Batch] = []
        self.count = 0

    @property
    def bytes(self) -> int:
        """Size of all entries."""
        return sum(batch.entries.nbytes for batch in self._batches)

    def add(self, sounds: Sequence[Peaks]) -> NDArray[np.void]:
        """Add references; they get the next numbers. Returns their entries, to be stored."""
        entries = index_entries(sounds, first=self.count)
        self.add_entries(entries, count=len(sounds))
        return entries

    def add_entries(self, entries: NDArray[np.void], *, count: int) -> None:
        """Add stored entries of `count` further references, sorted by code; may be mapped.

        Raises:
            ValueError: The index is full.
        """
        if self.count + count > MOST_REFERENCES:
            raise ValueError(f"an index holds {MOST_REFERENCES} references at most")
        starts = np.searchsorted(entries["code"], np.arange(_CODES + 1, dtype=np.uint32))
        self.count += count
        self._batches.append(_Batch(starts.astype(np.int32), entries, end=self.count))

    def search(
        self, clip: Peaks, *, most: int, effort: SearchEffort = WHOLE, since: int = 0
    ) -> list[IndexHit]:
        """Return up to `most` references, those with the most surprising votes first.

        Args:
            clip: Peaks of the clip.
            most: Fewer are returned if there are fewer references.
            effort: How much of the clip is looked up.
            since: References with smaller numbers need not be searched.
        """
        shapes = _constellations(
            clip, spans=effort.spans, gap=_CLIP_GAP, blurred=effort.blurred, most=_MOST_OF_CLIP
        )
        shapes = shapes[shapes[:, 0] < effort.codes]
        batches = [batch for batch in self._batches if batch.end > since]
        if not len(shapes) or not batches:
            return []
        octaves = np.log2(np.arange(1, _CLIP_SPANS[1] + 2, dtype=np.float32))
        # Indexed by the span in frames; no span is 0.
        octaves = np.concatenate(([np.float32(0)], octaves)).astype(np.float32)

        # Votes for each reference, tempo and pitch; the references whose votes stand out most.
        counts = (self.count, effort.tempos, _PITCHES)
        votes, voters = np.zeros(counts, np.uint16), np.zeros(counts, np.uint16)
        for batch in batches:
            kernels.cast_votes(
                batch.starts, batch.entries, shapes, octaves, effort.cells, votes, voters
            )
        excess, cells = kernels.fullest_cells(votes, _SQUARES, effort.unchanged_square)
        likely = _in_turn(excess[:, 0], excess[:, -1])[: max(effort.placed, most)]
        is_likely = np.zeros(self.count, np.bool_)
        is_likely[likely] = True

        # Their constellations must agree on a place.
        pairs = np.empty((_MOST_PAIRS, 5), dtype=np.float32)
        count = 0
        for batch in batches:
            count += kernels.collect_pairs(
                batch.starts,
                batch.entries,
                shapes,
                octaves,
                effort.cells,
                cells,
                is_likely,
                pairs[count:],
            )
        pairs = pairs[np.argsort(pairs[:count, 0], kind="stable")]
        return _placed_hits(pairs, likely, cells, effort.tempo_low, most)


@dataclass(frozen=True, slots=True)
class _Batch:
    """References that were added together: first entry of each code, entries, number after them."""

    starts: NDArray[np.int32]
    entries: NDArray[np.void]
    end: int


def warm_up() -> None:
    """Load the compiled loops, for entries in memory and for mapped ones."""
    frames = np.arange(400, dtype=np.int32)
    hertz = (110 * 2 ** (frames * 7 % 36 / 12)).astype(np.float32)
    peaks = Peaks(frames, hertz, np.zeros(len(frames), dtype=np.uint8))
    index = ReferenceIndex()
    entries = index.add([peaks])
    entries.flags.writeable = False  # as a stored index is mapped: another type for the compiler
    index.add_entries(entries, count=1)
    index.search(peaks, most=1)


def index_entries(sounds: Sequence[Peaks], *, first: int) -> NDArray[np.void]:
    """Return the entries of references that are numbered from `first`, sorted by code."""
    parts = []
    for number, peaks in enumerate(sounds, start=first):
        rows = _constellations(peaks, spans=_SPANS, gap=_GAP, blurred=0, most=_MOST_ENTRIES)
        entries = np.empty(len(rows), dtype=ENTRY)
        entries["reference"] = number
        for column, name in enumerate(("code", "frame", "span", "cents")):
            entries[name] = rows[:, column]
        parts.append(entries)
    return in_code_order(np.concatenate(parts) if parts else np.empty(0, dtype=ENTRY))


def in_code_order(entries: NDArray[np.void]) -> NDArray[np.void]:
    """Return entries sorted by code, those of one code in the order given."""
    return entries[np.argsort(entries["code"], kind="stable")]


def _constellations(
    peaks: Peaks, *, spans: tuple[int, int], gap: int, blurred: int, most: int
) -> NDArray[np.int32]:
    frames = peaks.frames.astype(np.int64)
    cents = np.rint(1200 * np.log2(np.maximum(peaks.hertz, 1.0))).astype(np.int64)
    is_first = kernels.first_of_tones(frames, cents, gap)
    rows = np.empty((most, 4), dtype=np.int32)
    count = kernels.constellations(
        frames[is_first],
        cents[is_first],
        spans,
        (_PARTS, _STEP_CENTS),
        _SAMPLED,
        _CODES,
        blurred,
        rows,
    )
    return rows[:count].copy()


def _in_turn(*scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the places of all values, those first that are high in any of the arrays."""
    ranks = [np.argsort(np.argsort(-each, kind="stable"), kind="stable") for each in scores]
    return np.argsort(np.minimum.reduce(ranks), kind="stable")


def _placed_hits(
    pairs: NDArray[np.float32],
    references: NDArray[np.int64],
    cells: NDArray[np.int64],
    tempo_low: float,
    most: int,
) -> list[IndexHit]:
    """Return the most surprising hits, each at the square and tempo that agree most on a place.

    Args:
        pairs: As `collect_pairs` writes them, in the order of their squares.
        references: Numbers of the references, (n,).
        cells: Tempo and pitch of the squares of all references, (all, squares, 2).
        tempo_low: Least tempo, in octaves.
        most: Number of hits.
    """
    # The pairs of each square, and the tempos to try within it.
    squares = references[:, np.newaxis] * _SQUARES + np.arange(_SQUARES)
    ranges = np.searchsorted(pairs[:, 0], np.stack((squares, squares + 1), axis=-1)).reshape(-1, 2)
    least = tempo_low + cells[references, :, 0].ravel() / _TEMPOS_PER_OCTAVE
    octaves = least[:, np.newaxis] + _TRIED_TEMPOS
    there, here = pairs[:, 2].astype(np.float64), pairs[:, 3].astype(np.float64)
    votes, trials = kernels.most_at_places(there, here, ranges, 2.0**octaves, _SAME_PLACE)
    # The square of each reference whose votes are least likely by chance.
    expected = (ranges[:, 1] - ranges[:, 0]) / _PLACES
    surprises = np.array(list(map(_surprise, votes.tolist(), expected.tolist())))
    best = surprises.reshape(squares.shape).argmax(axis=1) + np.arange(len(squares)) * _SQUARES
    order = np.argsort(-surprises[best], kind="stable")[:most]
    hits = []
    for reference, square in zip(references[order], best[order], strict=True):
        cents = pairs[slice(*ranges[square]), 4]
        hits.append(
            IndexHit(
                reference=int(reference),
                votes=int(votes[square]),
                surprise=float(surprises[square]),
                tempo=float(2 ** octaves[square, trials[square]]),
                semitones=float(np.median(cents)) / 100 if len(cents) else 0.0,
            )
        )
    return hits


def _surprise(count: int, expected: float) -> float:
    """Return the log of the likelihood ratio of a Poisson count that exceeds its expectation."""
    if count <= expected or not expected:
        return 0.0
    return count * math.log(count / expected) - (count - expected)


# An index that is kept in a folder, so that only new references are measured and added.
#
# One file of entries per batch, mapped into memory, and the keys of the references. A key names
# what a reference was measured from. A search costs time for each batch, so a small batch is
# merged with the next one. The compiled loops trust the entries, so they have a checksum; a
# damaged index is built anew.

_KEYS = "references.json"
_LAYOUT = "3"
"""Increased whenever the files of a folder are named or arranged otherwise."""
INDEX_VERSION = f"{FEATURE_VERSION}.{INDEX_REVISION}.{_LAYOUT}"
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
        self.index = ReferenceIndex()
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
                entries = in_code_order(np.concatenate((last, entries)))
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
        if entries.dtype != ENTRY or _checksum(entries) != checksum:
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
