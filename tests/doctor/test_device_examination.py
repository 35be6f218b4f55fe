"""What the doctor says of the device: five lines, each with what to do where it is missing."""

import asyncio
from typing import Any

import pytest

from pipelines.doctor.checks import NAMES, device_checks
from pipelines.doctor.documents import CheckResult
from pipelines.settings import Settings
from tests.platform.mobileapp.devices import Device

pytestmark = pytest.mark.full


def settings(**values: Any) -> Settings:
    given = {"profile": "sandbox", "music_data_provider": "mobileapp-guest", **values}
    return Settings(_env_file=None, **given)


async def looked(device: Device, *, may_open: bool = True, **values: Any) -> dict[str, CheckResult]:
    """All five findings, by the part of each name."""
    chosen = settings(
        **{"mobileapp_device": "stand-in-1", "mobileapp_adb_port": device.server.port, **values}
    )
    looks = device_checks(chosen, may_open=may_open)
    return {name: await asyncio.to_thread(look) for name, look in looks}


def states(found: dict[str, CheckResult]) -> list[str]:
    return [found[name].state for name in NAMES]


async def test_a_device_that_is_ready_has_five_good_lines(device: Device) -> None:
    found = await looked(device)
    assert states(found) == ["ok"] * 5
    assert "the simulated device" in found["android device"].says
    assert found["app"].says.endswith("31.2.0")


async def test_doctor_skips_device_checks_for_other_providers(device: Device) -> None:
    chosen = settings(music_data_provider="public-graph")
    assert device_checks(chosen, may_open=True) == []


async def test_a_device_that_is_named_but_not_chosen_is_no_fault(device: Device) -> None:
    found = await looked(device, music_data_provider="public-graph", mobileapp_device="nobody")
    assert states(found)[:2] == ["ok", "warn"]


@pytest.mark.parametrize(
    ("script", "name", "advice"),
    [
        ({"state": "absent"}, "android device", "adb devices"),
        ({"state": "offline"}, "android device", "reconnect"),
        ({"state": "unauthorized"}, "android device", "confirm"),
        ({"is_installed": False}, "app", "MOBILEAPP_PACKAGE"),
        ({"version": "99.1"}, "app layout", "docs/providers.md"),
        ({"prompt": "login"}, "guest mode", "guests"),
    ],
)
async def test_missing_device_part_fails_with_advice_and_ends_the_device_checks(
    script: dict[str, Any], name: str, advice: str, device: Device
) -> None:
    device.phone.script.change(**script)
    found = await looked(device)
    assert found[name].state == "fail"
    assert advice in str(found[name].advice)
    place = NAMES.index(name)
    assert states(found)[:place] == ["ok"] * place
    assert set(states(found)[place + 1 :]) <= {"warn"}


async def test_no_server_and_no_device_of_the_settings_are_told(device: Device) -> None:
    silent = await looked(device, mobileapp_adb_port=1)
    assert "adb start-server" in str(silent["adb server"].advice)
    unnamed = await looked(device, mobileapp_device=None)
    assert "MOBILEAPP_DEVICE" in str(unnamed["adb server"].advice)


async def test_device_app_is_not_opened_with_no_upstream(device: Device) -> None:
    found = await looked(device, may_open=False)
    assert states(found) == ["ok", "ok", "ok", "ok", "warn"]
    assert (device.phone.log.opened, device.phone.log.dumps) == ([], 0)


async def test_the_app_of_the_public_profile_is_never_looked_for_on_the_stand_in(
    device: Device,
) -> None:
    found = await looked(device, profile="public")
    assert found["android device"].state == "fail"
    assert "stand-in" in str(found["android device"].advice)
