"""Verify sounds: one pair, or a candidate's sounds against a track's references.

Not here: files, storage, the choice of which sounds to compare.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipelines.audio.features.sound_features import HOP_S, MEL_BANDS, Features, Peaks
from pipelines.audio.features.sounds import MeasuredSound, NotComparable, SoundMeasurement
from pipelines.audio.matching import (
    agreement,
    group_verdict,
    hypotheses,
    judging,
    shared_parts,
)
from pipelines.audio.matching.common_sounds import CommonSound, judge_excerpt
from pipelines.audio.matching.scoring import add_rejection_hint
from pipelines.audio.matching.versions import version_score
from warehouse.records.evidence import (
    EDIT_OVERLAP_S,
    EXCERPT_OVERLAP_S,
    MATCHES,
    STRENGTH,
    MatchThresholds,
    PairEvidence,
    SearchedRange,
)

_ENOUGH_SCORE = 0.9
"""A confirmed pair with this score ends the comparison of its group."""
_NEAR_SCORE = 0.3
"""A rejected pair with this score is worth a search with further references. Unrelated pairs reach
0.24 on the benchmark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _SearchResult:
    """The evidence of a search, and what was searched: edits, tempo and pitch changed independently
    (`both`), and excerpts.
    """

    evidence: PairEvidence
    edits: bool = False
    both: bool = False
    excerpts: bool = False


def compare_pair(
    reference: SoundMeasurement,
    candidate: SoundMeasurement,
    *,
    limits: MatchThresholds,
    search: bool = True,
    common_sounds: Sequence[CommonSound] = (),
) -> PairEvidence:
    """Compare two unchanged sounds; if they do not match and `search` is set, look further.

    A pair of the same recording is `confirmed`, with a score of at least the match threshold, 0.65
    unless the user sets another. What passes only after a speed, tempo or pitch hypothesis is
    undone is a `variant`, never `confirmed`, and so are 2 to 5.5 unchanged seconds in common. A
    rejected pair keeps the best score of all comparisons and a hint on what it may be; where edits
    were searched, too, how surely it is another performance. The evidence says what was searched.

    Args:
        reference: The reference, or why it cannot be compared.
        candidate: The candidate, or why it cannot be compared.
        limits: Limits of the verdict.
        search: Whether to search for edits and common stretches.
        common_sounds: Sounds that make no excerpt of the music.
    """
    evidence = _judge_unedited(reference, candidate, limits)
    if not search:
        return evidence
    return _search_further(reference, candidate, evidence, limits, common_sounds=common_sounds)


def _judge_unedited(
    reference: SoundMeasurement, candidate: SoundMeasurement, limits: MatchThresholds
) -> PairEvidence:
    for role, sound in (("reference", reference), ("candidate", candidate)):
        if isinstance(sound, NotComparable):
            return PairEvidence(verdict="not_comparable", reason=f"{role}_{sound.reason}")
    assert isinstance(reference, MeasuredSound)
    assert isinstance(candidate, MeasuredSound)
    evidence = judging.judge_unchanged(reference.features, candidate.features, limits)
    searched = _searched_range(reference, candidate, limits)
    return replace(add_rejection_hint(evidence, limits), searched=searched)


def _search_further(
    reference: SoundMeasurement,
    candidate: SoundMeasurement,
    unedited: PairEvidence,
    limits: MatchThresholds,
    *,
    edits: bool = True,
    common_sounds: Sequence[CommonSound] = (),
) -> PairEvidence:
    """Return the best evidence: unedited, of other windows, of an edit, or of a few seconds.

    Without `edits`, no speed, tempo or pitch is searched.
    """
    is_short = unedited.reason == "overlap_too_short"
    if unedited.verdict != "rejected" and not is_short:
        return unedited
    assert isinstance(reference, MeasuredSound)
    assert isinstance(candidate, MeasuredSound)
    first, second = reference.features, candidate.features
    result = _search(first, second, unedited, limits, edits=edits, common_sounds=common_sounds)
    evidence = with_likely_kind(first, second, result.evidence, limits)
    if result.edits:
        evidence = with_version_score(first, second, evidence)
    searched = _searched_range(
        reference,
        candidate,
        limits,
        edits=result.edits,
        both=result.both,
        excerpts=result.excerpts,
    )
    return replace(evidence, searched=searched)


def with_likely_kind(
    reference: Features, candidate: Features, evidence: PairEvidence, limits: MatchThresholds
) -> PairEvidence:
    """Add what a rejected pair shares, and what it is likely to be.

    By its measures, or by peaks played backwards.
    """
    hinted = add_rejection_hint(evidence, limits)
    if hinted.verdict != "rejected":
        return hinted
    if hinted.observation is None and agreement.is_reversed(reference.peaks, candidate.peaks):
        return replace(hinted, observation="likely_reversed")
    shared = hinted.shared_part or judging.shared_part(reference, candidate)
    return add_rejection_hint(replace(evidence, shared_part=shared), limits)


def with_version_score(
    reference: Features, candidate: Features, evidence: PairEvidence
) -> PairEvidence:
    """Add how surely a rejected pair is two performances of one composition.

    Not measured where the pair shares a part: the harmonies of that part would agree, too.
    """
    if evidence.verdict != "rejected" or evidence.shared_part is not None:
        return evidence
    return replace(evidence, version_score=version_score(reference, candidate))


def _search(
    reference: Features,
    candidate: Features,
    unedited: PairEvidence,
    limits: MatchThresholds,
    *,
    edits: bool,
    common_sounds: Sequence[CommonSound],
) -> _SearchResult:
    # The unchanged sounds again, where peaks suggest another window or alignment.
    stretches = stretches_to_judge(reference, candidate, unedited)
    accepted = judging.judge_windows(reference, candidate, limits, stretches)
    if accepted is not None:
        return _SearchResult(evidence=accepted)
    # With the likeliest edit undone.
    best, with_both = unedited, False
    edits = edits and min(reference.duration_s, candidate.duration_s) >= judging.LEAST_EDIT_S
    if edits:
        judged = judging.judge_edits(reference, candidate, limits)
        with_both = judged.has_tried_both
        if judged.evidence is not None and judged.evidence.credibility > unedited.credibility:
            best = judged.evidence
    if best.verdict == "variant":
        return _SearchResult(evidence=best, edits=edits, both=with_both)
    # A few common seconds. Their distances explain a rejection only if nothing else was measured.
    excerpt = judge_excerpt(reference, candidate, limits, stretches, common_sounds)
    if excerpt is not None and (
        STRENGTH[excerpt.verdict] > STRENGTH[best.verdict] or excerpt.shared_part is not None
    ):
        best = excerpt
    return _SearchResult(
        evidence=best,
        edits=edits,
        both=with_both,
        excerpts=unedited.reason != judging.TONES_DIFFER,
    )


def stretches_to_judge(
    reference: Features, candidate: Features, unedited: PairEvidence
) -> list[agreement.CommonStretch]:
    """Return the common stretches to judge after both rules; weak ones only of a short sound."""
    if unedited.reason == judging.TONES_DIFFER:
        return []  # a voice over other music is no more music where less of it is compared
    keeps_weak = unedited.verdict == "not_comparable"
    return agreement.common_stretches(reference.peaks, candidate.peaks, keeps_weak=keeps_weak)


def _searched_range(
    reference: MeasuredSound,
    candidate: MeasuredSound,
    limits: MatchThresholds,
    *,
    edits: bool = False,
    both: bool = False,
    excerpts: bool = False,
) -> SearchedRange:
    tempos = hypotheses.SEARCHED_TEMPOS if edits else (1.0, 1.0)
    least_s = limits.local_overlap_s
    return SearchedRange(
        speed=tempos,
        tempo=tempos,
        semitones=hypotheses.SEARCHED_SEMITONES if edits else (0.0, 0.0),
        tempo_with_pitch=hypotheses.SEARCHED_JOINT_TEMPOS if both else (1.0, 1.0),
        min_overlap_s=min(EDIT_OVERLAP_S, least_s) if edits else least_s,
        reference_s=round(reference.duration_s, 1),
        candidate_s=round(candidate.duration_s, 1),
        min_excerpt_s=EXCERPT_OVERLAP_S if excerpts else None,
    )


def agreeing_references(
    sounds: Sequence[MeasuredSound], *, limits: MatchThresholds
) -> tuple[int, ...]:
    """Return the positions of references that agree with each other, the cleanest first.

    Videos under one music id may play something else. The largest set confirmed by one sound is
    kept; if no two agree, there is no way to tell which one is right, and all are kept.
    """
    order = _cleanest_first(sounds)
    # The positions that each sound confirms, its own included.
    agreed = {place: {place} for place in order}
    for number, first in enumerate(order):
        for second in order[number + 1 :]:
            evidence = compare_pair(sounds[first], sounds[second], limits=limits, search=False)
            if evidence.verdict == "confirmed":
                agreed[first].add(second)
                agreed[second].add(first)
    largest = max(agreed.values(), key=len, default=set())
    kept = largest if len(largest) > 1 else set(order)
    return tuple(place for place in order if place in kept)


def cleanliness(sound: MeasuredSound) -> float:
    """Return the quality of a sound as a reference: steady spectral peaks per second.

    Music holds its tones, while speech glides.
    """
    peaks = sound.features.peaks
    steady = np.count_nonzero(agreement.are_steady(peaks.frames, peaks.hertz))
    return float(steady / sound.features.duration_s)


def _cleanest_first(references: Sequence[SoundMeasurement]) -> list[int]:
    def rank(index: int) -> tuple[float, int]:
        sound = references[index]
        return (-cleanliness(sound) if isinstance(sound, MeasuredSound) else float("inf"), index)

    return sorted(range(len(references)), key=rank)


def verify_group(
    references: Sequence[SoundMeasurement],
    candidates: Sequence[SoundMeasurement],
    *,
    limits: MatchThresholds,
    search: bool = True,
    stops_when_sure: bool = True,
    keeps_order: bool = False,
    common_sounds: Sequence[CommonSound] = (),
) -> group_verdict.GroupVerdict:
    """Compare up to two candidates with up to three references, the cleanest reference first.

    With `keeps_order`, the references are compared in the given order instead.

    Stops at the first pair confirmed with a score of at least 0.9, unless `stops_when_sure` is
    False. If no unchanged pair is confirmed, `search` looks for a variant of the first
    reference that is long enough, and of the others if that nearly succeeds or if they do not
    agree with it: one may repeat a few seconds of the recording. Positions in the result are those
    of the arguments.
    """
    order = list(range(len(references))) if keeps_order else _cleanest_first(references)
    order = order[: group_verdict.MOST_REFERENCES]
    chosen = candidates[: group_verdict.MOST_CANDIDATES]
    pairs: list[group_verdict.GroupPair] = []
    for reference_index in order:
        for candidate_index, candidate in enumerate(chosen):
            evidence = _judge_unedited(references[reference_index], candidate, limits)
            pairs.append(
                group_verdict.GroupPair(
                    reference_index=reference_index,
                    candidate_index=candidate_index,
                    evidence=evidence,
                )
            )
            # One pair that surely matches is enough.
            is_sure = evidence.verdict == "confirmed" and (evidence.score or 0.0) >= _ENOUGH_SCORE
            if stops_when_sure and is_sure:
                return _group_verdict(pairs)
    if search and pairs and all(pair.evidence.verdict != "confirmed" for pair in pairs):
        pairs = _searched_pairs(references, chosen, pairs, limits, common_sounds)
    return _group_verdict(pairs)


def _searched_pairs(
    references: Sequence[SoundMeasurement],
    candidates: Sequence[SoundMeasurement],
    pairs: Sequence[group_verdict.GroupPair],
    limits: MatchThresholds,
    common_sounds: Sequence[CommonSound],
) -> list[group_verdict.GroupPair]:
    """Search for edits of the first long enough reference, then of the others where needed."""
    checked = [pair for pair in pairs if pair.evidence.verdict != "not_comparable"]
    first = (checked or pairs)[0].reference_index
    # Whether each reference agrees with the first one.
    alike = {first: True}
    searched: list[group_verdict.GroupPair] = []
    for pair in pairs:
        index = pair.reference_index
        verdict = _group_verdict(searched)
        near = verdict.best is not None and (verdict.best.evidence.score or 0) >= _NEAR_SCORE
        if index != first and verdict.verdict in MATCHES:
            searched.append(pair)
            continue
        if index not in alike:
            likeness = _judge_unedited(references[first], references[index], limits)
            alike[index] = likeness.verdict == "confirmed"
        evidence = _search_further(
            references[index],
            candidates[pair.candidate_index],
            pair.evidence,
            limits,
            edits=index == first or near or not alike[index],
            common_sounds=common_sounds,
        )
        searched.append(replace(pair, evidence=evidence))
    return searched


def _group_verdict(pairs: list[group_verdict.GroupPair]) -> group_verdict.GroupVerdict:
    """Let the most credible pair decide; pairs that are not comparable count only if alone."""
    if not pairs:
        return group_verdict.GroupVerdict(
            verdict="not_comparable", reason="nothing_to_compare", best=None, pairs=()
        )
    checked = [pair for pair in pairs if pair.evidence.verdict != "not_comparable"]
    best = max(checked or pairs, key=lambda pair: pair.evidence.credibility)
    return group_verdict.GroupVerdict(
        verdict=best.evidence.verdict, reason=best.evidence.reason, best=best, pairs=tuple(pairs)
    )


def warm_up() -> None:
    """Load the compiled kernels, which takes about 0.3 s once per process."""
    noise = np.random.default_rng(0).standard_normal((round(9 / HOP_S), 100))
    mel_db = noise[:, :MEL_BANDS].astype(np.float16)
    peaks = Peaks(
        np.arange(100, dtype=np.int32),
        np.full(100, 440.0, dtype=np.float32),
        np.zeros(100, dtype=np.uint8),
    )
    features = Features(np.abs(noise[:, MEL_BANDS:]).astype(np.float16), mel_db, peaks)
    sound = MeasuredSound(
        sha256="",
        features=features,
        duration_s=features.duration_s,
        sample_rate_hz=0,
        codec="",
        library_version="",
    )
    # A steady tone is no evidence, so the pair is rejected and the search runs, too. Nothing asks
    # what each sound has alone, so that loop is called by itself.
    compare_pair(sound, sound, limits=MatchThresholds())
    shared_parts.louder_shares(features, features, 0, 0, features.frames)
