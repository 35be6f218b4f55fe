"""The shell commands of the simulated phone, and where links, taps and swipes lead in its app."""

import re

import pytest

from sandbox.server.device import screens
from sandbox.server.device.app import PACKAGE, Log, Script, ScriptedApp
from sandbox.server.device.phone import SimulatedPhone
from sandbox.server.platform import SandboxPlatform
from sandbox.world.world import SandboxWorld

NOBODY = "7000000000000000001"
SHARE = "http://share.vidplat.localhost:1/share"


@pytest.fixture
def phone(platform: SandboxPlatform) -> SimulatedPhone:
    return SimulatedPhone(platform)


@pytest.fixture
def app(platform: SandboxPlatform) -> ScriptedApp:
    return ScriptedApp(platform, Script(), Log())


def shown(phone: SimulatedPhone) -> set[str]:
    """The ids of the screen."""
    tree, status = phone.run("uiautomator dump && cat /sdcard/window_dump.xml")
    assert status == 0
    return set(re.findall(rf"{re.escape(PACKAGE)}:id/(\w+)", tree))


def opened(phone: SimulatedPhone, link: str) -> tuple[str, int]:
    return phone.run(f"am start -a android.intent.action.VIEW -d {link} -p {PACKAGE}")


def test_an_app_that_is_stopped_begins_at_its_home_again(
    phone: SimulatedPhone, world: SandboxWorld
) -> None:
    assert opened(phone, f"{SHARE}/music/{world.tracks[0].music_id}/")[1] == 0
    assert "music_detail" in shown(phone)
    assert phone.run(f"am force-stop {PACKAGE}") == ("", 0)
    assert shown(phone) == {"main_bottom", "tab_home", "tab_me"}


def test_an_app_that_is_not_there_opens_no_link_and_does_not_start(phone: SimulatedPhone) -> None:
    said, status = phone.run("am start -a VIEW -d http://any/ -p no.such.app")
    assert (status, "unable to resolve Intent" in said) == (1, True)
    assert phone.run("monkey -p no.such.app 1")[1] == 1
    phone.script.is_installed = False
    assert opened(phone, "http://any/")[1] == 1
    said, status = phone.run(f"monkey -p {PACKAGE} 1")
    assert (status, "aborted" in said, phone.log.opened) == (1, True, [])


def test_of_all_keys_only_back_does_something(phone: SimulatedPhone, world: SandboxWorld) -> None:
    opened(phone, f"{SHARE}/music/{world.tracks[0].music_id}/")
    assert phone.run("input keyevent HOME") == ("", 0)
    assert "music_detail" in shown(phone)
    assert phone.run("input keyevent KEYCODE_BACK") == ("", 0)
    assert "tab_home" in shown(phone)
    assert phone.run("input keyevent 4") == ("", 0)
    assert "tab_home" in shown(phone)  # there is nothing before it


def test_only_a_swipe_up_moves_a_feed(phone: SimulatedPhone, world: SandboxWorld) -> None:
    track = max(world.tracks, key=lambda one: world.music_list(one.index).size)
    opened(phone, f"{SHARE}/music/{track.music_id}/")
    phone.run("input swipe 500 1800 500 600")  # on the page of a track it leads nowhere
    assert "music_detail" in shown(phone)
    phone.run("input tap 100 800")
    first = list(phone.log.works)
    phone.run("input swipe 500 600 500 1800")
    assert phone.log.works == first
    phone.run("input swipe 500 1800 500 600")
    assert (len(phone.log.works), phone.log.swipes) == (2, 3)


def test_a_service_or_a_subcommand_that_it_lacks_tells_nothing(phone: SimulatedPhone) -> None:
    assert phone.run("dumpsys package no.such.app") == ("", 0)
    assert phone.run("dumpsys battery") == ("", 0)
    said, status = phone.run("uiautomator events")
    assert (status, said.startswith("Usage:"), phone.log.dumps) == (1, True, 0)


def test_properties_are_told_one_by_one_or_all_at_once(phone: SimulatedPhone) -> None:
    assert phone.run("getprop ro.build.version.sdk") == ("34\n", 0)
    assert phone.run("getprop no.such.property") == ("\n", 0)
    said, status = phone.run("getprop")
    assert status == 0
    assert said.splitlines()[0] == "[ro.sametrack.stand_in]: [1]"
    assert len(said.splitlines()) == len(phone.properties)


@pytest.mark.parametrize("line", ["cat /none", "cat"])
def test_a_file_that_is_not_there_is_not_read(line: str, phone: SimulatedPhone) -> None:
    said, status = phone.run(line)
    assert (status, said.endswith("No such file or directory\n")) == (1, True)


def test_a_file_that_was_removed_is_not_there(phone: SimulatedPhone) -> None:
    assert "tab_home" in shown(phone)
    assert phone.run("rm -f /sdcard/window_dump.xml; cat /sdcard/window_dump.xml")[1] == 1


@pytest.mark.parametrize("link", ["", "http://share.vidplat.localhost:1/", "about:blank"])
def test_a_link_to_nothing_that_is_known_shows_the_home(link: str, app: ScriptedApp) -> None:
    app.open(link)
    assert app.views() == screens.home()


@pytest.mark.parametrize("path", ["music", "video", "note"])
def test_simulated_app_shows_the_missing_screen_for_unknown_ids(
    path: str, app: ScriptedApp
) -> None:
    app.open(f"{SHARE}/{path}/{NOBODY}/")
    assert app.views() == screens.missing()


def test_a_tap_beside_every_button_does_nothing(app: ScriptedApp, world: SandboxWorld) -> None:
    app.open(f"{SHARE}/music/{world.tracks[0].music_id}/")
    before = app.views()
    app.tap(0, 0)
    assert app.views() == before


def test_a_swipe_at_home_leads_nowhere(app: ScriptedApp) -> None:
    app.swipe_up()
    assert app.views() == screens.home()


@pytest.mark.parametrize("line", ["input tap 1", "input keyevent", "pm path", "input tap up down"])
def test_a_command_without_its_operands_is_an_error_of_the_command(
    line: str, phone: SimulatedPhone
) -> None:
    said, status = phone.run(line)
    assert (status, said.startswith("Error: Invalid arguments")) == (1, True)


def test_a_link_to_a_video_that_is_gone_leaves_the_app_idle(phone: SimulatedPhone) -> None:
    opened(phone, f"{SHARE}/video/{NOBODY}/")
    assert phone.run("uiautomator dump") == ("UI hierchary dumped to: /sdcard/window_dump.xml\n", 0)
    assert phone.log.works == []


def test_a_restored_phone_shows_its_dialog_again(phone: SimulatedPhone) -> None:
    phone.script.prompt = "dialog"
    assert "dialog_close" in shown(phone)
    phone.run("input tap 500 1350")
    assert "tab_home" in shown(phone)
    phone.restore()
    phone.script.prompt = "dialog"
    assert "dialog_close" in shown(phone)
