"""What the doctor finds of a device whose app it does not know, or that never shows its screen."""

import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.doctor import checks
from pipelines.doctor.checks import NAMES, device_checks
from pipelines.doctor.documents import CheckResult
from pipelines.platform import profiles
from pipelines.platform.mobileapp.phone import NotIdleError
from pipelines.settings import Settings
from sandbox.server.device import screens
from tests.fake_clock import FakeClock
from tests.platform.mobileapp.scripted_phone import PACKAGE, ScriptedPhone, dump

HOME = dump(screens.home())
LOADING = dump(screens.loading())
DIALOG = dump(screens.prompt("dialog"))
APP_FILE = Path(profiles.__file__).parent / "sandbox.app.toml"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeClock:
    made = FakeClock()
    monkeypatch.setattr(checks, "MACHINE_CLOCK", made)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return made


@pytest.fixture
def port() -> Iterator[int]:
    """Somebody listens there, as an adb server would."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


@pytest.fixture
def look(port: int, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Any:
    """All that is found of a phone, by name."""

    def find(phone: ScriptedPhone, **values: Any) -> dict[str, CheckResult]:
        monkeypatch.setattr(checks, "open_phone", lambda _: phone)
        given = {
            "profile": "sandbox", "music_data_provider": "mobileapp-guest",
            "mobileapp_device": phone.serial, "mobileapp_adb_port": port, **values,
        }  # fmt: skip
        looks = device_checks(Settings(_env_file=None, **given), may_open=True)
        return {name: one() for name, one in looks}

    return find


def states(found: dict[str, CheckResult]) -> list[str]:
    return [found[name].state for name in NAMES]


def test_a_profile_without_an_app_is_named_once_the_device_was_found(
    look: Any, tmp_path: Path
) -> None:
    phone = ScriptedPhone(HOME)
    found = look(phone, profile=str(tmp_path / "mine.toml"))
    assert states(found) == ["ok", "ok", "fail", "warn", "warn"]
    assert found["app"].says == "the platform profile names no app"
    assert "PROFILE" in str(found["app"].advice)
    assert phone.done == ["hang up"]


def test_an_app_that_tells_no_version_is_to_be_installed_again(look: Any) -> None:
    found = look(ScriptedPhone(HOME, version=""))
    assert states(found) == ["ok", "ok", "fail", "warn", "warn"]
    assert found["app"].says == f"{PACKAGE}: version unknown"
    assert found["app"].advice == "install the app again"


def test_a_layout_that_no_device_has_shown_is_worth_a_try_and_the_app_is_opened(
    look: Any, tmp_path: Path
) -> None:
    text = APP_FILE.read_text(encoding="utf-8")
    guessed = text.replace("is_verified = true", "is_verified = false")
    (tmp_path / "mine.app.toml").write_text(guessed, encoding="utf-8")
    found = look(ScriptedPhone(HOME), profile=str(tmp_path / "mine.toml"))
    assert states(found) == ["ok", "ok", "ok", "warn", "ok"]
    assert found["app layout"].says == "stand-in-31: no device has shown it yet"
    assert "try one track" in str(found["app layout"].advice)


def test_a_real_device_is_not_read_with_the_layouts_of_the_simulated_one(look: Any) -> None:
    phone = ScriptedPhone(HOME, is_simulated=False)
    found = look(phone)
    assert states(found) == ["ok", "fail", "warn", "warn", "warn"]
    assert "simulated device" in str(found["android device"].advice)
    assert phone.done == ["hang up"]


def test_an_app_that_loads_and_says_hello_is_looked_at_until_it_shows_more(
    look: Any, clock: FakeClock
) -> None:
    phone = ScriptedPhone(LOADING, DIALOG, dump(screens.prompt("verification")))
    found = look(phone)
    assert (found["guest mode"].state, clock.slept) == ("fail", [0.5, 0.5])
    assert "verification prompt" in found["guest mode"].says


@pytest.mark.parametrize(
    ("shown", "says"),
    [(LOADING, "only loads"), (DIALOG, "only a dialog")],
    ids=["loading", "dialog"],
)
def test_an_app_that_shows_nothing_else_is_left_alone_after_some_looks(
    shown: str, says: str, look: Any, clock: FakeClock
) -> None:
    phone = ScriptedPhone(shown)
    found = look(phone)
    assert states(found) == ["ok", "ok", "ok", "ok", "warn"]
    assert says in found["guest mode"].says
    assert (clock.slept, phone.done) == ([0.5] * 8, ["start", "hang up"])


@pytest.mark.parametrize(
    "shown", [NotIdleError(), "half a tree"], ids=["something plays", "no tree"]
)
def test_a_screen_without_a_tree_shows_no_prompt(
    shown: str | Exception, look: Any, clock: FakeClock
) -> None:
    found = look(ScriptedPhone(shown))
    assert (found["guest mode"].state, clock.slept) == ("ok", [])
