"""Issues that are being read, over all processes: whoever holds one reads it, nobody else does.

An issue is held until what was read of it is in the lake, unlike the lease of one capture, which
ends with the answer. Whoever died with issues holds others up for a moment only.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Protocol
from uuid import uuid4

from pipelines.clock import MACHINE_CLOCK, Clock
from warehouse.control.records import Turn
from warehouse.records.errors import WarehouseError

HELD_FOR_S = 15.0


class Book(Protocol):
    """What is needed of the control store."""

    def begin_capture(self, name: str, owner: str, *, ttl_s: float) -> Turn: ...
    def prolong_capture(self, name: str, owner: str, *, ttl_s: float) -> None: ...
    def leave_capture(self, name: str, owner: str, capture_id: str | None) -> None: ...


class IssueLeases:
    """The leases of one back-fill. `hold_s`: how long one lasts unless it is renewed."""

    def __init__(
        self, book: Book, *, hold_s: float = HELD_FOR_S, clock: Clock = MACHINE_CLOCK
    ) -> None:
        self._book = book
        self._clock = clock
        self._hold_s = hold_s
        self._owner = uuid4().hex

    @asynccontextmanager
    async def held(self, volids: Sequence[str]) -> AsyncIterator[list[str]]:
        """Those of some issues that are ours until the block ends; somebody reads the others.

        Raises:
            WarehouseError: The control store cannot be asked.
        """
        mine: list[str] = []
        begin = asyncio.ensure_future(asyncio.to_thread(self._begin, volids, mine))
        renewing = asyncio.create_task(self._renew(mine))
        try:
            await asyncio.shield(begin)
            yield mine
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError, WarehouseError):
                await asyncio.shield(begin)  # what is still being granted is given back as well
            await asyncio.shield(asyncio.to_thread(self._leave, mine))

    def _begin(self, volids: Iterable[str], mine: list[str]) -> None:
        for volid in volids:
            if self._book.begin_capture(_name(volid), self._owner, ttl_s=self._hold_s).is_ours:
                mine.append(volid)  # noqa: PERF401  # seen by the renewal while others are asked for

    async def _renew(self, mine: list[str]) -> None:
        with suppress(WarehouseError):  # then they run out, and are looked for before each reading
            while True:
                await self._clock.sleep(self._hold_s / 3)
                await asyncio.to_thread(self._prolong, list(mine))

    def _prolong(self, mine: list[str]) -> None:
        for volid in mine:
            self._book.prolong_capture(_name(volid), self._owner, ttl_s=self._hold_s)

    def _leave(self, mine: list[str]) -> None:
        for volid in mine:
            self._book.leave_capture(_name(volid), self._owner, None)


def _name(volid: str) -> str:
    return f"chart issue {volid}"
