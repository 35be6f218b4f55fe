"""Recompute stored evidence from stored features, so that users can check a verdict.

Holds the second measurement and its difference from the first. Not here: judging
(`matching/judging.py`), reading the store.
"""

from dataclasses import asdict

from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching import judging
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
    again: PairEvidence | None
    if (stored.speed, stored.semitones) != (1.0, 0.0):
        again = judging.judge_variant(reference, candidate, limits)
    else:
        # The evidence of unchanged sounds is of both rules, of windows that peaks suggest, or of
        # an excerpt, which is shorter than the rules allow.
        again = unchanged = judging.judge_unchanged(reference, candidate, limits)
        is_excerpt = stored.overlap_s is not None and stored.overlap_s < limits.local_overlap_s
        if is_excerpt or unchanged.verdict != stored.verdict:
            stretches = stretches_to_judge(reference, candidate, unchanged)
            if is_excerpt:
                again = judging.judge_excerpt(reference, candidate, limits, stretches)
            else:
                again = judging.judge_windows(reference, candidate, limits, stretches) or unchanged
    return None if again is None else with_likely_kind(reference, candidate, again, limits)


def deviations(stored: PairEvidence, again: PairEvidence | None) -> dict[str, object]:
    """Return the new values of fields that differ: by more than 1e-6, or at all if not numbers.

    Evidence stored before observations existed has none, which is not a difference. What was
    searched is no measurement and is not compared.
    """
    if again is None:
        return {} if stored.score is None else {"score": None}
    values = asdict(again)
    differing = {}
    for name, value in asdict(stored).items():
        other = values[name]
        if isinstance(value, float) and isinstance(other, float):
            is_equal = abs(value - other) <= TOLERANCE
        else:
            is_equal = value == other
        if name != "searched" and not is_equal and (name, value) != ("observation", None):
            differing[name] = other
    return differing
