"""Plain librosa beside the ear: what one gets by copying thresholds onto library calls.

`chroma_stft` and 20 MFCC as they come, cosine distances, subsequence DTW of six-second windows and
of the whole, path cost over path length. Loaded by the bench only.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from benchmarks.speed.running import counted
from pipelines.audio.decode.decoding import DecodeRefusedError, decode_sound
from pipelines.audio.decode.protocol import DecodeLimits
from warehouse.records.evidence import MatchThresholds

_RATE = 22_050
_DECODING = DecodeLimits()
_HOP = 2048
_WINDOW = round(6.0 * _RATE / _HOP)
_LIMITS = MatchThresholds()


@dataclass(frozen=True, slots=True, eq=False)
class Plain:
    """Chroma (12, frames) and MFCC (20, frames)."""

    chroma: NDArray[np.floating]
    mfcc: NDArray[np.floating]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainVerdict:
    """`score` is 1 - mean of the best window's distances; `is_accepted` by the literal rules."""

    score: float
    is_accepted: bool


def measure_plain(path: Path, *, limits: DecodeLimits = _DECODING) -> Plain | None:
    """None where nothing can be heard."""
    import librosa  # noqa: PLC0415 - takes seconds, and only this module needs it

    try:
        decoded = decode_sound(path, limits)
    except DecodeRefusedError:
        return None
    samples = resample_poly(decoded.samples, _RATE, decoded.rate).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        chroma = librosa.feature.chroma_stft(y=samples, sr=_RATE, n_fft=4096, hop_length=_HOP)
        mfcc = librosa.feature.mfcc(y=samples, sr=_RATE, n_mfcc=20, hop_length=_HOP)
    return Plain(chroma + 1e-6, mfcc)


def compare_plain(reference: Plain | None, candidate: Plain | None) -> PlainVerdict:
    """The literal thresholds on free-warping distances."""
    if reference is None or candidate is None:
        return PlainVerdict(score=0.0, is_accepted=False)
    whole = _distances(reference, candidate)
    frames = candidate.chroma.shape[1]
    local = [
        _distances(reference, _cut(candidate, first))
        for first in range(0, max(1, frames - _WINDOW + 1), _WINDOW // 2)
    ]
    best = min((whole, *local), key=sum)
    most = (_LIMITS.whole_chroma_distance, _LIMITS.whole_mfcc_distance)
    is_whole = whole[0] <= most[0] and whole[1] <= most[1]
    is_local = any(
        chroma <= _LIMITS.local_chroma_distance and mfcc <= _LIMITS.local_mfcc_distance
        for chroma, mfcc in local
    )
    return PlainVerdict(score=1.0 - sum(best) / 2, is_accepted=is_whole or is_local)


def compare_files(clips: Path, pairs: Sequence[tuple[str, str]]) -> list[PlainVerdict]:
    known: dict[str, Plain | None] = {}
    files = {file for pair in pairs for file in pair}
    for file in counted(files, what="measuring clips plainly", total=len(files)):
        known[file] = measure_plain(clips / file)
    comparing = counted(pairs, what="comparing pairs plainly", total=len(pairs))
    return [compare_plain(known[one], known[two]) for one, two in comparing]


def _cut(plain: Plain, first: int) -> Plain:
    part = slice(first, first + _WINDOW)
    return Plain(plain.chroma[:, part], plain.mfcc[:, part])


def _distances(reference: Plain, candidate: Plain) -> tuple[float, float]:
    return (
        _warped(reference.chroma, candidate.chroma),
        _warped(reference.mfcc, candidate.mfcc),
    )


def _warped(reference: NDArray[np.floating], candidate: NDArray[np.floating]) -> float:
    import librosa  # noqa: PLC0415

    if candidate.shape[1] > reference.shape[1]:  # librosa warps the shorter into the longer
        reference, candidate = candidate, reference
    cost, path = librosa.sequence.dtw(X=candidate, Y=reference, metric="cosine", subseq=True)
    return float(cost[-1].min() / len(path))
