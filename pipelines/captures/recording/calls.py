"""Runs provider calls and records the outcome of each, however it ends."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from typing import cast

from pipelines.captures.cancellation import CancelWatch
from pipelines.captures.erased_accounts import answer_at_once, refusal, without_erased
from pipelines.captures.recording.observations import Question, Seen
from pipelines.captures.recording.reads import Attempt, failed, succeeded
from pipelines.captures.recording.recorder import Keeper
from pipelines.captures.recording.tracing import capture_span
from pipelines.captures.sharing import Lease, Sharing
from pipelines.platform.call_trace import Trail, open_trail
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.reading import Reading, SoundFile
from warehouse.records.errors import RunCancelledError, SametrackError
from warehouse.records.times import observed_now
from warehouse.records.videos import UnavailableVideo

type Call[T] = Coroutine[object, object, T]


@dataclass(frozen=True, slots=True)
class Answered[T]:
    """Value of a call, and when it was observed.

    `is_stand_in`: demo data in place of a refused response; it is served as `mock` and not stored.
    """

    value: T
    observed_at: datetime
    is_stand_in: bool = False


class Booking:
    """Runs calls under the cancellation poll; each one records an attempt."""

    def __init__(self, keeper: Keeper, watch: CancelWatch, sharing: Sharing) -> None:
        self.requests_used = 0
        self.stand_ins = 0
        self._keeper = keeper
        self._watch = watch
        self._sharing = sharing

    async def reading[T: Seen](
        self, question: Question, ask: Callable[[], Call[Reading[T]]]
    ) -> Answered[T]:
        """Return a value: from the source, or from another process that is reading the same."""
        known = answer_at_once(question, await self._keeper.marks())
        if known is not None:
            return Answered(cast("T", known), observed_now())
        while True:
            lease = await self._watch.run(self._sharing.take(question))
            if isinstance(lease, Lease):
                return await self._alone(question, ask(), lease)
            found = await self._sharing.recall(question, lease)
            if found is not None:
                return Answered(cast("T", found.value), found.observed_at)

    async def _alone[T: Seen](
        self, question: Question, call: Call[Reading[T]], lease: Lease
    ) -> Answered[T]:
        """Read the source under our lease, while others wait for the capture."""
        renewing = asyncio.create_task(self._sharing.renew(lease))
        try:
            return await self._read(question, call, lease)
        finally:
            renewing.cancel()
            await asyncio.shield(self._sharing.give_back(lease))

    async def anew[T: Seen](self, question: Question, call: Call[Reading[T]]) -> Answered[T]:
        """Read the source without sharing, for values that are never stored: expiring URLs."""
        return await self._read(question, call, None)

    async def link(self, url: str, call: Call[LinkTarget]) -> LinkTarget:
        """Resolve a short link."""
        with open_trail() as trail:
            target = await self._run(trail, "short_link", url, call)
        if (await self._keeper.marks()).hold(target.id):
            raise refusal()
        self._keeper.note(
            Attempt(
                surface="short_link",
                entity_id=url,
                observed_at=observed_now(),
                outcome="ok",
                reason=f"{target.kind} {target.id}",
                request_count=trail.request_count,
                http_status=trail.last.status if trail.last else None,
                source_path=trail.last.path if trail.last else None,
            )
        )
        return target

    async def sound(self, aweme_id: str, call: Call[SoundFile]) -> SoundFile:
        """Download a sound. It is not archived as a payload: the file is the caller's."""
        with open_trail() as trail:
            file = await self._run(trail, "media", aweme_id, call)
        self._keeper.note(
            Attempt(
                surface="media",
                entity_id=aweme_id,
                observed_at=observed_now(),
                outcome="ok",
                request_count=file.request_count,
                http_status=HTTPStatus.OK,
                content_type=file.content_type,
            )
        )
        await self._keeper.flush_when_due()
        return file

    async def _read[T: Seen](
        self, question: Question, call: Call[Reading[T]], lease: Lease | None
    ) -> Answered[T]:
        with open_trail() as trail:
            found = await self._run(
                trail,
                question.surface,
                question.entity_id,
                call,
                question=question,
                lease=lease,
            )
        value = without_erased(found.value, await self._keeper.marks())
        if value is not found.value:  # the body contains erased data, so it is not stored
            found = replace(found, value=value, payload=b"")
            if isinstance(value, UnavailableVideo):
                return Answered(value, found.fetched_at)
        if found.instead_of is None:
            self._note(succeeded(found, question), lease)
        else:
            self.stand_ins += 1
            self._note(_stood_in(found, found.instead_of, trail, question), lease)
        await self._keeper.flush_when_due()
        return Answered(found.value, found.fetched_at, is_stand_in=found.instead_of is not None)

    async def _run[T](
        self,
        trail: Trail,
        surface: str,
        entity_id: str,
        call: Call[T],
        *,
        question: Question | None = None,
        lease: Lease | None = None,
    ) -> T:
        """Run a call under the cancellation poll; failures are recorded too."""
        asked_at = observed_now()

        def note(error: SametrackError | None) -> None:
            attempt = failed(
                error,
                trail,
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
            await self._keeper.flush_when_due()
            raise
        finally:
            self.requests_used += trail.request_count

    def _note(self, attempt: Attempt, lease: Lease | None) -> None:
        self._keeper.note(attempt)
        if lease is not None:
            lease.attempt = attempt


def _stood_in[T](
    found: Reading[T], refused: SametrackError, trail: Trail, question: Question
) -> Attempt:
    """Return the attempt behind demo data: the refusal of the source."""
    return failed(
        refused,
        trail,
        surface=question.surface,
        entity_id=question.entity_id,
        question=question,
        observed_at=found.fetched_at,
    )
