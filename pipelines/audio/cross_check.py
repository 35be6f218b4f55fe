"""Cross-check a comparison with librosa, an implementation that shares no code with the matcher.

Its own `chroma_cqt`, `mfcc` and `sequence.dtw` on the samples of both sounds; the differences from
the evidence are computed and worded. librosa is of the extra `analysis` and is loaded by
`cross_check` alone. Not here: drawing, the verdict, which librosa has no part in.

Conventions: times are seconds of each sound as heard; distances are 1 - correlation of frames that
the path aligns, each band less its mean over the sound: 0 is identical, about 1 unrelated.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.grid import HOP_S
from warehouse.records.evidence import MATCHES, PairEvidence

type Frames = NDArray[np.float32]
"""Features of a sound, shape (bands, frames)."""
RATE = 22_050
HOP = round(HOP_S * RATE)
LEAST_S = 3.0  # the lowest notes have a window of 2.97 s
_MFCC = 20
_KEYS = 12
_STEPS = np.array([[1, 1], [1, 2], [2, 1]])
"""Tempos from half to double, the range that the matcher searches."""
_WEIGHTS = np.array([1.0, 1.0, 2.0])
"""Each frame of the shorter sound costs once, or skipping frames would be cheaper."""
_NEAR_S, _STRAIGHT_S, _NEAR_TEMPO, _NEAR_DISTANCE = 0.3, 0.15, 0.01, 0.1
_LEAST_ENERGY = 1e-12


class Decoded(Protocol):
    """A decoded sound: mono samples (n,) float32, and their rate in Hz."""

    @property
    def samples(self) -> NDArray[np.float32]: ...

    @property
    def rate(self) -> int: ...


class TooShortError(ValueError):
    """A sound is too short for a path, or more than twice as long as the other allows."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CrossCheck:
    """What librosa measures of two sounds.

    Attributes:
        reference_chroma: Chroma of the reference, shape (12, frames), 0..1.
        candidate_chroma: The same of the candidate, in its own key.
        reference_s: Times of the path in the reference, ascending.
        candidate_s: Times of the path in the candidate, ascending, as many.
        key_shift: Pitch classes that the candidate lies higher, 0..11, with the cheapest path.
        tempo: How many times as fast the candidate plays along the path: its median slope.
        bend_s: Median distance of the path from a straight line of that tempo.
        chroma_distance: Distance of harmony along the path.
        mfcc_distance: Distance of timbre along the path, without the coefficient of loudness.
    """

    reference_chroma: Frames
    candidate_chroma: Frames
    reference_s: NDArray[np.float64]
    candidate_s: NDArray[np.float64]
    key_shift: int
    tempo: float
    bend_s: float
    chroma_distance: float
    mfcc_distance: float

    def candidate_time(self, reference_s: float) -> float:
        """Return the time in the candidate that the path aligns with one of the reference."""
        return float(np.interp(reference_s, self.reference_s, self.candidate_s))


def cross_check(reference: Decoded, candidate: Decoded) -> CrossCheck:
    """Measure two sounds with librosa.

    Raises:
        TooShortError: No path with tempos from half to double exists.
    """
    (first, first_mfcc), (second, second_mfcc) = map(_measured, (reference, candidate))
    shift, path = min(
        (_path(first, np.roll(second, -shift, axis=0), shift) for shift in range(_KEYS)),
        key=lambda found: found[1][0],
    )
    _, rows = path
    aligned, turned = rows.T, np.roll(second, -shift, axis=0)
    times: NDArray[np.float64] = aligned.astype(np.float64) * HOP_S
    slope, bend_s = _straightness(times)
    return CrossCheck(
        reference_chroma=first, candidate_chroma=second, reference_s=times[0],
        candidate_s=times[1], key_shift=shift, tempo=slope, bend_s=bend_s,
        chroma_distance=_distance(first, turned, aligned),
        mfcc_distance=_distance(first_mfcc, second_mfcc, aligned),
    )  # fmt: skip


def measures(check: CrossCheck, evidence: PairEvidence) -> tuple[tuple[str, str, str], ...]:
    """Return rows of measure, the matcher's value and librosa's, as text; a dash for none."""
    begins = evidence.reference_start_s
    place = "–" if begins is None else f"{check.candidate_time(begins):.2f} s"
    heading = "candidate's time at the window" if begins is None else (
        f"candidate's time at {begins:.1f} s of the reference"
    )  # fmt: skip
    return (
        (heading, _shown(evidence.candidate_start_s, ".2f", " s"), place),
        ("tempo of the candidate", _shown(evidence.speed, ".4f"), f"{check.tempo:.4f}"),
        (
            "pitch in semitones",
            _shown(evidence.semitones, "+.2f"),
            f"{_key(check.key_shift)}, octaves unknown",
        ),
        (
            "chroma distance",
            _shown(evidence.chroma_distance, ".3f"),
            f"{check.chroma_distance:.3f}",
        ),
        ("MFCC distance", _shown(evidence.mfcc_distance, ".3f"), f"{check.mfcc_distance:.3f}"),
        ("bend of the path", "0 s: always straight", f"{check.bend_s:.2f} s"),
    )


def _shown(value: float | None, form: str, unit: str = "") -> str:
    return "–" if value is None else f"{value:{form}}{unit}"


def _key(shift: int) -> str:
    """Chroma has no octaves: 11 up is 1 down."""
    return f"{shift if shift <= _KEYS // 2 else shift - _KEYS:+d}"


def differences(check: CrossCheck, evidence: PairEvidence) -> tuple[str, ...]:
    """Return what both implementations agree on and where they differ, in words.

    Each sentence follows from the numbers of this pair; what evidence lacks is left out.
    """
    told = [
        _alignment(check, evidence),
        _tempo(check, evidence),
        _bend(check),
        _measure("Chroma", check.chroma_distance, evidence.chroma_distance, evidence),
        _measure("MFCC", check.mfcc_distance, evidence.mfcc_distance, evidence),
        _peaks(evidence),
    ]
    return tuple(sentence for sentence in told if sentence)


def _measured(sound: Decoded) -> tuple[Frames, Frames]:
    import librosa  # noqa: PLC0415 - takes seconds, and belongs to the extra `analysis`

    samples = librosa.resample(sound.samples, orig_sr=sound.rate, target_sr=RATE)
    if samples.size < LEAST_S * RATE:
        raise TooShortError(f"librosa needs {LEAST_S:g} s of each sound")
    chroma = librosa.feature.chroma_cqt(y=samples, sr=RATE, hop_length=HOP)
    mfcc = librosa.feature.mfcc(y=samples, sr=RATE, n_mfcc=_MFCC, hop_length=HOP)
    frames = min(chroma.shape[1], mfcc.shape[1])
    return chroma[:, :frames].astype(np.float32), mfcc[1:, :frames].astype(np.float32)


def _path(
    reference: Frames, candidate: Frames, shift: int
) -> tuple[int, tuple[float, NDArray[np.intp]]]:
    """Return the shift, and the path's mean cost and frames (steps, 2): reference, candidate."""
    import librosa  # noqa: PLC0415 - as above

    is_turned = candidate.shape[1] > reference.shape[1]  # the shorter lies inside the longer
    inner, outer = (reference, candidate) if is_turned else (candidate, reference)
    try:
        costs, steps = librosa.sequence.dtw(
            X=inner + 1e-6, Y=outer + 1e-6, metric="cosine", subseq=True,
            step_sizes_sigma=_STEPS, weights_mul=_WEIGHTS,
        )  # fmt: skip
    except librosa.ParameterError as error:
        raise TooShortError(f"librosa finds no path: {error}") from error
    rows = np.ascontiguousarray(steps[::-1])
    if not len(rows) or not np.isfinite(costs[-1]).any():
        raise TooShortError("librosa finds no path with tempos from half to double")
    mean = float(costs[rows[-1, 0], rows[-1, 1]]) / costs.shape[0]
    return shift, (mean, rows if is_turned else rows[:, ::-1])


def _straightness(times: NDArray[np.float64]) -> tuple[float, float]:
    """Return tempo and bend: the median slope over a third of the path, and the residue of it."""
    reach = max(1, times.shape[1] // 3)
    passed = times[:, reach:] - times[:, :-reach]
    tempo = float(np.median(passed[0] / np.maximum(passed[1], HOP_S)))
    residue = times[0] - tempo * times[1]
    return tempo, float(np.median(np.abs(residue - np.median(residue))))


def _distance(reference: Frames, candidate: Frames, aligned: NDArray[np.intp]) -> float:
    left, right = (
        (sound - sound.mean(axis=1, keepdims=True))[:, frames].ravel().astype(np.float64)
        for sound, frames in zip((reference, candidate), aligned, strict=True)
    )
    norm = np.sqrt(max(_LEAST_ENERGY, float(left @ left) * float(right @ right)))
    return float(1.0 - left @ right / norm)


def _alignment(check: CrossCheck, evidence: PairEvidence) -> str:
    begins, other = evidence.reference_start_s, evidence.candidate_start_s
    if begins is None or other is None:
        return "The matcher compared nothing, so there is no alignment to check."
    found = check.candidate_time(begins)
    apart = abs(found - other)
    both = f"librosa aligns {begins:.1f} s of the reference with {found:.1f} s of the candidate"
    if apart <= _NEAR_S:
        return f"{both}, the matcher with {other:.1f} s: {apart:.2f} s apart, the same place."
    why = (
        "music that repeats fits at more than one place"
        if evidence.verdict in MATCHES
        else "no place fits a rejected pair well, so each takes another"
    )
    return f"{both}, the matcher with {other:.1f} s, {apart:.1f} s elsewhere: {why}."


def _tempo(check: CrossCheck, evidence: PairEvidence) -> str:
    speed, semitones = evidence.speed or 1.0, evidence.semitones or 0.0
    tempo = f"Along librosa's path the candidate plays {check.tempo:.3f} times as fast"
    found = f"the matcher found {speed:.3f}"
    agrees = abs(check.tempo / speed - 1) <= _NEAR_TEMPO
    keys = (round(semitones) - check.key_shift) % _KEYS
    shift = _key(check.key_shift)
    if keys:
        key = f"librosa measures a shift of {shift} semitones, the matcher of {semitones:+.2f}"
    else:
        key = f"both measure a shift of {shift} semitones"
    why = "" if agrees else " (a path that bends has no one tempo)"
    return f"{tempo}; {found}{why}; {key}."


def _bend(check: CrossCheck) -> str:
    bends = f"The path leaves a straight line by {check.bend_s:.2f} s in the median"
    if check.bend_s <= _STRAIGHT_S:
        return f"{bends}: one recording, or a performance in exact time."
    return (
        f"{bends}: librosa may stretch and squeeze where the matcher keeps one tempo, which makes "
        "unlike sounds look more alike."
    )


def _measure(name: str, theirs: float, ours: float | None, evidence: PairEvidence) -> str:
    if ours is None:
        return f"{name} distance by librosa {theirs:.2f}; the matcher measured none."
    told = f"{name} distance {theirs:.2f} by librosa along its path, {ours:.2f} by the matcher"
    told = f"{told} in its window"
    if abs(theirs - ours) <= _NEAR_DISTANCE:
        return f"{told}: they agree."
    if theirs < ours:
        return f"{told}: librosa's features are coarser, and its path adapts to them."
    if evidence.semitones:
        return f"{told}: the matcher undoes the shift of {evidence.semitones:+.2f} semitones first."
    return f"{told}: the window is the part that agrees best, the path is longer."


def _peaks(evidence: PairEvidence) -> str:
    if evidence.peak_agreement is None:
        return ""
    return (
        f"Spectral peaks agree by {evidence.peak_agreement:.3f} (their share beyond chance, less "
        "where phases or tones differ): librosa has nothing like them, and they decide whether "
        "equal harmony is the same recording or a cover."
    )
