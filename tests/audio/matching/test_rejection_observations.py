"""What a rejected pair is likely to be, on either side of every sign."""

from dataclasses import replace

import pytest

from pipelines.audio.matching.scoring import add_rejection_hint
from warehouse.records.evidence import MatchThresholds, PairEvidence, RejectionLabel

LIMITS = MatchThresholds()
COVER = PairEvidence(
    verdict="rejected", reason="score_below_threshold", segment="local", chroma_distance=0.3,
    mfcc_distance=0.6, overlap_s=6.0, peak_agreement=0.02, score=0.3, speed=1.0, semitones=0.0,
)  # fmt: skip
CLOSE = replace(COVER, chroma_distance=0.6, mfcc_distance=0.5, peak_agreement=0.09, score=0.5)
UNMET = replace(CLOSE, reason="distances_above_limits", chroma_distance=0.66, score=0.15)


def observation(evidence: PairEvidence) -> RejectionLabel | None:
    found = add_rejection_hint(evidence, LIMITS)
    assert replace(found, observation=evidence.observation) == evidence
    return found.observation


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (COVER, "likely_cover"),
        (replace(COVER, chroma_distance=0.5, mfcc_distance=0.7), "likely_cover"),
        (replace(COVER, chroma_distance=0.51, mfcc_distance=0.7), None),
        (replace(COVER, mfcc_distance=0.46), "likely_cover"),
        (replace(COVER, mfcc_distance=0.44), None),
        (replace(COVER, chroma_distance=0.0, mfcc_distance=0.15), "likely_cover"),
        (replace(COVER, peak_agreement=0.059), "likely_cover"),
        (replace(COVER, peak_agreement=0.06), None),
        (replace(COVER, mfcc_distance=0.95, score=0.1), None),
        (replace(COVER, segment="whole", score=0.1), None),
        (replace(COVER, overlap_s=5.0, score=0.1), None),
    ],
)
def test_harmony_without_timbre_and_peaks_is_likely_a_cover(
    pair: PairEvidence, expected: RejectionLabel | None
) -> None:
    assert observation(pair) == expected


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (replace(CLOSE, score=0.45), "uncertain"),
        (replace(CLOSE, score=0.44), None),
        (replace(CLOSE, score=0.64), "uncertain"),
        (UNMET, "uncertain"),
        (replace(UNMET, score=0.136), "uncertain"),  # 0.3 of 0.453
        (replace(UNMET, score=0.134), None),  # 0.3 of 0.447
        (replace(UNMET, chroma_distance=0.669), "uncertain"),
        (replace(UNMET, chroma_distance=0.67), "uncertain"),  # just as far as is close
        (replace(UNMET, chroma_distance=0.672), None),
    ],
)
def test_a_pair_close_to_a_match_is_uncertain(
    pair: PairEvidence, expected: RejectionLabel | None
) -> None:
    assert observation(pair) == expected


def test_the_threshold_asked_for_moves_what_is_close() -> None:
    assert add_rejection_hint(CLOSE, MatchThresholds(match_threshold=0.75)).observation is None
    close = replace(CLOSE, score=0.56)
    assert (
        add_rejection_hint(close, MatchThresholds(match_threshold=0.75)).observation == "uncertain"
    )


def test_a_shared_voice_is_uncertain_whatever_else_it_looks_like() -> None:
    assert observation(replace(COVER, shared_part="voice")) == "shared_voice"
    assert observation(replace(COVER, shared_part="voice", score=0.0)) == "shared_voice"


@pytest.mark.parametrize(
    "unknown", ["segment", "chroma_distance", "mfcc_distance", "overlap_s", "peak_agreement"]
)
def test_observation_is_none_if_a_measurement_is_missing(unknown: str) -> None:
    assert observation(replace(COVER, score=0.1, **{unknown: None})) is None  # type: ignore[arg-type]  # one of its names


@pytest.mark.parametrize("unknown", ["segment", "mfcc_distance", "overlap_s"])
def test_a_rule_that_cannot_be_checked_does_not_hold(unknown: str) -> None:
    unmet = replace(UNMET, **{unknown: None})  # type: ignore[arg-type]  # one of its names
    assert observation(unmet) == "uncertain"  # three tenths of a full score
    assert observation(replace(unmet, score=0.1)) is None


def test_the_score_of_a_few_seconds_without_objections_is_a_full_one() -> None:
    short = replace(CLOSE, reason="score_below_threshold", overlap_s=2.5, score=0.2)
    assert observation(short) is None, "too short for the rule, yet nothing reduced the score"
    assert observation(replace(short, score=0.5)) == "uncertain"


def test_a_pair_without_a_score_has_no_observation() -> None:
    assert observation(replace(COVER, score=None, reason="tones_differ")) is None


@pytest.mark.parametrize("verdict", ["confirmed", "variant", "not_comparable"])
def test_only_a_rejected_pair_is_named(verdict: str) -> None:
    assert observation(replace(COVER, verdict=verdict)) is None  # type: ignore[arg-type]  # a verdict
