"""Cancellation of upstream calls when their job is cancelled."""

import asyncio
import time
from collections.abc import Callable, Coroutine

from warehouse.records.errors import RunCancelledError

CANCEL_FLAG_POLL_S = 0.25


class CancellationWatcher:
    """Polls the cancel flag while calls run; concurrent calls share one poll."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self._cancelled = cancelled
        self._is_cancelled = False
        self._looked_at = float("-inf")

    async def run[T](self, call: Coroutine[object, object, T]) -> T:
        """Await the call, and cancel it when the job is cancelled.

        Raises:
            RunCancelledError: The job was cancelled before the call finished.
        """
        task = asyncio.ensure_future(call)
        try:
            while not task.done():
                if await self._look():
                    raise RunCancelledError("the job was cancelled")
                await asyncio.wait({task}, timeout=CANCEL_FLAG_POLL_S)
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                # Wait for its clean-up, which may release a lease that was just acquired.
                await asyncio.wait({task})

    async def _look(self) -> bool:
        """Poll the flag, which may read the control store; once set, it stays set."""
        now = time.monotonic()
        if not self._is_cancelled and now - self._looked_at >= CANCEL_FLAG_POLL_S:
            self._looked_at = now
            self._is_cancelled = await asyncio.to_thread(self._cancelled)
        return self._is_cancelled
