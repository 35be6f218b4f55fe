"""Shares concurrent captures between processes: one reads the source, others wait for its result.

Here: acquiring, renewing and releasing the lease, and waiting. Not here: reading
(`recording/calls.py`), restoring a record from a capture's rows (`shared_results.py`).
"""

import asyncio
import hashlib
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple
from uuid import uuid4

from pipelines.captures.recording.observations import Question, Seen
from pipelines.captures.recording.reads import Attempt
from pipelines.captures.recording.recorder import Keeper
from pipelines.captures.shared_results import restore
from pipelines.clock import MACHINE_CLOCK, Clock
from warehouse.control import ControlStore, Turn
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.captures import read_capture
from warehouse.records.errors import WarehouseError

HELD_FOR_S = 12.0  # how long a dead process can block others
LOOK_EVERY_S = 0.05


class Lease:
    """Lease of a capture by this process; records the attempt that came of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.owner = uuid4().hex
        self.attempt: Attempt | None = None

    @property
    def left(self) -> str | None:
        """Id of the capture for waiting processes; None if it was cancelled."""
        if self.attempt is None or self.attempt.outcome == "cancelled":
            return None
        return self.attempt.capture_id


class Recalled(NamedTuple):
    """Record of another process's capture, and when it was observed."""

    value: Seen
    observed_at: datetime


class Sharing:
    """Capture leases of one process."""

    def __init__(
        self,
        *,
        control: ControlStore,
        engine: Engine,
        keeper: Keeper,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        self._control = control
        self._engine = engine
        self._keeper = keeper
        self._clock = clock

    async def take(self, question: Question) -> Lease | str:
        """Acquire the lease, or wait and return the id of another process's capture.

        Raises:
            WarehouseError: The control store cannot be read.
        """
        lease = Lease(hashlib.sha256(question.key.encode("utf-8", "replace")).hexdigest())
        while True:
            turn = await self._begin(lease)
            if turn.is_ours:
                return lease
            capture_id = await self._wait(lease.name, turn.owner)
            if capture_id is not None:
                return capture_id

    async def renew(self, lease: Lease) -> None:
        """Renew a lease until cancelled: the rate limit may delay a read for long."""
        with suppress(WarehouseError):  # then it expires, and another process reads the same again
            while True:
                await self._clock.sleep(HELD_FOR_S / 3)
                await asyncio.to_thread(
                    self._control.prolong_capture, lease.name, lease.owner, ttl_s=HELD_FOR_S
                )

    async def give_back(self, lease: Lease) -> None:
        """Release a lease; if others wait, the capture is written first.

        Raises:
            WarehouseError: The capture could not be written.
        """
        if await asyncio.to_thread(self._control.end_capture, lease.name, lease.owner):
            return
        left = None
        try:
            await self._keeper.flush()
            left = lease.left
        finally:
            await asyncio.to_thread(self._control.leave_capture, lease.name, lease.owner, left)

    async def recall(self, question: Question, capture_id: str) -> Recalled | None:
        """Return the result of a capture; None if it cannot be restored.

        Raises:
            SametrackError: The refusal that the capture recorded.
        """
        return await asyncio.to_thread(self._recall, question, capture_id)

    def _recall(self, question: Question, capture_id: str) -> Recalled | None:
        self._engine.refresh()
        row = read_capture(self._engine, capture_id)
        seen = None if row is None else restore(self._engine, question, row)
        return None if row is None or seen is None else Recalled(seen, row["observed_at"])

    async def _begin(self, lease: Lease) -> Turn:
        """Acquire the lease; if we are cancelled meanwhile, release it at once."""
        begin = asyncio.ensure_future(
            asyncio.to_thread(
                self._control.begin_capture, lease.name, lease.owner, ttl_s=HELD_FOR_S
            )
        )
        try:
            return await asyncio.shield(begin)
        except asyncio.CancelledError:
            if (await begin).is_ours:
                await asyncio.to_thread(self._control.leave_capture, lease.name, lease.owner, None)
            raise

    async def _wait(self, name: str, owner: str) -> str | None:
        while True:
            await self._clock.sleep(LOOK_EVERY_S)
            over = await asyncio.to_thread(self._control.look_for_capture, name, owner)
            if over.is_over:
                return over.capture_id
