"""The interface of a device, the lock that admits one reader at a time, and hints for its errors.

The adapter is `adb.py`; tests have their own. A device has one screen, so a lock file of this
machine keeps other readers away. The lock ends with the process that holds it.
"""

import fcntl
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import quote
from uuid import uuid4

from pipelines.clock import Clock
from warehouse.records.errors import DeviceUnavailableError

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
    """The screen moves, as while a video plays, and has no tree until it stops."""


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
        """Return the state of the device: `device` when it is online."""

    async def is_simulated(self) -> bool:
        """Return True if it identifies itself as the simulated device."""

    async def version_of(self, package: str) -> str | None:
        """Return the version of an app; None if it is not installed."""

    async def start(self, *, package: str) -> None:
        """Start an app."""

    async def open(self, link: str, *, package: str) -> None:
        """Open a link in an app."""

    async def tap(self, x: int, y: int) -> None:
        """Tap a point."""

    async def swipe_up(self) -> None:
        """Swipe up by half a screen, to the next video."""

    async def back(self) -> None:
        """Press "back"."""

    async def pause(self) -> None:
        """Tap the middle of the screen."""

    async def dump(self) -> str:
        """Return the accessibility tree; `NotIdleError` while the screen moves."""

    async def aclose(self) -> None:
        """Close the connection."""


def unavailable(reason: str, serial: str, *, port: int = 0) -> DeviceUnavailableError:
    """Return the error of a device that cannot be used."""
    return DeviceUnavailableError(
        f"the device {serial} cannot be used: {reason.replace('_', ' ')}",
        surface="device",
        reason=reason,
        hint=advice(reason, serial=serial, port=port),
    )


def advice(reason: str, *, serial: str, port: int) -> str | None:
    """Return the hint for a reason why a device cannot be used; None for an unknown reason."""
    hint = _ADVICE.get(reason)
    return None if hint is None else hint.format(serial=serial, port=port)


POLL_EVERY_S = 0.25
MAX_WAIT_S = 600.0


class Claim:
    """Lock of one device for one reader. `max_wait_s`: how long to wait for other readers."""

    def __init__(self, address: str, *, clock: Clock, max_wait_s: float = MAX_WAIT_S) -> None:
        self._serial = address.partition("@")[0]
        self._clock = clock
        self._max_wait_s = max_wait_s
        self._token = uuid4().hex.encode()
        name = f"sametrack-device-{os.getuid()}-{quote(address, safe='')}.lock"
        self._path = Path(tempfile.gettempdir()) / name

    @asynccontextmanager
    async def held(self) -> AsyncIterator[bool]:
        """Hold the device inside this block; False if somebody else had it since the last time.

        Raises:
            DeviceUnavailableError: Somebody else holds it for longer than `max_wait_s`.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            give_up_at = self._clock.monotonic() + self._max_wait_s
            while not _is_locked(descriptor):
                if self._clock.monotonic() >= give_up_at:
                    raise DeviceUnavailableError(
                        f"the device {self._serial} is used by another process",
                        surface="device",
                        reason="in_use",
                        hint=advice("in_use", serial=self._serial, port=0),
                    )
                await self._clock.sleep(POLL_EVERY_S)
            # The token of the last holder is in the file: another one means that the screen was
            # used.
            is_still_ours = os.pread(descriptor, len(self._token), 0) == self._token
            os.pwrite(descriptor, self._token, 0)
            yield is_still_ours
        finally:
            os.close(descriptor)  # closing it releases the lock


def _is_locked(descriptor: int) -> bool:
    """Return True if the lock on a file could be taken."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
