"""Running one call to a provider and booking what became of it, whichever way it ends."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus

from pipelines.captures.attempts import Attempt, failed
from pipelines.captures.cancelling import CancelWatch
from pipelines.captures.keeper import Keeper
from pipelines.domain.errors import RunCancelledError, SametrackError
from pipelines.upstream.reading import Reading, SoundFile
from pipelines.upstream.trail import Trail, open_trail
from pipelines.upstream.vidplat.links import LinkTarget


class Booking:
    """Calls under the cancel watch; each leaves one attempt with the keeper."""

    def __init__(self, keeper: Keeper, watch: CancelWatch) -> None:
        self.requests_used = 0
        self._keeper = keeper
        self._watch = watch

    async def reading[T](
        self,
        surface: str,
        entity_id: str,
        call: Coroutine[object, object, Reading[T]],
        note: Callable[[Reading[T]], Attempt],
        *,
        cursor_in: int | None = None,
    ) -> Reading[T]:
        """A reading; `note` says what was observed in it."""
        with open_trail() as trail:
            found = await self._run(trail, surface, entity_id, call, cursor_in=cursor_in)
        self._keeper.note(note(found))
        await self._keeper.flush_when_due()
        return found

    async def link(self, url: str, call: Coroutine[object, object, LinkTarget]) -> LinkTarget:
        """Where a short link leads."""
        with open_trail() as trail:
            target = await self._run(trail, "short_link", url, call)
        self._keeper.note(
            Attempt(
                surface="short_link",
                entity_id=url,
                observed_at=datetime.now(UTC),
                outcome="ok",
                reason=f"{target.kind} {target.id}",
                request_count=trail.request_count,
                http_status=trail.last.status if trail.last else None,
            )
        )
        return target

    async def sound(self, aweme_id: str, call: Coroutine[object, object, SoundFile]) -> SoundFile:
        """A downloaded sound. It is no payload: the file is the caller's."""
        with open_trail() as trail:
            file = await self._run(trail, "media", aweme_id, call)
        self._keeper.note(
            Attempt(
                surface="media",
                entity_id=aweme_id,
                observed_at=datetime.now(UTC),
                outcome="ok",
                request_count=file.request_count,
                http_status=HTTPStatus.OK,
                content_type=file.content_type,
            )
        )
        await self._keeper.flush_when_due()
        return file

    async def _run[T](
        self,
        trail: Trail,
        surface: str,
        entity_id: str,
        call: Coroutine[object, object, T],
        *,
        cursor_in: int | None = None,
    ) -> T:
        """Run a call under the cancel watch; a failure leaves its row, too."""
        asked = partial(
            failed,
            trail=trail,
            surface=surface,
            entity_id=entity_id,
            observed_at=datetime.now(UTC),
            cursor_in=cursor_in,
        )
        try:
            return await self._watch.run(call)
        except (RunCancelledError, asyncio.CancelledError):
            self._keeper.note(asked(None))
            raise
        except SametrackError as error:
            self._keeper.note(asked(error))
            await self._keeper.flush_when_due()
            raise
        finally:
            self.requests_used += trail.request_count
