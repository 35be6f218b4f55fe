"""Leases on chart issues across processes, so that each issue is read by one process only.

A lease lasts until the issue is in the lake, unlike the lease of a single capture, which ends with
the response. Leases of a killed process expire quickly.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Protocol
from uuid import uuid4

from pipelines.clock import MACHINE_CLOCK, Clock
from warehouse.control.records import CaptureClaim
from warehouse.records.errors import WarehouseError

HELD_FOR_S = 15.0


class LeaseStore(Protocol):
    """The methods of the control store that leases need."""

    def claim_capture(self, name: str, owner: str, *, ttl_s: float) -> CaptureClaim: ...
    def renew_capture_claim(self, name: str, owner: str, *, ttl_s: float) -> None: ...
    def publish_capture(self, name: str, owner: str, capture_id: str | None) -> None: ...


class IssueLeases:
    """The leases of one back-fill; each lasts `hold_s` seconds unless renewed."""

    def __init__(
        self, store: LeaseStore, *, hold_s: float = HELD_FOR_S, clock: Clock = MACHINE_CLOCK
    ) -> None:
        self._store = store
        self._clock = clock
        self._hold_s = hold_s
        self._owner = uuid4().hex

    @asynccontextmanager
    async def held(self, volids: Sequence[str]) -> AsyncIterator[list[str]]:
        """Yield the issues leased by this process until the block ends; others hold the rest.

        Raises:
            WarehouseError: The control store cannot be used.
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
                await asyncio.shield(begin)  # so that leases still being acquired are released too
            await asyncio.shield(asyncio.to_thread(self._leave, mine))

    def _begin(self, volids: Iterable[str], mine: list[str]) -> None:
        for volid in volids:
            if self._store.claim_capture(_name(volid), self._owner, ttl_s=self._hold_s).is_ours:
                mine.append(volid)  # noqa: PERF401  # the renewal reads it meanwhile

    async def _renew(self, mine: list[str]) -> None:
        with suppress(WarehouseError):  # the leases expire; each batch checks the lake anyway
            while True:
                await self._clock.sleep(self._hold_s / 3)
                await asyncio.to_thread(self._prolong, list(mine))

    def _prolong(self, mine: list[str]) -> None:
        for volid in mine:
            self._store.renew_capture_claim(_name(volid), self._owner, ttl_s=self._hold_s)

    def _leave(self, mine: list[str]) -> None:
        for volid in mine:
            self._store.publish_capture(_name(volid), self._owner, None)


def _name(volid: str) -> str:
    return f"chart issue {volid}"
