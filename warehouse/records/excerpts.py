"""Excerpts of two compared sounds: the matched segment with a one-second margin.

Both excerpts begin at the same moment of the music. Cutting is in `pipelines/audio`, storage in
`warehouse/home/excerpt_files.py`.
"""

from dataclasses import dataclass
from typing import Literal

from warehouse.records.evidence import PairEvidence

ExcerptRole = Literal["reference", "candidate"]
EXCERPT_ROLES: tuple[ExcerptRole, ...] = ("reference", "candidate")
MARGIN_S = 1.0
MAX_EXCERPT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A section of a sound, in seconds of that sound, rounded to milliseconds."""

    sha256: str
    start_s: float
    duration_s: float


def find_excerpts(
    pair: PairEvidence, *, reference_sha256: str | None, candidate_sha256: str | None
) -> dict[ExcerptRole, Excerpt]:
    """Return the excerpt of each sound whose hash is known; empty for an uncompared pair."""
    first, second = pair.reference_start_s, pair.candidate_start_s
    if first is None or second is None or pair.overlap_s is None:
        return {}
    tempo = pair.speed or 1.0
    lead = min(MARGIN_S, first, second * tempo)
    # A slower candidate takes longer to play the same music.
    duration = min(MAX_EXCERPT_S, MAX_EXCERPT_S * tempo, lead + pair.overlap_s + MARGIN_S)
    stretches: tuple[tuple[ExcerptRole, str | None, float, float], ...] = (
        ("reference", reference_sha256, first - lead, duration),
        ("candidate", candidate_sha256, second - lead / tempo, duration / tempo),
    )
    return {
        role: Excerpt(sha256=sha256, start_s=round(max(0.0, start), 3), duration_s=round(length, 3))
        for role, sha256, start, length in stretches
        if sha256 is not None
    }
