"""Agreement of peaks and tones: evidence beside the alignment by chroma and MFCC."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import FINE_HOP_S, SHORT_WINDOW_S, Peaks
from pipelines.audio.matching import kernels

# Align by peaks alone: each pair of peaks of equal frequency votes for its time difference.
#
# Finds what the alignment by chroma and MFCC misses: a few common seconds, and music under a
# louder voice.

_COLUMN_FRAMES = round(0.5 / FINE_HOP_S)  # half a second, in which votes and hits are counted
_RUN_STRETCHES = 3  # any two seconds contain one of 1.5 s
_LEAST_STRETCHES = 4  # two seconds, the shortest excerpt
_APART_FRAMES = 4  # 0.1 s: nearer lags are one alignment
_STILL_COMMON = 0.4  # of the mean votes of the run
_MOST_STRETCHES = 3
_LEAST_EXCESS = 5.0  # unrelated sounds reach about 4, a recording under an equal voice 13
_LEAST_REVERSED_EXCESS = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonStretch:
    """A stretch in which peaks coincide, in fine frames.

    `excess` is how far the votes exceed chance, in units of the root of what chance gives.
    """

    lag: int
    first_frame: int
    last_frame: int
    excess: float

    @property
    def is_weak(self) -> bool:
        """Whether chance can explain it."""
        return self.excess <= _LEAST_EXCESS


def common_stretches(
    reference: Peaks, candidate: Peaks, *, keeps_weak: bool = False
) -> list[CommonStretch]:
    """Return up to three common stretches of two sounds, the likeliest first.

    `first_frame` and `last_frame` are of the candidate, `lag` is reference minus candidate time.
    With `keeps_weak`, weak stretches are returned too.
    """
    stretches = _stretches(reference, candidate, count=_MOST_STRETCHES)
    return [stretch for stretch in stretches if keeps_weak or not stretch.is_weak]


def is_reversed(reference: Peaks, candidate: Peaks) -> bool:
    """Whether the peaks of the candidate, played backwards, are those of the reference."""
    if not len(candidate.frames):
        return False
    turned = candidate.at(slice(None, None, -1))
    backwards = replace(turned, frames=candidate.frames[-1] - turned.frames)
    stretches = _stretches(reference, backwards, count=1)
    return bool(stretches) and stretches[0].excess >= _LEAST_REVERSED_EXCESS


def _stretches(reference: Peaks, candidate: Peaks, *, count: int) -> list[CommonStretch]:
    if not len(reference.frames) or not len(candidate.frames):
        return []
    # Votes are counts by time difference and half a second of the candidate.
    frames, hertz = _by_frequency(reference)
    votes = kernels.peak_votes(
        frames, hertz, candidate.frames, candidate.hertz, TOLERANCE_HZ, _COLUMN_FRAMES
    )
    if votes.shape[1] < _RUN_STRETCHES:
        return []
    chance = votes.sum(axis=0) * np.float32(3 / (int(frames.max()) + 1))
    runs = kernels.strongest_runs(
        votes, chance.astype(np.float32), _RUN_STRETCHES, count, _APART_FRAMES
    )
    last = int(candidate.frames[-1])
    stretches = []
    for excess, place, start in runs:
        if excess <= 0:
            continue
        row, first, end = int(place), int(start), int(start) + _RUN_STRETCHES
        # Extend the run in both directions while the votes stay well above chance.
        near = votes[row - 1 : row + 2].sum(axis=0) - chance
        least = _STILL_COMMON * near[first:end].mean()
        while first > 0 and near[first - 1] >= least:
            first -= 1
        while end < len(near) and near[end] >= least:
            end += 1
        # If it is shorter than two seconds, extend it where there are more votes.
        while end - first < min(_LEAST_STRETCHES, len(near)):
            is_before = first > 0 and (end == len(near) or near[first - 1] >= near[end])
            first, end = (first - 1, end) if is_before else (first, end + 1)
        stretches.append(
            CommonStretch(
                lag=row - last - 1,
                first_frame=first * _COLUMN_FRAMES,
                last_frame=end * _COLUMN_FRAMES,
                excess=float(excess),
            )
        )
    return stretches


@lru_cache(maxsize=64)
def _by_frequency(peaks: Peaks) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return frames and frequencies; cached because a reference is compared several times."""
    order = np.argsort(peaks.hertz, kind="stable")
    return peaks.frames[order], peaks.hertz[order]


# Peak agreement: do the spectral peaks of both sounds coincide in time, frequency and phase?
#
# The alignment is chosen by chroma and MFCC, so peaks are independent evidence for it. A cover in
# the same key and tempo shares notes and onsets, but not phases: after one common delay the phases
# of the same recording agree, even under voice, noise and equalization. A room turns the phases of
# each frequency by its own angle, but all notes of that frequency by the same.


def _nearest_first(steps: NDArray[np.floating]) -> NDArray[np.float64]:
    """Sort by size: most often there is no difference, or a small one."""
    return np.array(sorted(steps, key=abs))


TOLERANCE_HZ = 0.35 / SHORT_WINDOW_S
"""0.35 bins of the short transform."""
_SEARCH = round(0.25 / FINE_HOP_S)
_BACKGROUND = np.arange(_SEARCH + 1, round(0.75 / FINE_HOP_S) + 1)
_REACH = _SEARCH + int(_BACKGROUND[-1]) + 1
_CENTRE = slice(_REACH - _SEARCH - 1, _REACH + _SEARCH)
_BEST_AND_AWAY = np.concatenate(([0], -_BACKGROUND, _BACKGROUND))
_MIN_HEADROOM = 0.5  # a steady tone agrees with itself at every lag, which is no evidence
_NO_DRIFT = np.zeros(1)
_STEPS = np.arange(2, 31) / 200
_DRIFTS = np.concatenate((-_STEPS, _STEPS))
"""Tempo differences of 1 % to 15 % in both directions, in steps of 0.5 %."""
DELAY_REACH_S = 1.25 * FINE_HOP_S  # peaks match up to one fine frame off the lag
DELAY_STEP_S = 40e-6  # a fifth of a turn at 4.5 kHz
_CLOCK_STEPS = np.arange(-4, 5) * 4e-5
_TRIALS_PENALTY = 0.7  # what nine more trials add to the maximum by chance
FEWEST_PAIRS = 8
_MOST_PAIRS = 256  # more pairs cost time without adding certainty
_NOTE_GAP_FRAMES = round(0.25 / FINE_HOP_S)  # peaks of a held note are closer
_COHERENT = 0.92
_CLOCKS = _nearest_first(np.arange(-30, 31) * 4e-5)  # up to 0.12 %
_FINE_CLOCK_STEPS = _nearest_first(np.arange(-6, 7) * 1e-5)
_PROMISING = 0.4
"""With coarse steps of the clock. In a window, it is 0.89 or more in 126 rooms, and at most 0.34
where players play again."""
_RUNS = (4, 6, 8, 10)
_FEWEST_EXPECTED = 12.0  # hits, of which chance leaves hardly ever a quarter
_HARDLY_ANY = 0.25
CERTAIN = 5.25
"""A certainty that chance does not reach: p = exp(-5.25^2) for each of about 1500 delays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakMatch:
    """The overlaid peaks of both sounds.

    Attributes:
        share: Share of candidate peaks that agree beyond chance, -1..1.
        lag: Reference minus candidate time in fine frames at which the share is reached.
        reference: Peaks of the reference.
        candidate: Peaks of the candidate inside the compared block.
    """

    share: float
    lag: int
    reference: Peaks
    candidate: Peaks


def match_peaks(
    reference: Peaks,
    candidate: Peaks,
    *,
    lag: int,
    first_frame: int,
    last_frame: int,
    of_sparser: bool = False,
) -> PeakMatch:
    """Find the share of candidate peaks that also occur in the reference, beyond chance.

    The hit rate h at the best lag within 0.25 s is corrected by the mean hit rate b at lags 0.25
    to 0.75 s away: (h - b) / (1 - b), which is 1 for identical sounds and about 0 for unrelated
    ones.

    Args:
        reference: Peaks of the reference.
        candidate: Peaks of the candidate.
        lag: Reference minus candidate time in fine frames, from the alignment.
        first_frame: First fine frame of the compared block in the candidate.
        last_frame: The fine frame after its last one.
        of_sparser: Return the share of the reference's peaks if it has fewer in the block: of a
            slowed sound, which has more peaks in the same music, not all can agree.
    """
    block = candidate.at(slice(*np.searchsorted(candidate.frames, (first_frame, last_frame))))
    peak_count = len(block.frames)
    if of_sparser:
        ends = np.searchsorted(reference.frames, (first_frame + lag, last_frame + lag))
        peak_count = min(peak_count, int(ends[1] - ends[0]))
    shares, lags = _shares(reference, block, lag, _NO_DRIFT, peak_count)
    return PeakMatch(share=float(shares[0]), lag=int(lags[0]), reference=reference, candidate=block)


def phase_certainty(match: PeakMatch) -> float:
    """Return the certainty that the phases of matching peaks follow one delay.

    It is the largest |sum m| / sqrt(sum |m|^2) over all delays within the lag's uncertainty, with m
    the mean of exp(i (difference + 2 pi f delay)) over the pairs of one tone. Tones count, not
    pairs: a sampled instrument repeats one phase with each note, so the pairs of a tone that two
    such instruments share are no independent evidence. Clocks are equal, or have the ratio that the
    pairs' frequencies suggest (film at another frame rate runs 0.1 % off). Chance gives about 2.5
    and almost never 4; n tones give at most sqrt(n). 0 if there are too few pairs. The search stops
    at about 5.25.
    """
    pairs = _phase_pairs(match, most=_MOST_PAIRS)
    if pairs is None:
        return 0.0
    best = _certainty(pairs, 0.0)
    for slope in pairs.slopes:
        if best >= CERTAIN:
            break
        best = max(best, _certainty(pairs, slope) - _TRIALS_PENALTY)
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteCoherence:
    """How well the notes of a tone repeat one phase difference.

    Attributes:
        value: 1 if all notes of each tone differ by one angle, about 0 if by angles of chance.
        potential: What `value` is in standard deviations of chance where it is 1.
    """

    value: float
    potential: float


NO_NOTES = NoteCoherence(value=0.0, potential=0.0)


def note_coherence(match: PeakMatch) -> NoteCoherence:
    """Return how well separate notes of one tone repeat one phase difference.

    Whatever is linear and does not change with time, such as an equalizer or a room, turns all that
    sounds at one frequency by one angle, the argument of its transfer function there. In a room,
    angles of frequencies that are further apart than about the inverse of its reverberation time
    are unrelated (Schroeder, Frequency-correlation functions of frequency responses in rooms,
    1962), so no delay explains them, but each is repeated by every note of the recording. Notes
    that are played again repeat it only as far as they are the same sample at the same moment.

    With n unit vectors of the notes of a tone, and R the length of their mean, n R^2 - 1 is 0 on
    average by chance, with a variance of (n - 1) / n, and n - 1 for equal angles (Rayleigh's test;
    Mardia and Jupp, Directional Statistics, 2000, chapter 6). Both are summed over all tones.
    """
    pairs = _phase_pairs(match)
    return NO_NOTES if pairs is None else _coherence(pairs, (0.0, *pairs.slopes))[0]


def overlap_coherence(window: PeakMatch, candidate: Peaks) -> NoteCoherence:
    """Return the coherence of notes in all that overlaps at the alignment of a window.

    Over twenty seconds, a difference of the clocks of 1e-5 turns the phases of high tones by half a
    turn, and in a room the frequencies of peaks are not exact enough to tell it: their median is up
    to 4e-4 off in 42 real recordings. So clocks are tried in the window, which allows for coarser
    steps, and then beside the best one.

    Args:
        window: The matched peaks of the window, or of the whole overlap.
        candidate: All peaks of the candidate.
    """
    inside, overlap = _phase_pairs(window), _phase_pairs(replace(window, candidate=candidate))
    if inside is None or overlap is None:
        return NO_NOTES
    coherence, clock = _coherence(inside, _CLOCKS)
    if coherence.value < _PROMISING:
        return NO_NOTES
    return _coherence(overlap, clock + _FINE_CLOCK_STEPS)[0]


def tempo_apart_from_pitch(match: PeakMatch) -> float:
    """Return the logarithm of the ratio of both tempos to the ratio of both pitches.

    Positive where the candidate plays faster than its pitch says; near 0 where it only runs faster.
    """
    pairs = _pairs(match)
    if len(pairs) < FEWEST_PAIRS:
        return 0.0
    first, second = pairs[:, 0], pairs[:, 1]
    frames = match.candidate.exact_frames[second]
    pitch = np.median(np.log(match.candidate.hertz[second] / match.reference.hertz[first]))
    # The line of least squares through the times at which the candidate is late.
    since = frames - frames.mean()
    late = match.reference.frames[first] - match.lag - frames
    tempo = float(since @ late) / max(1.0, float(since @ since))
    return float(tempo - pitch)


def _coherence(pairs: "_PhasePairs", slopes: Iterable[float]) -> tuple[NoteCoherence, float]:
    """Return the largest coherence for these slopes, and its slope."""
    notes = note_numbers(pairs.tones, pairs.frames)
    best, at_slope = NoteCoherence(value=-1.0, potential=0.0), 0.0
    for slope in slopes:
        excess, repeats, variance = kernels.repeated_phases(pairs.phases(slope), pairs.tones, notes)
        if repeats == 0:
            return NO_NOTES, 0.0
        if excess / repeats > best.value:
            potential = repeats / math.sqrt(variance)
            best, at_slope = NoteCoherence(value=excess / repeats, potential=potential), slope
        if best.value >= _COHERENT:
            break
    return best, at_slope


def note_numbers(tones: NDArray[np.int64], frames: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of each peak's note, (n,): of one tone, without a gap of 0.25 s.

    Args:
        tones: Numbers of the tones, ascending.
        frames: Times in fine frames, ascending in each tone.
    """
    is_next = (np.diff(tones) != 0) | (np.diff(frames) > _NOTE_GAP_FRAMES)
    return np.concatenate(([0], np.cumsum(is_next)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _PhasePairs:
    """Pairs of peaks in the order of their tones, then of time.

    Attributes:
        turns: Phase differences in turns, as if both peaks were `lag` apart exactly (n,).
        hertz: Mean frequencies (n,).
        frames: Times in the candidate in fine frames (n,).
        tones: Numbers of their tones, ascending (n,).
        slopes: How much faster the candidate's clock may run: what the frequencies suggest, and
            values beside it.
    """

    turns: NDArray[np.float64]
    hertz: NDArray[np.float64]
    frames: NDArray[np.int32]
    tones: NDArray[np.int64]
    slopes: NDArray[np.float64]

    def phases(self, slope: float) -> NDArray[np.float64]:
        """Return phase differences in radians if the candidate's clock runs 1 + `slope` fast."""
        seconds = FINE_HOP_S * (self.frames - self.frames.mean())
        return 2 * np.pi * (self.turns - self.hertz * slope * seconds)


def _phase_pairs(match: PeakMatch, *, most: int | None = None) -> _PhasePairs | None:
    """Return the matching peaks' phases, at most `most` of them; None if there are too few."""
    reference, candidate = match.reference, match.candidate
    pairs = _pairs(match)
    if len(pairs) < FEWEST_PAIRS:
        return None
    if most is not None:
        # Evenly spread over the block.
        pairs = pairs[:: math.ceil(len(pairs) / most)]
    tones = np.floor(candidate.hertz[pairs[:, 1]] / (2 * TOLERANCE_HZ)).astype(np.int64)
    order = np.argsort(tones, kind="stable")
    first, second = pairs[order, 0], pairs[order, 1]
    turns, hertz = phase_differences(match, pairs[order])
    # Another clock moves all frequencies by one ratio.
    ratio = np.median(np.log(candidate.hertz[second] / reference.hertz[first]))
    return _PhasePairs(
        turns=turns,
        hertz=hertz,
        frames=candidate.frames[second],
        tones=tones[order],
        slopes=ratio + _CLOCK_STEPS,
    )


def phase_differences(
    match: PeakMatch, pairs: NDArray[np.int64], gained_frames: NDArray[np.float64] | float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return phase differences, as if peaks were `lag` apart exactly, and frequencies.

    Args:
        match: The matched peaks.
        pairs: Index pairs of matching peaks (n, 2).
        gained_frames: Fine frames that the candidate's clock has gained at each pair, (n,).

    Returns:
        Phase differences in turns (n,), mean frequencies in Hz (n,).
    """
    reference, candidate = match.reference, match.candidate
    first, second = pairs[:, 0], pairs[:, 1]
    hertz = 0.5 * (reference.hertz[first].astype(np.float64) + candidate.hertz[second])
    # A pair is `late` fine frames off the lag, in which its phase turns by its frequency.
    late = reference.frames[first] - match.lag - candidate.exact_frames[second] - gained_frames
    turns = (candidate.phases[second] - reference.phases[first].astype(np.float64)) / 256
    return turns + hertz * FINE_HOP_S * late, hertz


def _pairs(match: PeakMatch) -> NDArray[np.int64]:
    """Return index pairs (n, 2) of matching peaks."""
    return kernels.matching_peaks(
        match.reference.frames,
        match.reference.hertz,
        match.candidate.frames,
        match.candidate.hertz,
        match.lag,
        TOLERANCE_HZ,
    )


def _certainty(pairs: _PhasePairs, slope: float) -> float:
    return kernels.largest_certainty(
        pairs.phases(slope), pairs.hertz, pairs.tones, DELAY_REACH_S, DELAY_STEP_S
    )


def is_partly_common(match: PeakMatch) -> bool:
    """Whether the peaks agree in at most five seconds of the block, and hardly at all beside them.

    A window of six seconds may be half of another recording and still have small distances.
    """
    frames = match.candidate.frames
    if len(frames) == 0:
        return False
    pairs = _pairs(match)
    columns = (frames - frames[0]) // _COLUMN_FRAMES
    peaks = np.bincount(columns)
    hits = np.bincount(columns[np.unique(pairs[:, 1])], minlength=len(peaks))
    for run in _RUNS:
        if run >= len(peaks):
            break
        # The hits beside the best `run` of columns, against those expected at its hit rate.
        inside = np.convolve(hits, np.ones(run, dtype=np.int64), "valid")
        first = int(np.argmax(inside))
        within = slice(first, first + run)
        hits_within, peaks_within = int(hits[within].sum()), int(peaks[within].sum())
        expected = hits_within / max(1, peaks_within) * (int(peaks.sum()) - peaks_within)
        hits_beside = int(hits.sum()) - hits_within
        if expected >= _FEWEST_EXPECTED and hits_beside <= _HARDLY_ANY * expected:
            return True
    return False


def drifting_share(match: PeakMatch) -> float:
    """Return the best share if the candidate's tempo differs by 1 to 15 %.

    A recording at another tempo crosses the right lag briefly: enough for chroma and some peaks.
    Following the drift then finds several times as many peaks.
    """
    peak_count = len(match.candidate.frames)
    shares, _ = _shares(match.reference, match.candidate, match.lag, _DRIFTS, peak_count)
    return float(shares.max())


def _shares(
    reference: Peaks, candidate: Peaks, lag: int, drifts: NDArray[np.float64], peak_count: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return agreement, of `peak_count` peaks, and best lag for each drift, both (drifts,)."""
    if peak_count == 0 or len(reference.frames) == 0:
        return np.zeros(len(drifts)), np.full(len(drifts), lag)
    counts = kernels.lag_histograms(
        reference.frames,
        reference.hertz,
        candidate.frames,
        candidate.hertz,
        lag,
        _REACH,
        TOLERANCE_HZ,
        drifts,
    )
    # A peak may fall into the frame before or after, so three neighbouring lags are summed.
    near = counts[:, :-2] + counts[:, 1:-1]
    near += counts[:, 2:]
    # The best lag within 0.25 s, corrected by the mean of those 0.25 to 0.75 s away.
    rows = np.arange(len(drifts))
    best = _REACH - _SEARCH - 1 + np.argmax(near[:, _CENTRE], axis=1)
    shares = np.minimum(1.0, near[rows[:, None], best[:, None] + _BEST_AND_AWAY] / peak_count)
    chance = np.add.reduce(shares[:, 1:], axis=1) / len(_BACKGROUND) / 2
    agreement = (shares[:, 0] - chance) / np.maximum(1.0 - chance, _MIN_HEADROOM)
    return agreement, lag + best + 1 - _REACH


# Tone agreement: do the musical tones agree, or only a voice or a crowd over them?
#
# Two clips may share a narration or a crowd over different music; their peaks then agree in phase
# as those of a shared song would. Speech and crowds glide while music holds its tones, so steady
# peaks separate the cases: for a shared song they agree at least as often as fleeting peaks, for a
# shared voice over other music hardly ever. A sung voice holds its tones too, but not all over the
# spectrum: where two songs share only that, steady peaks of another band do not agree. And
# whatever is mixed over a song hides tones of it or adds some, but two songs each have tones that
# the other lacks.

_NEXT_FRAMES = 3  # closer peaks would be the same peak
_SECOND_FRAMES = round(1 / FINE_HOP_S)
_MIN_REPEATS = 2  # two more within a second: a held or repeated tone, hardly ever chance
_PRIOR_COUNT = 8.0
"""Pseudo-count of peaks with the average hit rate, so that a few steady peaks do not decide."""
_BANDS_HZ = np.array([520.0, 1040.0, 2080.0], dtype=np.float32)
"""Where bands of an octave or more end: bass and chords, melody, its overtones, the rest."""
_FEWEST_STEADY = 20
"""Steady peaks that a band, or a sound, needs in both sounds to be held against them."""
_NEAR_FRAMES = round(0.5 / FINE_HOP_S)
"""Reverberation and short windows move peaks of a tone, but not by more than this."""
_LEAST_UNSHARED = 0.4
"""Where nearly all peaks agree, a few others say nothing."""


@dataclass(frozen=True, slots=True)
class ToneAgreement:
    """How steady peaks agree, which are tones of music.

    Attributes:
        balance: How often they agree relative to fleeting ones, the larger of both sounds. About 1
            or more for the same recording, whatever is mixed over it, and for a shared voice that
            is alone in one of the sounds; 0 to 0.7 if both sounds have different tones.
        conflict: How much less often they agree in one band than in another, 0 to 1, times the
            share of steady peaks there. At most 0.41 for the same recording; up to 0.72 where two
            songs share one part of several. A voice that hides the tones of a band is no conflict:
            most of its peaks are fleeting.
        foreign: The share of steady peaks whose tone the other sound does not have nearby, the
            smaller of both sounds, relative to the share of peaks that do not agree, 0 to 2.5.
            Hardly ever above 0.45 for the same recording; up to 1 for other music under a crowd.
        steady: The share of steady peaks that agree, the larger of both sounds.
    """

    balance: float
    conflict: float
    foreign: float
    steady: float = 0.0


@dataclass(frozen=True, slots=True)
class _Side:
    """The peaks of one sound (n,): their columns of half a second, their bands, which are steady,
    which agree with the other's, and which have a tone that the other sound lacks.
    """

    columns: NDArray[np.signedinteger]
    bands: NDArray[np.int64]
    is_steady: NDArray[np.bool_]
    is_hit: NDArray[np.bool_]
    is_foreign: NDArray[np.bool_]


def tone_agreement(match: PeakMatch) -> ToneAgreement:
    """Return how the steady peaks of both sounds agree where they overlap."""
    candidate, lag = match.candidate, match.lag
    if len(candidate.frames) == 0:
        return ToneAgreement(balance=1.0, conflict=0.0, foreign=0.0)
    first, last = candidate.frames[0], candidate.frames[-1]
    inside = slice(*np.searchsorted(match.reference.frames, (first + lag, last + lag + 1)))
    reference = match.reference.at(inside)
    pairs = kernels.matching_peaks(
        reference.frames, reference.hertz, candidate.frames, candidate.hertz, lag, TOLERANCE_HZ
    )
    of_reference = _side(reference, candidate, -lag, first + lag, pairs[:, 0])
    of_candidate = _side(candidate, reference, lag, first, pairs[:, 1])
    return ToneAgreement(
        balance=max(_balance(of_reference), _balance(of_candidate)),
        conflict=_conflict((of_reference, of_candidate)),
        foreign=_foreign((of_reference, of_candidate), share=match.share),
        steady=max(_steady_share(of_reference), _steady_share(of_candidate)),
    )


def are_steady(frames: NDArray[np.int32], hertz: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which peaks are tones that are held or come again within a second, (n,)."""
    return kernels.steady_peaks(
        frames, hertz, _NEXT_FRAMES, _SECOND_FRAMES, TOLERANCE_HZ, _MIN_REPEATS
    )


def _side(peaks: Peaks, other: Peaks, lag: int, start: int, hits: NDArray[np.int64]) -> _Side:
    """Describe the peaks of one sound.

    Args:
        peaks: The peaks.
        other: Those of the other sound.
        lag: Time of the other sound minus time of this one, in fine frames.
        start: Fine frame at which the first column begins.
        hits: Indices of the peaks that agree.
    """
    is_hit = np.zeros(len(peaks.frames), dtype=np.bool_)
    is_hit[hits] = True
    return _Side(
        columns=(peaks.frames - start) // _COLUMN_FRAMES,
        bands=np.searchsorted(_BANDS_HZ, peaks.hertz),
        is_steady=are_steady(peaks.frames, peaks.hertz),
        is_hit=is_hit,
        is_foreign=kernels.foreign_peaks(
            peaks.frames, peaks.hertz, other.frames, other.hertz, lag, _NEAR_FRAMES, TOLERANCE_HZ
        ),
    )


def _steady_share(side: _Side) -> float:
    """Return the share of steady peaks that agree; of a few, none do."""
    steady = int(np.count_nonzero(side.is_steady))
    return int(np.count_nonzero(side.is_steady & side.is_hit)) / max(steady, _FEWEST_STEADY)


def _balance(side: _Side) -> float:
    """Return the hit rate of steady peaks divided by that of fleeting peaks."""
    is_steady, is_hit = side.is_steady, side.is_hit
    if not is_hit.any():
        return 1.0
    prior = _PRIOR_COUNT * float(is_hit.mean())
    steady = (np.count_nonzero(is_hit & is_steady) + prior) / (is_steady.sum() + _PRIOR_COUNT)
    fleeting = (np.count_nonzero(is_hit & ~is_steady) + prior) / ((~is_steady).sum() + _PRIOR_COUNT)
    return float(steady / fleeting)


def _conflict(sides: Sequence[_Side]) -> float:
    """Return the largest (1 - r / max r) s over all bands.

    r is the share of a band's steady peaks that agree, the larger of both sounds; s the share of
    steady ones among its peaks, the smaller of both.
    """
    all_peaks = np.array([_by_band(side.bands) for side in sides])
    steady = np.array([_by_band(side.bands[side.is_steady]) for side in sides])
    hits = np.array([_by_band(side.bands[side.is_steady & side.is_hit]) for side in sides])
    usual = hits.sum(axis=1, keepdims=True) / np.maximum(1, steady.sum(axis=1, keepdims=True))
    rates = np.max((hits + _PRIOR_COUNT * usual) / (steady + _PRIOR_COUNT), axis=0)
    if rates.max() == 0.0:
        return 0.0
    shares = np.min(steady / np.maximum(1, all_peaks), axis=0)
    shares[steady.min(axis=0) < _FEWEST_STEADY] = 0.0
    return float(np.max((1 - rates / rates.max()) * shares))


def _foreign(sides: tuple[_Side, _Side], *, share: float) -> float:
    """Return the share of foreign tones, the smaller of both sounds, by that of unshared peaks."""
    # Only columns with at least half the usual share of agreeing peaks count: beside them another
    # recording may begin, whose tones prove nothing about this one.
    candidate = sides[1]
    peaks = np.bincount(candidate.columns)
    hits = np.bincount(candidate.columns[candidate.is_hit], minlength=len(peaks))
    is_agreeing = (2 * hits * peaks.sum() >= hits.sum() * peaks) & (hits > 0)
    shares = []
    for side in sides:
        is_steady = side.is_steady & is_agreeing[side.columns]
        steady = np.count_nonzero(is_steady)
        foreign = np.count_nonzero(is_steady & side.is_foreign)
        shares.append(float(foreign / steady) if steady >= _FEWEST_STEADY else 0.0)
    return min(shares) / max(_LEAST_UNSHARED, 1.0 - share)


def _by_band(bands: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(bands, minlength=len(_BANDS_HZ) + 1)
