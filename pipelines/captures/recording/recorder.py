"""Writes attempts to the lake: in batches, payloads first, the `raw.captures` row last.

Readers count an observation only once its capture's row exists, so an interrupted batch leaves
nothing partly visible.
"""

import asyncio
from dataclasses import replace

from pipelines.captures.erased_accounts import ErasureMarksCache
from pipelines.captures.recording.attempts import CaptureAttempt
from pipelines.captures.recording.rows import CaptureBatch
from pipelines.clock import MACHINE_CLOCK, Clock
from warehouse.control import ControlStore
from warehouse.control.captures import generations, sequences
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import Lake
from warehouse.queries.accounts import read_marks
from warehouse.records.erasure import ErasureMarks

FLUSH_AFTER_S = 2.0


class CaptureRecorder:
    """Collects attempts and appends them to the lake."""

    def __init__(
        self,
        *,
        lake: Lake,
        engine: Engine,
        control: ControlStore,
        data_provider: str,
        job_id: str | None,
        flush_every: int,
        flush_after_s: float = FLUSH_AFTER_S,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        self._lake = lake
        self._engine = engine
        self._forgetting = ErasureMarksCache(engine, clock=clock)
        self._control = control
        self._data_provider = data_provider
        self._job_id = job_id
        self._flush_every = flush_every
        self._flush_after_s = flush_after_s
        self._clock = clock
        self._waiting: list[CaptureAttempt] = []
        self._waiting_since = 0.0
        self._writing = asyncio.Lock()

    async def marks(self) -> ErasureMarks:
        """Return the erasure marks: data that must not be stored again."""
        return await self._forgetting.marks()

    def note(self, attempt: CaptureAttempt) -> None:
        """Add an attempt to the next batch."""
        if not self._waiting:
            self._waiting_since = self._clock.monotonic()
        self._waiting.append(attempt)

    async def flush_if_due(self) -> None:
        """Write if enough attempts are pending, or the oldest is old enough."""
        waited_s = self._clock.monotonic() - self._waiting_since
        if len(self._waiting) >= self._flush_every or (
            self._waiting and waited_s >= self._flush_after_s
        ):
            await self.flush()

    async def flush(self) -> None:
        """Write all pending attempts.

        Raises:
            WarehouseError: The lake or the control store cannot be written.
        """
        async with self._writing:
            attempts, self._waiting = self._waiting, []
            if attempts:
                # Shielded: cancelling a write that still waits for a thread would lose its
                # attempts.
                await asyncio.shield(asyncio.to_thread(self._write, attempts))

    def _write(self, attempts: list[CaptureAttempt]) -> None:
        # Not the cached marks: what was erased a moment ago must not be written again.
        marks = read_marks(self._engine)
        attempts = [_without_body(attempt, marks) for attempt in attempts]
        numbers = sequences.next_numbers(
            self._control, [(attempt.requested_surface, attempt.entity_id) for attempt in attempts]
        )
        batch = CaptureBatch(
            attempts, numbers, data_provider=self._data_provider, job_id=self._job_id
        )
        hashes = {attempt.payload_sha256 for attempt in attempts} - {None}
        stored = self._stored(sorted(filter(None, hashes)))
        for name, rows in batch.tables(stored=stored).items():
            self._lake.append(name, rows, job_id=self._job_id)
        self._engine.refresh()  # this process reads its own writes
        # Last: who sees the new generation reads again, and must find the rows.
        generations.count_up(self._control, batch.entities())

    def _stored(self, hashes: list[str]) -> set[str]:
        found = self._engine.rows(
            "select sha256 from raw.payloads where sha256 in (select unnest($hashes::varchar[]))",
            {"hashes": hashes},
        )
        return {str(row["sha256"]) for row in found}


def _without_body(attempt: CaptureAttempt, marks: ErasureMarks) -> CaptureAttempt:
    """Drop the body if it names an erased account, in a refusal too."""
    return replace(attempt, payload=b"") if marks.occur_in(attempt.payload) else attempt
