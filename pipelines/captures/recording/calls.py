"""Runs provider calls and records the outcome of each, however it ends."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from typing import cast

from pipelines.captures.cancellation import CancellationWatcher
from pipelines.captures.erased_accounts import erased_account_error, refuse_erased, without_erased
from pipelines.captures.recording.attempts import CaptureAttempt, failed_attempt, successful_attempt
from pipelines.captures.recording.observations import CapturedValue, CaptureRequest
from pipelines.captures.recording.recorder import CaptureRecorder
from pipelines.captures.recording.tracing import capture_span
from pipelines.captures.sharing import CaptureLease, CaptureSharing
from pipelines.platform.call_trace import CallTrace, open_call_trace
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.reading import Reading, SoundFile
from warehouse.records.errors import RunCancelledError, SametrackError
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
        self, recorder: CaptureRecorder, watch: CancellationWatcher, sharing: CaptureSharing
    ) -> None:
        self.requests_used = 0
        self.verdicts: Counter[tuple[str, str, str]] = Counter()
        self.stand_ins = 0
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
        while True:
            lease = await self._watch.run(self._sharing.take(question))
            if isinstance(lease, CaptureLease):
                return await self._alone(question, ask(), lease)
            found = await self._sharing.recall(question, lease)
            if found is not None:
                return CaptureResult(
                    cast("T", found.value),
                    found.observed_at,
                    surface=found.surface,
                    is_shared=True,
                )

    async def _alone[T: CapturedValue](
        self, question: CaptureRequest, call: ProviderCall[Reading[T]], lease: CaptureLease
    ) -> CaptureResult[T]:
        """Read the source under our lease, while others wait for the capture."""
        renewing = asyncio.create_task(self._sharing.renew(lease))
        try:
            return await self._read(question, call, lease)
        finally:
            renewing.cancel()
            await asyncio.shield(self._sharing.give_back(lease))

    async def anew[T: CapturedValue](
        self, question: CaptureRequest, call: ProviderCall[Reading[T]]
    ) -> CaptureResult[T]:
        """Read the source without sharing, for values that are never stored: expiring URLs."""
        return await self._read(question, call, None)

    async def link(self, url: str, call: ProviderCall[LinkTarget]) -> LinkTarget:
        """Resolve a short link."""
        with open_call_trace() as call_trace:
            target = await self._run(call_trace, "short_link", url, call)
        if (await self._recorder.marks()).hold(target.id):
            raise erased_account_error()
        self._recorder.note(
            CaptureAttempt(
                surface="short_link",
                entity_id=url,
                observed_at=observed_now(),
                outcome="ok",
                reason=f"{target.kind} {target.id}",
                request_count=call_trace.request_count,
                http_status=call_trace.last.status if call_trace.last else None,
                source_path=call_trace.last.path if call_trace.last else None,
            )
        )
        return target

    async def sound(self, aweme_id: str, call: ProviderCall[SoundFile]) -> SoundFile:
        """Download a sound. It is not archived as a payload: the file is the caller's."""
        with open_call_trace() as call_trace:
            file = await self._run(call_trace, "media", aweme_id, call)
        self._recorder.note(
            CaptureAttempt(
                surface="media",
                entity_id=aweme_id,
                observed_at=observed_now(),
                outcome="ok",
                request_count=file.request_count,
                http_status=HTTPStatus.OK,
                content_type=file.content_type,
            )
        )
        await self._recorder.flush_if_due()
        return file

    async def _read[T: CapturedValue](
        self, question: CaptureRequest, call: ProviderCall[Reading[T]], lease: CaptureLease | None
    ) -> CaptureResult[T]:
        with open_call_trace() as call_trace:
            found = await self._run(
                call_trace,
                question.surface,
                question.entity_id,
                call,
                question=question,
                lease=lease,
            )
        value = without_erased(found.value, await self._recorder.marks())
        if value is not found.value:  # the body contains erased data, so it is not stored
            found = replace(found, value=value, payload=b"")
            if isinstance(value, UnavailableVideo):
                return CaptureResult(value, found.fetched_at)
        if found.instead_of is None:
            self._note(successful_attempt(found, question), lease)
        else:
            self.stand_ins += 1
            self._note(_refused_attempt(found, found.instead_of, call_trace, question), lease)
        await self._recorder.flush_if_due()
        return CaptureResult(
            found.value,
            found.fetched_at,
            is_fallback=found.instead_of is not None,
            surface=found.surface,
        )

    async def _run[T](
        self,
        call_trace: CallTrace,
        surface: str,
        entity_id: str,
        call: ProviderCall[T],
        *,
        question: CaptureRequest | None = None,
        lease: CaptureLease | None = None,
    ) -> T:
        """Run a call under the cancellation poll; failures are recorded too."""
        asked_at = observed_now()

        def note(error: SametrackError | None) -> None:
            attempt = failed_attempt(
                error,
                call_trace,
                surface=surface,
                entity_id=entity_id,
                question=question,
                observed_at=asked_at,
            )
            self._note(attempt, lease)

        try:
            with capture_span(surface):
                return await self._watch.run(call)
        except (RunCancelledError, asyncio.CancelledError):
            note(None)
            raise
        except SametrackError as error:
            note(error)
            await self._recorder.flush_if_due()
            raise
        finally:
            self.requests_used += call_trace.request_count
            self.verdicts.update(call_trace.verdicts)

    def _note(self, attempt: CaptureAttempt, lease: CaptureLease | None) -> None:
        self._recorder.note(attempt)
        if lease is not None:
            lease.attempt = attempt


def _refused_attempt[T](
    found: Reading[T], refused: SametrackError, call_trace: CallTrace, question: CaptureRequest
) -> CaptureAttempt:
    """Return the attempt behind demo data: the refusal of the source."""
    return failed_attempt(
        refused,
        call_trace,
        surface=question.surface,
        entity_id=question.entity_id,
        question=question,
        observed_at=found.fetched_at,
    )
