"""Records of the verdict over a group of pairs. Imports no audio library, so any process may."""

from dataclasses import dataclass

from warehouse.records.evidence import PairEvidence, Verdict

MOST_REFERENCES = 3
MOST_CANDIDATES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPair:
    """One compared pair of a group; the indices are positions in the given sequences."""

    reference_index: int
    candidate_index: int
    evidence: PairEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupVerdict:
    """The verdict over all pairs: the verdict of `best`, the most credible pair."""

    verdict: Verdict
    reason: str
    best: GroupPair | None
    pairs: tuple[GroupPair, ...]
