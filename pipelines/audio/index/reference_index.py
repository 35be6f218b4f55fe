"""The index: constellations of the peaks of up to 60,000 references, and a clip's likeliest ones.

A constellation is four peaks. Its code holds the ratios of their times and of their frequencies,
which a change of speed, tempo or pitch keeps (R. Sonnleitner and G. Widmer, "Robust quad-based
audio fingerprinting", 2016, with frequencies on a logarithmic axis). The change itself follows from
the spans and the pitches of two equal codes, so agreeing constellations vote for a reference, a
tempo and a pitch; then they must agree on a place. Not here: the verdict (`identify.py`), files.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.peaks import Peaks
from pipelines.audio.index.kernels import (
    cast_votes,
    collect_pairs,
    constellations,
    first_of_tones,
    fullest_cells,
    most_at_one_place,
)

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
_HEARD_SPANS = (12, 112)
"""The same in a clip that plays twice as fast, or half as fast."""
_PARTS, _STEP_CENTS = 10, 50
_SAMPLED = 24
_GAP = 12
_HEARD_GAP = 8  # repeated notes of a faster clip follow one another sooner
_MOST_ENTRIES = 400_000  # of one sound; a minute of dense music has a tenth of that
_TEMPO_LOW, _TEMPOS, _TEMPOS_PER_OCTAVE = -1.3, 26, 10
_PITCH_LOW, _PITCHES, _CELL_CENTS = -1_250.0, 54, 50.0
_CELLS = (_TEMPO_LOW, float(_TEMPOS_PER_OCTAVE), _PITCH_LOW, _CELL_CENTS)
_PLACED = 96
_SQUARES = 3
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


class ReferenceIndex:
    """Constellations of references by code. References are added in batches, none is removed."""

    def __init__(self) -> None:
        self._batches: list[tuple[NDArray[np.int64], NDArray[np.void]]] = []
        self.count = 0

    @property
    def bytes(self) -> int:
        """Size of all entries."""
        return sum(entries.nbytes for _, entries in self._batches)

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
        self._batches.append((starts, entries))
        self.count += count

    def search(self, clip: Peaks, *, most: int) -> list[IndexHit]:
        """Return up to `most` references, those with the most surprising votes first."""
        heard = _constellations(clip, spans=_HEARD_SPANS, gap=_HEARD_GAP)
        if not len(heard) or not self.count:
            return []
        octaves = np.log2(np.arange(1, _HEARD_SPANS[1] + 2, dtype=np.float32))
        # Indexed by the span in frames; no span is 0.
        octaves = np.concatenate(([np.float32(0)], octaves)).astype(np.float32)
        shape = (self.count, _TEMPOS, _PITCHES)
        votes, voters = np.zeros(shape, np.uint16), np.zeros(shape, np.uint16)
        for starts, entries in self._batches:
            cast_votes(starts, entries, heard, octaves, _CELLS, votes, voters)
        excess, cells = fullest_cells(votes, _SQUARES)
        likely = np.argsort(-excess[:, 0], kind="stable")[: max(_PLACED, most)]
        chosen = np.full_like(cells, -1)
        chosen[likely] = cells[likely]
        pairs = self._pairs(heard, octaves, chosen)
        ends = np.searchsorted(pairs[:, 0], np.arange(self.count * _SQUARES + 1))
        hits = [
            max(
                (
                    _placed(pairs[slice(*ends[square : square + 2])], int(one), cell)
                    for square, cell in enumerate(cells[one], start=one * _SQUARES)
                ),
                key=lambda hit: hit.surprise,
            )
            for one in likely
        ]
        return sorted(hits, key=lambda hit: -hit.surprise)[:most]

    def _pairs(
        self, heard: NDArray[np.int32], octaves: NDArray[np.float32], chosen: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        found = np.empty((_MOST_PAIRS, 5), dtype=np.float32)
        count = 0
        for starts, entries in self._batches:
            count += collect_pairs(starts, entries, heard, octaves, _CELLS, chosen, found[count:])
        return found[np.argsort(found[:count, 0], kind="stable")]


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
        rows = _constellations(peaks, spans=_SPANS, gap=_GAP)
        entries = np.empty(len(rows), dtype=ENTRY)
        entries["reference"] = number
        for column, name in enumerate(("code", "frame", "span", "cents")):
            entries[name] = rows[:, column]
        parts.append(entries)
    entries = np.concatenate(parts) if parts else np.empty(0, dtype=ENTRY)
    return entries[np.argsort(entries["code"], kind="stable")]


def _constellations(peaks: Peaks, *, spans: tuple[int, int], gap: int) -> NDArray[np.int32]:
    frames = peaks.frames.astype(np.int64)
    cents = np.rint(1200 * np.log2(np.maximum(peaks.hertz, 1.0))).astype(np.int64)
    is_first = first_of_tones(frames, cents, gap)
    found = np.empty((_MOST_ENTRIES, 4), dtype=np.int32)
    count = constellations(
        frames[is_first], cents[is_first], spans, (_PARTS, _STEP_CENTS), _SAMPLED, _CODES, found
    )
    return found[:count].copy()


def _placed(pairs: NDArray[np.float32], reference: int, cell: NDArray[np.int64]) -> IndexHit:
    """Return the hit with the tempo at which most peaks of the clip agree on one place."""
    least = _TEMPO_LOW + int(cell[0]) / _TEMPOS_PER_OCTAVE
    octaves = least + _TRIED_TEMPOS
    there, here = pairs[:, 2].astype(np.float64), pairs[:, 3].astype(np.float64)
    best, trial = most_at_one_place(there, here, 2.0**octaves, _SAME_PLACE)
    tempo = float(octaves[trial]) if best else least + 1 / _TEMPOS_PER_OCTAVE
    shift = float(np.median(pairs[:, 4])) / 100 if len(pairs) else 0.0
    return IndexHit(
        reference=reference,
        votes=int(best),
        surprise=_surprise(int(best), len(pairs) / _PLACES),
        tempo=float(2**tempo),
        semitones=shift,
    )


def _surprise(count: int, expected: float) -> float:
    """Return the log of the likelihood ratio of a Poisson count that exceeds its expectation."""
    if count <= expected or not expected:
        return 0.0
    return count * math.log(count / expected) - (count - expected)
