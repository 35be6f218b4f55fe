"""Answers to reads that are kept in memory, and the layer that tells them again.

A route calls `keep` beside `read`; who then asks the same path and query gets the same `data` in
an envelope of his own, without the route. Failures are never kept. Not here: what has changed
since (`changes.py`), jobs that are polled (`job_answers.py`), tokens (checked before).
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses.envelope import Call, Told, Wish, call_of, tell_again, to_told
from api.server.middleware.guard import STRICT
from api.services.entity_changes import Changes, Mark
from pipelines.captures.recording.rows import entity_of

KEPT_AT_MOST = timedelta(minutes=10)
"""No answer is older than this, whatever changes without being captured."""
_OVERHEAD_BYTES = 1_000

type Key = tuple[str, bytes]


def keep(
    scope: Scope, *, entities: Iterable[tuple[str, str]] = (), until: datetime | None = None
) -> None:
    """Say that the answer to this read may be kept for whoever asks the same.

    Args:
        scope: Of the request; its path and raw query are what "the same" means. An answer to
            `refresh=true` is never kept.
        entities: (surface, entity id) of the captures that the answer depends on. Any new capture
            of one of them, in whatever process, ends the keeping.
        until: Aware; when the answer ends to hold by itself, as by its freshness.
    """
    names = frozenset(entity_of(surface, entity_id) for surface, entity_id in entities)
    call_of(scope).wish = Wish(names, until)


@dataclass(frozen=True, slots=True)
class _Kept:
    """One answer: what is told, from which tick of the changes on, and until when."""

    told: Told
    entities: frozenset[str]
    tick: int
    until: datetime
    size: int


class AnswerCache:
    """Stands between the door and the routes; holds at most `max_bytes`. One event loop.

    Without `changes` only answers are kept that depend on no entity.
    """

    def __init__(self, app: ASGIApp, *, changes: Changes | None, max_bytes: int) -> None:
        self._app = app
        self._changes = changes
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size_bytes(self) -> int:
        """What the answers take."""
        return self._size

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        call = call_of(scope)
        key = (scope["path"], scope["query_string"])
        kept = self._kept.get(key)
        if kept is not None and await self._holds(key, kept, call):
            self._kept.move_to_end(key)
            await tell_again(scope, kept.told, send)
            return
        since = self._changes.mark() if self._changes is not None else Mark(0, None)
        await self._app(scope, receive, send)
        told = to_told(scope) if call.wish is not None else None
        if call.wish is not None and told is not None:
            self._keep(key, told, call.wish, call, since)

    async def _holds(self, key: Key, kept: _Kept, call: Call) -> bool:
        if call.moment >= kept.until:
            self._drop(key)
            return False
        if self._changes is None or not kept.entities:
            return True
        is_current = await self._changes.is_current()
        if self._changes.holds(kept.entities, kept.tick):
            return is_current
        self._drop(key)
        return False

    def _keep(self, key: Key, told: Told, wish: Wish, call: Call, since: Mark) -> None:
        latest = call.moment + KEPT_AT_MOST
        until = latest if wish.until is None else min(latest, wish.until)
        named = {name for name, _ in told.headers}
        strict = [header for header in STRICT if header[0] not in named]  # once, not each time
        told = replace(told, headers=(*told.headers, *strict))
        kept = _Kept(told, wish.entities, since.tick, until, len(told.tail) + _OVERHEAD_BYTES)
        if self._may_keep(kept, call, since):
            self._drop(key)
            self._kept[key] = kept
            self._size += kept.size
            while self._size > self._max_bytes:
                self._drop(next(iter(self._kept)))

    def _may_keep(self, kept: _Kept, call: Call, since: Mark) -> bool:
        if call.params.get("refresh") is True or kept.size > self._max_bytes:
            return False
        if self._changes is None:
            return not kept.entities
        return self._changes.watch(kept.entities, since)

    def _drop(self, key: Key) -> None:
        dropped = self._kept.pop(key, None)
        self._size -= dropped.size if dropped is not None else 0
