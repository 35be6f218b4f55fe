"""Run and record the calls of a source.

`CaptureSession` makes a call once for all processes (lease), replays it from the journal of an
earlier run, and stops it when its job is cancelled. `CaptureRecorder` writes the captures to the
lake in batches. The public calls, one method per surface, are in `session.py` and `chart.py`.
"""

import asyncio
import os
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from http import HTTPStatus
from importlib import import_module
from typing import Any, Protocol, Required, Self, TypedDict, Unpack
from uuid import uuid4

import structlog
from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode
from pydantic import TypeAdapter

from pipelines.captures import sharing
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
from pipelines.captures.sharing import CaptureLease, CaptureSharing
from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.call_trace import CallTrace, open_call_trace
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.sources.table import CapturedValue, Reading, SoundFile
from warehouse.control import ControlStore, scan_journal
from warehouse.control import captures as shared_captures
from warehouse.control.scan_journal import JournalRow
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import pack_bytes, unpack_bytes
from warehouse.lake.store import Lake
from warehouse.queries.erasure import read_marks
from warehouse.records import errors
from warehouse.records.errors import SametrackError
from warehouse.records.times import observed_now
from warehouse.records.videos import Unavailability

# The journal: a restarted run of a scan replays the calls of its earlier runs.
#
# Each call is written before its result is returned, so after a kill only the interrupted call is
# made again. Calls with one key are replayed in the order in which they were made, each once.


class ScanJournal:
    """The journal of one run. `checkpoint` is the number of the checkpoint that it began with."""

    def __init__(
        self, store: ControlStore, job_id: str, *, run_number: int, checkpoint: int
    ) -> None:
        self._store = store
        self._job_id = job_id
        self._run_number = run_number
        self._checkpoint = checkpoint
        self._position = scan_journal.next_position(store, job_id, run_number)
        self._recorded: defaultdict[str, deque[JournalRow]] = defaultdict(deque)
        for row in scan_journal.read(store, job_id, since=checkpoint):
            self._recorded[row.key].append(_decompressed(row))

    def captures(self) -> list[str]:
        """Return the captures of all runs of this job, written to the lake or not."""
        return scan_journal.captures(self._store, self._job_id)

    def rename_captures(self, renamed: Mapping[str, str]) -> list[JournalRow]:
        """Give captures other ids; return their rows, with the new ids."""
        if not renamed:
            return []
        scan_journal.rename_captures(self._store, self._job_id, renamed)
        ids = set(renamed.values())
        rows = scan_journal.read(
            self._store, self._job_id, since=_AFTER_EVERYTHING, captures=tuple(ids)
        )
        return [_decompressed(row) for row in rows]

    def has(self, key: str) -> bool:
        """Whether an earlier run has read this, and it was not given yet."""
        return bool(self._recorded.get(key))

    def take(self, key: str) -> JournalRow | None:
        """Return what an earlier run has read under this key, each row once; None if nothing."""
        return self._recorded[key].popleft() if self.has(key) else None

    def advance(self, checkpoint: int) -> None:
        """Go on to the next checkpoint: what was read before it is part of the state."""
        self._checkpoint = checkpoint
        for key, rows in list(self._recorded.items()):
            remaining = deque(row for row in rows if row.checkpoint >= checkpoint)
            if remaining:
                self._recorded[key] = remaining
            else:
                del self._recorded[key]

    async def record(
        self, key: str, document: bytes, *, body: bytes | None = None, capture_id: str | None = None
    ) -> None:
        """Write what was read under this key.

        Raises:
            WarehouseError: The control store cannot be written.
        """
        row = self._next_row(key, document, body, capture_id)
        # Shielded: a position that was given out is written even if the caller is cancelled.
        await asyncio.shield(asyncio.to_thread(self._write, row))

    def once[T](self, key: str, kind: TypeAdapter[T], compute: Callable[[], T]) -> T:
        """Return what an earlier run computed, or compute and write it.

        For queries whose result the captures of this very scan would change.
        """
        row = self.take(key)
        if row is not None:
            return kind.validate_json(row.document)
        value = compute()
        self._write(self._next_row(key, kind.dump_json(value), None, None))
        return value

    def _next_row(
        self, key: str, document: bytes, body: bytes | None, capture_id: str | None
    ) -> JournalRow:
        position, self._position = self._position, self._position + 1
        return JournalRow(
            job_id=self._job_id,
            run_number=self._run_number,
            position=position,
            checkpoint=self._checkpoint,
            key=key,
            capture_id=capture_id,
            document=document,
            body=body,
        )

    def _write(self, row: JournalRow) -> None:
        body = None if row.body is None else pack_bytes(row.body)
        scan_journal.append(self._store, replace(row, document=pack_bytes(row.document), body=body))


_AFTER_EVERYTHING = 2**31 - 1


def missing_captures(named: Sequence[str], stored: Collection[str]) -> list[str]:
    """Return the captures of a journal that the lake does not have, each once."""
    return [capture_id for capture_id in dict.fromkeys(named) if capture_id not in stored]


def _decompressed(row: JournalRow) -> JournalRow:
    body = None if row.body is None else unpack_bytes(row.body)
    return replace(row, document=unpack_bytes(row.document), body=body)


# OpenTelemetry spans of captures, and their export.
#
# Without the extra `telemetry`, or without an endpoint in the environment, no spans are created.
# HTTP requests get spans from the web framework, through the same provider. A span contains no
# URL, id or user text: only the surface and the outcome.

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
SERVICE = "sametrack"
EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"  # of the extra

_log = structlog.get_logger("tracing")


@cache
def start_tracing() -> bool:
    """Export spans to the OTLP endpoint in the environment; return True if one is set."""
    if not os.environ.get(ENDPOINT):
        return False
    try:
        exporter = import_module(EXPORTER).OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 -- the extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 -- as above
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 -- as above
    except ImportError:
        _log.warning("no spans are sent: the extra `telemetry` is not installed")
        return False
    provider = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
    provider.add_span_processor(BatchSpanProcessor(exporter()))
    trace.set_tracer_provider(provider)
    return True


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
        except SametrackError as error:
            span.set_attribute("error.type", error.type)
            span.set_status(Status(StatusCode.ERROR))
            raise


CANCEL_FLAG_POLL_S = 0.25
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
    """Runs and records the calls of one source. Use as an async context manager.

    Attributes:
        requests_used: Requests made so far; updated when a call ends.
        verdicts: What became of each source that could have answered.
        stand_ins: How often demo data replaced a refused response.
    """

    def __init__(self, source: RecordedSource, **options: Unpack[SessionOptions]) -> None:
        clock = options.get("clock", MACHINE_CLOCK)
        self.requests_used = 0
        self.verdicts: Verdicts = Counter()
        self.stand_ins = 0
        self._source = source
        self._engine = options["engine"]
        self._control = options["control"]
        self._journal = options.get("journal")
        self._marks = sharing.ErasureMarksCache(self._engine, clock=clock)
        self._watcher = CancellationWatcher(options.get("cancelled", lambda: False))
        self._recorder = CaptureRecorder(source.name, options, clock=clock)
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
                    self._recorder.note(capture)
        return self

    async def __aexit__(self, *_exc: object) -> None:
        try:
            await self._recorder.flush()
        finally:
            await self._source.aclose()

    async def flush(self) -> None:
        """Write all observations made so far."""
        await self._recorder.flush()

    async def _capture[T: CapturedValue](
        self, request: CaptureRequest, ask: Callable[[], Call[Reading[T]]]
    ) -> Capture[T]:
        """Return a refusal for an erased account, the journalled result, the result of another
        process, or a new read, in this order.
        """
        erased: Any = sharing.refuse_erased(request, await self._marks.marks())
        if erased is not None:
            return Capture(
                request=request,
                surface=request.surface,
                observed_at=observed_now(),
                value=erased,
                capture_id=None,
            )
        journalled = self._take(request.key)
        if journalled is not None:  # read by an earlier run, which was another process
            return replace(journalled, is_shared=True)
        while True:
            lease = await self._watcher.run(self._sharing.take(request))
            if isinstance(lease, CaptureLease):
                break
            # `lease` is the id of the capture that another process made meanwhile.
            shared = await self._sharing.recall(request, lease)
            if shared is not None:
                await self._write_journal(request.key, shared)
                return shared
        renewing = asyncio.create_task(self._sharing.renew(lease))
        try:
            return await self._read(request, ask(), key=request.key, lease=lease)
        finally:
            renewing.cancel()
            # Shielded: others wait for this lease, even if this task is cancelled.
            await asyncio.shield(self._sharing.give_back(lease))

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
        journalled = self._take(key)
        if journalled is not None:
            return journalled
        if before is not None:
            await self._write_journal(request.key, before)
        return await self._read(request, ask(), key=key)

    async def _capture_link(self, url: str, call: Call[LinkTarget]) -> LinkTarget:
        """Resolve a short link."""
        request = CaptureRequest(kind="link", surface="short_link", entity_id=url)
        with open_call_trace() as call_trace:
            target = await self._run(call, request, call_trace)
        if (await self._marks.marks()).hold(target.id, target.account):
            raise sharing.erased_account_error()
        last = call_trace.last
        self._recorder.note(
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
            journalled = self._take(
                key,
                is_usable=lambda capture: (
                    capture.file is None or is_measured or capture.file.path.exists()
                ),
            )
            if journalled is not None and journalled.file is not None:
                return journalled.file
        request = CaptureRequest(kind="sound", surface="media", entity_id=aweme_id)
        with open_call_trace() as call_trace:
            file = await self._run(ask(), request, call_trace, key=key)
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
        self._recorder.note(capture)
        await self._recorder.flush_if_due()
        return file

    def _has_journalled(self, request: CaptureRequest) -> bool:
        """Whether an earlier run of this job has read this since the last checkpoint."""
        return self._journal is not None and self._journal.has(request.key)

    def _take(
        self, key: str, *, is_usable: Callable[[Capture[Any]], bool] = lambda _: True
    ) -> Capture[Any] | None:
        """Remove and return what an earlier run has read, with its cost; None if it is not usable.

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
        self.stand_ins += capture.is_fallback
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

    async def _read[T: CapturedValue](
        self,
        request: CaptureRequest,
        call: Call[Reading[T]],
        *,
        key: str,
        lease: CaptureLease | None = None,
    ) -> Capture[T]:
        with open_call_trace() as call_trace:
            reading = await self._run(call, request, call_trace, key=key, lease=lease)
        # The account may have been erased while the call was under way.
        value = sharing.without_erased(reading.value, await self._marks.marks())
        has_erased = value is not reading.value
        if has_erased:  # the body contains erased data, so it is not stored
            reading = replace(reading, value=value, payload=b"")
        capture: Capture[T] = answered_capture(reading, request, call_trace)
        if has_erased and isinstance(value, Unavailability):
            return replace(capture, capture_id=None)
        self.stand_ins += capture.is_fallback
        # The journal before the lake: a run killed in between restores the capture from it.
        await self._write_journal(key, capture)
        self._recorder.note(capture, lease)
        await self._recorder.flush_if_due()
        return capture

    async def _run[T](
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
            self._recorder.note(unanswered, lease)
            raise
        except errors.SametrackError as error:
            capture: Capture[Any] = refused_capture(
                error, request, call_trace, observed_at=asked_at
            )
            if key is not None and isinstance(error, _REPLAYED_ERRORS):
                await self._write_journal(key, capture)
            self._recorder.note(capture, lease)
            await self._recorder.flush_if_due()
            raise
        finally:
            self.requests_used += call_trace.request_count
            self.verdicts.update(call_trace.verdicts)


def sound_key(aweme_id: str) -> str:
    """Return the key of a download in the journal."""
    return f"media\x1f{aweme_id}"


def measured_key(aweme_id: str) -> str:
    """Return the journal key of a sound's measured features."""
    return f"measured\x1f{aweme_id}"


def _unpack(row: JournalRow) -> Capture[Any] | None:
    """Return a capture of the journal; None if another release wrote it, so it is read again."""
    try:
        return unpack_capture(row.document, body=row.body, capture_id=row.capture_id)
    except ValueError:
        return None


class CaptureRecorder:
    """Collects captures and appends them to the lake in batches.

    Readers count an observation only once its capture's row exists, so a partly written batch is
    invisible.
    """

    def __init__(self, data_provider: str, options: SessionOptions, *, clock: Clock) -> None:
        self._data_provider = data_provider
        self._lake = options["lake"]
        self._engine = options["engine"]
        self._control = options["control"]
        self._job_id = options.get("job_id")
        self._flush_every = options.get("flush_every", 50)
        self._flush_after_s = options.get("flush_after_s", FLUSH_AFTER_S)
        self._clock = clock
        self._waiting: list[Capture[Any]] = []
        self._waiting_since = 0.0
        self._writing = asyncio.Lock()

    def note(self, capture: Capture[Any], lease: CaptureLease | None = None) -> None:
        """Add a capture to the next batch; those who wait for its lease then get it."""
        if not self._waiting:
            self._waiting_since = self._clock.monotonic()
        self._waiting.append(capture)
        if lease is not None:
            lease.capture = capture

    async def flush_if_due(self) -> None:
        """Write if enough captures are pending, or the oldest is old enough."""
        waited_s = self._clock.monotonic() - self._waiting_since
        is_old = bool(self._waiting) and waited_s >= self._flush_after_s
        if is_old or len(self._waiting) >= self._flush_every:
            await self.flush()

    async def flush(self) -> None:
        """Write all pending captures.

        Raises:
            WarehouseError: The lake or the control store cannot be written.
        """
        async with self._writing:
            captures, self._waiting = self._waiting, []
            if captures:
                # Shielded: cancelling a write that still waits for a thread would lose them.
                await asyncio.shield(asyncio.to_thread(self._write, captures))

    def _write(self, captures: list[Capture[Any]]) -> None:
        # Not the cached marks: what was erased a moment ago must not be written again. A body that
        # names an erased account goes, that of a refusal too.
        marks = read_marks(self._engine)
        if marks.by_salt:
            captures = [
                replace(capture, payload=b"") if marks.occur_in(capture.payload) else capture
                for capture in captures
            ]
        hashes = {capture.payload_sha256 for capture in captures} - {None}
        stored = self._engine.rows(
            "select sha256 from raw.payloads where sha256 in (select unnest($hashes::varchar[]))",
            {"hashes": sorted(filter(None, hashes))},
        )
        requests = [capture.request for capture in captures]
        numbers = shared_captures.next_numbers(
            self._control, [(request.surface, request.entity_id) for request in requests]
        )
        tables = capture_tables(
            captures,
            numbers,
            data_provider=self._data_provider,
            job_id=self._job_id,
            stored=(row["sha256"] for row in stored),
        )
        for name, rows in tables.items():
            self._lake.append(name, rows, job_id=self._job_id)
        self._engine.refresh()  # this process reads its own writes
        # Last: a reader that sees the new generation reads again and must find the rows.
        shared_captures.raise_generations(
            self._control,
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
