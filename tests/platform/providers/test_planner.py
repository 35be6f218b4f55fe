"""Which sources of a question are asked, with what is known of them and what they answer."""

import asyncio
import threading
from collections import Counter
from contextlib import nullcontext
from typing import Any, cast

import pytest

from pipelines.platform.call_trace import open_call_trace
from pipelines.platform.http.circuit_breaker import OPEN_REASON, PROBE_EVERY_S, LearnedHealth
from pipelines.platform.http.host_policy import SickPolicy
from pipelines.platform.sources.planner import Planner
from pipelines.platform.sources.rules import SICK_AFTER, RankedSource
from pipelines.platform.sources.table import Question, SourcePages
from tests.fake_clock import FakeClock
from tests.platform.providers.planned_platform import FULL, PARTIAL, Platform, empty
from warehouse.control import hosts
from warehouse.records.errors import (
    SURFACE_OFF,
    BudgetSpentError,
    EmptyAnswerError,
    ForbiddenError,
    LoginRequiredError,
    PageWithoutDataError,
    RateLimitedError,
    RefusedLatelyError,
    RegionBlockedError,
    SametrackError,
    StructureChangedError,
    SubstitutionError,
    UnreachableError,
    UnresolvedIdError,
    UpstreamError,
    VerificationDemandedError,
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def platform(clock: FakeClock) -> Platform:
    """Two sources of one host, and one of another."""
    return Platform(clock, first="a", second="a", elsewhere="b")


@pytest.fixture
def question(platform: Platform) -> Question[Any, frozenset[str]]:
    return platform.question(
        platform.source("first"),
        platform.source("second", prior=0.5),
        platform.source("elsewhere", prior=0.3),
    )


async def test_healthy_first_source_is_the_only_one_asked(platform: Any, question: Any) -> None:
    for _ in range(20):
        assert await platform.surface(question) == "first"
    assert set(platform.asked) == {"first"}


@pytest.mark.parametrize(
    "refusal", [EmptyAnswerError, PageWithoutDataError, StructureChangedError, ForbiddenError]
)
async def test_withheld_data_is_asked_of_the_next_source(
    refusal: type[UpstreamError], platform: Any, question: Any
) -> None:
    platform.answers["first"] = refusal
    assert await platform.surface(question) == "second"


@pytest.mark.parametrize("demand", [VerificationDemandedError, LoginRequiredError])
async def test_demand_holds_back_the_later_source_of_its_host(
    demand: type[UpstreamError], platform: Any, question: Any
) -> None:
    platform.answers["first"] = demand
    assert await platform.surface(question) == "elsewhere"
    assert platform.asked == ["first", "elsewhere"]


@pytest.mark.parametrize("demand", [VerificationDemandedError, LoginRequiredError])
async def test_no_number_of_demands_moves_the_later_source_of_the_host_to_the_front(
    demand: type[UpstreamError], platform: Any, question: Any
) -> None:
    platform.answers["first"] = demand
    for _ in range(20):
        assert await platform.surface(question) == "elsewhere"
    assert "second" not in platform.asked


def off(surface: str) -> UpstreamError:
    """What our own client says of a surface that a profile patch switches off."""
    return ForbiddenError("off", surface=surface, reason=SURFACE_OFF)


async def ask_at_once(platform: Any, question: Any, count: int) -> list[Any]:
    asks = (platform.surface(question) for _ in range(count))
    return await asyncio.gather(*asks, return_exceptions=True)


@pytest.mark.parametrize(
    "refusal", [RateLimitedError, LoginRequiredError, VerificationDemandedError, RegionBlockedError]
)
async def test_a_burst_that_waits_for_the_first_answer_is_refused_with_it(
    refusal: type[UpstreamError], platform: Any
) -> None:
    question = platform.question(platform.source("first", read=platform.read_slowly("first")))
    platform.answers["first"] = refusal
    found = await ask_at_once(platform, question, 9)
    assert {type(one) for one in found} == {refusal}
    assert [one.reason for one in found[1:]] == [OPEN_REASON] * 8
    assert platform.asked == ["first"]


async def test_a_burst_for_a_surface_that_is_off_meets_that_and_no_refusal(platform: Any) -> None:
    question = platform.question(platform.source("first", read=platform.read_slowly("first")))
    platform.answers["first"] = off("first")
    found = await ask_at_once(platform, question, 9)
    assert {(type(one), one.stop_reason) for one in found} == {(ForbiddenError, "surface_off")}


async def test_planner_raises_the_refusal_of_a_source_before_surface_off(
    platform: Any,
) -> None:
    question = platform.question(platform.source("first"), platform.source("second"))
    platform.answers = {"first": off("first"), "second": ForbiddenError}
    [refused] = await ask_at_once(platform, question, 1)
    assert (refused.surface, refused.stop_reason) == ("second", "upstream_forbidden")
    platform.answers["second"] = off("second")
    [unasked] = await ask_at_once(platform, question, 1)
    assert unasked.stop_reason == "surface_off"


async def test_a_source_that_is_off_does_not_hide_that_the_other_refused_lately(
    platform: Any,
) -> None:
    question = platform.question(platform.source("first"), platform.source("second"))
    platform.answers = {"first": off("first"), "second": empty("second")}
    assert (await refusals(platform, question, times=8))["upstream_refused_lately"] > 0


async def test_a_burst_goes_on_side_by_side_after_the_first_answer(platform: Any) -> None:
    question = platform.question(platform.source("first", read=platform.read_slowly("first")))
    assert await ask_at_once(platform, question, 9) == ["first"] * 9
    assert platform.most_at_once == 8
    assert len(platform.asked) == 9


async def test_a_silent_surface_holds_nobody_up_after_its_first_silence(platform: Any) -> None:
    question = platform.question(platform.source("first", read=platform.read_slowly("first")))
    platform.answers["first"] = UnreachableError
    await ask_at_once(platform, question, 9)
    assert platform.most_at_once == 8


async def test_a_burst_asks_a_fallback_that_shows_shells_until_it_is_known_as_sick(
    platform: Any, question: Any
) -> None:
    platform.answers = {
        "first": EmptyAnswerError,
        "second": PageWithoutDataError,
        "elsewhere": FULL,
    }
    assert await ask_at_once(platform, question, 9) == ["elsewhere"] * 9
    assert Counter(platform.asked)["second"] < 9


async def test_closed_circuit_holds_back_as_the_demand_did(platform: Any, question: Any) -> None:
    closed = VerificationDemandedError("closed", surface="first", reason=OPEN_REASON)
    platform.answers["first"] = closed
    for _ in range(3):
        assert await platform.surface(question) == "elsewhere"
    assert "second" not in platform.asked


@pytest.mark.parametrize(
    "fault", [UnreachableError("down", surface="first"), BudgetSpentError("no", surface="first")]
)
async def test_fault_of_a_host_is_no_reason_to_ask_it_again(
    fault: UpstreamError, platform: Any, question: Any
) -> None:
    platform.answers["first"] = fault
    assert await platform.surface(question) == "elsewhere"
    assert "second" not in platform.asked


async def test_answer_about_the_region_ends_the_question(platform: Any, question: Any) -> None:
    platform.answers["first"] = RegionBlockedError
    with pytest.raises(RegionBlockedError):
        await platform.surface(question)
    assert platform.asked == ["first"]


async def test_unknown_field_is_asked_of_a_source_that_gives_it(
    platform: Any, question: Any
) -> None:
    platform.answers["first"] = PARTIAL
    assert await platform.surface(question) == "second"
    assert platform.asked == ["first", "second"]


async def test_partial_answer_stays_where_nobody_knows_more(platform: Any) -> None:
    platform.answers["first"] = platform.answers["elsewhere"] = PARTIAL
    narrow = platform.source("second", gives=PARTIAL)
    question = platform.question(platform.source("first"), narrow, platform.source("elsewhere"))
    assert await platform.surface(question) == "first"
    assert platform.asked == ["first", "elsewhere"]


async def test_sick_source_is_left_alone_until_its_probe_is_due(
    platform: Any, question: Any, clock: FakeClock
) -> None:
    platform.answers |= {"first": PageWithoutDataError, "second": PageWithoutDataError}
    for _ in range(60):
        await platform.surface(question)
    asked = Counter(platform.asked)
    assert asked["elsewhere"] == 60
    assert asked["first"] + asked["second"] < 20
    platform.asked.clear()
    for _ in range(5):
        clock.advance(PROBE_EVERY_S)
        for _ in range(3):
            await platform.surface(question)
    assert Counter(platform.asked)["first"] == 5


async def test_recovered_source_comes_first_again(
    platform: Any, question: Any, clock: FakeClock
) -> None:
    platform.answers["first"] = PageWithoutDataError
    for _ in range(60):
        await platform.surface(question)
    platform.answers["first"] = FULL
    clock.advance(PROBE_EVERY_S)
    for _ in range(60):
        await platform.surface(question)
    platform.asked.clear()
    assert await platform.surface(question) == "first"
    assert platform.asked == ["first"]


async def test_demand_towards_a_probe_does_not_hold_back_what_is_asked_anyway(
    platform: Any, question: Any, clock: FakeClock
) -> None:
    platform.answers["first"] = PageWithoutDataError
    for _ in range(20):
        await platform.surface(question)
    platform.answers["first"] = VerificationDemandedError
    clock.advance(PROBE_EVERY_S)
    platform.asked.clear()
    assert await platform.surface(question) == "second"
    assert platform.asked == ["first", "second"]


@pytest.mark.parametrize(
    ("refusal", "asked"),
    [
        (UnreachableError, ["first", "elsewhere"]),
        (RateLimitedError, ["first", "elsewhere"]),
        (RegionBlockedError, ["first"]),
    ],
)
async def test_planner_ends_the_question_if_a_probe_meets_a_region_block(
    refusal: type[UpstreamError], asked: list[str], platform: Any, question: Any, clock: FakeClock
) -> None:
    platform.answers["first"] = PageWithoutDataError
    for _ in range(20):
        await platform.surface(question)
    platform.answers["first"] = refusal
    clock.advance(PROBE_EVERY_S)
    platform.asked.clear()
    with nullcontext() if "elsewhere" in asked else pytest.raises(refusal):
        assert await platform.surface(question) == "elsewhere"
    assert platform.asked == asked


async def test_error_of_one_video_is_preferred_to_that_of_a_closed_source(
    platform: Any, question: Any
) -> None:
    """A closed source must not end a scan while another one answers."""
    platform.answers = {
        "first": ForbiddenError, "second": EmptyAnswerError, "elsewhere": PageWithoutDataError,
    }  # fmt: skip
    with pytest.raises(EmptyAnswerError):
        await platform.surface(question)


async def test_where_every_source_refuses_the_best_one_is_named(
    platform: Any, question: Any
) -> None:
    platform.answers = {"first": LoginRequiredError, "elsewhere": VerificationDemandedError}
    with pytest.raises(LoginRequiredError):
        await platform.surface(question)


async def test_cursor_is_given_back_to_the_source_that_gave_it(platform: Any) -> None:
    question = platform.question(platform.source("first"), platform.source("elsewhere", prior=0.5))
    platform.answers["first"] = EmptyAnswerError
    assert await platform.surface(question) == "elsewhere"
    platform.answers["first"] = FULL
    assert await platform.surface(question, cursor=20) == "elsewhere"


async def test_cursor_of_another_process_belongs_to_the_first_declared_source(
    platform: Any, question: Any
) -> None:
    platform.answers["first"] = EmptyAnswerError
    with pytest.raises(EmptyAnswerError):
        await platform.surface(question, cursor=20)
    assert platform.asked == ["first"]


async def test_walk_of_another_process_goes_on_with_the_source_that_it_names(
    platform: Any, question: Any
) -> None:
    platform.planner.resume_walk("elsewhere", "1", [question])
    assert await platform.surface(question, cursor=20) == "elsewhere"
    platform.planner.resume_walk("no source of the question", "1", [question])
    assert await platform.surface(question, cursor=20) == "elsewhere"


async def test_source_of_first_screens_is_not_asked_for_later_ones(platform: Any) -> None:
    first = platform.source("first", pages=SourcePages.FIRST)
    question = platform.question(first, platform.source("elsewhere"))
    assert await platform.surface(question) == "first"
    assert await platform.surface(question, cursor=20) == "elsewhere"


async def test_every_choice_is_reported(platform: Any, question: Any) -> None:
    platform.answers["first"] = VerificationDemandedError
    with open_call_trace() as call_trace:
        await platform.surface(question)
    assert call_trace.verdicts == {
        ("detail", "first", "refused"): 1,
        ("detail", "second", "held_back"): 1,
        ("detail", "elsewhere", "answered"): 1,
    }


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (None, "ok"),
        (PageWithoutDataError("a shell", surface="s"), "page_without_data"),
        (ForbiddenError("no", surface="s", status=403), "forbidden"),
        (ForbiddenError("closed", surface="s", reason=OPEN_REASON), None),
        (BudgetSpentError("ours", surface="s"), None),
        (SametrackError("odd"), None),
    ],
)
async def test_only_what_a_surface_answered_is_learned(
    error: SametrackError | None, kind: str | None, clock: FakeClock
) -> None:
    health = LearnedHealth(clock=clock)
    await health.note("a", "s", error)
    assert (await health.answers()).get(("a", "s"), ()) == (() if kind is None else (kind,))


async def test_learned_health_is_read_once_for_simultaneous_questions(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a scan that begins takes every surface for one of which nothing is known."""
    is_read = threading.Event()

    def read(_control: object, *, max_age_s: float) -> dict[tuple[str, str], tuple[str, ...]]:
        assert is_read.wait(60), max_age_s
        return {("a", "s"): ("empty_body",)}

    monkeypatch.setattr(hosts, "recent_answers", read)
    health = LearnedHealth(cast("Any", object()), clock=clock)
    asked = [asyncio.create_task(health.answers()) for _ in range(3)]
    await asyncio.sleep(0)
    is_read.set()
    assert [dict(found) for found in await asyncio.gather(*asked)] == [
        {("a", "s"): ("empty_body",)}
    ] * 3


async def test_a_world_of_shells_costs_little_more_than_one_request_each(platform: Any) -> None:
    """95 of 100 pages are shells, `slides_info` answers: the page is not worth asking."""
    details = platform.source("first", prior=0.9)
    page = platform.source("second", prior=0.3, gives=PARTIAL)
    question = platform.question(details, page)
    shares = [EmptyAnswerError if number % 25 == 0 else FULL for number in range(200)]
    for number, answer in enumerate(shares):
        platform.answers = {
            "first": answer, "second": FULL if number % 20 == 0 else PageWithoutDataError,
        }  # fmt: skip
        try:
            await platform.surface(question)
        except UpstreamError:
            continue
    assert len(platform.asked) <= 200 * 1.15


async def refusals(platform: Platform, question: Any, *, times: int) -> Counter[str]:
    """Ask for many items at once, as a scan does; count the errors by type."""
    asked = (platform.surface(question) for _ in range(times))
    errors = await asyncio.gather(*asked, return_exceptions=True)
    return Counter(error.type for error in errors if isinstance(error, UpstreamError))


async def test_sources_that_all_refuse_are_asked_for_three_items_at_most(
    platform: Any, question: Any
) -> None:
    platform.answers = {name: empty(name) for name in platform.answers}
    errors = await refusals(platform, question, times=16)
    assert errors["upstream_refused_lately"] == 16 - SICK_AFTER
    assert max(Counter(platform.asked).values()) == SICK_AFTER


async def test_planner_skips_a_sick_surface_and_names_its_refusals(
    platform: Any, question: Any
) -> None:
    platform.answers = {name: empty(name) for name in platform.answers}
    await refusals(platform, question, times=SICK_AFTER)
    platform.asked.clear()
    with open_call_trace() as call_trace, pytest.raises(RefusedLatelyError) as caught:
        await platform.surface(question)
    assert platform.asked == []
    assert (caught.value.surface, caught.value.reason) == ("first", "empty_body")
    assert "refused 3 of its last 3 requests" in caught.value.detail
    assert set(call_trace.verdicts) == {("detail", name, "sick") for name in platform.answers}


async def test_sick_sources_are_probed_once_per_interval_and_recover(
    platform: Any, clock: FakeClock
) -> None:
    question = platform.question(platform.source("first"))
    platform.answers["first"] = empty("first")
    await refusals(platform, question, times=8)
    for _ in range(3):
        platform.asked.clear()
        clock.advance(PROBE_EVERY_S)
        assert (await refusals(platform, question, times=8))["upstream_refused_lately"] == 7
        assert platform.asked == ["first"]
    platform.answers["first"] = FULL
    clock.advance(PROBE_EVERY_S)
    assert (await refusals(platform, question, times=1)) == {}
    assert (await refusals(platform, question, times=16)) == {}


async def test_a_user_is_answered_by_one_request_although_the_source_is_sick(
    platform: Any, question: Any
) -> None:
    platform.answers = {name: empty(name) for name in platform.answers}
    await refusals(platform, question, times=8)
    platform.asked.clear()
    platform.planner = Planner(platform, sick_policy=SickPolicy.ONCE)
    assert await refusals(platform, question, times=1) == {"upstream_empty": 1}
    assert await refusals(platform, question, times=1) == {"upstream_refused_lately": 1}
    assert platform.asked == ["first"]


async def test_essential_question_probes_a_sick_source_once_per_job(platform: Any) -> None:
    question = platform.question(platform.source("first"), is_essential=True)
    platform.answers["first"] = empty("first")
    await refusals(platform, question, times=8)
    platform.asked.clear()
    for _ in range(3):
        platform.planner = Planner(platform)
        await refusals(platform, question, times=4)
    assert platform.asked == ["first"] * 3


async def test_a_policy_that_always_asks_the_best_source_does(platform: Any, question: Any) -> None:
    platform.planner = Planner(platform, sick_policy=SickPolicy.ALWAYS)
    platform.answers = {name: empty(name) for name in platform.answers}
    await refusals(platform, question, times=10)
    assert Counter(platform.asked)["first"] == 10


@pytest.mark.parametrize("at_once", [1, 5, 16])
@pytest.mark.parametrize("answering", [1, 3, 10])
async def test_refusals_of_single_items_never_end_the_reading_of_the_others(
    answering: int, at_once: int, platform: Any
) -> None:
    question = platform.question(platform.source("first"))
    refusal = EmptyAnswerError("no", surface="first", reason="empty_detail")
    for start in range(0, 40, at_once):
        platform.answers["first"] = refusal if start % (answering + 1) else FULL
        await refusals(platform, question, times=at_once)
    assert len(platform.asked) >= 40


@pytest.mark.parametrize(
    "error",
    [
        EmptyAnswerError("gone, or withheld", surface="first", reason="empty_detail"),
        SubstitutionError("another video", surface="first", reason="1"),
        SubstitutionError("another issue", surface="first", reason="another_issue"),
        UnresolvedIdError("unknown"),
    ],
)
async def test_errors_about_single_items_do_not_make_a_surface_sick(
    error: SametrackError, platform: Any, clock: FakeClock
) -> None:
    health = LearnedHealth(clock=clock)
    for _ in range(60):
        await health.note("a", "first", error)
    answers = (await health.answers()).get(("a", "first"), ())
    ranked = RankedSource(
        surface="first", host="a", place=0, completeness=1.0, prior=0.9, answers=answers
    )
    assert (ranked.is_sick, ranked.success_share >= 0.9) == (False, True)


async def test_answer_without_data_is_replaced_by_the_next_source(platform: Any) -> None:
    """An answer that gives no field says only that this surface does not show the item."""
    platform.answers["first"] = frozenset()
    question = platform.question(platform.source("first"), platform.source("elsewhere"))
    assert await platform.surface(question) == "elsewhere"
    assert platform.asked == ["first", "elsewhere"]


async def test_answer_without_data_stands_if_there_is_no_other_source(platform: Any) -> None:
    platform.answers["first"] = frozenset()
    assert await platform.surface(platform.question(platform.source("first"))) == "first"


async def test_answer_without_data_does_not_stand_for_a_source_that_refused(platform: Any) -> None:
    platform.answers |= {"first": frozenset(), "elsewhere": EmptyAnswerError}
    question = platform.question(platform.source("first"), platform.source("elsewhere"))
    with pytest.raises(EmptyAnswerError):
        await platform.surface(question)
