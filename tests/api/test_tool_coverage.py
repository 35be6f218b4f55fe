"""What an assistant is told beside the data of a tool, and how a result is shortened for it."""

from typing import Any

from api.mcp.tools import TOOL_COVERAGE_NOTE, coverage_of, shorten_result


def test_coverage_is_taken_from_the_data_and_is_never_called_complete() -> None:
    reported = coverage_of({"coverage_complete": True, "returned_count": 3, "videos": [1, 2, 3]})
    assert reported == {
        "coverage_complete": False, "returned_count": 3, "note": TOOL_COVERAGE_NOTE,
    }  # fmt: skip


def test_videos_that_cannot_be_read_are_named_with_their_reason() -> None:
    left_out = [{"aweme_id": "71", "reason": "deleted", "detail": "long"}]
    reported = coverage_of({"filter_list": left_out})
    assert reported["not_read"] == [{"aweme_id": "71", "reason": "deleted"}]


def test_every_list_of_a_result_is_cut() -> None:
    videos = [{"aweme_id": str(number)} for number in range(5)]
    accounts = [{"nickname": "Lin", "video_previews": videos}, {"nickname": "Wu"}]
    short = shorten_result(
        {
            "aweme_list": videos,
            "variants": {"aweme_list": videos, "returned_count": 5},
            "search_related": {"aweme_list": videos},
            "account_summary": {"accounts": accounts, "account_count": 2},
            "candidates": videos,
            "reference_works": ["71", "72"],
            "coverage": {"not_reached": ["search"], "audit": {"drawn": 5, "videos": videos}},
        },
        top=1,
    )
    assert short == {
        "aweme_list": videos[:1],
        "variants": {"aweme_list": videos[:1], "returned_count": 5},
        "search_related": {"aweme_list": videos[:1]},
        "account_summary": {"accounts": [{"nickname": "Lin"}], "account_count": 2},
        "candidates": videos[:1],
        "reference_works": ["71"],
        "coverage": {"not_reached": ["search"], "audit": {"drawn": 5, "videos": videos[:1]}},
    }


def test_a_result_without_further_lists_stays_as_it_is() -> None:
    result: dict[str, Any] = {"variants": None, "account_summary": None, "confirmed_count": 0}
    assert shorten_result(result, top=3) == {**result, "aweme_list": []}
