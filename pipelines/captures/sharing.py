"""Shares concurrent captures between processes: one reads the source, others wait for its result.

Here: acquiring, renewing and releasing the lease, and waiting. Not here: reading
(`recording/calls.py`), restoring a record from a capture's rows (`shared_results.py`).
"""

import asyncio
import hashlib
from contextlib import suppress
from uuid import uuid4

from pipelines.captures.recording.attempts import CaptureAttempt
from pipelines.captures.recording.observations import CaptureRequest
from pipelines.captures.recording.recorded_call import RecordedCall
from pipelines.captures.recording.recorder import CaptureRecorder
from pipelines.captures.shared_results import restore_value
from pipelines.clock import MACHINE_CLOCK, Clock
from warehouse.control import ControlStore
from warehouse.control.captures import capture_claims
from warehouse.control.captures.capture_claims import CaptureClaim
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.captures import read_capture
from warehouse.records.errors import WarehouseError

CAPTURE_LEASE_S = 12.0  # how long a dead process can block others
LEASE_POLL_S = 0.05


class CaptureLease:
    """Lease of a capture by this process; records the attempt that came of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.owner = uuid4().hex
        self.attempt: CaptureAttempt | None = None

    @property
    def left(self) -> str | None:
        """Id of the capture for waiting processes; None if it was cancelled."""
        if self.attempt is None or self.attempt.outcome == "cancelled":
            return None
        return self.attempt.capture_id


class CaptureSharing:
    """Capture leases of one process."""

    def __init__(
        self,
        control: ControlStore,
        engine: Engine,
        recorder: CaptureRecorder,
        *,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        self._control = control
        self._engine = engine
        self._recorder = recorder
        self._clock = clock

    async def take(self, question: CaptureRequest) -> CaptureLease | str:
        """Acquire the lease, or wait and return the id of another process's capture.

        Raises:
            WarehouseError: The control store cannot be read.
        """
        lease = CaptureLease(hashlib.sha256(question.key.encode("utf-8", "replace")).hexdigest())
        while True:
            turn = await self._begin(lease)
            if turn.is_ours:
                return lease
            capture_id = await self._wait(lease.name, turn.owner)
            if capture_id is not None:
                return capture_id

    async def renew(self, lease: CaptureLease) -> None:
        """Renew a lease until cancelled: the rate limit may delay a read for long."""
        while True:
            await self._clock.sleep(CAPTURE_LEASE_S / 3)
            # A renewal that fails is tried again before the lease is over. If all fail, it expires,
            # and another process reads the same once more.
            with suppress(WarehouseError):
                await asyncio.to_thread(
                    capture_claims.renew,
                    self._control,
                    lease.name,
                    lease.owner,
                    ttl_s=CAPTURE_LEASE_S,
                )

    async def give_back(self, lease: CaptureLease) -> None:
        """Release a lease; if others wait, the capture is written first.

        Raises:
            WarehouseError: The capture could not be written.
        """
        if await asyncio.to_thread(capture_claims.finish, self._control, lease.name, lease.owner):
            return
        left = None
        try:
            await self._recorder.flush()
            left = lease.left
        finally:
            await asyncio.to_thread(
                capture_claims.publish, self._control, lease.name, lease.owner, left
            )

    async def recall(self, question: CaptureRequest, capture_id: str) -> RecordedCall | None:
        """Return the result of a capture; None if it cannot be restored.

        Raises:
            SametrackError: The refusal that the capture recorded.
        """
        return await asyncio.to_thread(self._recall, question, capture_id)

    def _recall(self, question: CaptureRequest, capture_id: str) -> RecordedCall | None:
        self._engine.refresh()
        row = read_capture(self._engine, capture_id)
        seen = None if row is None else restore_value(self._engine, question, row)
        if row is None or seen is None:
            return None
        return RecordedCall(
            value=seen, observed_at=row["observed_at"], surface=row["surface"], is_shared=True
        )

    async def _begin(self, lease: CaptureLease) -> CaptureClaim:
        """Acquire the lease; if we are cancelled meanwhile, release it at once."""
        begin = asyncio.ensure_future(
            asyncio.to_thread(
                capture_claims.claim, self._control, lease.name, lease.owner, ttl_s=CAPTURE_LEASE_S
            )
        )
        try:
            return await asyncio.shield(begin)
        except asyncio.CancelledError:
            if (await begin).is_ours:
                await asyncio.to_thread(
                    capture_claims.publish, self._control, lease.name, lease.owner, None
                )
            raise

    async def _wait(self, name: str, owner: str) -> str | None:
        while True:
            await self._clock.sleep(LEASE_POLL_S)
            over = await asyncio.to_thread(capture_claims.check, self._control, name, owner)
            if over.is_over:
                return over.capture_id
