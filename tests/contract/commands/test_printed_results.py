"""What the command line prints of a result, as the service sends it."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from api.cli.rendering.results import print_judgement, print_result
from api.services.report.ground_truth import FalsePositive, GroupRecall, Judgement, LinkJudgement

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"

type Print = Callable[..., str]


def on_paper(printed: Callable[[Console], None], *, width: int = 160) -> str:
    """What something prints on a terminal of so many columns, without colours."""
    paper = io.StringIO()
    printed(Console(file=paper, width=width))
    return paper.getvalue()


@pytest.fixture
def answer(service: Any) -> Any:
    """The result of a stored scan, as the service sends it."""
    job_id = service.stored().job_id
    return service.client().get(f"{JOBS}/{job_id}").json()["data"]["result"]


@pytest.fixture
def shown(answer: Any) -> Print:
    """Print the result with some of its fields changed."""

    def print_changed(*, rows: int = 5, width: int = 160, **fields: Any) -> str:
        changed: Any = {**answer, **fields}
        return on_paper(lambda console: print_result(console, changed, rows=rows), width=width)

    return print_changed


def related(number: int, **fields: Any) -> dict[str, Any]:
    """A video that a search found."""
    return {
        "aweme_id": f"735000000000000{number:02}",
        "desc": f"纸船 {number}",
        "music": {"title": "Paper Boats"},
        "search_relevance_level": "high_title_match",
        "statistics": {"digg_count": 1_200, "comment_count": 1, "collect_count": 1,
                       "share_count": 1},
        "hot_score": 1_210,
        **fields,
    }  # fmt: skip


def test_a_ranking_is_printed_with_what_it_rests_on(shown: Print, answer: Any) -> None:
    text = shown()
    assert "demo data" in text
    assert "Paper Boats" in text
    count = answer["confirmed_count"]
    assert f"{count} confirmed videos of {answer['candidate_pool_size']} candidates" in text
    for video in answer["aweme_list"][:5]:
        assert video["aweme_id"] in text
        assert f"{video['statistics']['digg_count']:,}" in text
    assert answer["aweme_list"][5]["aweme_id"] not in text
    assert f"… and {answer['returned_count'] - 5} more" in text
    assert "Coverage: what was read, and why reading stopped" in text
    assert "412" in text  # the audit's population


@pytest.mark.parametrize("width", [80, 200])
def test_no_number_is_cut_whatever_the_width_of_the_terminal(
    shown: Print, answer: Any, width: int
) -> None:
    text = shown(width=width, rows=100)
    for video in answer["aweme_list"]:
        assert f"{video['hot_score']:,}" in text
        assert video["aweme_id"] in text
    heard = sum(video["link_type"] == "audio_fingerprint_match" for video in answer["aweme_list"])
    evidence = "score 0.91 · chroma" if width == 200 else "0.91 · c 0.10"
    assert text.count(evidence) == heard > 0


def test_a_result_without_its_track_is_named_by_its_id(shown: Print, answer: Any) -> None:
    text = shown(music=None, is_demo_data=False)
    assert f"{answer['music_id']} by —" in text
    assert "demo data" not in text.splitlines()[0]


def test_printed_result_says_how_many_requested_videos_are_missing(shown: Print) -> None:
    text = shown(count_satisfied=False, requested_count=500)
    assert "of 500 requested" in text
    assert "--candidate-limit" in text
    assert "--candidate-limit" not in shown(count_satisfied=True)


def test_variants_are_printed_with_their_change_and_not_all_of_them(shown: Print) -> None:
    common = {"hot_score": None, "evidence": {"overlap_s": 3.25}}
    changed = {"variant_kind": "resampled", "speed": 1.25, "semitones": 3.863, **common}
    cut = {"variant_kind": "excerpt", "speed": 1.0, "semitones": 0.0, **common}
    videos = [{**changed, "aweme_id": "first"}, {**cut, "aweme_id": "second"}]
    videos += [{**changed, "aweme_id": f"more{number}"} for number in range(7)]
    text = shown(variants={"count": 9, "aweme_list": videos})
    assert "first" in text
    assert "× 1.25, +3.9 semitones" in text
    assert ", 3.2 s" in text or ", 3.3 s" in text
    assert "hot score —" in text
    assert "more5" in text
    assert "more6" not in text
    assert "… and 1 more" in text


def test_versions_are_printed_with_their_scores_and_not_all_of_them(shown: Print) -> None:
    videos = [
        {"aweme_id": f"cover{number}", "version_score": 0.8, "source_music_title": "Live 2024"}
        for number in range(9)
    ]
    text = shown(versions={"count": 9, "aweme_list": videos})
    assert "9 other versions: covers, live performances, new recordings" in text
    assert "cover7 version score 0.80 · Live 2024" in text
    assert "cover8" not in text
    for none in ({"count": 0, "aweme_list": []}, None):
        assert "other version" not in shown(versions=none)


def test_a_search_by_name_confirms_nothing(shown: Print, answer: Any) -> None:
    found = [related(1), related(2, desc="", music=None, hot_score=None)]
    search = {
        **answer["search_related"],
        "aweme_list": found,
        "returned_count": 2,
        "high_relevance_count": 2,
        "conflicting_music_title_count": 1,
    }
    text = shown(keyword="纸船", music=None, music_id=None, search_related=search)
    assert "nothing is confirmed" in text
    assert "2 videos, 2 of high relevance; 1 with the title of another song" in text
    assert "纸船 1" in text
    assert found[1]["aweme_id"] in text  # where there is no caption
    beside = shown(search_related={**search, "visible_ranking_overlap_count": 1})
    assert "2 of high relevance, 1 also in the ranking above" in beside


def test_the_lower_bound_of_a_result_is_not_printed(shown: Print, answer: Any) -> None:
    older = {**answer["coverage"], "estimates": None, "audit": None}
    estimate = {"method": "chao1", "lower_bound": 62}
    assert shown(coverage={**older, "unseen_estimate": estimate}) == shown(coverage=older)


def test_a_comparison_with_the_ground_truth_names_what_is_wrong() -> None:
    link = LinkJudgement(
        link_type="audio_fingerprint_match", confirmed_count=8, true_label_count=7, right_count=7,
        right_reachable_count=7, carrying_count=10, reachable_count=9,
    )  # fmt: skip
    nothing = LinkJudgement(
        link_type="exact_music_id", confirmed_count=0, true_label_count=0, right_count=0,
        right_reachable_count=0, carrying_count=0, reachable_count=0,
    )  # fmt: skip
    recall = GroupRecall(
        carrying_count=10, found_count=7, reachable_count=9, found_reachable_count=7
    )
    wrong = FalsePositive(
        aweme_id="1", link_type="audio_fingerprint_match", sound="other_song", is_label_true=False
    )
    judgement = Judgement(
        links=(link, nothing), own_id=recall, other_ids=recall, wrong=(wrong, wrong), missed=(),
        variant_count=4, variants_matched=3, variants_confirmed=1,
    )  # fmt: skip
    text = on_paper(lambda console: print_judgement(console, judgement))
    assert "87.5 %" in text
    assert "7 of 9 (77.8 %)" in text
    assert "0 of 0 (—)" in text
    assert "variants: 3 of 4 found, 1 wrongly confirmed" in text
    assert "without the recording, audio_fingerprint_match: 2 other song (label false)" in text
