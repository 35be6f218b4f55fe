"""In which order sources are asked, and which one no refusal of another may lead to."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.platform.refusal_table import REFUSALS
from pipelines.platform.sources.rules import (
    ANSWERED,
    SICK_AFTER,
    WITHHELD_KINDS,
    RankedSource,
    RefusalScope,
    closes_host,
    displaced_sources,
    may_follow,
    order_sources,
)
from pipelines.platform.sources.table import QUESTIONS

SHELL = "page_without_data"
KINDS = st.sampled_from([ANSWERED, SHELL, "script_challenge", "empty_body"])
SHARES = st.floats(0.05, 1.0)


def source(place: int = 0, *, host: str = "a", answers: tuple[str, ...] = ()) -> RankedSource:
    return RankedSource(
        surface=f"s{place}", host=host, place=place, completeness=1.0, prior=0.9, answers=answers
    )


@st.composite
def rankings(draw: st.DrawFn) -> list[RankedSource]:
    return [
        RankedSource(
            surface=f"s{place}",
            host=draw(st.sampled_from("ab")),
            place=place,
            completeness=draw(SHARES),
            prior=draw(SHARES),
            answers=tuple(draw(st.lists(KINDS, max_size=50))),
        )
        for place in range(draw(st.integers(1, 5)))
    ]


@given(rankings())
def test_the_order_loses_no_source_and_puts_sick_ones_last(sources: list[RankedSource]) -> None:
    ordered = order_sources(sources)
    assert sorted(one.place for one in ordered) == list(range(len(sources)))
    assert [one.is_sick for one in ordered] == sorted(one.is_sick for one in ordered)
    healthy = [one.completeness * one.success_share for one in ordered if not one.is_sick]
    assert healthy == sorted(healthy, reverse=True)


@given(rankings(), st.data())
def test_an_answer_with_data_never_moves_a_source_back(
    sources: list[RankedSource], data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from(sources))
    better = RankedSource(
        surface=chosen.surface, host=chosen.host, place=chosen.place,
        completeness=chosen.completeness, prior=chosen.prior,
        answers=(*chosen.answers, ANSWERED),
    )  # fmt: skip
    places = [one.place for one in order_sources(sources)]
    after = [
        one.place for one in order_sources([better if one is chosen else one for one in sources])
    ]
    if (not chosen.answers and chosen.is_sick is better.is_sick) or chosen.answers:
        assert after.index(chosen.place) <= places.index(chosen.place)


@given(rankings())
def test_every_share_is_one(sources: list[RankedSource]) -> None:
    assert all(0 < one.success_share <= 1 for one in sources)
    assert all(0 < one.completeness * one.success_share <= one.completeness for one in sources)


@given(rankings())
def test_only_what_used_to_come_first_is_probed_out_of_turn(sources: list[RankedSource]) -> None:
    ordered = order_sources(sources)
    assert all(one.place < ordered[0].place for one in displaced_sources(ordered))
    if ordered[0].place == 0:
        assert displaced_sources(ordered) == ()


@given(rankings(), st.data())
def test_a_demand_leads_to_no_later_source_of_its_host(
    sources: list[RankedSource], data: st.DataObject
) -> None:
    demanding = data.draw(st.sampled_from(sources))
    refused = [(demanding, RefusalScope.NOT_INSTEAD)]
    for other in sources:
        is_later = other.host == demanding.host and other.place > demanding.place
        assert may_follow(other, refused) is not is_later


@given(rankings(), st.sampled_from(RefusalScope), st.data())
def test_more_refusals_never_allow_more_sources(
    sources: list[RankedSource], scope: RefusalScope, data: st.DataObject
) -> None:
    first, second = (data.draw(st.sampled_from(sources)) for _ in range(2))
    before = [(first, RefusalScope.ANY)]
    allowed = {one.place for one in sources if may_follow(one, [*before, (second, scope)])}
    assert allowed <= {one.place for one in sources if may_follow(one, before)}


def test_a_fault_of_the_host_leads_to_another_host_alone() -> None:
    refused = [(source(0, host="a"), RefusalScope.OTHER_HOST)]
    assert not may_follow(source(1, host="a"), refused)
    assert may_follow(source(1, host="b"), refused)


def test_refusal_that_ends_the_question_permits_no_other_source() -> None:
    assert not may_follow(source(1, host="b"), [(source(0), RefusalScope.NONE)])


def test_a_source_that_shows_shells_is_sick_after_a_few_and_healthy_again_with_data() -> None:
    page = RankedSource(
        surface="page", host="a", place=1, completeness=0.8, prior=0.3, answers=(SHELL, SHELL)
    )
    assert page.is_sick
    assert not source(answers=(SHELL,) * 40 + (ANSWERED,) * 10).is_sick
    assert not source(answers=()).is_sick


@given(st.lists(st.sampled_from(sorted(WITHHELD_KINDS)), max_size=6), SHARES)
def test_a_source_without_any_data_is_sick_after_three_refusals(
    kinds: list[str], prior: float
) -> None:
    one = RankedSource(
        surface="posts", host="a", place=0, completeness=1.0, prior=prior, answers=kinds
    )
    assert one.refusals == len(kinds)
    if len(kinds) >= SICK_AFTER:
        assert one.is_sick


@given(st.lists(st.sampled_from(["empty_detail", "another_item", "unreachable", "chart_empty"])))
def test_refusals_of_items_and_faults_of_the_host_count_less(kinds: list[str]) -> None:
    one = source(answers=tuple(kinds))
    assert one.is_sick is (one.success_share < 0.2)


@given(st.lists(KINDS, min_size=1, max_size=8))
def test_one_answer_with_data_among_few_refusals_heals(kinds: list[str]) -> None:
    healed = source(answers=(*kinds[:6], ANSWERED))
    assert not healed.is_sick


def test_withheld_kinds_are_rows_of_the_refusal_table() -> None:
    assert {row.name for row in REFUSALS} >= WITHHELD_KINDS


def test_one_shell_in_three_costs_the_first_place_against_a_healthy_equal() -> None:
    weak, strong = source(0, answers=(SHELL, ANSWERED, ANSWERED)), source(1)
    assert [one.place for one in order_sources([weak, strong])] == [1, 0]


def test_two_challenged_surfaces_close_a_host_and_one_does_not() -> None:
    assert not closes_host(["video_page", "video_page"])
    assert closes_host(["video_page", "user_posts"])


def test_the_declared_order_is_that_of_sources_without_answers() -> None:
    for question in QUESTIONS:
        declared = [
            RankedSource(
                surface=one.surface, host="a", place=place,
                completeness=len(one.gives) / len(question.fields), prior=one.prior,
            )
            for place, one in enumerate(question.sources)
        ]  # fmt: skip
        assert [one.place for one in order_sources(declared)] == list(range(len(declared)))


def test_every_source_gives_fields_of_its_question_and_has_one_row() -> None:
    for question in QUESTIONS:
        names = [one.surface for one in question.sources]
        assert len(names) == len(set(names))
        assert all(one.gives and one.gives <= question.fields for one in question.sources)
