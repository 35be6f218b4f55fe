"""Versions: how surely two sounds are two performances of one composition, such as a cover.

Another performance shares no spectral peak and no timbre with the recording, but the sequence of
its harmonies, in any key and at a tempo of its own. Chroma is correlated in every key, at every
tempo and offset, as in optimal transposition (Serra et al., "Cross recurrence quantification for
cover song identification", 2009), and the best correlation is compared with all others of the same
pair: chance is measured on the pair itself. Speech hides harmonies in chroma, but hardly holds a
tone, so tones that are held have a share in it. Measured only for pairs that are not one recording.
Not here: edits of a recording (`search.py`), the verdict (`judging.py`).

On development tracks the limit (6.5 times chance) finds 343 of 368 versions: covers, live
performances and scores by other sound fonts, in other keys and tempos; under human speech as loud
as the music, 323. It accepts 5 of 14,588 pairs of real recordings of other music and none of 1,272
generated ones: precision 0.986 [0.967, 0.994] over all. Songs with the same chords and another
melody are hard: 24 of 268 such pairs are called versions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import (
    BINS_PER_SEMITONE,
    FRAMES_PER_S,
    SEMITONES,
    Features,
    centred_in_time_and_octave,
    moving_mean,
    next_smooth,
)
from pipelines.audio.matching.agreement import are_steady, match_peaks, tone_agreement
from pipelines.audio.matching.alignment import overlap
from pipelines.audio.matching.hypotheses import interpolated
from pipelines.audio.matching.scoring import tonal_weight
from pipelines.audio.matching.search import overlap_weight
from warehouse.records.evidence import VERSION_THRESHOLD

_TEMPOS = tuple(math.exp(0.03 * step) for step in range(-12, 13))
"""Tempos from 0.70 to 1.43 in steps of 3 %: 20 s of music drift by 0.3 s at most."""
_FRAMES = 5  # are averaged, 4.3 a second: performers are never in time with each other
_HELD_FRAMES = 9  # a sound has few held tones, so those of 0.4 s count together
_HELD_SHARE = 0.15
_FEW_HELD = 0.3  # a third of a tone in each frame
_C0_HZ = 440 * 2 ** (-4.75)
_LEAST_OVERLAP = round(8.0 * FRAMES_PER_S / _FRAMES)
_SIZE_STEP = 64  # few distinct sizes, so that cached reference spectra are reused
_REPEAT_LAGS = np.arange(
    round(0.8 * FRAMES_PER_S / _FRAMES), round(2.5 * FRAMES_PER_S / _FRAMES), dtype=np.int64
)
_REPEATED = 0.5
_SAME_KEY = 0.75  # 1,380 of 14,760 other pairs agree best in the same key, of 736 versions 488
_SHARED_PEAKS = 0.08
_CHANCE, _SURE = 3.7, 9.3  # about the medians of other pairs and of covers


@dataclass(frozen=True, slots=True, eq=False)
class _Spectra:
    """Chroma at some tempos, transformed over the octave and time (tempos, semitones, bins), and
    for each tempo the energy before each frame.
    """

    values: NDArray[np.complex64]
    energies: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Alignment:
    """The best alignment.

    Attributes:
        significance: Its correlation in units of chance.
        is_unchanged: Whether it is in the same key at the same tempo.
        lag: Reference minus candidate time in feature frames; of use if `is_unchanged`.
    """

    significance: float
    is_unchanged: bool
    lag: int


def version_score(reference: Features, candidate: Features) -> float | None:
    """Return how surely both are performances of one composition, 0 to 1; None if too short."""
    best = _best_alignment(reference, candidate)
    if best is None:
        return None
    score = min(max((best.significance - _CHANCE) / (_SURE - _CHANCE), 0.0), 1.0)
    is_sure = score >= VERSION_THRESHOLD
    if is_sure and best.is_unchanged and _shares_voice(reference, candidate, best.lag):
        return 0.0
    return score


def _best_alignment(reference: Features, candidate: Features) -> _Alignment | None:
    """Correlate in every key, at every tempo and offset.

    None if no overlap of eight seconds is audible.

    A correlation r over n frames counts as r times the root of n: by chance, that is as large for
    long overlaps as for short ones. Figures that repeat every second or two, such as arpeggios,
    agree with themselves at many offsets: half of the best correlation one or two seconds beside
    is taken away. Chance is measured by the fourth root of the mean fourth power of all
    correlations (3 for standard normal ones), more than by their standard deviation where a few
    are high: one more high one proves little there. Performers mostly keep the key, which chance
    does not.
    """
    longest = max(reference.frames, candidate.frames) / _FRAMES
    size = _SIZE_STEP * next_smooth(math.ceil(longest * (1 + 1 / _TEMPOS[0]) / _SIZE_STEP))
    stretched = _stretched_spectra(reference, size)
    played = _spectra(_semitones(candidate), (1.0,), size)
    (energy,) = played.energies
    # Where one of them is silent, nothing correlates, which says nothing about chance.
    weights = np.stack(
        [overlap_weight(other, energy, size, least=_LEAST_OVERLAP) for other in stretched.energies]
    )
    products = np.fft.ifft(stretched.values * played.values.conj(), axis=1)
    # For each tempo and key a row of lags.
    correlation = np.fft.irfft(products, n=size, axis=2) * weights[:, None]
    squares = np.square(correlation)
    fourths = float(np.vdot(squares, squares))
    if fourths == 0:
        return None
    count = SEMITONES * int(np.count_nonzero(weights))
    chance = (fourths / (3 * count)) ** 0.25
    tempo, key, place = np.unravel_index(int(np.argmax(correlation)), correlation.shape)
    around = np.concatenate((place - _REPEAT_LAGS, place + _REPEAT_LAGS)) % size
    repeated = max(0.0, float(correlation[tempo, key, around].max()))
    net = float(correlation[tempo, key, place]) - _REPEATED * repeated
    # The correlation is circular: the last lags are negative.
    is_later = place < len(stretched.energies[tempo]) - 1
    return _Alignment(
        significance=net / chance + (_SAME_KEY if key == 0 else 0.0),
        is_unchanged=key == 0 and _TEMPOS[tempo] == 1.0,
        lag=_FRAMES * int(place if is_later else place - size),
    )


def _shares_voice(reference: Features, candidate: Features, lag: int) -> bool:
    """Whether a voice itself is shared at this lag, over other tones: it is no performance.

    Of 12 pairs with the same narration over other music, at least 0.11 of the peaks agree; of
    covers in sync, at most 0.06.
    """
    first, last = overlap(reference.frames, candidate.frames, lag)
    match = match_peaks(
        reference.peaks, candidate.peaks, lag=2 * lag, first_frame=2 * first, last_frame=2 * last
    )
    return match.share >= _SHARED_PEAKS and tonal_weight(tone_agreement(match)) == 0.0


@lru_cache(maxsize=4)
def _stretched_spectra(reference: Features, size: int) -> _Spectra:
    """Return cached spectra for every tempo: many candidates are compared with few references."""
    return _spectra(_semitones(reference), _TEMPOS, size)


def _semitones(features: Features) -> NDArray[np.float32]:
    """Return centred chroma of whole semitones, averaged over `_FRAMES` frames, (frames, 12).

    Mixed with held tones of the same energy.
    """
    chroma = features.centred.chroma
    # The bins around each semitone: a cover may be tuned a little higher or lower.
    around = np.roll(chroma, BINS_PER_SEMITONE // 2, axis=1)
    folded = around.reshape(len(chroma), SEMITONES, BINS_PER_SEMITONE).mean(axis=2)
    smooth = moving_mean(folded, _FRAMES)
    held = _held_tones(features)
    energies = float(np.vdot(smooth, smooth)), float(np.vdot(held, held))
    scale = math.sqrt(energies[0] / energies[1]) if energies[1] else 0.0
    mixed: NDArray[np.float32] = (1 - _HELD_SHARE) * smooth + np.float32(_HELD_SHARE * scale) * held
    return mixed


def _held_tones(features: Features) -> NDArray[np.float32]:
    """Return how many steady peaks each semitone has, smoothed and centred (frames, semitones)."""
    peaks = features.peaks
    is_steady = are_steady(peaks.frames, peaks.hertz)
    rows = np.minimum(peaks.frames[is_steady] // 2, features.frames - 1)
    pitches = SEMITONES * np.log2(peaks.hertz[is_steady] / _C0_HZ)
    below = np.floor(pitches).astype(np.int64)
    part = pitches - below
    tones = np.zeros((features.frames, SEMITONES), dtype=np.float32)
    np.add.at(tones, (rows, below % SEMITONES), 1 - part)
    np.add.at(tones, (rows, (below + 1) % SEMITONES), part)
    tones = moving_mean(tones, _HELD_FRAMES)
    tones /= np.linalg.norm(tones, axis=1, keepdims=True) + np.float32(_FEW_HELD)
    return centred_in_time_and_octave(tones)


def _spectra(chroma: NDArray[np.float32], tempos: Sequence[float], size: int) -> _Spectra:
    """Transform chroma played so many times as fast over the octave and over `size` frames."""
    frames = np.zeros((len(tempos), SEMITONES, size), dtype=np.float32)
    energies = []
    for row, tempo in enumerate(tempos):
        count = max(1, int(len(chroma) / (_FRAMES * tempo)))
        places = np.minimum(np.arange(count) * _FRAMES * tempo, len(chroma) - 1.0)
        played = interpolated(chroma, places)
        frames[row, :, :count] = played.T
        energy = np.cumsum(np.square(played, dtype=np.float64).sum(axis=1))
        energies.append(np.concatenate(([0.0], energy)))
    return _Spectra(np.fft.fft(np.fft.rfft(frames, axis=2), axis=1), tuple(energies))
