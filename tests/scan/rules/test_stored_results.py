"""Which stored result serves, and what a request gets to see of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.documents.videos import to_ranked_document, to_track_document
from pipelines.parameters.scan import SORT_ORDERS, ScanParameters
from pipelines.scan.rules.results import satisfies_request, view_result, view_with_variants
from tests.stored_results import (
    NO_SEARCH,
    NO_VARIANTS,
    stored_result,
    variant,
    with_variants,
)
from warehouse.records.videos import Author, Statistics, Track, Video

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
TTL_S = 6 * 3600
MUSIC_ID = "7300000000000000001"
TRACK: Any = {"id_str": MUSIC_ID}
SUMMARY: Any = {"accounts": []}
DISCOVERY: Any = {"rounds": []}
COVERAGE: Any = {"sources": []}
"""Parts that a view passes on as they are."""


def work(number: int, *, likes: int | None = 100, comments: int | None = 1) -> Any:
    video = Video(
        aweme_id=str(7_000_000 + number),
        surface="video_page",
        observed_at=NOW,
        create_time=1_700_000_000 + number,
        author=Author(sec_uid=f"user{number % 3}"),
        statistics=Statistics(
            digg_count=likes, comment_count=comments, collect_count=2, share_count=3
        ),
    )
    return to_ranked_document(video, link_type="exact_music_id", source_music_id=MUSIC_ID)


def result(
    works: list[Any], *, ended: bool = False, parameters: ScanParameters | None = None
) -> Any:
    return stored_result(
        works,
        music=to_track_document(Track(music_id=MUSIC_ID, surface="music_info", observed_at=NOW)),
        candidate_pool_size=len(works) + 5,
        unique_account_count=3,
        discovery=DISCOVERY,
        coverage={"sources": [], "not_reached": [], "unseen_estimate": None},
        parameters=(parameters or ScanParameters()).to_document(),
        sources_ended_by_exhaustion={"music": ended},
    )


def is_served(document: Any, wanted: ScanParameters, *, age_s: float = 60) -> bool:
    return satisfies_request(
        document, wanted, finished_at=NOW - timedelta(seconds=age_s), now=NOW, ttl_s=TTL_S
    )


FORTY = [work(number) for number in range(40)]


def test_a_young_deep_and_large_result_serves() -> None:
    assert is_served(result(FORTY), ScanParameters())


@pytest.mark.parametrize(
    "wanted",
    [
        ScanParameters(count=40),
        ScanParameters(sort_by="oldest"),
        ScanParameters(viral_threshold=50, viral_only=True),
        ScanParameters(candidate_limit=100),
    ],
)
def test_count_order_and_viral_rules_never_force_a_scan(wanted: ScanParameters) -> None:
    assert is_served(result(FORTY), wanted)


@pytest.mark.parametrize(
    "wanted",
    [
        ScanParameters(refresh=True),
        ScanParameters(candidate_limit=151),
        ScanParameters(count=41),
        ScanParameters(viral_only=True),
    ],
)
def test_stored_result_does_not_serve_larger_or_refreshed_requests(wanted: ScanParameters) -> None:
    assert not is_served(result(FORTY), wanted)


def test_an_old_result_does_not_serve() -> None:
    assert not is_served(result(FORTY), ScanParameters(), age_s=TTL_S)


def test_an_exhausted_feed_serves_any_depth_and_count() -> None:
    wanted = ScanParameters(candidate_limit=2000, count=500, viral_only=True)
    assert is_served(result(FORTY, ended=True), wanted)


def test_depth_of_a_source_that_was_no_part_of_the_scan_is_not_asked_for() -> None:
    assert is_served(result(FORTY), ScanParameters(search_candidate_limit=5000))


def test_depth_of_a_source_that_a_limit_ended_is_asked_for() -> None:
    document = result(FORTY)
    document["sources_ended_by_exhaustion"]["search"] = False
    assert not is_served(document, ScanParameters(search_candidate_limit=151))


def test_the_view_is_the_top_of_the_order_with_ranks() -> None:
    view = view_result(result([work(1, likes=5), work(2, likes=50)]), ScanParameters(count=1))
    assert [(video["rank"], video["aweme_id"]) for video in view["aweme_list"]] == [(1, "7000002")]
    assert (view["requested_count"], view["returned_count"], view["count_satisfied"]) == (
        1,
        1,
        True,
    )


def test_a_shortfall_is_told_with_the_real_number() -> None:
    view = view_result(result(FORTY[:7]), ScanParameters(count=30))
    assert not view["count_satisfied"]
    assert "7" in view["count_note_zh"]
    assert len(view["aweme_list"]) == 7


@pytest.mark.parametrize(
    ("ended", "viral_only", "word"),
    [(True, False, "已读完"), (False, False, "candidate_limit"), (False, True, "点赞数")],
)
def test_the_note_says_why_there_are_too_few(ended: bool, viral_only: bool, word: str) -> None:
    wanted = ScanParameters(viral_only=viral_only)
    assert word in view_result(result(FORTY[:7], ended=ended), wanted)["count_note_zh"]


def test_a_work_with_an_unknown_count_has_no_score_and_comes_last() -> None:
    view = view_result(
        result([work(1, comments=None, likes=9999), work(2, likes=1)]), ScanParameters()
    )
    assert [video["hot_score"] for video in view["aweme_list"]] == [1 + 4 + 6 + 24, None]


def test_viral_is_decided_by_likes_alone() -> None:
    works = [work(1, likes=10), work(2, likes=9), work(3, likes=None)]
    view = view_result(result(works), ScanParameters(viral_threshold=10, viral_only=True))
    assert [video["aweme_id"] for video in view["aweme_list"]] == ["7000001"]


def test_variants_are_ranked_and_never_counted() -> None:
    document = result([work(1)])
    document["variants"] = {**NO_VARIANTS, "count": 2, "aweme_list": [work(8, likes=1), work(9)]}
    view = view_result(document, ScanParameters())
    assert [video["aweme_id"] for video in view["variants"]["aweme_list"]] == ["7000009", "7000008"]
    assert view["confirmed_count"] == 1


def test_search_related_works_are_marked_where_the_ranking_shows_them_too() -> None:
    document = result([work(1), work(2)])
    document["search_related"] = {**NO_SEARCH, "aweme_list": [work(1), work(7)]}
    related = view_result(document, ScanParameters())["search_related"]
    assert [video["duplicate_with_returned_ranking"] for video in related["aweme_list"]] == [
        True,
        False,
    ]
    assert related["visible_ranking_overlap_count"] == 1


COUNTS = st.none() | st.integers(0, 10**9)
WORKS = st.lists(st.tuples(COUNTS, COUNTS), max_size=30).map(
    lambda pairs: [work(n, likes=a, comments=b) for n, (a, b) in enumerate(pairs)]
)


@given(works=WORKS, order=st.sampled_from(SORT_ORDERS), count=st.integers(1, 40), data=st.data())
def test_a_view_does_not_depend_on_the_order_of_storage(
    works: list[Any], order: str, count: int, data: st.DataObject
) -> None:
    wanted = replace(ScanParameters(count=count), sort_by=order)  # type: ignore[arg-type]  # sampled
    shuffled = data.draw(st.permutations(works))
    first, second = view_result(result(works), wanted), view_result(result(shuffled), wanted)
    assert first["aweme_list"] == second["aweme_list"]
    assert [video["rank"] for video in first["aweme_list"]] == list(
        range(1, min(count, len(works)) + 1)
    )


@given(works=WORKS, order=st.sampled_from(SORT_ORDERS))
def test_a_larger_count_extends_a_smaller_one(works: list[Any], order: str) -> None:
    wanted = replace(ScanParameters(count=5), sort_by=order)  # type: ignore[arg-type]  # sampled
    document = result(works)
    small = view_result(document, wanted)["aweme_list"]
    large = view_result(document, replace(wanted, count=50))["aweme_list"]
    assert large[: len(small)] == small


DEPTHS = [  # what a request may ask more of, and which source that feeds
    ("candidate_limit", "music", 150),
    ("search_candidate_limit", "search", 150),
    ("search_batch_target", "search", 150),
    ("search_page_limit", "search", 30),
    ("search_request_budget", "search", 180),
    ("account_profile_limit", "accounts", 30),
]


@pytest.mark.parametrize(("name", "source", "had"), DEPTHS)
def test_each_depth_is_asked_of_its_own_source_unless_that_was_exhausted(
    name: str, source: str, had: int
) -> None:
    document = result(FORTY)
    others = dict.fromkeys(("music", "search", "accounts"), True)
    more = replace(ScanParameters(), **{name: had + 1})  # type: ignore[arg-type]  # all whole numbers
    equal = replace(ScanParameters(), **{name: had})  # type: ignore[arg-type]  # all whole numbers
    document["sources_ended_by_exhaustion"] = others | {source: False}
    assert not is_served(document, more)
    assert is_served(document, equal)
    document["sources_ended_by_exhaustion"] = others
    assert is_served(document, more)


def test_a_result_serves_until_its_time_to_live_is_over() -> None:
    assert is_served(result(FORTY), ScanParameters(), age_s=TTL_S - 1)
    assert not is_served(result(FORTY), ScanParameters(), age_s=TTL_S)


def test_too_few_works_serve_only_where_the_feed_of_the_track_ended() -> None:
    document = result(FORTY[:5])
    document["sources_ended_by_exhaustion"] = {"search": True, "accounts": True}
    assert not is_served(document, ScanParameters(count=6))
    assert is_served(document, ScanParameters(count=5))
    document["sources_ended_by_exhaustion"] = {"music": True}
    assert is_served(document, ScanParameters(count=6))


def test_works_are_counted_after_the_viral_rule() -> None:
    document = result([work(n, likes=50 + n) for n in range(4)])
    wanted = ScanParameters(count=2, viral_only=True, viral_threshold=52)
    assert is_served(document, wanted)
    assert not is_served(document, replace(wanted, viral_threshold=53))
    assert is_served(document, replace(wanted, viral_threshold=53, viral_only=False))


def test_a_search_by_name_ranks_nothing_and_so_serves_any_count() -> None:
    document = result([]) | {"keyword": "晴天"}
    assert is_served(document, ScanParameters(count=500))
    document["sources_ended_by_exhaustion"] = {"search": False}
    assert not is_served(document, ScanParameters(search_page_limit=60))


RESULT = stored_result(
    FORTY[:2],
    music=TRACK,
    candidate_pool_size=7,
    unique_account_count=2,
    account_summary=SUMMARY,
    discovery=DISCOVERY,
    coverage=COVERAGE,
    parameters={},
    sources_ended_by_exhaustion={},
    algorithm="algorithm of then",
    account_count_complete=True,
)


def test_a_view_has_the_fields_of_the_interface() -> None:
    view: Any = view_result(RESULT, ScanParameters(count=5))
    for shown_elsewhere in ("aweme_list", "count_note_zh", "search_related", "totals"):
        del view[shown_elsewhere]
    assert view == {
        "music_id": MUSIC_ID,
        "keyword": None,
        "music": {"id_str": MUSIC_ID},
        "candidate_pool_size": 7,
        "confirmed_count": 2,
        "returned_count": 2,
        "requested_count": 5,
        "count_satisfied": False,
        "audio_check_counts": {},
        "variants": {
            "count": 0,
            "aweme_list": [],
            "by_kind": {},
            "hotter": {"count": 0, "by_form": {}, "hot_scores": []},
        },
        "versions": None,
        "unique_account_count": 2,
        "account_count_complete": True,
        "account_summary": {"accounts": []},
        "discovery": {"rounds": []},
        "coverage": {"sources": []},
        "coverage_complete": False,
        "algorithm": "algorithm of then",
        "is_demo_data": True,
        "data_provider": "public-graph",
        "mobile_emulator_used": False,
        "created_at": "2026-01-31T12:00:00Z",
    }


def test_a_view_says_whether_a_device_was_read_also_of_results_from_before_that_was_kept() -> None:
    document: Any = RESULT
    reported = [document | {"mobile_emulator_used": True}, {**document}]
    del reported[1]["mobile_emulator_used"]
    views = [view_result(one, ScanParameters(count=5)) for one in reported]
    assert [view["mobile_emulator_used"] for view in views] == [True, False]


def test_a_ranked_video_has_its_rank_score_and_whether_it_is_viral() -> None:
    works = [work(1, likes=10), work(2, likes=9)]
    view = view_result(result(works), ScanParameters(viral_threshold=10))
    assert [
        (video["rank"], video["hot_score"], video["is_viral"]) for video in view["aweme_list"]
    ] == [(1, 10 + 4 + 6 + 24, True), (2, 9 + 4 + 6 + 24, False)]


@pytest.mark.parametrize(
    ("count", "ended", "viral_only", "keyword", "words"),
    [
        (7, True, True, None, "已返回请求的 7 条作品"),
        (8, True, False, None, "公开作品不足，公开列表已读完"),
        (8, False, False, None, "本次扫描范围内的已确认作品不足"),
        (8, False, True, None, "本次扫描范围内的已确认作品不足"),
        (8, True, True, "晴天", "关键词模式只返回综合搜索相关作品"),
    ],
)
def test_the_note_fits_what_is_missing(
    count: int, ended: bool, viral_only: bool, keyword: str | None, words: str
) -> None:
    wanted = ScanParameters(count=count, viral_only=viral_only, viral_threshold=0)
    document = result(FORTY[:7], ended=ended) | {"keyword": keyword}
    assert view_result(document, wanted)["count_note_zh"].startswith(words)


def test_the_note_names_the_threshold_where_confirmed_works_do_not_reach_it() -> None:
    wanted = ScanParameters(count=8, viral_only=True, viral_threshold=101)
    note = view_result(result(FORTY[:7], ended=True), wanted)["count_note_zh"]
    assert note.startswith("点赞数达到 101 的已确认作品不足")
    assert "实际返回 0 条" in note


def test_variants_are_cut_and_filtered_like_the_ranking_and_still_counted_whole() -> None:
    document = result([work(1)])
    variants = [work(n, likes=n) for n in range(5)]
    document["variants"] = {"count": 5, "aweme_list": variants, "by_kind": {"speed": 5}}
    wanted = ScanParameters(count=2, viral_only=True, viral_threshold=2)
    found = view_result(document, wanted)["variants"]
    assert [(video["rank"], video["aweme_id"]) for video in found["aweme_list"]] == [
        (1, "7000004"),
        (2, "7000003"),
    ]
    assert (found["count"], found["by_kind"]) == (5, {"speed": 5})


def test_a_variant_has_its_rank_score_and_whether_it_is_viral() -> None:
    document = result([])
    variants = [work(1, likes=10), work(2, likes=9)]
    document["variants"] = {"count": 2, "aweme_list": variants, "by_kind": {}}
    found = view_result(document, ScanParameters(viral_threshold=10))["variants"]
    assert [
        (video["rank"], video["hot_score"], video["is_viral"]) for video in found["aweme_list"]
    ] == [(1, 10 + 4 + 6 + 24, True), (2, 9 + 4 + 6 + 24, False)]


def test_a_related_work_keeps_what_was_stored_of_it() -> None:
    document = result([])
    stored = {"aweme_id": "7000007", "desc": "rain", "search_relevance_level": "exact_title"}
    document["search_related"] = {**NO_SEARCH, "aweme_list": [stored]}
    (video,) = view_result(document, ScanParameters())["search_related"]["aweme_list"]
    assert video == {
        "aweme_id": "7000007",
        "desc": "rain",
        "search_relevance_level": "exact_title",
        "duplicate_with_returned_ranking": False,
    }


def test_the_counts_of_a_search_are_those_that_were_stored_but_the_overlap() -> None:
    document = result([])
    counted = {
        "returned_count": 9,
        "high_relevance_count": 4,
        "conflicting_music_title_count": 2,
        "expanded_candidate_count": 5,
    }
    document["search_related"] = {**NO_SEARCH, **counted, "visible_ranking_overlap_count": 7}
    related: Any = view_result(document, ScanParameters())["search_related"]
    assert {name: related[name] for name in counted} == counted
    assert related["visible_ranking_overlap_count"] == 0


def test_related_works_below_the_cut_of_the_ranking_are_no_overlap() -> None:
    document = result([work(1, likes=1), work(2, likes=2), work(3, likes=3)])
    document["search_related"] = {**NO_SEARCH, "aweme_list": [work(1), work(2), work(3)]}
    related = view_result(document, ScanParameters(count=2))["search_related"]
    assert [video["duplicate_with_returned_ranking"] for video in related["aweme_list"]] == [
        False,
        True,
        True,
    ]
    assert related["visible_ranking_overlap_count"] == 2
    assert related["pagination"] == NO_SEARCH["pagination"]


def test_totals_are_those_of_all_confirmed_videos_however_few_are_shown() -> None:
    document = result([work(1, likes=300), work(2, likes=None), work(3, likes=50)])
    shown = view_result(document, ScanParameters(count=1, viral_only=True))
    assert shown["totals"] == {
        "video_count": 3, "account_count": 3, "digg_count": 350, "unknown_digg_count": 1,
        "max_digg_count": 300, "includes_variants": False,
    }  # fmt: skip


def test_likes_that_nobody_knows_have_no_total() -> None:
    totals = view_result(result([work(1, likes=None)]), ScanParameters())["totals"]
    assert (totals["digg_count"], totals["max_digg_count"]) == (None, None)


def test_variants_hotter_than_the_first_place_are_counted_by_what_they_change() -> None:
    variants = [
        variant(1, likes=900), variant(2, likes=800), variant(3, likes=950, speed=0.8),
        variant(4, likes=700, kind="excerpt", speed=1.0), variant(5, likes=1),
    ]  # fmt: skip
    document = with_variants(result([work(1, likes=100)]), *variants)
    hotter = view_result(document, ScanParameters(count=2))["variants"]["hotter"]
    assert hotter["count"] == 4
    assert hotter["by_form"] == {"sped_up": 2, "slowed_down": 1, "excerpt": 1}
    assert hotter["hot_scores"] == sorted(hotter["hot_scores"], reverse=True)
    assert len(hotter["hot_scores"]) == 3


def test_without_a_known_first_place_no_variant_is_hotter() -> None:
    document = with_variants(result([work(1, likes=None)]), variant(1, likes=900))
    assert view_result(document, ScanParameters())["variants"]["hotter"]["count"] == 0


def test_variants_are_ranked_among_the_confirmed_videos_and_never_counted_as_confirmed() -> None:
    document = with_variants(
        result([work(1, likes=300), work(2, likes=100)]), variant(1, likes=200)
    )
    strict = view_result(document, ScanParameters(sort_by="digg"))
    mixed = view_with_variants(document, ScanParameters(sort_by="digg"))
    assert [row.get("variant_kind") for row in mixed["aweme_list"]] == [None, "speed", None]
    assert [row["rank"] for row in mixed["aweme_list"]] == [1, 2, 3]
    assert "link_type" not in mixed["aweme_list"][1]
    assert (mixed["returned_count"], strict["returned_count"]) == (3, 2)
    assert mixed["totals"]["digg_count"] == 600
    assert mixed["totals"]["includes_variants"] is True
    unchanged = ("confirmed_count", "unique_account_count", "account_summary", "variants")
    assert {name: mixed[name] for name in unchanged} == {name: strict[name] for name in unchanged}  # type: ignore[literal-required]
