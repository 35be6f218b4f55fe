"""Runs provider calls and records the outcome of each, however it ends."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from typing import cast
from uuid import uuid4

from pipelines.captures.cancellation import CancellationWatcher
from pipelines.captures.erased_accounts import erased_account_error, refuse_erased, without_erased
from pipelines.captures.recording.attempts import CaptureAttempt, failed_attempt, successful_attempt
from pipelines.captures.recording.journal import ScanJournal, missing_captures
from pipelines.captures.recording.observations import CaptureRequest
from pipelines.captures.recording.recorded_call import (
    RecordedCall,
    Verdicts,
    pack_call,
    unpack_call,
)
from pipelines.captures.recording.recorder import CaptureRecorder
from pipelines.captures.recording.tracing import capture_span
from pipelines.captures.sharing import CaptureLease, CaptureSharing
from pipelines.platform.call_trace import CallTrace, open_call_trace
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.reading import CapturedValue, Reading, SoundFile
from warehouse.control.scan_journal import JournalRow
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.committed_rows import read_committed_ids
from warehouse.records.errors import (
    InputError,
    ProviderUnsupportedError,
    RunCancelledError,
    SametrackError,
    UpstreamError,
)
from warehouse.records.times import observed_now
from warehouse.records.videos import UnavailableVideo

type ProviderCall[T] = Coroutine[object, object, T]


@dataclass(frozen=True, slots=True)
class CaptureResult[T]:
    """Value of a call, and when it was observed.

    `is_fallback`: demo data in place of a refused response; it is served as `mock` and not stored.
    `surface`: the surface that gave it, None if none did. `is_shared`: another process read it.
    """

    value: T
    observed_at: datetime
    is_fallback: bool = False
    surface: str | None = None
    is_shared: bool = False


class CallRecorder:
    """Runs calls under the cancellation poll; each one records an attempt."""

    def __init__(
        self,
        recorder: CaptureRecorder,
        watch: CancellationWatcher,
        sharing: CaptureSharing,
        journal: ScanJournal | None = None,
    ) -> None:
        self.requests_used = 0
        self.verdicts: Verdicts = Counter()
        self.stand_ins = 0
        self._journal = journal
        self._recorder = recorder
        self._watch = watch
        self._sharing = sharing

    async def reading[T: CapturedValue](
        self, question: CaptureRequest, ask: Callable[[], ProviderCall[Reading[T]]]
    ) -> CaptureResult[T]:
        """Return a value: from the source, or from another process that is reading the same."""
        known = refuse_erased(question, await self._recorder.marks())
        if known is not None:
            return CaptureResult(cast("T", known), observed_now())
        recorded = self._take(question.key)
        if recorded is not None:  # an earlier run read it, which was another process
            return _result_of(replace(recorded, is_shared=True))
        while True:
            lease = await self._watch.run(self._sharing.take(question))
            if isinstance(lease, CaptureLease):
                return await self._alone(question, ask(), lease)
            call = await self._sharing.recall(question, lease)
            if call is not None:
                await self._record(question.key, call)
                return _result_of(call)

    def has_recorded(self, question: CaptureRequest) -> bool:
        """Whether an earlier run of this job has read this since the last checkpoint."""
        return self._journal is not None and self._journal.has(question.key)

    async def restore_lost(self, engine: Engine) -> None:
        """Note the captures of earlier runs that were killed before the lake had them.

        They get new ids: rows of the old ones may be there in part, which no reader sees.
        """
        if self._journal is None or not (named := self._journal.captures()):
            return
        engine.refresh()
        stored = await asyncio.to_thread(read_committed_ids, engine, named)
        renamed = {name: uuid4().hex for name in missing_captures(named, stored)}
        for row in await asyncio.to_thread(self._journal.rename_captures, renamed):
            call = _unpack(row)
            if call is not None and call.attempt is not None:
                self._recorder.note(call.attempt)

    async def _alone[T: CapturedValue](
        self, question: CaptureRequest, call: ProviderCall[Reading[T]], lease: CaptureLease
    ) -> CaptureResult[T]:
        """Read the source under our lease, while others wait for the capture."""
        renewing = asyncio.create_task(self._sharing.renew(lease))
        try:
            return await self._read(question, call, lease, key=question.key)
        finally:
            renewing.cancel()
            # Shielded: others wait for this lease, even if this task is cancelled.
            await asyncio.shield(self._sharing.give_back(lease))

    async def anew[T: CapturedValue](
        self,
        question: CaptureRequest,
        ask: Callable[[], ProviderCall[Reading[T]]],
        *,
        before: RecordedCall | None = None,
    ) -> CaptureResult[T]:
        """Read the source without sharing, for values that are never stored: expiring URLs.

        `before` is what this job has of it from the store. The store has the new value from now on,
        so a later run takes the old one from the journal.
        """
        key = _anew_key(question)
        recorded = self._take(key)
        if recorded is not None:
            return _result_of(recorded)
        if before is not None:
            await self._record(question.key, before)
        return await self._read(question, ask(), None, key=key)

    async def link(self, url: str, call: ProviderCall[LinkTarget]) -> LinkTarget:
        """Resolve a short link."""
        question = CaptureRequest(kind="link", surface="short_link", entity_id=url)
        with open_call_trace() as call_trace:
            target = await self._run(call_trace, question, call)
        if (await self._recorder.marks()).hold(target.id, target.account):
            raise erased_account_error()
        self._recorder.note(
            CaptureAttempt(
                surface=question.surface,
                entity_id=url,
                observed_at=observed_now(),
                outcome="ok",
                question=question,
                reason=f"{target.kind} {target.id}",
                request_count=call_trace.request_count,
                http_status=call_trace.last.status if call_trace.last else None,
                source_path=call_trace.last.path if call_trace.last else None,
            )
        )
        return target

    async def sound(self, aweme_id: str, ask: Callable[[], ProviderCall[SoundFile]]) -> SoundFile:
        """Download a sound. It is not archived as a payload: the file is the caller's."""
        recorded = self._take_sound(aweme_id)
        if recorded is not None and recorded.file is not None:
            return recorded.file
        key = sound_key(aweme_id)
        question = CaptureRequest(kind="sound", surface="media", entity_id=aweme_id)
        with open_call_trace() as call_trace:
            file = await self._run(call_trace, question, ask(), key=key)
        attempt = CaptureAttempt(
            surface=question.surface,
            entity_id=aweme_id,
            observed_at=observed_now(),
            outcome="ok",
            question=question,
            request_count=file.request_count,
            http_status=HTTPStatus.OK,
            content_type=file.content_type,
        )
        call = RecordedCall(observed_at=attempt.observed_at, file=file, attempt=attempt)
        await self._record(key, call.with_cost(call_trace))
        self._recorder.note(attempt)
        await self._recorder.flush_if_due()
        return file

    def _take_sound(self, aweme_id: str) -> RecordedCall | None:
        """Return a recorded download if its file, or what was measured of it, is still there."""
        if self._journal is None or not self._journal.has(sound_key(aweme_id)):
            return None
        is_measured = self._journal.has(measured_key(aweme_id))
        return self._take(
            sound_key(aweme_id),
            keep=lambda call: call.file is None or is_measured or call.file.path.exists(),
        )

    def _take(
        self, key: str, *, keep: Callable[[RecordedCall], bool] = lambda _: True
    ) -> RecordedCall | None:
        """Return what an earlier run has read, with its cost.

        Raises:
            SametrackError: The refusal that it met.
        """
        row = None if self._journal is None else self._journal.take(key)
        if row is None:
            return None
        call = _unpack(row)
        if call is None or not keep(call):
            return None
        with open_call_trace() as call_trace:  # walks count the requests of their pages
            call_trace.request_count = call.request_count
            call_trace.verdicts.update(call.verdicts)
        self.requests_used += call.request_count
        self.verdicts.update(call.verdicts)
        self.stand_ins += call.is_fallback
        if call.error is not None:
            raise call.error
        return call

    async def _record(self, key: str, call: RecordedCall) -> None:
        if self._journal is None:
            return
        attempt = call.attempt
        await self._journal.record(
            key,
            pack_call(call),
            body=attempt.payload if attempt else None,
            capture_id=attempt.capture_id if attempt else None,
        )

    async def _read[T: CapturedValue](
        self,
        question: CaptureRequest,
        call: ProviderCall[Reading[T]],
        lease: CaptureLease | None,
        *,
        key: str,
    ) -> CaptureResult[T]:
        with open_call_trace() as call_trace:
            found = await self._run(call_trace, question, call, lease=lease, key=key)
        # The account may have been erased while the call was under way.
        value = without_erased(found.value, await self._recorder.marks())
        if value is not found.value:  # the body contains erased data, so it is not stored
            found = replace(found, value=value, payload=b"")
            if isinstance(value, UnavailableVideo):
                return CaptureResult(value, found.fetched_at)
        if found.instead_of is None:
            attempt = successful_attempt(found, question)
        else:  # behind demo data is the refusal of the source
            self.stand_ins += 1
            attempt = failed_attempt(
                found.instead_of, call_trace, question, observed_at=found.fetched_at
            )
        recorded = RecordedCall(
            observed_at=found.fetched_at,
            value=found.value,
            surface=found.surface,
            is_fallback=found.instead_of is not None,
            attempt=attempt,
        )
        # To the journal first: a run that is killed before the lake has it can restore it from
        # there.
        await self._record(key, recorded.with_cost(call_trace))
        self._note(attempt, lease)
        await self._recorder.flush_if_due()
        return _result_of(recorded)

    async def _run[T](
        self,
        call_trace: CallTrace,
        question: CaptureRequest,
        call: ProviderCall[T],
        *,
        lease: CaptureLease | None = None,
        key: str | None = None,
    ) -> T:
        """Run a call under the cancellation poll; failures are recorded too."""
        asked_at = observed_now()

        def attempt_of(error: SametrackError | None) -> CaptureAttempt:
            return failed_attempt(error, call_trace, question, observed_at=asked_at)

        try:
            with capture_span(question.surface):
                return await self._watch.run(call)
        # Noted, but not in the journal: the next run has to ask again.
        except (RunCancelledError, asyncio.CancelledError):
            self._note(attempt_of(None), lease)
            raise
        except SametrackError as error:
            attempt = attempt_of(error)
            if key is not None and isinstance(error, _REPEATABLE):
                refused = RecordedCall(observed_at=asked_at, error=error, attempt=attempt)
                await self._record(key, refused.with_cost(call_trace))
            self._note(attempt, lease)
            await self._recorder.flush_if_due()
            raise
        finally:
            self.requests_used += call_trace.request_count
            self.verdicts.update(call_trace.verdicts)

    def _note(self, attempt: CaptureAttempt, lease: CaptureLease | None) -> None:
        self._recorder.note(attempt)
        if lease is not None:
            lease.attempt = attempt


_REPEATABLE = (InputError, UpstreamError, ProviderUnsupportedError)
"""Refusals of the source, which the next run of a job meets again without asking. A store that
cannot be written is no answer of the source."""


def _anew_key(question: CaptureRequest) -> str:
    """Return the key in the journal of what is read though the store has it."""
    return f"anew\x1f{question.key}"


def sound_key(aweme_id: str) -> str:
    """Return the key of a download in the journal."""
    return f"media\x1f{aweme_id}"


def measured_key(aweme_id: str) -> str:
    """Return the key of what was measured of a downloaded sound."""
    return f"measured\x1f{aweme_id}"


def _unpack(row: JournalRow) -> RecordedCall | None:
    """Return a call of the journal; None if another release wrote it, so that it is read again."""
    try:
        return unpack_call(row.document, body=row.body, capture_id=row.capture_id)
    except ValueError:
        return None


def _result_of[T](call: RecordedCall) -> CaptureResult[T]:
    return CaptureResult(
        cast("T", call.value),
        call.observed_at,
        is_fallback=call.is_fallback,
        surface=call.surface,
        is_shared=call.is_shared,
    )
