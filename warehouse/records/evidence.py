"""Evidence of an audio comparison: the measurements of one pair and the verdict.

The thresholds are the specification's (endpoint 9, verification rules). Measuring is in
`pipelines/audio`.
"""

import math
from dataclasses import dataclass
from typing import Literal

ALGORITHM = "audiolib_chroma_mfcc_multiref_local_dtw_v3"
VERDICT_REVISION = "20"
"""Incremented whenever the same features would get other verdicts under the same algorithm."""

Segment = Literal["whole", "local"]
VariantKind = Literal["speed", "tempo", "pitch", "pitch_and_speed", "excerpt"]
ReferenceSource = Literal["platform", "music_service"]
"""Where a reference sound comes from: a video of the track, or the music service's own audio."""
ReferenceKind = Literal["video", "service_track"]
"""What a reference is: a video, or a song of the music service."""
Verdict = Literal["confirmed", "variant", "rejected", "not_comparable"]
MATCHES: frozenset[str] = frozenset({"confirmed", "variant"})
"""Verdicts of a pair that carries the same recording, changed or not."""
STRENGTH: dict[Verdict, int] = {"not_comparable": 0, "rejected": 1, "variant": 2, "confirmed": 3}
"""Which verdict of several pairs counts: the strongest."""
MeasureName = Literal["chroma_distance", "mfcc_distance", "overlap_s", "peak_agreement", "score"]
RejectionLabel = Literal["likely_cover", "likely_reversed", "shared_voice", "uncertain"]
"""Likely explanation of a rejected pair; never a confirmation."""
SharedPart = Literal["voice", "opening_sound", "closing_sound", "common_sound", "loop", "layer"]
"""What two different recordings have in common: a voice, a sound at the same end of both, a sound
that many tracks have, a repeated piece, or one part of several, such as the lead of a mash-up."""
EvidenceRelation = Literal["same_recording", "variant", "version", "shares_part"]
"""How two sounds belong together, as far as a comparison shows."""
ExcerptRole = Literal["reference", "candidate"]
EXCERPT_ROLES: tuple[ExcerptRole, ...] = ("reference", "candidate")
VERSION_THRESHOLD = 0.5
"""Least `version_score` of two performances of one composition."""
EXCERPT_OVERLAP_S = 2.0
"""Shortest common stretch of unchanged sounds that makes a variant of the kind `excerpt`."""
EDIT_OVERLAP_S = 3.8
"""Shortest common stretch that makes an edited sound a variant, in seconds of the slower sound."""
MARGIN_S = 1.0
MAX_EXCERPT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchThresholds:
    """Thresholds that a pair must meet. For distances lower is better, for the score higher."""

    whole_chroma_distance: float = 0.25
    whole_mfcc_distance: float = 0.48
    whole_overlap_s: float = 8.0
    local_window_s: float = 6.0
    local_chroma_distance: float = 0.65
    local_mfcc_distance: float = 0.90
    local_overlap_s: float = 5.5
    match_threshold: float = 0.65


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedRange:
    """What a comparison looked for: its verdict says nothing about anything beyond.

    Attributes:
        speed: Smallest and largest speed searched (tempo and pitch together); 1.0 is unchanged.
        tempo: Smallest and largest tempo searched at the same pitch.
        semitones: Smallest and largest pitch shift searched at the same tempo.
        tempo_with_pitch: Smallest and largest tempo searched together with each of these shifts;
            twice 1.0 if a single change explained enough.
        min_overlap_s: Shortest common stretch that counts, in seconds: for edits if those were
            searched, else for a confirmation.
        reference_s: Seconds of the reference that were used, from its start.
        candidate_s: Seconds of the candidate that were used, from its start.
        min_excerpt_s: Shortest common stretch searched in the unchanged sounds, in seconds; None if
            none shorter than `min_overlap_s` was, as where a match was found before.
    """

    speed: tuple[float, float]
    tempo: tuple[float, float]
    semitones: tuple[float, float]
    tempo_with_pitch: tuple[float, float]
    min_overlap_s: float
    reference_s: float
    candidate_s: float
    min_excerpt_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEvidence:
    """Comparison of one reference sound with one candidate sound.

    Distances are 1 - correlation (0 identical, about 1 unrelated), times are seconds, `score` is
    between 0 and 1. `speed` is candidate speed over reference speed and `semitones` the pitch shift
    of the candidate; 1.0 and 0.0 mean the pair was compared unshifted. None means not measured.
    `peak_agreement` is the share of spectral peaks that agree beyond chance, -1 to 1; where the
    distances meet the limits it is weighted by phases and tones, so 0 may be shared peaks of
    different tones. `observation` is the likely explanation of a rejected pair, or None.
    `shared_part` says what a rejected pair has in common although it is not one recording.
    `version_score` is how surely a rejected pair is two performances of one composition, 0 to 1,
    None if that was not measured. `searched`
    is None for pairs that were not compared, and for those of earlier releases, which did not
    record it.
    """

    verdict: Verdict
    reason: str
    segment: Segment | None = None
    chroma_distance: float | None = None
    mfcc_distance: float | None = None
    overlap_s: float | None = None
    reference_start_s: float | None = None
    candidate_start_s: float | None = None
    peak_agreement: float | None = None
    score: float | None = None
    speed: float | None = None
    semitones: float | None = None
    observation: RejectionLabel | None = None
    shared_part: SharedPart | None = None
    version_score: float | None = None
    searched: SearchedRange | None = None

    @property
    def relation(self) -> EvidenceRelation | None:
        """How the sounds belong together; None if nothing is known to link them.

        Only `same_recording` is a confirmation. A shared part or another performance of the
        composition is said of rejected pairs alone; what is shared goes first, because the rest of
        such a pair is other music.
        """
        if self.verdict == "confirmed":
            return "same_recording"
        if self.verdict == "variant":
            return "variant"
        if self.verdict != "rejected":
            return None
        if self.shared_part is not None:
            return "shares_part"
        is_version = self.version_score is not None and self.version_score >= VERSION_THRESHOLD
        return "version" if is_version else None

    @property
    def credibility(self) -> tuple[int, bool, float]:
        """Sort key: the stronger verdict, then a known relation, then the higher score."""
        return (STRENGTH[self.verdict], self.relation is not None, self.score or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Evidence of a pair with the compared videos and the versions used.

    `reference_aweme_id` is the id of the song where the reference is the music service's audio, as
    in the stored column of this name; `reference_video_id` and `reference_service_track_id` tell
    the two apart.
    """

    comparison_id: str
    reference_aweme_id: str
    candidate_aweme_id: str
    reference_music_id: str
    candidate_music_id: str
    pair: PairEvidence
    limits: MatchThresholds
    algorithm: str
    feature_version: str
    library_version: str
    reference_source: ReferenceSource = "platform"

    @property
    def reference_kind(self) -> ReferenceKind:
        """What the reference is."""
        return "service_track" if self.reference_source == "music_service" else "video"

    @property
    def reference_video_id(self) -> str | None:
        """Id of the reference if it is a video."""
        return self.reference_aweme_id if self.reference_kind == "video" else None

    @property
    def reference_service_track_id(self) -> str | None:
        """Id of the reference if it is a song of the music service."""
        return None if self.reference_kind == "video" else self.reference_aweme_id


def variant_kind(pair: PairEvidence) -> VariantKind:
    """Return the kind of a variant: speed changes both as a tape does, pitch_and_speed otherwise.

    An excerpt is unchanged, but too short for a confirmation.
    """
    if (pair.speed, pair.semitones) == (1.0, 0.0):
        return "excerpt"
    if pair.semitones == 0.0:
        return "tempo"
    if pair.speed == 1.0:
        return "pitch"
    if not pair.speed or pair.semitones is None:
        return "speed"
    is_tape = abs(pair.semitones - 12 * math.log2(pair.speed)) < _ROUNDING_SEMITONES
    return "speed" if is_tape else "pitch_and_speed"


_ROUNDING_SEMITONES = 0.01  # evidence holds speeds of four digits and thousandths of a semitone


LOWER_IS_BETTER: frozenset[MeasureName] = frozenset({"chroma_distance", "mfcc_distance"})
_TOLERANCE, _TOLERANCE_S = 1e-9, 0.005  # lengths are whole frames: 43 of them, 1.997 s, are 2 s


def meets_limit(name: MeasureName, value: float, limit: float) -> bool:
    """Whether a measure meets its limit; one that is equal to it does, despite rounding."""
    if name in LOWER_IS_BETTER:
        return value <= limit + _TOLERANCE
    return value >= limit - (_TOLERANCE_S if name == "overlap_s" else _TOLERANCE)


def least_overlap_s(overlap_s: float | None, local_overlap_s: float) -> float:
    """Return the least overlap of a local match, in seconds: an excerpt may be shorter."""
    is_excerpt = overlap_s is not None and overlap_s < local_overlap_s
    return EXCERPT_OVERLAP_S if is_excerpt else local_overlap_s


def meets_rule(
    segment: Segment,
    *,
    chroma_distance: float,
    mfcc_distance: float,
    overlap_s: float,
    limits: MatchThresholds,
) -> bool:
    """Return True if the pair meets the rule of this segment (endpoint 9, rules 2 and 3)."""
    if segment == "whole":
        allowed = (limits.whole_chroma_distance, limits.whole_mfcc_distance, limits.whole_overlap_s)
    else:
        allowed = (limits.local_chroma_distance, limits.local_mfcc_distance, limits.local_overlap_s)
    chroma, mfcc, overlap = allowed
    return (
        meets_limit("chroma_distance", chroma_distance, chroma)
        and meets_limit("mfcc_distance", mfcc_distance, mfcc)
        and meets_limit("overlap_s", overlap_s, overlap)
    )


def is_confirmed_unshifted(pair: PairEvidence, limits: MatchThresholds) -> bool:
    """Return True if the pair is confirmed at its own speed and pitch (rules 2 to 4)."""
    if pair.chroma_distance is None or pair.mfcc_distance is None or pair.overlap_s is None:
        return False
    if pair.segment is None or pair.score is None or (pair.speed, pair.semitones) != (1.0, 0.0):
        return False
    return pair.score >= limits.match_threshold and meets_rule(
        pair.segment,
        chroma_distance=pair.chroma_distance,
        mfcc_distance=pair.mfcc_distance,
        overlap_s=pair.overlap_s,
        limits=limits,
    )


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
