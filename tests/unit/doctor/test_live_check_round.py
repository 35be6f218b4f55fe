"""A live check asks each surface once, in order, within its limits, and says what it left out."""

import asyncio
from collections.abc import Callable

import pytest

from pipelines.doctor.live_check.round import (
    LIMIT_REACHED,
    LONGEST_S,
    ORDER,
    REQUEST_LIMIT,
    CountedTurns,
    LiveCheckTimes,
    OneRequestClient,
    SurfaceCheck,
)
from pipelines.doctor.probes.probe_round import ProbeListener
from pipelines.platform.http.client import HttpRequest
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.providers.music_service import MusicServicePublic
from tests.fake_clock import FakeClock
from tests.host_rates import AT_ONCE
from tests.unit.doctor.conftest import HEALTHY, MP4, FakeGuest, LiveStage
from warehouse.control import ControlStore
from warehouse.records.errors import (
    BudgetSpentError,
    UnreachableError,
    VerificationDemandedError,
)
from warehouse.records.health import SURFACE_USES

Live = Callable[..., LiveStage]
TIMES = LiveCheckTimes()
SURFACES = ("slides_info", "music_info", "music_list", "media", "video_page")


def outcomes(checks: list[SurfaceCheck]) -> dict[str, tuple[str, str | None]]:
    return {one.health.surface: (one.health.outcome, one.health.reason) for one in checks}


def test_every_surface_of_the_check_is_one_of_the_doctor() -> None:
    assert set(ORDER) <= set(SURFACE_USES)
    assert REQUEST_LIMIT == 20


async def test_each_surface_is_asked_once_and_ids_are_learned_on_the_way(live: Live) -> None:
    stage = live(HEALTHY | {"media": MP4})
    checks = await stage.round.run(SURFACES)
    assert [one.health.surface for one in checks] == list(SURFACES)
    assert {one.health.outcome for one in checks} == {"works"}
    assert sorted(stage.guest.asked) == sorted(SURFACES)
    assert checks[3].sound_head == MP4


async def test_a_song_is_asked_for_once_a_list_named_it(live: Live) -> None:
    songs = {
        "service_track": "service_track/song.html", "trends_list": "trends_list/page.json",
    }  # fmt: skip
    stage = live(HEALTHY | songs)
    checks = await stage.round.run(("service_track", "trends_list"))
    assert outcomes(checks) == dict.fromkeys(songs, ("works", None))
    assert stage.guest.asked == ["trends_list", "service_track"]


async def test_a_handle_is_asked_for_once_an_account_named_it(live: Live) -> None:
    accounts = {
        "user_by_handle": "user_by_handle/account.json", "user_info": "user_info/account.json",
    }  # fmt: skip
    stage = live(HEALTHY | accounts)
    stage.round.canaries.offer("sec_uid", "MS4wLjABAAAAq7Rk2dV0xYt3mH8sLw5uZc1nPfJb4eGo6aTi9yWvKrE")
    checks = await stage.round.run(("user_by_handle", "user_info"))
    assert outcomes(checks) == dict.fromkeys(accounts, ("works", None))
    assert stage.guest.asked == ["user_info", "user_by_handle"]
    assert checks[0].health.entity_id == "@xiaoman88"


async def test_a_profile_without_a_music_service_is_asked_for_no_song(live: Live) -> None:
    stage = live(HEALTHY)
    profile = stage.guest.profile
    hosts = profile.hosts.model_copy(update={"music_service": None})
    stage.round.reader.profile = stage.guest.profile = profile.model_copy(update={"hosts": hosts})
    stage.round.reader.songs = MusicServicePublic(stage.guest)
    stage.round.canaries.offer("song", "7000000000000000001")
    [check] = await stage.round.run(("service_track",))
    assert (check.health.error_type, stage.guest.asked) == ("provider_unsupported", [])


async def test_a_surface_whose_id_nobody_knows_is_named(live: Live) -> None:
    checks = await live({}).round.run(("hashtag_list", "media"))
    assert outcomes(checks) == dict.fromkeys(
        ("hashtag_list", "media"), ("not_asked", "nothing_to_ask")
    )


async def test_whoever_asks_again_gets_the_first_response(live: Live) -> None:
    stage = live(HEALTHY)

    class OnceAsked(OneRequestClient, FakeGuest):
        pass

    guest = OnceAsked(stage.guest.profile, stage.guest.turns, stage.clock, HEALTHY)
    ask = HttpRequest(surface="music_info", url="http://share.vidplat.localhost/", allowed=())
    assert await guest.fetch(ask) is await guest.fetch(ask)
    assert guest.asked == ["music_info"]


async def test_what_is_left_when_the_time_is_up_is_not_checked_in_time(live: Live) -> None:
    stage = live(HEALTHY | {"slides_info": 1000.0})
    running = asyncio.create_task(stage.round.run(("slides_info", "music_info")))
    await stage.clock.asleep(2)  # the guest, and the alarm of the surface
    stage.clock.advance(TIMES.total_s + 1)
    assert outcomes(await running) == {
        "slides_info": ("unreachable", "no_answer"),
        "music_info": ("not_asked", "time_is_up"),
    }
    assert stage.guest.asked == ["slides_info"]


async def test_one_slow_surface_leaves_time_for_the_others(live: Live) -> None:
    stage = live(HEALTHY | {"slides_info": 1000.0})
    running = asyncio.create_task(stage.round.run(("slides_info", "music_info")))
    await stage.clock.asleep(2)
    stage.clock.advance(TIMES.surface_s + 1)
    assert outcomes(await running)["music_info"] == ("works", None)


async def test_the_last_surfaces_are_left_out_when_the_requests_are_used_up(live: Live) -> None:
    stage = live(HEALTHY, limit=3)
    checks = await stage.round.run(("slides_info", "music_info", "music_list", "video_page"))
    assert outcomes(checks)["music_info"] == ("works", None)
    assert outcomes(checks)["music_list"] == ("not_asked", LIMIT_REACHED)
    assert stage.guest.turns.used <= 3


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (VerificationDemandedError, "host_demands_verification"),
        (UnreachableError, "host_is_silent"),
    ],
)
async def test_a_host_that_refuses_twice_is_asked_nothing_more(
    live: Live, error: type[UnreachableError], reason: str
) -> None:
    refusal = error("no", surface="any")
    stage = live(HEALTHY | {"slides_info": refusal, "music_info": refusal})
    checks = await stage.round.run(("slides_info", "music_info", "music_list", "video_page"))
    assert outcomes(checks)["music_list"] == ("not_asked", reason)
    assert outcomes(checks)["video_page"] == ("not_asked", reason)
    assert stage.guest.asked == ["slides_info", "music_info"]


async def test_a_failure_of_our_own_is_a_line_of_the_report(live: Live) -> None:
    checks = await live({"slides_info": "no/such/file.json"}).round.run(("slides_info",))
    assert checks[0].health.error_type == "internal_error"


async def test_progress_is_reported_per_surface(live: Live) -> None:
    stage, told = live(HEALTHY), list[str]()
    stage.round.watch = ProbeListener(
        asking=lambda surface: told.append(f"asking {surface}"),
        found=lambda health: told.append(f"{health.outcome} {health.surface}"),
    )
    await stage.round.run(("slides_info", "music_info"))
    assert told == [
        "asking slides_info", "works slides_info", "asking music_info", "works music_info",
    ]  # fmt: skip


def test_a_link_names_what_is_asked_for(live: Live) -> None:
    asked = live({}).round
    asked.learn_target(LinkTarget("user", "MS4wLjABAAAAabcd"))
    asked.learn_target(LinkTarget("short", "abcd", "http://v.vidplat.localhost/abcd/"))
    asked.learn_target(LinkTarget("live", "1234567"))
    assert asked.canaries.of("sec_uid") == ("MS4wLjABAAAAabcd",)
    assert asked.canaries.of("link") == ("http://v.vidplat.localhost/abcd/",)


async def test_no_request_is_sent_after_the_last_one(control: ControlStore) -> None:
    turns = CountedTurns(
        control, AT_ONCE, daily_budget=100, max_wait_s=1.0, limit=2, clock=FakeClock()
    )
    await turns.wait("a.example", surface="robots")
    await turns.wait("a.example", surface="music_info")
    with pytest.raises(BudgetSpentError) as caught:
        await turns.wait("b.example", surface="music_list")
    assert (caught.value.reason, turns.left) == (LIMIT_REACHED, 0)


@pytest.mark.parametrize("limit_s", [10.0, LONGEST_S, 600.0])
def test_all_requests_end_before_the_command_has_to(limit_s: float) -> None:
    times = LiveCheckTimes.within(limit_s)
    assert times.request_s < times.surface_s
    assert times.total_s < limit_s
    assert times.http_limits().attempts == 1


def test_a_live_check_takes_less_than_a_minute() -> None:
    assert LiveCheckTimes.within(LONGEST_S).total_s == LiveCheckTimes().total_s < LONGEST_S == 60
