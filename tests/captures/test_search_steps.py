"""A search ends each term for a reason, respects its four limits, and says which one it was."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.captures.walks import (
    SearchLimits,
    SearchWalk,
    SearchWalkState,
    to_search_limits,
)
from pipelines.parameters.scan import scan_parameters
from pipelines.scan.rules.search import to_pagination
from warehouse.records.coverage import SourceCoverage
from warehouse.records.errors import (
    SURFACE_OFF,
    BudgetSpentError,
    EmptyAnswerError,
    ForbiddenError,
    LoginRequiredError,
    PageWithoutDataError,
    ProviderUnsupportedError,
    RateLimitedError,
    RegionBlockedError,
    SametrackError,
    StructureChangedError,
    SubstitutionError,
    UnreachableError,
    VerificationDemandedError,
)
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import Video

SEEN_AT = datetime(2026, 11, 21, tzinfo=UTC)
WIDE = SearchLimits(page_limit=60, request_budget=180, batch_target=1000, candidate_limit=5000)
OFF = ForbiddenError("off", surface="search_single", reason=SURFACE_OFF)
Step = SearchPage | SametrackError


def page(
    *ids: str,
    cursor: int,
    has_more: bool | None = True,
    nil_type: str | None = None,
    skipped_cards: int = 0,
    is_cut: bool = False,
) -> SearchPage:
    videos = tuple(
        Video(aweme_id=name, surface="search_single", observed_at=SEEN_AT) for name in ids
    )
    return SearchPage(
        videos=videos,
        next_position=SearchPosition(cursor=cursor, search_id="log", backtrace=f"b{cursor}"),
        has_more=has_more,
        nil_type=nil_type,
        skipped_cards=skipped_cards,
        is_cut=is_cut,
    )


def walked(
    script: Sequence[Step],
    *,
    terms: Sequence[str] = ("song",),
    limits: SearchLimits = WIDE,
    known: Sequence[str] = (),
    requests: int = 1,
) -> tuple[SearchWalk, list[tuple[str, SearchPosition]]]:
    steps, asked, left = SearchWalkState(terms, limits, known=known), [], list(script)
    while (question := steps.next_page()) is not None:
        asked.append(question)
        step = left.pop(0)
        if isinstance(step, SearchPage):
            steps.take(step, requests=requests)
        else:
            steps.refuse(step, requests=requests)
    assert left == []
    return steps.result(), asked


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (page("c", cursor=4, has_more=False), "exhausted"),
        (page(cursor=4, has_more=False), "exhausted"),
        (page(cursor=4, nil_type="no_result"), "exhausted"),
        (page(cursor=4, has_more=None), "empty_ambiguous"),
        (page(cursor=2), "cursor_stalled"),
        (page("c", cursor=2), "cursor_stalled"),
        (page("c", cursor=0), "cursor_stalled"),
        (page("a", "b", cursor=4), "no_new_items"),
        (StructureChangedError("x", surface="search_single"), "upstream_structure_changed"),
        (UnreachableError("x", surface="search_single"), "upstream_unreachable"),
        (EmptyAnswerError("x", surface="search_single"), "upstream_empty"),
        (VerificationDemandedError("x", surface="search_single"), "upstream_verification"),
        (LoginRequiredError("x", surface="search_single"), "upstream_login_required"),
        (ProviderUnsupportedError("x"), "provider_unsupported"),
    ],
)
def test_term_ends_for_its_reason(last: Step, reason: str) -> None:
    walk, asked = walked([page("a", "b", cursor=2), last])
    assert [(term.stop_reason, term.finished) for term in walk.terms] == [
        (reason, reason == "exhausted")
    ]
    assert [place.cursor for _, place in asked] == [0, 2]
    assert [video.aweme_id for video in walk.videos][:2] == ["a", "b"]


@pytest.mark.parametrize(
    ("only", "reason"),
    [
        (page(cursor=10, has_more=False), "empty_ambiguous"),
        (page(cursor=10, has_more=True), "empty_ambiguous"),
        (page(cursor=0, has_more=False, nil_type="no_result"), "exhausted"),
    ],
)
def test_empty_first_page_ends_the_search_only_where_the_platform_says_why(
    only: SearchPage, reason: str
) -> None:
    walk, _ = walked([only])
    assert [term.stop_reason for term in walk.terms] == [reason]


def test_place_of_the_next_page_is_passed_on_unchanged() -> None:
    _, asked = walked([page("a", cursor=12), page("b", cursor=24, has_more=False)])
    assert asked[1] == ("song", SearchPosition(cursor=12, search_id="log", backtrace="b12"))


def test_page_of_other_cards_is_no_end() -> None:
    walk, _ = walked([page(cursor=10, skipped_cards=4), page("a", cursor=20, has_more=False)])
    assert (walk.terms[0].pages, walk.terms[0].items) == (2, 1)


def test_terms_are_walked_in_order_and_each_starts_at_the_beginning() -> None:
    script = [page("a", cursor=9, has_more=False), page("b", cursor=9, has_more=False)]
    walk, asked = walked(script, terms=["one", " ", "two", "ONE"])
    assert asked == [("one", SearchPosition()), ("two", SearchPosition())]
    assert [(term.term, term.new_items) for term in walk.terms] == [("one", 1), ("two", 1)]


@pytest.mark.parametrize(
    "error",
    [
        VerificationDemandedError("x", surface="search_stream"),
        LoginRequiredError("x", surface="search_stream"),
        ForbiddenError("x", surface="search_stream"),
        ForbiddenError("x", surface="search_stream", reason="circuit_open"),
        OFF,
        RateLimitedError("x", surface="search_stream"),
        RegionBlockedError("x", surface="search_stream"),
        BudgetSpentError("x", surface="search_stream"),
        ProviderUnsupportedError("x"),
    ],
)
def test_refusal_of_the_client_ends_the_search_for_every_term(error: SametrackError) -> None:
    walk, asked = walked([error], terms=["one", "two", "three"])
    assert len(asked) == 1
    assert [(term.term, term.stop_reason, term.pages) for term in walk.terms] == [
        ("one", error.stop_reason, 0),
        ("two", error.stop_reason, 0),
        ("three", error.stop_reason, 0),
    ]
    assert walk.error is error


@pytest.mark.parametrize(
    "error",
    [
        StructureChangedError("x", surface="search_stream"),
        UnreachableError("x", surface="search_stream"),
        EmptyAnswerError("x", surface="search_stream"),
        PageWithoutDataError("x", surface="search_stream"),
        SubstitutionError("x", surface="search_stream"),
    ],
)
def test_error_of_one_search_term_does_not_stop_the_next_term(error: SametrackError) -> None:
    walk, _ = walked([error, page("a", cursor=9, has_more=False)], terms=["one", "two"])
    assert [term.stop_reason for term in walk.terms] == [error.type, "exhausted"]
    assert walk.error is None


@pytest.mark.parametrize(
    ("limits", "reason", "pages"),
    [
        (SearchLimits(page_limit=2), "search_page_limit", 2),
        (SearchLimits(request_budget=3), "request_budget", 3),
        (SearchLimits(batch_target=4), "batch_target_reached", 2),
        (SearchLimits(candidate_limit=5), "search_candidate_limit", 3),
    ],
)
def test_each_limit_ends_the_term_and_is_named(
    limits: SearchLimits, reason: str, pages: int
) -> None:
    script = [page(f"{n}a", f"{n}b", cursor=n * 2 + 2) for n in range(pages)]
    walk, _ = walked(script, limits=limits)
    assert [(term.stop_reason, term.pages) for term in walk.terms] == [(reason, pages)]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (SearchLimits(request_budget=1), "request_budget"),
        (SearchLimits(batch_target=1), "batch_target_reached"),
        (SearchLimits(candidate_limit=1), "search_candidate_limit"),
    ],
)
def test_limit_of_the_job_also_ends_the_terms_that_were_not_begun(
    limits: SearchLimits, reason: str
) -> None:
    walk, asked = walked([page("a", cursor=9)], terms=["one", "two"], limits=limits)
    assert len(asked) == 1
    assert [(term.term, term.stop_reason) for term in walk.terms] == [
        ("one", reason),
        ("two", reason),
    ]
    assert [line.requests for line in walk.coverage] == [1]


def test_page_limit_is_each_terms_own() -> None:
    script = [page("a", cursor=9), page("b", cursor=9)]
    walk, _ = walked(script, terms=["one", "two"], limits=SearchLimits(page_limit=1))
    assert [term.stop_reason for term in walk.terms] == ["search_page_limit", "search_page_limit"]


def test_repeated_requests_of_one_page_count_against_the_budget() -> None:
    limits = SearchLimits(request_budget=4)
    walk, _ = walked([page("a", cursor=2), page("b", cursor=4)], limits=limits, requests=2)
    assert (walk.requests_used, walk.terms[0].stop_reason) == (4, "request_budget")


def test_search_counts_known_videos_as_items_but_not_as_new() -> None:
    script = [page("a", "b", cursor=2), page("c", cursor=4, has_more=False)]
    walk, _ = walked(script, known=["a", "b"])
    assert (walk.terms[0].items, walk.terms[0].new_items) == (3, 1)
    full, asked = walked([], known=["a", "b"], limits=SearchLimits(candidate_limit=2))
    assert (asked, [term.stop_reason for term in full.terms]) == ([], ["search_candidate_limit"])


def test_work_shown_by_two_terms_is_new_once_and_names_both() -> None:
    script = [page("a", cursor=9, has_more=False), page("a", "b", cursor=9, has_more=False)]
    walk, _ = walked(script, terms=["one", "two"])
    assert walk.shown_by == {"a": ("one", "two"), "b": ("two",)}
    assert [term.new_items for term in walk.terms] == [1, 1]


def test_no_candidate_wanted_is_no_request() -> None:
    walk, asked = walked([], limits=SearchLimits(candidate_limit=0))
    assert (asked, walk.requests_used) == ([], 0)


def test_pagination_document_has_the_fields_of_a_result() -> None:
    walk, _ = walked([page("a", cursor=9, has_more=False)], terms=["song"])
    assert to_pagination(walk) == {
        "pages_fetched": 1,
        "terms_paginated": 1,
        "terms": [
            {
                "term": "song",
                "pages": 1,
                "items": 1,
                "new_items": 1,
                "last_cursor": 9,
                "finished": True,
                "stop_reason": "exhausted",
            }
        ],
        "request_budget": 180,
        "requests_used": 1,
    }


def test_limits_are_those_of_the_parameters() -> None:
    limits = to_search_limits(scan_parameters({"search_page_limit": 3, "candidate_limit": 40}))
    assert limits == SearchLimits(page_limit=3, candidate_limit=40)
    given = {
        "search_page_limit": 1,
        "search_request_budget": 12,
        "search_batch_target": 3,
        "search_candidate_limit": 4,
    }
    assert to_search_limits(scan_parameters(given)) == SearchLimits(
        page_limit=1, request_budget=12, batch_target=3, candidate_limit=4
    )


def test_without_parameters_the_limits_are_the_defaults_of_the_interface() -> None:
    assert SearchLimits() == SearchLimits(
        page_limit=30, request_budget=180, batch_target=150, candidate_limit=150
    )


EMPTY = [page(cursor=4 + n) for n in range(4)]
"""Pages without results that announce more of them, somewhere else each time."""


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([page("a", cursor=2, nil_type="x"), page(cursor=4, has_more=None)], "empty_ambiguous"),
        ([page("a", cursor=2), *EMPTY[:1], page("b", cursor=9, has_more=False)], "exhausted"),
        ([page("a", cursor=2), *EMPTY[:3], page("b", cursor=9, has_more=False)], "exhausted"),
        ([page("a", cursor=2), *EMPTY[:3], page(cursor=9, has_more=False)], "exhausted"),
        ([page("a", cursor=2), *EMPTY[:3], page(cursor=9, has_more=None)], "empty_ambiguous"),
        ([page("a", cursor=2), *EMPTY], "cursor_stalled"),
        ([page(cursor=2, skipped_cards=1, has_more=False)], "exhausted"),
        ([page(cursor=2, skipped_cards=1, nil_type="no_result")], "exhausted"),
        ([page(cursor=2, skipped_cards=1), page(cursor=4, has_more=False)], "empty_ambiguous"),
        ([page(cursor=0, has_more=False, nil_type="params_check")], "empty_ambiguous"),
        ([page(cursor=0, has_more=False, nil_type="invalid_app")], "empty_ambiguous"),
        ([page("a", cursor=2), page(cursor=2, nil_type="hit_sensitive")], "empty_ambiguous"),
        ([page("a", cursor=0, has_more=None, is_cut=True)], "response_cut"),
        ([page("a", cursor=2, is_cut=True), page("b", cursor=4, has_more=False)], "response_cut"),
        ([page("a", cursor=2, is_cut=True), page(cursor=2)], "cursor_stalled"),
        ([page("a", cursor=2), page(cursor=4, has_more=None)], "empty_ambiguous"),
        ([page("a", cursor=2), page(cursor=4, has_more=False)], "exhausted"),
        ([page("a", cursor=2), page("a", cursor=2)], "cursor_stalled"),
        ([page("a", cursor=2), page("a", cursor=4, has_more=False)], "exhausted"),
        ([page("a", cursor=2), page("b", cursor=4), page("c", cursor=2)], "cursor_stalled"),
        ([page("a", cursor=2), page("a", "b", cursor=4), page("b", cursor=6)], "no_new_items"),
    ],
)
def test_stop_reason_of_a_search_term_follows_from_its_last_page(
    script: list[Step], reason: str
) -> None:
    walk, asked = walked(script)
    assert [term.stop_reason for term in walk.terms] == [reason]
    assert len(asked) == len(script)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (SearchLimits(page_limit=1), "search_page_limit"),
        (SearchLimits(page_limit=1, request_budget=1), "request_budget"),
        (SearchLimits(page_limit=1, request_budget=1, batch_target=1), "batch_target_reached"),
        (
            SearchLimits(page_limit=1, request_budget=1, batch_target=1, candidate_limit=1),
            "search_candidate_limit",
        ),
    ],
)
def test_of_several_limits_the_fullest_is_named(limits: SearchLimits, reason: str) -> None:
    walk, _ = walked([page("a", cursor=2)], limits=limits)
    assert [term.stop_reason for term in walk.terms] == [reason]


def test_the_end_of_a_term_is_named_before_a_limit_reached_by_its_last_page() -> None:
    limits = SearchLimits(page_limit=1, request_budget=1, batch_target=1, candidate_limit=1)
    walk, _ = walked([page("a", cursor=2, has_more=False)], limits=limits)
    assert [term.stop_reason for term in walk.terms] == ["exhausted"]


def test_a_page_that_cost_no_request_still_costs_one_of_the_budget() -> None:
    script = [page("a", cursor=2), page("b", cursor=4)]
    walk, asked = walked(script, limits=SearchLimits(request_budget=2), requests=0)
    assert (len(asked), walk.requests_used) == (2, 0)
    assert [(term.stop_reason, term.pages) for term in walk.terms] == [("request_budget", 2)]
    assert [(line.requests, line.pages) for line in walk.coverage] == [(0, 2)]


def test_works_known_before_fill_the_union_but_not_the_batch() -> None:
    known = [f"k{n}" for n in range(5)]
    limits = SearchLimits(batch_target=2, candidate_limit=8)
    walk, _ = walked([page("k0", "a", cursor=2), page("b", cursor=4)], limits=limits, known=known)
    assert [term.stop_reason for term in walk.terms] == ["batch_target_reached"]
    limits = SearchLimits(batch_target=3, candidate_limit=7)
    walk, _ = walked([page("a", cursor=2), page("b", cursor=4)], limits=limits, known=known)
    assert [term.stop_reason for term in walk.terms] == ["search_candidate_limit"]


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [(ProviderUnsupportedError("x"), "provider_unsupported"), (OFF, "surface_off")],
)
def test_a_source_of_first_pages_alone_gives_each_term_its_first_page(
    refusal: SametrackError, reason: str
) -> None:
    script: list[Step] = [page("a", cursor=2), refusal, page("b", cursor=2), refusal]
    walk, asked = walked(script, terms=["one", "two"])
    assert [term for term, _ in asked] == ["one", "one", "two", "two"]
    assert [term.stop_reason for term in walk.terms] == [reason] * 2
    assert walk.error is None


def test_terms_keep_the_spelling_that_came_first() -> None:
    script = [page("a", cursor=9, has_more=False), page("b", cursor=9, has_more=False)]
    _, asked = walked(script, terms=[" One ", "two", "ONE", "Two", ""])
    assert [term for term, _ in asked] == ["One", "two"]


def test_coverage_has_a_line_for_each_term_that_was_asked_for() -> None:
    script: list[Step] = [
        page("a", "b", cursor=2),
        page("b", "c", cursor=4, has_more=False),
        UnreachableError("x", surface="search_stream"),
        page("c", "d", cursor=6),
    ]
    limits = SearchLimits(candidate_limit=4)
    walk, _ = walked(script, terms=["one", "two", "three", "four"], limits=limits, requests=2)
    lines = [
        ("search", 4, 2, 4, 3, "exhausted"),
        ("search", 2, 0, 0, 0, "upstream_unreachable"),
        ("search", 2, 1, 2, 1, "search_candidate_limit"),
    ]
    assert walk.coverage == [
        SourceCoverage(
            surface=surface,
            requests=requests,
            pages=pages,
            items=items,
            new_items=new_items,
            stop_reason=reason,
        )
        for surface, requests, pages, items, new_items, reason in lines
    ]
    pagination = to_pagination(walk)
    assert (pagination["pages_fetched"], pagination["terms_paginated"]) == (3, 2)
    assert (pagination["request_budget"], pagination["requests_used"]) == (180, 8)
    assert [term.last_cursor for term in walk.terms] == [4, None, 6, None]


def test_a_work_stays_as_it_was_first_shown() -> None:
    first, again = page("a", cursor=2), page("a", cursor=2, has_more=False)
    walk, _ = walked([page("b", cursor=2, has_more=False), first, again], terms=["one", "two"])
    assert [id(video) for video in walk.videos][1] == id(first.videos[0])
    assert [video.aweme_id for video in walk.videos] == ["b", "a"]
    assert walk.shown_by == {"b": ("one",), "a": ("two",)}


def test_a_walk_that_was_just_begun_has_nothing_to_show() -> None:
    steps = SearchWalkState(["song"], SearchLimits(request_budget=17))
    assert steps.next_page() == ("song", SearchPosition(cursor=0, search_id="", backtrace=""))
    walk = steps.result()
    assert (walk.terms, walk.videos, walk.shown_by, walk.error) == ((), (), {}, None)
    assert (walk.requests_used, walk.request_budget) == (0, 17)


@given(
    pages=st.lists(
        st.tuples(
            st.lists(st.sampled_from("abcdefgh"), max_size=4),
            st.integers(0, 6),
            st.sampled_from([True, False, None]),
        ),
        min_size=1,
        max_size=20,
    ),
    limits=st.builds(
        SearchLimits,
        page_limit=st.integers(1, 6),
        request_budget=st.integers(1, 8),
        batch_target=st.integers(1, 6),
        candidate_limit=st.integers(0, 6),
    ),
    terms=st.lists(st.sampled_from(["one", "two", "three"]), min_size=1, max_size=4),
)
def test_every_walk_ends_within_its_limits_with_a_reason_for_each_term(
    pages: list[tuple[list[str], int, bool | None]], limits: SearchLimits, terms: list[str]
) -> None:
    steps, at = SearchWalkState(terms, limits), 0
    while steps.next_page() is not None:
        ids, cursor, has_more = pages[at % len(pages)]
        steps.take(page(*ids, cursor=cursor, has_more=has_more), requests=1)
        at += 1
    walk = steps.result()
    assert [term.term for term in walk.terms] == list(dict.fromkeys(terms))
    assert all(term.stop_reason and term.pages <= limits.page_limit for term in walk.terms)
    assert walk.requests_used == at <= limits.request_budget
    assert sum(term.new_items for term in walk.terms) == len(walk.videos)


def test_asking_again_without_taking_the_answer_spends_the_budget() -> None:
    steps = SearchWalkState(["one", "two"], SearchLimits(request_budget=2))
    assert steps.next_page() == steps.next_page() == ("one", SearchPosition())
    assert steps.next_page() is None
    assert [(term.term, term.stop_reason) for term in steps.result().terms] == [
        ("one", "request_budget"),
        ("two", "request_budget"),
    ]
