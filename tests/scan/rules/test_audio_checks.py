"""What is said of a video's own sound is what the compared pairs of its scan say."""

from typing import Any

import pytest

from pipelines.scan.rules.audio_checks import deciding_pairs, with_audio_checks
from tests.stored_results import stored_result, work

OWN, OTHER, REFERENCE = work(1), work(2), work(4)
BY_AUDIO = work(3)
"""A video whose evidence is its own comparison; the others use the music id of the track."""


def pair(
    number: int, candidate: Any, verdict: str, *, reference: str | None = "73", score: float = 0.5
) -> Any:
    """A row of the pairs that a scan compared; without a reference, with a song's own audio."""
    return {
        "comparison_id": f"pair-{number}",
        "candidate_aweme_id": candidate["aweme_id"],
        "reference_aweme_id": reference,
        "verdict": verdict,
        "score": score,
    }


def check(video: Any, *pairs: Any) -> Any:
    """The check of one confirmed video."""
    return with_audio_checks(stored_result([video]), pairs)["ranked"][0]["audio_check"]


def test_a_video_of_the_tracks_own_id_that_was_compared_names_its_pair() -> None:
    found = check(OWN, pair(1, OWN, "confirmed", reference=None))
    assert found == {"kind": "compared", "verdict": "confirmed", "comparison_id": "pair-1"}


def test_a_video_without_a_pair_was_not_compared() -> None:
    found = check(OWN, pair(1, OTHER, "confirmed"))
    assert found == {"kind": "not_compared", "verdict": None, "comparison_id": None}


def test_a_reference_names_the_best_pair_that_was_compared_with_it() -> None:
    reference = REFERENCE["aweme_id"]
    pairs = [
        pair(1, OWN, "confirmed", reference=reference, score=0.9),
        pair(2, OTHER, "rejected", reference=reference, score=0.99),
    ]
    assert check(REFERENCE, *pairs) == {
        "kind": "reference", "verdict": "confirmed", "comparison_id": "pair-1"
    }  # fmt: skip


def test_a_reference_that_a_song_contradicts_is_a_reference_all_the_same() -> None:
    pairs = [
        pair(1, REFERENCE, "rejected", reference=None),
        pair(2, OWN, "confirmed", reference=REFERENCE["aweme_id"]),
    ]
    assert check(REFERENCE, *pairs)["comparison_id"] == "pair-2"


def test_evidence_of_another_video_of_the_sound_is_not_the_videos_own() -> None:
    evidence = BY_AUDIO["evidence"]
    another = {**BY_AUDIO, "aweme_id": "73500000000000999"}
    assert check(another) == {
        "kind": "same_sound", "verdict": "confirmed", "comparison_id": evidence["comparison_id"]
    }  # fmt: skip
    assert check(BY_AUDIO)["kind"] == "compared"


def test_a_variant_has_its_check_too() -> None:
    stored = stored_result(
        [], variants={"count": 1, "aweme_list": [{**OWN, "variant_kind": "speed"}], "by_kind": {}}
    )
    checked = with_audio_checks(stored, [pair(1, OWN, "variant")])
    assert checked["variants"]["aweme_list"][0]["audio_check"]["verdict"] == "variant"
    assert "audio_check" not in stored["variants"]["aweme_list"][0]


@pytest.mark.parametrize(
    ("pairs", "decides"),
    [
        ([("rejected", 0.9), ("confirmed", 0.7)], "pair-1"),
        ([("variant", 0.9), ("variant", 0.95)], "pair-1"),
        ([("not_comparable", None), ("rejected", 0.0)], "pair-1"),
        ([("rejected", 0.2), ("not_comparable", None)], "pair-0"),
    ],
)
def test_the_stronger_verdict_of_a_candidate_decides_and_then_the_higher_score(
    pairs: list[tuple[str, Any]], decides: str
) -> None:
    rows = [
        pair(number, OWN, verdict, score=score) for number, (verdict, score) in enumerate(pairs)
    ]
    assert deciding_pairs(rows)[OWN["aweme_id"]]["comparison_id"] == decides
