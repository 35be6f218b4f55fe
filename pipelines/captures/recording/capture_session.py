"""What the captures of the platform and of the chart share: recording, sharing, counting."""

from collections.abc import Callable
from typing import Protocol, Required, Self, TypedDict, Unpack

from pipelines.captures.cancellation import CancellationWatcher
from pipelines.captures.recording.calls import CallRecorder
from pipelines.captures.recording.journal import ScanJournal
from pipelines.captures.recording.recorder import FLUSH_AFTER_S, CaptureRecorder
from pipelines.captures.sharing import CaptureSharing
from pipelines.clock import MACHINE_CLOCK, Clock
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import Lake


class RecordedSource(Protocol):
    """A source whose calls are recorded."""

    @property
    def name(self) -> str:
        """Name of the source in rows."""

    async def aclose(self) -> None:
        """Close all connections."""


class SessionOptions(TypedDict, total=False):
    """Options of a session: its stores, its job, when it writes, and its journal."""

    lake: Required[Lake]
    engine: Required[Engine]
    control: Required[ControlStore]
    job_id: str | None
    cancelled: Callable[[], bool]
    flush_every: int
    flush_after_s: float
    clock: Clock
    journal: ScanJournal | None


class CaptureSession:
    """Records the calls of one source for one job or request. An async context manager."""

    def __init__(self, source: RecordedSource, **options: Unpack[SessionOptions]) -> None:
        self._source = source
        self._engine = options["engine"]
        self._control = options["control"]
        clock = options.get("clock", MACHINE_CLOCK)
        self._recorder = CaptureRecorder(
            lake=options["lake"],
            engine=self._engine,
            control=self._control,
            data_provider=source.name,
            job_id=options.get("job_id"),
            flush_every=options.get("flush_every", 50),
            flush_after_s=options.get("flush_after_s", FLUSH_AFTER_S),
            clock=clock,
        )
        self._call_recorder = CallRecorder(
            self._recorder,
            CancellationWatcher(options.get("cancelled", lambda: False)),
            CaptureSharing(self._control, self._engine, self._recorder, clock=clock),
            options.get("journal"),
        )

    async def __aenter__(self) -> Self:
        await self._call_recorder.restore_lost(self._engine)
        return self

    async def __aexit__(self, *_exc: object) -> None:
        try:
            await self._recorder.flush()
        finally:
            await self._source.aclose()

    @property
    def requests_used(self) -> int:
        """Requests made so far; updated when a call ends."""
        return self._call_recorder.requests_used

    async def flush(self) -> None:
        """Write all observations made so far."""
        await self._recorder.flush()
