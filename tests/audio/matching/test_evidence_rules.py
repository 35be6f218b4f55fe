"""The specification's limits, on their edges."""

from dataclasses import replace

import pytest

from warehouse.records.evidence import MatchThresholds, PairEvidence, is_confirmed_unshifted

LIMITS = MatchThresholds()
LOCAL = PairEvidence(
    verdict="confirmed",
    reason="local_rule_met",
    segment="local",
    chroma_distance=0.65,
    mfcc_distance=0.90,
    overlap_s=5.5,
    score=0.65,
    speed=1.0,
    semitones=0.0,
)
WHOLE = replace(LOCAL, segment="whole", chroma_distance=0.25, mfcc_distance=0.48, overlap_s=8.0)


@pytest.mark.parametrize("pair", [LOCAL, WHOLE], ids=["local", "whole"])
def test_a_pair_exactly_on_its_limits_holds(pair: PairEvidence) -> None:
    assert is_confirmed_unshifted(pair, LIMITS)


@pytest.mark.parametrize("pair", [LOCAL, WHOLE], ids=["local", "whole"])
@pytest.mark.parametrize(
    "change",
    [
        {"chroma_distance": 0.66},
        {"mfcc_distance": 0.91},
        {"overlap_s": 5.4},
        {"score": 0.64},
        {"speed": 1.06},
        {"semitones": 1.0},
        {"score": None},
        {"chroma_distance": None},
        {"segment": None},
    ],
    ids=str,
)
def test_a_pair_beyond_one_limit_does_not(pair: PairEvidence, change: dict[str, object]) -> None:
    assert not is_confirmed_unshifted(replace(pair, **change), LIMITS)  # type: ignore[arg-type]  # a table of cases


def test_the_requested_threshold_replaces_the_default() -> None:
    assert not is_confirmed_unshifted(LOCAL, MatchThresholds(match_threshold=0.7))
    assert is_confirmed_unshifted(replace(LOCAL, score=0.5), MatchThresholds(match_threshold=0.5))
