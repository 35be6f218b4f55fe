"""The verdict over a group of pairs, as records. Loads nothing, so a front door may import it."""

from dataclasses import dataclass

from warehouse.records.evidence import PairEvidence, Verdict

MOST_REFERENCES = 3
MOST_CANDIDATES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPair:
    """One compared pair of a group, by position in what was given."""

    reference_index: int
    candidate_index: int
    evidence: PairEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupVerdict:
    """The verdict over all pairs: that of `best`, the most credible pair."""

    verdict: Verdict
    reason: str
    best: GroupPair | None
    pairs: tuple[GroupPair, ...]
