"""Which of many references does a clip carry? The index proposes, the matcher decides.

Not here: the index (`reference_index.py`), files and stores.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pipelines.audio.features.sounds import MeasuredSound, SoundMeasurement
from pipelines.audio.index.reference_index import ReferenceIndex
from pipelines.audio.matching.verify import compare_pair
from warehouse.records.evidence import MATCHES, MatchThresholds, PairEvidence, Verdict

MOST_COMPARED = 5
"""References that are compared with each clip, because a catalogue may have a recording twice."""
MOST_TRIED = 20
"""References that are compared if none of the first ones matches."""
_RANK: dict[Verdict, int] = {"not_comparable": 0, "rejected": 1, "variant": 2, "confirmed": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Identification:
    """A reference that was compared with a clip, and the matcher's evidence.

    Attributes:
        reference: Its number in the index.
        votes: Peaks of the clip that voted for it in the index; 0 if it did not propose it.
        evidence: The matcher's evidence; the verdict is its alone.
    """

    reference: int
    votes: int
    evidence: PairEvidence

    @property
    def is_match(self) -> bool:
        """Whether the clip carries this recording, changed or not."""
        return self.evidence.verdict in MATCHES


def identify(
    clip: SoundMeasurement,
    index: ReferenceIndex,
    read_sound: Callable[[int], SoundMeasurement | None],
    *,
    limits: MatchThresholds,
    is_thorough: bool = False,
) -> list[Identification]:
    """Compare a clip with the likeliest references; return them, the best first.

    A clip that cannot be compared has no result. Unless `is_thorough` is set, a recording that the
    index does not propose is not compared, so results without a match say nothing about it.

    Args:
        clip: The clip.
        index: The index of the references.
        read_sound: Returns a reference by its number; None if it is no reference any more.
        limits: Limits of the matcher.
        is_thorough: Compare with all references if none of the proposed ones matches.
    """
    if not isinstance(clip, MeasuredSound):
        return []
    found: list[Identification] = []
    for number, votes in _proposed(clip, index, is_thorough=is_thorough):
        if len(found) >= MOST_COMPARED and any(one.is_match for one in found):
            break
        sound = read_sound(number)
        if sound is not None:
            evidence = compare_pair(sound, clip, limits=limits)
            found.append(Identification(reference=number, votes=votes, evidence=evidence))
    return sorted(found, key=_credibility, reverse=True)


def _proposed(
    clip: MeasuredSound, index: ReferenceIndex, *, is_thorough: bool
) -> Iterator[tuple[int, int]]:
    """Yield references with their votes in the order of comparison."""
    hits = index.search(clip.features.peaks, most=MOST_TRIED)
    yield from ((hit.reference, hit.votes) for hit in hits)
    if is_thorough:
        proposed = {hit.reference for hit in hits}
        yield from ((number, 0) for number in range(index.count) if number not in proposed)


def _credibility(found: Identification) -> tuple[int, float, int]:
    return (_RANK[found.evidence.verdict], found.evidence.score or 0.0, found.votes)
