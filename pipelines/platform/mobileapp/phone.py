"""What a reader of the app needs of a device, and what to do about one that cannot be used.

The rim behind it is `adb.py`; tests have their own.
"""

from collections.abc import Mapping
from typing import Protocol

LOST = frozenset({"lost", "absent", "offline", "no_answer"})
"""Reasons after which a device that was there may come back by itself."""

_ADVICE: Mapping[str, str] = {
    "no_adb_server": "start the adb server on this machine: `adb start-server` (port {port}, "
    "MOBILEAPP_ADB_PORT)",
    "absent": "connect the device or start the emulator; `adb devices` must list {serial} "
    "(MOBILEAPP_DEVICE)",
    "offline": "`adb devices` says that {serial} is offline: reconnect it, or restart it",
    "unauthorized": "confirm this machine's key on the screen of {serial}",
    "no_answer": "the device does not answer in time: wake it, or restart it",
    "lost": "the connection to {serial} broke: check the cable or the emulator",
    "link_not_opened": "the app does not open links: install it, or set MOBILEAPP_PACKAGE",
    "in_use": "another scan reads with {serial}; wait, or give it a device of its own",
    "stand_in_device": "{serial} is the simulated device, which the profile `sandbox` alone reads",
    "real_device": "the profile `sandbox` reads the simulated device alone, and {serial} is a real "
    "one",
}


class NotIdleError(Exception):
    """The screen moves all the time, as while a video plays, and has no tree for now."""


class Phone(Protocol):
    """One device.

    Raises (all methods):
        DeviceUnavailableError: It cannot be used; the reason says why.
    """

    @property
    def serial(self) -> str:
        """The name of the device."""

    @property
    def address(self) -> str:
        """The name of the device and its adb server: no two devices of this machine share it."""

    async def state(self) -> str:
        """`device` when it is online."""

    async def is_simulated(self) -> bool:
        """Whether it identifies itself as the simulated device."""

    async def version_of(self, package: str) -> str | None:
        """The version of an app; None where it is not installed."""

    async def start(self, *, package: str) -> None:
        """Start an app."""

    async def open(self, link: str, *, package: str) -> None:
        """Open a link in an app."""

    async def tap(self, x: int, y: int) -> None:
        """Tap a point."""

    async def swipe_up(self) -> None:
        """Move on by a screen."""

    async def back(self) -> None:
        """Press "back"."""

    async def pause(self) -> None:
        """Tap the middle of the screen."""

    async def dump(self) -> str:
        """The accessibility tree; `NotIdleError` while there is none."""

    async def aclose(self) -> None:
        """Hang up."""


def advice(reason: str, *, serial: str, port: int) -> str | None:
    """What to do about a device."""
    said = _ADVICE.get(reason)
    return None if said is None else said.format(serial=serial, port=port)
