"""Draw videos that a scan has not compared, and bound how many of them carry the recording.

A scan compares what its plan chooses, so it says nothing about the videos that it saw and did not
choose. A sample of these, drawn at random, does: the bound is exact and assumes nothing about them.
"""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import replace
from fractions import Fraction
from math import comb

from pipelines.scan.rules.candidate_pool import Sighting
from warehouse.records.coverage import AuditBound, RandomAudit

MOST_MISSED = Fraction(1, 20)  # how often a bound may be too low
CONFIDENCE = float(1 - MOST_MISSED)
CANDIDATES_PER_DRAWN = 5
"""A scan draws one video per five places in its candidate pool, so a small scan stays small."""


def left_out(sightings: Iterable[Sighting], *, pooled: Collection[str]) -> set[str]:
    """Return the videos that a list showed and that are no candidates."""
    return {entry.aweme_id for entry in sightings}.difference(pooled)


def audit_size(most: int, *, candidate_limit: int) -> int:
    """Return how many videos a scan draws: its share of the candidate pool, `most` at most.

    Scans of a catalogue draw as well: without the draw the videos of a track cannot be estimated
    wherever its sources showed more than the pool holds. A full pool of 150 draws the default of
    20, one of 60 draws 12.
    """
    return min(most, candidate_limit // CANDIDATES_PER_DRAWN)


def draw_sample(aweme_ids: Iterable[str], *, seed: str, size: int) -> tuple[str, ...]:
    """Draw distinct videos at random, the same ones for the same seed.

    The order of their digests decides, so neither the order in which lists were read nor the
    release of a random number generator changes a draw.
    """

    def digest(aweme_id: str) -> bytes:
        return hashlib.sha256(f"{seed}:{aweme_id}".encode()).digest()

    return tuple(sorted(set(aweme_ids), key=digest)[:size])


def bound_carrying(
    *, comparable: int, compared: int, carrying: int, most_missed: Fraction = MOST_MISSED
) -> AuditBound:
    """Return the one-sided limit of how many videos of a population carry the recording.

    The exact limit of the hypergeometric distribution: the largest number of carrying videos with
    which a sample shows at most `carrying` more often than `most_missed`. For a large population it
    is the limit of C. J. Clopper and E. S. Pearson, Biometrika 26 (1934).

    Args:
        comparable: The population: the compared videos, and those that were not drawn.
        compared: How many of them were compared, drawn at random; at least one.
        carrying: How many of these carry the recording.
        most_missed: How often the limit may be too low; the default is a limit of 95 %.
    """
    # Bisect: the more videos carry the recording, the rarer is a sample with so few of them.
    low, high = carrying, comparable - compared + carrying
    while low < high:
        middle = (low + high + 1) // 2
        if _chance_of_few(comparable, middle, compared, carrying) > most_missed:
            low = middle
        else:
            high = middle - 1
    return AuditBound(count=low, share=round(low / comparable, 4))


def with_bound(audit: RandomAudit) -> RandomAudit:
    """Return the audit with its bound.

    A drawn video that cannot be compared says nothing, so it does not belong to the population.
    """
    if not audit.compared:
        return replace(audit, reason="none_comparable")
    comparable = audit.population - (len(audit.videos) - audit.compared)
    bound = bound_carrying(comparable=comparable, compared=audit.compared, carrying=audit.carrying)
    return replace(audit, bound=bound)


def _chance_of_few(population: int, carrying: int, drawn: int, most: int) -> Fraction:
    """Return the probability that a draw contains at most `most` of the `carrying` videos."""
    ways = sum(
        comb(carrying, number) * comb(population - carrying, drawn - number)
        for number in range(most + 1)
    )
    return Fraction(ways, comb(population, drawn))
