"""Ending a wait for upstream when somebody asks for the end of the job."""

import asyncio
import time
from collections.abc import Callable, Coroutine

from warehouse.records.errors import RunCancelledError

LOOK_EVERY_S = 0.25


class CancelWatch:
    """Looks at the cancel flag while a call waits; one look serves all calls of that moment."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self._cancelled = cancelled
        self._is_cancelled = False
        self._looked_at = float("-inf")

    async def run[T](self, call: Coroutine[object, object, T]) -> T:
        """Await the call, or cancel it and stop.

        Raises:
            RunCancelledError: Cancelling was asked for before the call was done.
        """
        task = asyncio.ensure_future(call)
        try:
            while not task.done():
                if await self._look():
                    raise RunCancelledError("cancelling was asked for")
                await asyncio.wait({task}, timeout=LOOK_EVERY_S)
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})

    async def _look(self) -> bool:
        """A flag once seen stays; the look itself may be a read of the control store."""
        now = time.monotonic()
        if not self._is_cancelled and now - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = now
            self._is_cancelled = await asyncio.to_thread(self._cancelled)
        return self._is_cancelled
