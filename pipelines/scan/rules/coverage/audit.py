"""Draw videos that a scan has not compared, and bound how many of them carry the recording.

A scan compares what its plan chooses, so it says nothing about the videos that it saw and did not
choose. A sample of these, drawn at random, does: the bound is exact and assumes nothing about them.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from math import comb

from warehouse.records.coverage import AuditBound, RandomAudit

MOST_MISSED = Fraction(1, 20)
"""How often a bound may be too low: one minus the confidence of 95 %."""


def draw_sample(aweme_ids: Iterable[str], *, seed: str, size: int) -> tuple[str, ...]:
    """Draw distinct videos at random, the same ones for the same seed.

    The order of their digests decides, so neither the order in which lists were read nor the
    release of a random number generator changes a draw.
    """

    def digest(aweme_id: str) -> bytes:
        return hashlib.sha256(f"{seed}:{aweme_id}".encode()).digest()

    return tuple(sorted(set(aweme_ids), key=digest)[:size])


def bound_carrying(*, comparable: int, compared: int, carrying: int) -> AuditBound:
    """Return the one-sided 95 % limit of how many videos of a population carry the recording.

    The exact limit of the hypergeometric distribution: the largest number with which a sample
    shows so few at least once in twenty times. For a large population it is that of C. J. Clopper
    and E. S. Pearson, Biometrika 26 (1934).

    Args:
        comparable: The population: the compared videos, and those that were not drawn.
        compared: How many of them were compared, drawn at random; at least one.
        carrying: How many of these carry the recording.
    """
    low, high = carrying, comparable - compared + carrying
    while low < high:
        middle = (low + high + 1) // 2
        if _is_likely(comparable, middle, compared, carrying):
            low = middle
        else:
            high = middle - 1
    return AuditBound(count=low, share=round(low / comparable, 4))


def with_bound(audit: RandomAudit) -> RandomAudit:
    """Return the audit with its bound.

    What is drawn and cannot be compared says nothing, so it leaves the population too.
    """
    if not audit.compared:
        return replace(audit, reason="none_comparable")
    comparable = audit.population - (len(audit.videos) - audit.compared)
    bound = bound_carrying(comparable=comparable, compared=audit.compared, carrying=audit.carrying)
    return replace(audit, bound=bound)


def _is_likely(population: int, having: int, drawn: int, found: int) -> bool:
    """Whether at most `found` are met more often than one in twenty times."""
    ways = sum(
        comb(having, number) * comb(population - having, drawn - number)
        for number in range(found + 1)
    )
    return Fraction(ways, comb(population, drawn)) > MOST_MISSED
