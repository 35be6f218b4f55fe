"""Compute the composite score from correlations and peak agreement, and check the literal rules.

The limits come from the specification (`warehouse.records.evidence.Limits`); the weights of the
composite are set by measurement. Numbers in, numbers out.
"""

import math
from dataclasses import dataclass

from pipelines.audio.matching.alignment import Block
from pipelines.audio.matching.peak_agreement import CERTAIN, NoteCoherence
from pipelines.audio.matching.tone_agreement import ToneAgreement
from warehouse.records.evidence import MatchThresholds, Segment, meets_rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """Weights of the composite score; `chroma`, `mfcc` and `peaks` add up to 1."""

    chroma: float = 0.1
    mfcc: float = 0.2
    peaks: float = 0.7
    peak_scale: float = 0.10
    without_phase: float = 0.10
    against_phase: float = 0.05
    variant_without_phase: float = 0.5
    unmet_rule: float = 0.3
    variant_penalty: float = 0.04


COMPOSITE = Composite()
_CHANCE_CERTAINTY = 3.25
_JUDGING_POTENTIAL = 3.0
_SURE_POTENTIAL = 10.0
_PLAYED_AGAIN, _HARDLY_AGAIN = 0.5, 0.75
_NOT_SURELY_ONE, _SURELY_ONE = 0.8, 0.9
_MOST_AFTER_ROOM = 0.75
_OTHER_TONES = 0.5
_SAME_TONES = 0.8
_ONE_SONG, _TWO_SONGS = 0.45, 0.6
_FEW_FOREIGN, _MANY_FOREIGN = 0.45, 0.55
_CLEARLY_MORE = 1.5
_CLEARLY_ABOVE = 0.1


def composite_score(chroma: float, mfcc: float, agreement: float) -> float:
    """Return S = 0.1 c + 0.2 m + 0.7 (1 - exp(-p / 0.10)) in 0..1, scaled to 1 for identity."""
    saturated = -math.expm1(-_positive(agreement) / COMPOSITE.peak_scale)
    full = -math.expm1(-1 / COMPOSITE.peak_scale)
    return (
        COMPOSITE.chroma * _positive(chroma)
        + COMPOSITE.mfcc * _positive(mfcc)
        + COMPOSITE.peaks * saturated / full
    )


def phase_weight(sureness: float, *, least: float) -> float:
    """Return the weight of peak agreement, `least` to 1, by how surely phases agree.

    Covers agree without phase. In unchanged sounds such agreement counts little, but not nothing,
    because strong noise destroys the phases of a recording. Where notes that repeat contradict it,
    even full agreement scores below 0.65.
    """
    return least + (1 - least) * sureness


def sureness_of_delay(certainty: float) -> float:
    """Return how sure it is, 0 to 1, that one delay explains all phases (`phase_certainty`)."""
    return _between(certainty, _CHANCE_CERTAINTY, CERTAIN)


def sureness_of_notes(coherence: NoteCoherence, share: float) -> float:
    """Return how sure it is, 0 to 1, that each tone has one angle, as a room leaves it.

    Unrelated angles of neighbouring tones mean that the sound is spread over more than the window
    of a peak, so some peaks are lost: if nearly all agree, no room explains such angles.

    On the development tracks, coherence is 0.87 or more in 120 blocks of simulated rooms (walls
    absorb 0.06 to 0.5 of the energy), whose share of agreeing peaks is at most 0.73; it is at most
    0.72 over the whole overlap of 16 scores by another sound font, with and without its reverb and
    chorus, and 0.80 in six seconds of them.
    """
    if coherence.potential < _SURE_POTENTIAL or share > _MOST_AFTER_ROOM:
        return 0.0
    return _between(coherence.value, _NOT_SURELY_ONE, _SURELY_ONE)


def trust_in_delay(coherence: NoteCoherence) -> float:
    """Return how far a delay that explains all phases is believed, 0 to 1.

    Notes that are played again by the same instruments, some milliseconds early or late, nearly
    follow one delay, but do not repeat a phase difference: coherence is at most 0.58 in 42 such
    blocks of the development tracks, and 0.77 or more in 192 blocks of the same recording.
    """
    if coherence.potential < _JUDGING_POTENTIAL:
        return 1.0
    return _between(coherence.value, _PLAYED_AGAIN, _HARDLY_AGAIN)


def tonal_weight(tones: ToneAgreement) -> float:
    """Return the weight of peak agreement, 0 to 1, by how the tones in it agree.

    0 if only a voice or a crowd over different music agrees, or one part of a song over another. On
    the development part of the benchmark, none of 709 accepted pairs of the same recording has a
    balance below 0.84; two of 34 pairs with a shared voice or crowd lie above 0.7. On 20 tracks of
    other seeds, 362 blocks of the same recording, under voices and in rooms, have a conflict of at
    most 0.41. Of seven mash-ups that were confirmed without it, three have 0.59 to 0.72, and four
    no more than the same recording.

    Of 1,110 accepted pairs of the same recording, unchanged, on the development tracks, five have
    more foreign tones than 0.45, under voices and in rooms; one is lost. Of 23 pairs of other music
    that were accepted without it, seven have 0.55 to 0.98.
    """
    conflict = _between(tones.conflict, _ONE_SONG, _TWO_SONGS)
    foreign = _between(tones.foreign, _FEW_FOREIGN, _MANY_FOREIGN)
    return _between(tones.balance, _OTHER_TONES, _SAME_TONES) * (1 - conflict) * (1 - foreign)


def can_be_surpassed(agreement: float) -> bool:
    """Whether another hypothesis could still agree with significantly more peaks."""
    return explains_better(1.0, agreement)


def explains_better(agreement: float, other: float) -> bool:
    """Whether one hypothesis agrees with significantly more peaks than another."""
    return agreement > max(_CLEARLY_MORE * other, other + _CLEARLY_ABOVE)


def block_meets_rule(segment: Segment, block: Block, limits: MatchThresholds) -> bool:
    """Whether the block meets the literal rule of this segment."""
    return meets_rule(
        segment,
        chroma_distance=block.chroma_distance,
        mfcc_distance=block.mfcc_distance,
        overlap_s=block.overlap_s,
        limits=limits,
    )


def _positive(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _between(value: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high` on, and in proportion between them."""
    return _positive((value - low) / (high - low))
