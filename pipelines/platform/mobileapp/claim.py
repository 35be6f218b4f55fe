"""One reader at a time: a device has one screen. A lock file of this machine, which ends with the
process that holds it, whatever becomes of that.
"""

import fcntl
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

from pipelines.clock import Clock
from pipelines.platform.mobileapp.phone import advice
from warehouse.records.errors import DeviceUnavailableError

LOOK_EVERY_S = 0.25
PATIENCE_S = 600.0


class Claim:
    """The turn of one reader at a device."""

    def __init__(self, address: str, *, clock: Clock, max_wait_s: float = PATIENCE_S) -> None:
        self._serial = address.partition("@")[0]
        self._clock = clock
        self._patience_s = max_wait_s
        self._token = uuid4().hex.encode()
        name = f"sametrack-device-{os.getuid()}-{quote(address, safe='')}.lock"
        self._path = Path(tempfile.gettempdir()) / name

    @asynccontextmanager
    async def held(self) -> AsyncIterator[bool]:
        """Hold the device inside this block; False when somebody else had it since the last time.

        Raises:
            DeviceUnavailableError: Somebody else holds it for longer than our patience.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            await self._take(descriptor)
            # The token of the last holder is in the file: another one means that the screen was
            # used.
            is_still_ours = os.pread(descriptor, len(self._token), 0) == self._token
            os.pwrite(descriptor, self._token, 0)
            yield is_still_ours
        finally:
            os.close(descriptor)  # closing it releases the lock

    async def _take(self, descriptor: int) -> None:
        give_up_at = self._clock.monotonic() + self._patience_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self._clock.monotonic() >= give_up_at:
                    raise self._in_use() from None
                await self._clock.sleep(LOOK_EVERY_S)
            else:
                return

    def _in_use(self) -> DeviceUnavailableError:
        return DeviceUnavailableError(
            f"the device {self._serial} is used by another process",
            surface="device",
            reason="in_use",
            hint=advice("in_use", serial=self._serial, port=0),
        )
