"""Recompute stored evidence from stored features, so that users can check a verdict.

Holds the second measurement and its difference from the first. Not here: judging
(`matching/judging.py`), reading the store.
"""

from dataclasses import asdict

from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching.judging import (
    judge_excerpt,
    judge_unchanged,
    judge_variant,
    judge_windows,
)
from pipelines.audio.matching.verify import stretches_to_judge, with_likely_kind
from warehouse.records.evidence import MatchThresholds, PairEvidence

TOLERANCE = 1e-6


def recompute(
    reference: Features, candidate: Features, stored: PairEvidence, *, limits: MatchThresholds
) -> PairEvidence | None:
    """Judge the pair again the same way: unchanged, or with a variant undone.

    Returns None if there is nothing to measure: the pair is not comparable, or no variant is
    likely.
    """
    if stored.score is None:
        return None
    if (stored.speed, stored.semitones) == (1.0, 0.0):
        again = _unchanged(reference, candidate, stored, limits)
    else:
        again = judge_variant(reference, candidate, limits)
    return None if again is None else with_likely_kind(reference, candidate, again, limits)


def _unchanged(
    reference: Features, candidate: Features, stored: PairEvidence, limits: MatchThresholds
) -> PairEvidence | None:
    """Judge as the stored evidence was: both rules, windows that peaks found, or an excerpt."""
    as_heard = judge_unchanged(reference, candidate, limits)
    is_excerpt = stored.overlap_s is not None and stored.overlap_s < limits.local_overlap_s
    if not is_excerpt and as_heard.verdict == stored.verdict:
        return as_heard
    stretches = stretches_to_judge(reference, candidate, as_heard)
    if is_excerpt:
        return judge_excerpt(reference, candidate, limits, stretches)
    return judge_windows(reference, candidate, limits, stretches) or as_heard


def deviations(stored: PairEvidence, again: PairEvidence | None) -> dict[str, object]:
    """Return the new values of fields that differ: by more than 1e-6, or at all if not numbers.

    Evidence stored before observations existed has none, which is not a difference. What was
    searched is no measurement and is not compared.
    """
    if again is None:
        return {} if stored.score is None else {"score": None}
    found = asdict(again)
    return {
        name: found[name]
        for name, value in asdict(stored).items()
        if name != "searched"
        and not _is_equal(value, found[name])
        and (name, value) != ("observation", None)
    }


def _is_equal(stored: object, again: object) -> bool:
    if isinstance(stored, float) and isinstance(again, float):
        return abs(stored - again) <= TOLERANCE
    return stored == again
