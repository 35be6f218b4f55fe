"""Reading works one by one from the scripted app, over the real protocol and the real client."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from pipelines.platform.mobileapp.adb import CALL_S, AdbPhone
from pipelines.platform.mobileapp.screens import load_app, pack_page, parse_app_page
from pipelines.platform.parsers.videos import ParseContext
from pipelines.platform.profiles import load_profile
from pipelines.platform.reparse import ArchivedBody, BodyParser
from sandbox.server.device.screens import rounded
from tests.platform.mobileapp.devices import Device
from tests.platform.shape_answers import SEEN_AT
from warehouse.control import hosts
from warehouse.records.errors import (
    AppUnreadableError,
    BudgetSpentError,
    DeviceUnavailableError,
    LoginRequiredError,
    StructureChangedError,
    VerificationDemandedError,
)
from warehouse.records.videos import VideoPage

pytestmark = pytest.mark.full

SEEN = ParseContext(surface="music_app", observed_at=SEEN_AT, link_of=str)


def ids(page: Any) -> list[str]:
    return [item.aweme_id for item in page.items]


async def test_works_come_in_the_order_of_the_app_until_the_last(device: Device) -> None:
    true = [work.aweme_id for work in device.works(device.track)]
    reader = device.reader()
    first = await reader.read_page(device.track, 0, 3)
    second = await reader.read_page(device.track, 3, 1000)
    assert ids(first) + ids(second) == true
    assert (first.has_more, second.has_more) == (True, False)
    assert len(device.phone.log.opened) == 1  # the second page went on where the first had ended


async def test_app_page_gives_the_videos_and_counts_of_the_app(device: Device) -> None:
    page = await device.reader().read_page(device.track, 0, 1000)
    app = load_app("sandbox")
    assert app is not None
    body = pack_page(page.items, layout="stand-in-31", cursor=9, has_more=False)
    videos = parse_app_page(body, app=app, context=SEEN).videos
    works = device.works(device.track)
    assert [video.desc for video in videos] == [device.world.caption(work) for work in works]
    assert {video.music for video in videos} == {None}  # no screen names a music id
    for video, work in zip(videos, works, strict=True):
        true = (work.digg_count, work.comment_count, work.collect_count, work.share_count)
        assert video.is_exact == (not any("万" in rounded(count) for count in true))
        for shown, count in zip(video.statistics.counts().values(), true, strict=True):
            assert (shown is None) if not count else abs(int(shown or 0) - count) <= count * 0.05
        assert not video.statistics_complete  # a list never is; details complete it


async def test_a_kept_body_is_read_again_to_the_same_works(device: Device) -> None:
    page = await device.reader().read_page(device.track, 0, 3)
    body = pack_page(page.items, layout="stand-in-31", cursor=3, has_more=True)
    replayer = BodyParser(load_profile("sandbox", sandbox_port=1))
    kept = ArchivedBody(
        surface="music_app", entity_id=device.track, observed_at=SEEN_AT, body=body, status=200,
        content_type="application/json", path="/app", cursor=0,
    )  # fmt: skip
    again = replayer.read(kept)
    assert isinstance(again, VideoPage)
    assert [video.aweme_id for video in again.videos] == ids(page)
    assert (again.cursor, again.has_more) == (3, True)


async def test_a_later_place_is_reached_without_reading_what_lies_before(device: Device) -> None:
    true = [work.aweme_id for work in device.works(device.track)]
    assert ids(await device.reader().read_page(device.track, 2, 2)) == true[2:4]
    assert device.phone.log.works[:3] == true[:3]


async def test_every_step_waits_for_its_turn_and_the_day_has_a_budget(device: Device) -> None:
    await device.reader().read_page(device.track, 0, 2)
    log = device.phone.log
    steps = len(log.opened) + log.swipes + 1 + 2  # the first work is tapped, two are shared
    assert hosts.spent_today(device.control) == {"device:stand-in-1": steps}
    with pytest.raises(BudgetSpentError):
        await device.reader(daily_budget=steps).read_page(device.track, 0, 1)


@pytest.mark.parametrize(
    ("prompt", "error", "reason"),
    [
        ("login", LoginRequiredError, "app_login_prompt"),
        ("verification", VerificationDemandedError, "app_verification_prompt"),
    ],
)
async def test_a_demand_ends_the_reading_by_name_and_keeps_what_was_read(
    prompt: Any, error: Any, reason: str, device: Device
) -> None:
    device.phone.script.change(prompt=prompt, prompt_after=2)
    reader = device.reader()
    page = await reader.read_page(device.track, 0, 5)
    assert (len(page.items), page.taken, page.has_more) == (2, 2, True)
    with pytest.raises(error) as caught:
        await reader.read_page(device.track, 2, 5)
    assert caught.value.reason == reason


async def test_login_prompt_of_the_app_raises_login_required(device: Device) -> None:
    device.phone.script.prompt = "login"
    with pytest.raises(LoginRequiredError):
        await device.reader().read_page(device.track, 0, 5)


async def test_a_dialog_is_closed_and_a_slow_screen_waited_for(device: Device) -> None:
    device.phone.script.change(prompt="dialog", loading=3)
    page = await device.reader().read_page(device.track, 0, 2)
    assert len(page.items) == 2


@pytest.mark.parametrize("lose_in", ["swipe", "dump"])
async def test_a_device_lost_in_mid_scroll_and_found_again_costs_nothing_that_was_read(
    lose_in: Any, device: Device
) -> None:
    device.phone.script.change(lose_after=2, lose_in=lose_in, away=7)
    page = await device.reader().read_page(device.track, 0, 1000)
    assert ids(page) == [work.aweme_id for work in device.works(device.track)]
    assert (device.phone.log.losses, len(device.phone.log.opened)) == (1, 2)


async def test_a_device_that_stays_away_ends_the_reading_with_what_was_read(
    device: Device,
) -> None:
    device.phone.script.change(lose_after=2, away=10_000)
    reader = device.reader()
    page = await reader.read_page(device.track, 0, 1000)
    assert len(page.items) == 2
    with pytest.raises(DeviceUnavailableError) as caught:
        await reader.read_page(device.track, page.taken, 5)
    assert caught.value.reason == "absent"


def absent(device: Device) -> AdbPhone:
    return device.adb("nobody")


def no_server(_: Device) -> AdbPhone:
    return AdbPhone("stand-in-1", port=1)


@pytest.mark.parametrize(("phone", "reason"), [(absent, "absent"), (no_server, "no_adb_server")])
async def test_a_device_that_was_never_there_is_told_at_once_with_what_to_do(
    phone: Callable[[Device], AdbPhone], reason: str, device: Device
) -> None:
    missing = phone(device)
    with pytest.raises(DeviceUnavailableError) as caught:
        await missing.state()
    await missing.aclose()
    assert caught.value.reason == reason
    assert "adb" in str(caught.value.hint)
    assert device.clock.slept == []


@pytest.mark.parametrize(
    ("script", "kind", "reason"),
    [
        ({"state": "offline"}, DeviceUnavailableError, "offline"),
        ({"state": "unauthorized"}, DeviceUnavailableError, "unauthorized"),
        ({"is_installed": False}, AppUnreadableError, "not_installed"),
        ({"version": "99.0"}, AppUnreadableError, "unknown_layout"),
    ],
)
async def test_a_device_that_cannot_be_read_says_why(
    script: dict[str, Any], kind: Any, reason: str, device: Device
) -> None:
    device.phone.script.change(**script)
    with pytest.raises(kind) as caught:
        await device.reader().ready()
    assert (caught.value.reason, bool(caught.value.hint)) == (reason, True)


async def test_the_stand_in_is_never_taken_for_a_real_device_nor_the_other_way_round(
    device: Device, changed_app: Callable[..., Any]
) -> None:
    real = changed_app(is_simulated=False)
    with pytest.raises(DeviceUnavailableError) as caught:
        await device.reader(app=real).ready()
    assert caught.value.reason == "stand_in_device"
    device.phone.properties["ro.sametrack.stand_in"] = ""
    with pytest.raises(DeviceUnavailableError) as caught:
        await device.reader().ready()
    assert caught.value.reason == "real_device"


async def test_an_unknown_screen_is_a_changed_structure_with_the_ids_that_were_seen(
    device: Device, changed_app: Callable[..., Any]
) -> None:
    layout = changed_app().layouts[0]
    track = layout.track.model_copy(
        update={"sign": layout.track.sign.model_copy(update={"id": "moved"})}
    )
    app = changed_app(layouts=(layout.model_copy(update={"track": track}),))
    with pytest.raises(StructureChangedError) as caught:
        await device.reader(app=app).read_page(device.track, 0, 5)
    assert "music_detail" in str(caught.value.reason)


async def test_cancelled_app_read_ends_at_once_on_a_silent_device(
    device: Device,
) -> None:
    reader = device.reader()
    await reader.ready()
    device.phone.script.is_silent = True
    reading = asyncio.create_task(reader.read_page(device.track, 0, 5))
    await device.server.is_waited_for.wait()
    began = time.monotonic()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await reader.aclose()
    assert time.monotonic() - began < CALL_S  # its own limit did not end it


async def test_the_handle_of_an_author_is_read_from_the_link_of_a_work(device: Device) -> None:
    work = device.works(device.track)[0]
    link = f"http://share.vidplat.localhost:1/share/video/{work.aweme_id}/"
    handle = await device.reader().read_handle(link)
    assert handle == device.world.account(work.account).unique_id
