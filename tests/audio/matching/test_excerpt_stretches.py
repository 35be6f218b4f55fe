"""What is heard of a pair: the judged stretch, the same music in both, at most ten seconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.records.evidence import MAX_EXCERPT_S, Excerpt, PairEvidence, find_excerpts

HASHES = {"reference_sha256": "a" * 64, "candidate_sha256": "b" * 64}
SECONDS = st.floats(0, 60)


def pair(reference_s: float, candidate_s: float, overlap_s: float, speed: float) -> PairEvidence:
    return PairEvidence(
        verdict="confirmed", reason="", overlap_s=overlap_s, reference_start_s=reference_s,
        candidate_start_s=candidate_s, speed=speed,
    )  # fmt: skip


def test_a_second_before_and_after_is_heard_too() -> None:
    found = find_excerpts(pair(5.0, 2.0, 6.0, 1.0), **HASHES)
    assert found["reference"] == Excerpt(sha256="a" * 64, start_s=4.0, duration_s=8.0)
    assert found["candidate"] == Excerpt(sha256="b" * 64, start_s=1.0, duration_s=8.0)


@given(SECONDS, SECONDS, st.floats(5.5, 60), st.floats(0.5, 2.0))
def test_both_begin_at_the_same_moment_of_the_music_and_stay_short(
    reference_s: float, candidate_s: float, overlap_s: float, speed: float
) -> None:
    found = find_excerpts(pair(reference_s, candidate_s, overlap_s, speed), **HASHES)
    first, second = found["reference"], found["candidate"]
    assert 0 < first.duration_s <= MAX_EXCERPT_S + 0.001
    assert 0 < second.duration_s <= MAX_EXCERPT_S + 0.001
    assert min(first.start_s, second.start_s) >= 0
    lead = (reference_s - first.start_s, (candidate_s - second.start_s) * speed)
    assert lead[0] == pytest.approx(lead[1], abs=0.003)


def test_uncompared_pair_and_missing_sound_have_no_excerpt() -> None:
    nothing = PairEvidence(verdict="not_comparable", reason="candidate_silent")
    assert find_excerpts(nothing, **HASHES) == {}
    compared = pair(5.0, 2.0, 6.0, 1.0)
    assert list(find_excerpts(compared, reference_sha256=None, candidate_sha256="b")) == [
        "candidate"
    ]
