"""Talks to a device through the adb server on this machine, by a maintained library.

The only file that knows the library, which is the extra `mobileapp`. It never starts a server:
without one it raises an error that says so. Calls of the library block, so they run in one thread
of their own; cancelling the task that waits for a call shuts the connection, and the thread ends.
"""

import asyncio
import contextlib
import re
import socket
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import adbutils
from adbutils.errors import AdbConnectionError, AdbError, AdbTimeout

from pipelines.platform.mobileapp.phone import NotIdleError, unavailable
from warehouse.records.errors import DeviceUnavailableError

LOOPBACK = "127.0.0.1"
CALL_S = 20.0
"""How long one call may take: a dump of a busy screen takes seconds."""
STAND_IN_PROPERTY = "ro.sametrack.stand_in"
_VERSION = re.compile(r"versionName=(\S+)")
_IDLE = "could not get idle state"
_SIGNS = {"not found": "absent", "unauthorized": "unauthorized", "offline": "offline"}
_FAULTS = (AdbError, OSError, EOFError, ValueError, AssertionError, struct.error)
"""What the library raises when a connection ends in the middle of an answer."""


class QuietConnection(adbutils.AdbConnection):  # type: ignore[misc]  # the library has no types
    """A connection that does not start a missing server, as the library's own would."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        super().__init__(host, port)

    def _safe_connect(self) -> socket.socket:
        try:
            return socket.create_connection(self._address, timeout=CALL_S)
        except TimeoutError as exc:
            raise AdbTimeout("the adb server does not answer") from exc
        except OSError as exc:
            raise AdbConnectionError("no adb server") from exc


class QuietClient(adbutils.AdbClient):  # type: ignore[misc]  # as above
    """A client whose calls have a timeout, and can be ended from another thread."""

    def __init__(self, port: int) -> None:
        super().__init__(host=LOOPBACK, port=port, socket_timeout=CALL_S)
        self._open: set[Any] = set()
        self._is_over = False

    def make_connection(self, timeout: float | None = None) -> Any:
        if self._is_over:
            raise AdbError("hung up")
        connection = QuietConnection(self.host, self.port)
        connection.conn.settimeout(min(timeout or CALL_S, CALL_S))
        self._open.add(connection)
        return connection

    def hang_up(self) -> None:
        """End the calls under way, and refuse those that they would make next."""
        self._is_over = True
        for connection in list(self._open):
            with contextlib.suppress(Exception):  # it may have ended by itself meanwhile
                connection.conn.shutdown(socket.SHUT_RDWR)

    def close_connections(self) -> None:
        """Close what the library leaves open after a refusal; the next call may ask again."""
        self._is_over = False
        for connection in list(self._open):
            connection.close()
        self._open.clear()


class AdbPhone:
    """One device, by its serial.

    Raises (all methods):
        DeviceUnavailableError: No server, no such device, or it was lost.
    """

    def __init__(self, serial: str, *, port: int) -> None:
        self.serial = serial
        self.address = f"{serial}@{port}"
        self._port = port
        self._client = QuietClient(port)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="adb")

    async def state(self) -> str:
        """Return the state of the device: `device` when it is online."""
        return await self._call(lambda: str(self._device.get_state()))

    async def is_simulated(self) -> bool:
        """Return True if it identifies itself as the simulated device."""
        return (await self._shell("getprop", STAND_IN_PROPERTY)).strip() == "1"

    async def version_of(self, package: str) -> str | None:
        """Return the version of an app; None if it is not installed."""
        if "package:" not in await self._shell("pm", "path", package):
            return None
        match = _VERSION.search(await self._shell("dumpsys", "package", package))
        return match[1] if match else ""

    async def start(self, *, package: str) -> None:
        """Start an app."""
        category = "android.intent.category.LAUNCHER"
        output = await self._shell("monkey", "-p", package, "-c", category, "1")
        if "aborted" in output:
            raise self._unavailable("link_not_opened")

    async def open(self, link: str, *, package: str) -> None:
        """Open a link in an app."""
        view = ("am", "start", "-a", "android.intent.action.VIEW", "-d", link, "-p", package)
        output = await self._shell(*view)
        if "Error" in output:  # the shell's exit status is 0 all the same
            raise self._unavailable("link_not_opened")

    async def tap(self, x: int, y: int) -> None:
        """Tap a point."""
        await self._shell("input", "tap", str(x), str(y))

    async def swipe_up(self) -> None:
        """Swipe up by half a screen, to the next video."""
        width, height = await self._size()
        middle, low, high = str(width // 2), str(height * 3 // 4), str(height // 4)
        await self._shell("input", "swipe", middle, low, middle, high, "300")

    async def back(self) -> None:
        """Press "back"."""
        await self._shell("input", "keyevent", "BACK")

    async def pause(self) -> None:
        """Tap the middle of the screen."""
        width, height = await self._size()
        await self.tap(width // 2, height // 2)

    async def dump(self) -> str:
        """Return the accessibility tree.

        Raises:
            NotIdleError: The screen moves, so it has no tree.
        """
        return await self._call(lambda: str(self._device.dump_hierarchy()))

    async def aclose(self) -> None:
        """Close the connections, and wait until the thread ends."""
        self._client.hang_up()
        await asyncio.to_thread(self._thread.shutdown)

    @property
    def _device(self) -> Any:
        return self._client.device(serial=self.serial)

    async def _size(self) -> tuple[int, int]:
        return await self._call(lambda: tuple(self._device.window_size(landscape=False)))

    async def _shell(self, *words: str) -> str:
        return await self._call(lambda: str(self._device.shell(list(words), timeout=CALL_S)))

    async def _call[T](self, call: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._translated, call)
        except asyncio.CancelledError:
            self._client.hang_up()
            raise

    def _translated[T](self, call: Callable[[], T]) -> T:
        """Make a call in the thread, with errors of the library as errors of the device."""
        try:
            return call()
        except _FAULTS as exc:
            text = str(exc)
            if _IDLE in text:
                raise NotIdleError from exc
            # The library has few classes; what happened to the device is in the server's words.
            reason = next((reason for sign, reason in _SIGNS.items() if sign in text), "lost")
            if isinstance(exc, AdbConnectionError):
                reason = "no_adb_server"
            elif isinstance(exc, AdbTimeout):
                reason = "no_answer"
            raise self._unavailable(reason) from exc
        finally:
            self._client.close_connections()

    def _unavailable(self, reason: str) -> DeviceUnavailableError:
        return unavailable(reason, self.serial, port=self._port)
