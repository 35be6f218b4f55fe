"""How the reader moves through the app when a screen, a button or the device is not as expected."""

import pytest

from pipelines.platform.mobileapp.phone import NotIdleError, unavailable
from pipelines.platform.mobileapp.reader import LOOK_EVERY_S, RETURN_S
from pipelines.platform.mobileapp.screens import Item, Selector
from sandbox.server.device import screens
from tests.fake_clock import FakeClock
from tests.platform.mobileapp.scripted_phone import (
    TRACK,
    ScriptedPhone,
    State,
    dump,
    reader_of,
    sandbox_app,
    share_screen,
    track_screen,
    video_id,
    visit,
    work_screen,
)
from warehouse.records.errors import (
    DeviceUnavailableError,
    StructureChangedError,
    UnreachableError,
)


def ids(items: list[Item]) -> list[str]:
    return [item.aweme_id for item in items]


def named(number: int) -> tuple[str, str, str]:
    """What shows while a video with a link is read."""
    return visit(number, video_id(number))


async def test_no_handle_is_read_where_the_layout_has_no_account_page() -> None:
    phone = ScriptedPhone(work_screen(1))
    reader = reader_of(phone, FakeClock(), app=sandbox_app(account=None))
    assert await reader.read_handle("any link") is None
    assert phone.done == []


async def test_a_video_whose_link_cannot_be_read_is_passed_over() -> None:
    phone = ScriptedPhone(track_screen(), *visit(1), *visit(2), *named(3))
    page = await reader_of(phone, FakeClock()).read_page(TRACK, 0, 3)
    assert (ids(page.items), page.taken, page.nameless) == ([video_id(3)], 3, 0)


async def test_three_videos_in_a_row_without_a_link_end_the_reading_by_name() -> None:
    phone = ScriptedPhone(track_screen(), *named(1), *visit(2), *visit(3), *visit(4))
    reader = reader_of(phone, FakeClock())
    page = await reader.read_page(TRACK, 0, 9)
    assert (ids(page.items), page.taken, page.has_more) == ([video_id(1)], 4, True)
    with pytest.raises(StructureChangedError, match="no video names its link") as caught:
        await reader.read_page(TRACK, 4, 9)
    assert caught.value.reason == "no_link"


async def test_a_track_without_videos_is_at_its_end_at_once() -> None:
    phone = ScriptedPhone(track_screen(likes=()))
    page = await reader_of(phone, FakeClock()).read_page(TRACK, 0, 5)
    assert (page.items, page.taken, page.has_more) == ([], 0, False)
    assert phone.done == ["open"]


async def test_a_swipe_that_moved_nothing_is_made_once_more() -> None:
    phone = ScriptedPhone(track_screen(), *named(1), work_screen(1), *named(2))
    page = await reader_of(phone, FakeClock()).read_page(TRACK, 0, 2)
    assert (ids(page.items), phone.done.count("swipe")) == ([video_id(1), video_id(2)], 2)


async def test_a_feed_that_two_swipes_do_not_move_is_at_its_end() -> None:
    phone = ScriptedPhone(track_screen(), *named(1))
    page = await reader_of(phone, FakeClock()).read_page(TRACK, 0, 5)
    assert (ids(page.items), page.has_more, phone.done.count("swipe")) == ([video_id(1)], False, 2)


async def test_a_screen_that_never_stands_still_ends_the_reading_in_time() -> None:
    clock, phone = FakeClock(), ScriptedPhone(NotIdleError())
    app = sandbox_app()
    with pytest.raises(UnreachableError, match="never stands still"):
        await reader_of(phone, clock, app=app).read_page(TRACK, 0, 5)
    assert app.max_wait_s <= clock.monotonic() < app.max_wait_s + 1
    assert "pause" in phone.done


async def test_a_video_that_a_tap_does_not_pause_is_waited_for() -> None:
    layout = sandbox_app().layouts[0]
    app = sandbox_app(work=layout.work.model_copy(update={"is_paused_by_tap": False}))
    clock, phone = FakeClock(), ScriptedPhone(track_screen(), NotIdleError(), *named(1))
    page = await reader_of(phone, clock, app=app).read_page(TRACK, 0, 1)
    assert ids(page.items) == [video_id(1)]
    assert "pause" not in phone.done
    assert sum(clock.slept) == LOOK_EVERY_S


async def test_a_dialog_is_closed_by_the_first_button_that_shows() -> None:
    prompts = sandbox_app().layouts[0].prompts
    ways = (Selector(id="of_an_older_dialog"), *prompts.dialog)
    app = sandbox_app(prompts=prompts.model_copy(update={"dialog": ways}))
    phone = ScriptedPhone(dump(screens.prompt("dialog")), track_screen())
    await reader_of(phone, FakeClock(), app=app).read_track(TRACK)
    assert phone.done == ["open", "tap 540 1350"]


async def test_a_button_that_is_missing_is_a_changed_structure_with_the_ids_that_show() -> None:
    screen = screens.work("somebody", "caption", (1, 2, 3, 4), is_last_again=False)
    views = [view for view in screen if view.action != "share"]
    phone = ScriptedPhone(track_screen(), dump(views))
    with pytest.raises(StructureChangedError, match="a button is not where") as caught:
        await reader_of(phone, FakeClock()).read_page(TRACK, 0, 1)
    assert "feed_item, title, desc" in str(caught.value.reason)


async def test_a_device_that_was_never_there_is_not_waited_for() -> None:
    clock, phone = FakeClock(), ScriptedPhone(track_screen(), states=["offline"])
    with pytest.raises(DeviceUnavailableError) as caught:
        await reader_of(phone, clock).read_page(TRACK, 0, 5)
    assert (caught.value.reason, clock.slept, phone.done) == ("offline", [], [])


async def test_a_tree_cut_short_is_a_loss_and_the_device_is_led_back_once_it_is_online() -> None:
    states: list[State] = ["device", "offline", unavailable("absent", "phone-1"), "device"]
    before = (track_screen(), work_screen(1), share_screen(1, video_id(1))[:200])
    clock = FakeClock()
    phone = ScriptedPhone(*before, track_screen(), *named(1), states=states)
    page = await reader_of(phone, clock).read_page(TRACK, 0, 1)
    assert (ids(page.items), page.taken) == ([video_id(1)], 1)
    assert (phone.done.count("open"), clock.slept.count(1.0)) == (2, 2)


async def test_a_lost_device_that_refuses_this_machine_is_not_waited_for() -> None:
    states: list[State] = ["device", unavailable("unauthorized", "phone-1")]
    clock, phone = FakeClock(), ScriptedPhone("half a tree", states=states)
    with pytest.raises(DeviceUnavailableError) as caught:
        await reader_of(phone, clock).read_page(TRACK, 0, 1)
    assert (caught.value.reason, sum(clock.slept)) == ("lost", 0)


async def test_a_lost_device_that_stays_away_is_given_up_after_its_time() -> None:
    clock, phone = FakeClock(), ScriptedPhone("half a tree", states=["device", "offline"])
    with pytest.raises(DeviceUnavailableError) as caught:
        await reader_of(phone, clock).read_page(TRACK, 0, 1)
    assert (caught.value.reason, sum(clock.slept)) == ("lost", RETURN_S)
