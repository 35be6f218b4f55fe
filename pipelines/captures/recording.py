"""Run and record the calls of a source.

`CaptureSession` makes a call once for all processes (`CaptureSharing`), replays it from the journal
of an earlier run, and stops it when its job is cancelled. `CaptureRecorder` writes the captures to
the lake in batches. The public calls, one method per surface, are in `session.py` and `chart.py`.
"""

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from http import HTTPStatus
from typing import Any, Protocol, Required, Self, TypedDict, Unpack
from uuid import uuid4

from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

from pipelines.captures import erased_accounts
from pipelines.captures.capture import (
    Capture,
    CaptureRequest,
    Verdicts,
    answered_capture,
    capture_tables,
    entity_key,
    pack_capture,
    refused_capture,
    unpack_capture,
)
from pipelines.captures.journal import ScanJournal, measured_key, missing_captures, sound_key
from pipelines.captures.stored_captures import restore_value
from pipelines.captures.tracing import SERVICE, start_tracing
from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.call_trace import CallTrace, open_call_trace
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.sources.table import CapturedValue, Reading, SoundFile
from warehouse.control import ControlStore
from warehouse.control import captures as shared_captures
from warehouse.control.scan_journal import JournalRow
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import Lake
from warehouse.queries.captures import read_capture
from warehouse.queries.erasure import read_erasure_marks
from warehouse.records import errors
from warehouse.records.times import observed_now
from warehouse.records.videos import Unavailability

CANCEL_FLAG_POLL_S = 0.25
CAPTURE_LEASE_S = 12.0  # how long a dead process can block others
LEASE_POLL_S = 0.05
FLUSH_AFTER_S = 2.0
_REPLAYED_ERRORS = (errors.InputError, errors.UpstreamError, errors.ProviderUnsupportedError)
"""Errors of the source itself. They are journalled, so the next run raises them again without a
request. Errors of our own stores are not."""

type Call[T] = Coroutine[object, object, T]


class RecordedSource(Protocol):
    """A source whose calls are recorded."""

    @property
    def name(self) -> str:
        """Name of the source in rows."""

    async def aclose(self) -> None:
        """Close all connections."""


class CaptureOptions(TypedDict, total=False):
    """Options of captures: their stores, their job, when they are written, and their journal."""

    lake: Required[Lake]
    engine: Required[Engine]
    control: Required[ControlStore]
    job_id: str | None
    cancelled: Callable[[], bool]
    flush_every: int
    flush_after_s: float
    clock: Clock
    journal: ScanJournal | None


@dataclass(eq=False)
class CaptureLease:
    """Lease of a capture by this process; `capture` is what came of it."""

    name: str
    owner: str = field(default_factory=lambda: uuid4().hex)
    capture: Capture[Any] | None = None

    @property
    def capture_id(self) -> str | None:
        """Id of the capture for waiting processes; None if it was cancelled."""
        if self.capture is None or self.capture.outcome == "cancelled":
            return None
        return self.capture.capture_id


@dataclass(frozen=True, eq=False)
class CaptureSharing:
    """Capture leases of one process. `flush` writes its pending captures."""

    control: ControlStore
    engine: Engine
    flush: Callable[[], Awaitable[None]]
    _: KW_ONLY
    clock: Clock = MACHINE_CLOCK

    async def acquire(self, request: CaptureRequest) -> CaptureLease | str:
        """Acquire the lease, or wait and return the id of another process's capture.

        Raises:
            WarehouseError: The control store cannot be read.
        """
        lease = CaptureLease(hashlib.sha256(request.key.encode("utf-8", "replace")).hexdigest())
        while True:
            claim_task = asyncio.ensure_future(
                asyncio.to_thread(
                    shared_captures.claim,
                    self.control,
                    lease.name,
                    lease.owner,
                    ttl_s=CAPTURE_LEASE_S,
                )
            )
            try:
                claim = await asyncio.shield(claim_task)
            except asyncio.CancelledError:
                # Released at once, if the store grants it to us meanwhile.
                if (await claim_task).is_ours:
                    await asyncio.to_thread(
                        shared_captures.publish, self.control, lease.name, lease.owner, None
                    )
                raise
            if claim.is_ours:
                return lease
            capture_id = await self._wait(lease.name, claim.owner)
            if capture_id is not None:
                return capture_id

    async def renew(self, lease: CaptureLease) -> None:
        """Renew a lease until cancelled: the rate limit may delay a read for long."""
        while True:
            await self.clock.sleep(CAPTURE_LEASE_S / 3)
            # A renewal that fails is tried again before the lease is over. If all fail, it expires,
            # and another process reads the same once more.
            with suppress(errors.WarehouseError):
                await asyncio.to_thread(
                    shared_captures.renew,
                    self.control,
                    lease.name,
                    lease.owner,
                    ttl_s=CAPTURE_LEASE_S,
                )

    async def release(self, lease: CaptureLease) -> None:
        """Release a lease; if others wait, the capture is written first.

        Raises:
            WarehouseError: The capture could not be written.
        """
        if await asyncio.to_thread(shared_captures.finish, self.control, lease.name, lease.owner):
            return
        capture_id = None
        try:
            await self.flush()
            capture_id = lease.capture_id
        finally:
            await asyncio.to_thread(
                shared_captures.publish, self.control, lease.name, lease.owner, capture_id
            )

    async def read_shared(self, request: CaptureRequest, capture_id: str) -> Capture[Any] | None:
        """Return the result of another process's capture; None if it cannot be restored.

        Raises:
            SametrackError: The refusal that the capture recorded.
        """

        def restore() -> Capture[Any] | None:
            self.engine.refresh()
            row = read_capture(self.engine, capture_id)
            value = None if row is None else restore_value(self.engine, request, row)
            if row is None or value is None:
                return None
            return Capture(
                request=request,
                surface=row["surface"],
                observed_at=row["observed_at"],
                value=value,
                is_shared=True,
                capture_id=None,
            )

        return await asyncio.to_thread(restore)

    async def _wait(self, name: str, owner: str) -> str | None:
        while True:
            await self.clock.sleep(LEASE_POLL_S)
            state = await asyncio.to_thread(shared_captures.check, self.control, name, owner)
            if state.is_over:
                return state.capture_id


class CaptureSession:
    """Base of `Captures` and `ChartCaptures`: runs and records the calls of a source.

    An async context manager. Rows name the first of `sources`; all of them are closed at the end.

    Attributes:
        requests_used: Requests made so far; updated when a call ends.
        verdicts: What became of each source that could have answered.
        fallback_count: How often demo data replaced a refused response. Results are then marked
            `data_provider: "mock"`; demo data is not in the warehouse.
    """

    def __init__(self, *sources: RecordedSource, **options: Unpack[CaptureOptions]) -> None:
        clock = options.get("clock", MACHINE_CLOCK)
        self.requests_used = 0
        self.verdicts: Verdicts = Counter()
        self.fallback_count = 0
        self._sources = sources
        self._engine = options["engine"]
        self._control = options["control"]
        self._journal = options.get("journal")
        self._marks = erased_accounts.ErasureMarksCache(self._engine, clock=clock)
        self._watcher = CancellationWatcher(options.get("cancelled", lambda: False))
        self._recorder = CaptureRecorder(
            data_provider=sources[0].name,
            lake=options["lake"],
            engine=self._engine,
            control=self._control,
            job_id=options.get("job_id"),
            flush_every=options.get("flush_every", 50),
            flush_after_s=options.get("flush_after_s", FLUSH_AFTER_S),
            clock=clock,
        )
        self._sharing = CaptureSharing(
            self._control, self._engine, self._recorder.flush, clock=clock
        )

    async def __aenter__(self) -> Self:
        if self._journal is not None and (named := self._journal.captures()):
            # An earlier run may have been killed while the lake was written. Its unfinished
            # captures get new ids and are written again; partial rows of the old ids stay unseen.
            self._engine.refresh()
            stored = await asyncio.to_thread(self._engine.committed_captures, named)
            renamed = {name: uuid4().hex for name in missing_captures(named, stored)}
            for row in await asyncio.to_thread(self._journal.rename_captures, renamed):
                capture = _unpack(row)
                if capture is not None and capture.capture_id is not None:
                    self._recorder.add(capture)
        return self

    async def __aexit__(self, *_exc: object) -> None:
        async with AsyncExitStack() as stack:
            for source in reversed(self._sources):
                stack.push_async_callback(source.aclose)
            await self._recorder.flush()

    async def flush(self) -> None:
        """Write all observations made so far."""
        await self._recorder.flush()

    async def _capture[T: CapturedValue](
        self, request: CaptureRequest, ask: Callable[[], Call[Reading[T]]]
    ) -> Capture[T]:
        """Return a refusal for an erased account, the journalled result, the result of another
        process, or a new read, in this order.
        """
        marks = await self._marks.marks()
        erased: Any = erased_accounts.refuse_erased(request, marks) if marks.by_salt else None
        if erased is not None:
            return Capture(
                request=request,
                surface=request.surface,
                observed_at=observed_now(),
                value=erased,
                capture_id=None,
            )
        journalled = self._replay(request.key)
        if journalled is not None:  # read by an earlier run, which was another process
            return replace(journalled, is_shared=True)
        while True:
            claim = await self._watcher.run(self._sharing.acquire(request))
            if isinstance(claim, CaptureLease):
                lease = claim
                break
            # `claim` is the id of the capture that another process made meanwhile.
            shared = await self._sharing.read_shared(request, claim)
            if shared is not None:
                await self._write_journal(request.key, shared)
                return shared
        renewing = asyncio.create_task(self._sharing.renew(lease))
        try:
            return await self._read_source(request, ask(), key=request.key, lease=lease)
        finally:
            renewing.cancel()
            # Shielded: others wait for this lease, even if this task is cancelled.
            await asyncio.shield(self._sharing.release(lease))

    async def _capture_anew[T: CapturedValue](
        self,
        request: CaptureRequest,
        ask: Callable[[], Call[Reading[T]]],
        *,
        before: Capture[T] | None = None,
    ) -> Capture[T]:
        """Read the source without a lease or a stored copy, for values such as expiring URLs.

        `before` is the stored value that this job has already used. It is journalled, so that a
        restarted run sees it again although the store now has the newer one.
        """
        key = f"anew\x1f{request.key}"
        journalled = self._replay(key)
        if journalled is not None:
            return journalled
        if before is not None:
            await self._write_journal(request.key, before)
        return await self._read_source(request, ask(), key=key)

    async def _capture_link(self, url: str, call: Call[LinkTarget]) -> LinkTarget:
        """Resolve a short link."""
        request = CaptureRequest(kind="link", surface="short_link", entity_id=url)
        with open_call_trace() as call_trace:
            target = await self._call(call, request, call_trace)
        if (await self._marks.marks()).hold(target.id, target.account):
            raise erased_accounts.erased_account_error()
        last = call_trace.last
        self._recorder.add(
            Capture(
                request=request,
                surface=request.surface,
                observed_at=observed_now(),
                reason=f"{target.kind} {target.id}",
                request_count=call_trace.request_count,
                http_status=last.status if last else None,
                source_path=last.path if last else None,
            )
        )
        return target

    async def _capture_sound(self, aweme_id: str, ask: Callable[[], Call[SoundFile]]) -> SoundFile:
        """Download a sound. The file belongs to the caller and is not stored as a payload."""
        key = sound_key(aweme_id)
        if self._journal is not None and self._journal.has(key):
            # A recorded download is replayed if its file still exists or was measured.
            is_measured = self._journal.has(measured_key(aweme_id))
            journalled = self._replay(
                key,
                is_usable=lambda capture: (
                    capture.file is None or is_measured or capture.file.path.exists()
                ),
            )
            if journalled is not None and journalled.file is not None:
                return journalled.file
        request = CaptureRequest(kind="sound", surface="media", entity_id=aweme_id)
        with open_call_trace() as call_trace:
            file = await self._call(ask(), request, call_trace, key=key)
        capture: Capture[Any] = Capture(
            request=request,
            surface=request.surface,
            observed_at=observed_now(),
            request_count=file.request_count,
            http_status=HTTPStatus.OK,
            content_type=file.content_type,
            file=file,
            verdicts=Counter(call_trace.verdicts),
        )
        await self._write_journal(key, capture)
        if self._recorder.add(capture):
            await self._recorder.flush()
        return file

    def _has_journalled(self, request: CaptureRequest) -> bool:
        """Whether an earlier run of this job has read this since the last checkpoint."""
        return self._journal is not None and self._journal.has(request.key)

    def _replay(
        self, key: str, *, is_usable: Callable[[Capture[Any]], bool] = lambda _: True
    ) -> Capture[Any] | None:
        """Return the journalled result of an earlier run, and add its cost to this one.

        None if there is none, or if it is not usable.

        Raises:
            SametrackError: The error that the earlier run recorded.
        """
        row = None if self._journal is None else self._journal.take(key)
        capture = None if row is None else _unpack(row)
        if capture is None or not is_usable(capture):
            return None
        with open_call_trace() as call_trace:  # walks count the requests of their pages
            call_trace.request_count = capture.request_count
            call_trace.verdicts.update(capture.verdicts)
        self.requests_used += capture.request_count
        self.verdicts.update(capture.verdicts)
        self.fallback_count += capture.is_fallback
        if capture.error is not None:
            raise capture.error
        return capture

    async def _write_journal(self, key: str, capture: Capture[Any]) -> None:
        if self._journal is not None:
            await self._journal.record(
                key,
                pack_capture(capture),
                body=capture.payload if capture.capture_id else None,
                capture_id=capture.capture_id,
            )

    async def _read_source[T: CapturedValue](
        self,
        request: CaptureRequest,
        call: Call[Reading[T]],
        *,
        key: str,
        lease: CaptureLease | None = None,
    ) -> Capture[T]:
        with open_call_trace() as call_trace:
            reading = await self._call(call, request, call_trace, key=key, lease=lease)
        # The account may have been erased while the call was under way.
        marks, value = await self._marks.marks(), reading.value
        if marks.by_salt:
            value = erased_accounts.without_erased(value, marks)
        has_erased = value is not reading.value
        if has_erased:  # the body contains erased data, so it is not stored
            reading = replace(reading, value=value, payload=b"")
        capture: Capture[T] = answered_capture(reading, request, call_trace)
        if has_erased and isinstance(value, Unavailability):
            return replace(capture, capture_id=None)
        self.fallback_count += capture.is_fallback
        # The journal before the lake: a run killed in between restores the capture from it.
        await self._write_journal(key, capture)
        if self._recorder.add(capture, lease):
            await self._recorder.flush()
        return capture

    async def _call[T](
        self,
        call: Call[T],
        request: CaptureRequest,
        call_trace: CallTrace,
        *,
        key: str | None = None,
        lease: CaptureLease | None = None,
    ) -> T:
        """Run a call until it ends or its job is cancelled; a failure is recorded, too."""
        asked_at = observed_now()
        try:
            with capture_span(request.surface):
                return await self._watcher.run(call)
        except (errors.RunCancelledError, asyncio.CancelledError):
            # Not in the journal: the next run has to ask again.
            unanswered: Capture[Any] = refused_capture(
                None, request, call_trace, observed_at=asked_at
            )
            self._recorder.add(unanswered, lease)
            raise
        except errors.SametrackError as error:
            capture: Capture[Any] = refused_capture(
                error, request, call_trace, observed_at=asked_at
            )
            if key is not None and isinstance(error, _REPLAYED_ERRORS):
                await self._write_journal(key, capture)
            if self._recorder.add(capture, lease):
                await self._recorder.flush()
            raise
        finally:
            self.requests_used += call_trace.request_count
            self.verdicts.update(call_trace.verdicts)


def _unpack(row: JournalRow) -> Capture[Any] | None:
    """Return a capture of the journal; None if another release wrote it, so it is read again."""
    try:
        return unpack_capture(row.document, body=row.body, capture_id=row.capture_id)
    except ValueError:
        return None


@contextmanager
def capture_span(surface: str) -> Iterator[None]:
    """Open a span around one capture; on an error it gets the error's type as status."""
    start_tracing()
    tracer = trace.get_tracer(SERVICE)
    with tracer.start_as_current_span(
        f"capture {surface}", record_exception=False, set_status_on_exception=False
    ) as span:
        span.set_attribute("sametrack.surface", surface)
        try:
            yield
        except errors.SametrackError as error:
            span.set_attribute("error.type", error.type)
            span.set_status(Status(StatusCode.ERROR))
            raise


@dataclass(eq=False, kw_only=True)
class CaptureRecorder:
    """Collects captures and appends them to the lake in batches.

    Readers count an observation only once its capture's row exists, so a partly written batch is
    invisible.
    """

    data_provider: str
    lake: Lake
    engine: Engine
    control: ControlStore
    job_id: str | None
    flush_every: int
    flush_after_s: float
    clock: Clock
    _pending: list[Capture[Any]] = field(default_factory=list, init=False)
    _pending_since: float = field(default=0.0, init=False)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def add(self, capture: Capture[Any], lease: CaptureLease | None = None) -> bool:
        """Add a capture to the next batch; those who wait for its lease then get it.

        Returns:
            Whether the batch is due: large enough, or its oldest capture old enough.
        """
        if not self._pending:
            self._pending_since = self.clock.monotonic()
        self._pending.append(capture)
        if lease is not None:
            lease.capture = capture
        is_old = self.clock.monotonic() - self._pending_since >= self.flush_after_s
        return is_old or len(self._pending) >= self.flush_every

    async def flush(self) -> None:
        """Write all pending captures.

        Raises:
            WarehouseError: The lake or the control store cannot be written.
        """
        async with self._writing:
            captures, self._pending = self._pending, []
            if captures:
                # Shielded: cancelling a write that still waits for a thread would lose them.
                await asyncio.shield(asyncio.to_thread(self._write, captures))

    def _write(self, captures: list[Capture[Any]]) -> None:
        # Not the cached marks: what was erased a moment ago must not be written again. A body that
        # names an erased account goes, that of a refusal too.
        marks = read_erasure_marks(self.engine)
        if marks.by_salt:
            captures = [
                replace(capture, payload=b"") if marks.occur_in(capture.payload) else capture
                for capture in captures
            ]
        hashes = {capture.payload_sha256 for capture in captures} - {None}
        stored = self.engine.rows(
            "select sha256 from raw.payloads where sha256 in (select unnest($hashes::varchar[]))",
            {"hashes": sorted(filter(None, hashes))},
        )
        requests = [capture.request for capture in captures]
        numbers = shared_captures.next_numbers(
            self.control, [(request.surface, request.entity_id) for request in requests]
        )
        tables = capture_tables(
            captures,
            numbers,
            data_provider=self.data_provider,
            job_id=self.job_id,
            stored=(row["sha256"] for row in stored),
        )
        for name, rows in tables.items():
            self.lake.append(name, rows, job_id=self.job_id)
        self.engine.refresh()  # this process reads its own writes
        # Last: a new generation makes response caches read again, and they must find the rows.
        shared_captures.raise_generations(
            self.control,
            {entity_key(capture.surface, capture.request.entity_id) for capture in captures},
        )


@dataclass(eq=False)
class CancellationWatcher:
    """Polls the cancel flag of a job while calls run; concurrent calls share one poll."""

    cancelled: Callable[[], bool]
    _is_cancelled: bool = field(default=False, init=False)
    _checked_at: float = field(default=float("-inf"), init=False)

    async def run[T](self, call: Call[T]) -> T:
        """Await the call, and cancel it when the job is cancelled.

        Raises:
            RunCancelledError: The job was cancelled before the call finished.
        """
        task = asyncio.ensure_future(call)
        try:
            while not task.done():
                # The flag may be in the control store; once set, it stays set.
                now = time.monotonic()
                if not self._is_cancelled and now - self._checked_at >= CANCEL_FLAG_POLL_S:
                    self._checked_at = now
                    self._is_cancelled = await asyncio.to_thread(self.cancelled)
                if self._is_cancelled:
                    raise errors.RunCancelledError("the job was cancelled")
                await asyncio.wait({task}, timeout=CANCEL_FLAG_POLL_S)
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                # Wait for its clean-up, which may release a lease that was just acquired.
                await asyncio.wait({task})
