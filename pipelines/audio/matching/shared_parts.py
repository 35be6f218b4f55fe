"""What two sounds share although they are not one recording: pure rules on their peaks.

Not here: the verdict (`judging.py`).
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import (
    FINE_HOP_S,
    Features,
    Peaks,
    mel_edges,
    mel_to_hz,
)
from pipelines.audio.matching import kernels
from pipelines.audio.matching.agreement import TOLERANCE_HZ, are_steady
from warehouse.records.evidence import SharedPart

# A few seconds in common: how long they really are, and whether they belong to the music.

_LEAST_OTHER_FRAMES = round(1.0 / FINE_HOP_S)
"""Other music beside a piece is at least so long."""
_AT_END_FRAMES = round(1.5 / FINE_HOP_S)
"""A piece that is nearer to the end of a sound is at that end."""
_EDGE_FRAMES = round(0.3 / FINE_HOP_S)
_ALIKE = 0.25
"""Beside the common piece, peaks agree at most at this part of the rate inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonPiece:
    """A piece in which peaks agree one after the other, in fine frames of the candidate.

    `last_frame` is the one after its last peak; `lag` is reference minus candidate time.
    """

    lag: int
    first_frame: int
    last_frame: int

    def seconds_within(self, reference_frames: int, candidate_frames: int) -> float:
        """Return the length from the first agreeing peak to the last, or to an end of a sound.

        At its ends a sound has few peaks, and cannot be common beyond them.
        """
        first = max(0, -self.lag)
        last = 2 * min(candidate_frames, reference_frames - self.lag // 2)
        if self.first_frame - first > _EDGE_FRAMES:
            first = self.first_frame
        if last - self.last_frame > _EDGE_FRAMES:
            last = self.last_frame
        return (last - first) * FINE_HOP_S


def common_piece(
    reference: Peaks, candidate: Peaks, *, lag: int, first_frame: int, last_frame: int
) -> CommonPiece | None:
    """Return the piece in and around the candidate's frames first..last that is really common.

    None if no peak agrees.

    Each agreeing peak speaks for the rate of agreement inside the block against a quarter of it,
    each other peak against it, by the logarithms of the likelihood ratios; the piece is the run of
    peaks with the largest sum (Kadane; Bentley, Programming Pearls, 1986, column 8).
    """
    frames, hertz = candidate.frames, candidate.hertz
    pairs = kernels.matching_peaks(
        reference.frames, reference.hertz, frames, hertz, lag, TOLERANCE_HZ
    )
    is_hit = np.zeros(len(frames), dtype=np.bool_)
    is_hit[pairs[:, 1]] = True
    is_inside = (frames >= first_frame) & (frames < last_frame)
    rate = min(0.9, float(is_hit[is_inside].mean())) if is_inside.any() else 0.0
    if rate == 0.0:
        return None
    speaks = np.where(is_hit, -math.log(_ALIKE), math.log((1 - rate) / (1 - _ALIKE * rate)))
    first, last = _largest_run(speaks)
    return CommonPiece(lag=lag, first_frame=int(frames[first]), last_frame=int(frames[last]) + 1)


def end_sound(reference: Peaks, candidate: Peaks, piece: CommonPiece) -> SharedPart | None:
    """Return which end of both sounds the piece is, with other music beside it in both."""
    moved = (piece.first_frame + piece.lag, piece.last_frame + piece.lag)
    places = ((candidate, piece.first_frame, piece.last_frame), (reference, *moved))
    before = [first - int(peaks.frames[0]) for peaks, first, _ in places]
    after = [int(peaks.frames[-1]) - last for peaks, _, last in places]
    if max(after) < _AT_END_FRAMES and min(before) >= _LEAST_OTHER_FRAMES:
        return "closing_sound"
    if max(before) < _AT_END_FRAMES and min(after) >= _LEAST_OTHER_FRAMES:
        return "opening_sound"
    return None


# What each sound has alone: a shared voice, lead or loop leaves other music in both.

_NEAR_FRAMES = round(0.5 / FINE_HOP_S)
_CLEARLY_DB = 8.0
_LOUD, _FEWEST_LOUD = 0.85, 5
"""The loudest moments tell an equalizer: a denoiser makes others quieter, a noise fills them."""
_MOST_BANDS = 0.6
"""If so many bands are louder at once, the other sound is quieter: it was cut, or compressed."""
_AUDIBLE_DB = 58.0
"""A band whose mean lies further below the sound's loudest cell is silence."""
_PRIOR_COUNT = 16.0
"""Pseudo-count of steady peaks with the usual rate, so that a few do not decide."""
_FEWEST_STEADY = 100
"""Of fewer steady peaks, foreign ones are no large share: music without tones has few."""
_LEAST_ALONE = 0.06
"""Of a voice and the same voice over music, one has at most 0.05 foreign tones."""
_FEW_HELD = 0.14
_LOOP_LAG, _LOOP_REACH = round(3.5 / FINE_HOP_S), round(3.0 / FINE_HOP_S)
_REPEATED = 0.35
"""In 32 pairs of songs with the same sung melody, at most 0.32 of what agrees comes again at one
lag; more in about 30 of 77 pairs with the same loops, although other music hides repetitions."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Residue:
    """What both sounds have alone in all that they have in common at one alignment.

    Attributes:
        steadiness: Share of the steady peaks that agree, divided by that of all peaks by their
            amplitude; the smaller of both sounds for each. About 1 for one recording and more
            under different voices, 0.1 to 0.5 for a shared voice.
        foreign: Share of the steady peaks whose tone the other sound does not have nearby, the
            smaller of both sounds.
        louder: Share of the cells of time and band in which a sound is 8 dB louder than the other
            explains, the smaller of both sounds. At most 0.015 in 199 of 200 windows of a recording
            and its copy, whatever equalizer, gate, room or noise the copy went through.
        louder_other: The same of the sound that has more of them.
        held: Share of steady peaks among those that agree, the smaller of both sounds.
        agreeing: The reference's peaks that agree.
    """

    steadiness: float
    foreign: float
    louder: float
    louder_other: float
    held: float
    agreeing: Peaks

    @property
    def both_have_tones_alone(self) -> bool:
        """Whether neither is all of the other, as a voice is of the same voice over music."""
        return self.foreign >= _LEAST_ALONE

    @property
    def holds_few_tones(self) -> bool:
        """Whether what agrees may be a voice or a crowd.

        At most 0.12 of it is held in 39 pairs of narrations over other music, and 0.17 or more in
        22 pairs of one sung voice over other recordings.
        """
        return self.held < _FEW_HELD

    @property
    def part(self) -> SharedPart:
        """What is shared, provided that the sounds are two songs."""
        if self.holds_few_tones:
            return "voice"
        return "loop" if _is_repeated(self.agreeing) else "layer"


def measure_residue(
    reference: Features, candidate: Features, *, lag: int, first_frame: int, last_frame: int
) -> Residue:
    """Measure what both sounds have alone around the candidate's fine frames first..last."""
    piece = common_piece(
        reference.peaks, candidate.peaks, lag=lag, first_frame=first_frame, last_frame=last_frame
    )
    first, last = first_frame, last_frame
    if piece is not None:
        first, last = min(first, piece.first_frame), max(last, piece.last_frame)
    sides = (
        _side(reference, candidate, first + lag, last + lag, -lag),
        _side(candidate, reference, first, last, lag),
    )
    foreign = min(side.foreign / max(_FEWEST_STEADY, side.steady) for side in sides)
    usual = min(side.loud_hits for side in sides)
    steady = min(
        (side.steady_hits + _PRIOR_COUNT * usual) / (side.steady + _PRIOR_COUNT) for side in sides
    )
    shares = louder_shares(reference, candidate, lag // 2, first // 2, last // 2)
    return Residue(
        steadiness=steady / (usual + 0.05),
        foreign=foreign,
        louder=min(shares),
        louder_other=max(shares),
        held=min(side.steady_hits / max(1, len(side.hits.frames)) for side in sides),
        agreeing=sides[0].hits,
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """Peaks of a sound: how many are steady, how many of those agree or are foreign, which agree.

    `loud_hits` is the share of the peaks' amplitude that agrees.
    """

    steady: int
    steady_hits: int
    foreign: int
    loud_hits: float
    hits: Peaks


def _side(sound: Features, other: Features, first: int, last: int, lag: int) -> _Side:
    """Describe the peaks of the sound's fine frames first..last, `lag` before the other's."""
    peaks = sound.peaks.at(slice(*np.searchsorted(sound.peaks.frames, (first, last))))
    frames, hertz = peaks.frames, peaks.hertz
    other_peaks = (other.peaks.frames, other.peaks.hertz)
    pairs = kernels.matching_peaks(*other_peaks, frames, hertz, lag, TOLERANCE_HZ)
    is_hit = np.zeros(len(frames), dtype=np.bool_)
    is_hit[pairs[:, 1]] = True
    is_steady = are_steady(frames, hertz)
    is_foreign = kernels.foreign_peaks(frames, hertz, *other_peaks, lag, _NEAR_FRAMES, TOLERANCE_HZ)
    # The level of a peak is that of its mel band.
    bands = np.searchsorted(_band_limits(), hertz)
    rows = np.clip(frames // 2, 0, sound.frames - 1)
    amplitudes = 10.0 ** (sound.mel_db[rows, bands].astype(np.float64) / 20)
    return _Side(
        steady=int(is_steady.sum()),
        steady_hits=int((is_steady & is_hit).sum()),
        foreign=int((is_steady & is_foreign).sum()),
        loud_hits=float(amplitudes[is_hit].sum() / max(1e-9, amplitudes.sum())),
        hits=peaks.at(is_hit),
    )


def _is_repeated(peaks: Peaks) -> bool:
    """Whether at least 35 % of the peaks come again after one common delay of 0.5 to 6.5 s."""
    frames, hertz = peaks.frames, peaks.hertz
    if len(frames) == 0:
        return False
    [counts] = kernels.lag_histograms(
        frames, hertz, frames, hertz, _LOOP_LAG, _LOOP_REACH, TOLERANCE_HZ, np.zeros(1)
    )
    near = counts[:-2] + counts[1:-1] + counts[2:]
    lags = _LOOP_LAG - _LOOP_REACH + 1 + np.arange(len(near))
    # Peaks near the end cannot come again inside it.
    able = np.searchsorted(frames, frames[-1] - lags, side="right")
    return bool(np.max(near / np.maximum(len(frames) / 2, able)) >= _REPEATED)


def louder_shares(
    reference: Features, candidate: Features, lag: int, first: int, last: int
) -> tuple[float, float]:
    """Return the share of louder cells of each sound in the candidate's frames first..last."""
    first, last = max(first, 0, -lag), min(last, candidate.frames, reference.frames - lag)
    if last - first < 2 * _FEWEST_LOUD:
        return 0.0, 0.0
    theirs = reference.mel_db[first + lag : last + lag].astype(np.float32)
    ours = candidate.mel_db[first:last].astype(np.float32)
    is_audible = np.ones(theirs.shape[1], dtype=np.bool_)
    for sound, block in ((reference, theirs), (candidate, ours)):
        is_audible &= block.mean(axis=0) > float(sound.mel_db.max()) - _AUDIBLE_DB
    if not is_audible.any():
        return 0.0, 0.0
    return kernels.louder_shares(
        np.ascontiguousarray(theirs[:, is_audible]),
        np.ascontiguousarray(ours[:, is_audible]),
        _CLEARLY_DB,
        _LOUD,
        _FEWEST_LOUD,
        _MOST_BANDS,
    )


@lru_cache(maxsize=1)
def _band_limits() -> NDArray[np.float64]:
    """Return the frequencies midway between the middles of neighbouring mel bands, (63,)."""
    middles = mel_edges()[1:-1]
    return np.asarray(mel_to_hz((middles[:-1] + middles[1:]) / 2))


def _largest_run(values: NDArray[np.float64]) -> tuple[int, int]:
    """Return the first and the last place of the run with the largest sum."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    gains = sums[1:] - np.minimum.accumulate(sums[:-1])
    last = int(np.argmax(gains))
    return int(np.argmin(sums[: last + 1])), last
