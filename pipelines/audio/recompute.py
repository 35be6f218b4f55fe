"""Stored evidence measured once more from stored features, so that nobody has to believe it.

What belongs here: the second measurement and how far it is from the first. Not here: judging
(`judging.py`), reading the store.
"""

from dataclasses import asdict

from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching.judging import judge_as_heard, judge_variant
from pipelines.audio.matching.rejection_hints import observed
from warehouse.records.evidence import Limits, PairEvidence

TOLERANCE = 1e-6


def recompute(
    reference: Features, candidate: Features, stored: PairEvidence, *, limits: Limits
) -> PairEvidence | None:
    """Judge the pair as the stored evidence was judged: as heard, or with a variant undone.

    None when there is nothing to measure: it could not be compared, or no variant is likely.
    """
    if stored.score is None:
        return None
    if (stored.speed, stored.semitones) == (1.0, 0.0):
        return observed(judge_as_heard(reference, candidate, limits), limits)
    again = judge_variant(reference, candidate, limits)
    return None if again is None else observed(again, limits)


def deviations(stored: PairEvidence, again: PairEvidence | None) -> dict[str, object]:
    """Fields that differ by more than 1e-6, or at all where they are words, with the new value.

    Evidence that is older than observations has none; that is no difference.
    """
    if again is None:
        return {} if stored.score is None else {"score": None}
    found = asdict(again)
    return {
        name: found[name]
        for name, value in asdict(stored).items()
        if not _is_equal(value, found[name]) and (name, value) != ("observation", None)
    }


def _is_equal(stored: object, again: object) -> bool:
    if isinstance(stored, float) and isinstance(again, float):
        return abs(stored - again) <= TOLERANCE
    return stored == again
