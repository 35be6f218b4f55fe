"""Common sounds: a jingle, an effect or a meme of a few seconds that unrelated tracks share.

A common stretch of two sounds that is such a sound is no excerpt of the music. Not here: how a
sound becomes a common one (`pipelines/scan/rules`), where the list is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pipelines.audio.features.sound_features import FINE_HOP_S, HOP_S, Features, Peaks
from pipelines.audio.matching import judging, scoring
from pipelines.audio.matching.agreement import CommonStretch, common_stretches, match_peaks
from pipelines.audio.matching.shared_parts import CommonPiece, common_piece
from warehouse.records.evidence import EXCERPT_OVERLAP_S, MatchThresholds, PairEvidence

COMMON_SOUND: Literal["common_sound"] = "common_sound"
_EXCERPT_FRAMES = EXCERPT_OVERLAP_S / FINE_HOP_S


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommonSound:
    """A sound that unrelated tracks share. A dismissed one is not used, and not learnt again."""

    peaks: Peaks
    is_dismissed: bool = False


def judge_excerpt(
    reference: Features,
    candidate: Features,
    limits: MatchThresholds,
    stretches: Sequence[CommonStretch],
    common_sounds: Sequence[CommonSound],
) -> PairEvidence | None:
    """Judge common stretches of 2 to 5.5 s; one that is a common sound does not count."""
    excerpt = judging.judge_excerpt(reference, candidate, limits, stretches)
    if excerpt is None or excerpt.verdict != "variant" or not common_sounds:
        return excerpt
    piece = excerpt_piece(reference, candidate, excerpt)
    if not any(
        not sound.is_dismissed and covers(sound.peaks, candidate.peaks, piece)
        for sound in common_sounds
    ):
        return excerpt
    # Another stretch may be an excerpt of the music.
    rest = [stretch for stretch in stretches if round(stretch.lag / 2) != _lag(excerpt)]
    further = judge_excerpt(reference, candidate, limits, rest, common_sounds)
    if further is not None and further.verdict == "variant":
        return further
    return as_common_sound(excerpt)


def as_common_sound(excerpt: PairEvidence) -> PairEvidence:
    """Return the evidence of an excerpt that is a common sound: it keeps all other measures."""
    return replace(
        excerpt,
        verdict="rejected",
        reason=COMMON_SOUND,
        score=scoring.COMPOSITE.unmet_rule * (excerpt.score or 0.0),
        shared_part=COMMON_SOUND,
    )


def excerpt_piece(reference: Features, candidate: Features, excerpt: PairEvidence) -> CommonPiece:
    """Return all that both sounds have in common at the alignment of an excerpt."""
    first = 2 * _frame(excerpt.candidate_start_s)
    last = first + 2 * _frame(excerpt.overlap_s)
    lag = match_peaks(
        reference.peaks,
        candidate.peaks,
        lag=2 * _lag(excerpt),
        first_frame=first,
        last_frame=last,
    ).lag
    piece = common_piece(
        reference.peaks, candidate.peaks, lag=lag, first_frame=first, last_frame=last
    )
    return piece or CommonPiece(lag=lag, first_frame=first, last_frame=last)


def _lag(excerpt: PairEvidence) -> int:
    """Return reference minus candidate time in frames."""
    return _frame(excerpt.reference_start_s) - _frame(excerpt.candidate_start_s)


def _frame(seconds: float | None) -> int:
    assert seconds is not None, "an accepted pair was measured"
    return round(seconds / HOP_S)


def covers(sound: Peaks, candidate: Peaks, piece: CommonPiece) -> bool:
    """Whether a piece of the candidate is this sound: what is left of it makes no excerpt."""
    first, last = piece.first_frame, piece.last_frame
    within = cut_peaks(candidate, first, last)
    for stretch in common_stretches(sound, within):
        if stretch.excess < judging.SURE_EXCESS:
            continue
        heard = common_piece(
            sound,
            within,
            lag=stretch.lag,
            first_frame=stretch.first_frame,
            last_frame=stretch.last_frame,
        )
        if heard is None:
            continue
        length = heard.last_frame - heard.first_frame
        beside = max(heard.first_frame, last - first - heard.last_frame)
        if 2 * length >= last - first and beside < _EXCERPT_FRAMES:
            return True
    return False


def cut_peaks(peaks: Peaks, first_frame: int, last_frame: int) -> Peaks:
    """Return the peaks of the fine frames first..last, counted from the first one."""
    inside = peaks.at(slice(*np.searchsorted(peaks.frames, (first_frame, last_frame))))
    return replace(inside, frames=inside.frames - np.int32(first_frame))
