"""Memory cache for responses to reads.

A route calls `cache_response` next to `read`; later requests for the same path and query get the
same `data` in a fresh envelope, without running the route. Failures are never cached. Not here:
invalidation (`api/services/entity_changes.py`), polled jobs (`api/services/job_document.py`),
tokens (checked earlier in the stack).
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses import envelope
from api.server.middleware.guard import RAW_SECURITY_HEADERS
from api.services.entity_changes import ChangeMark, EntityChanges
from pipelines.captures.capture import entity_key

MAX_AGE = timedelta(minutes=10)
"""Maximum age of a cached response, because not every change is a capture."""
_OVERHEAD_BYTES = 1_000

type CacheKey = tuple[str, bytes]


def cache_response(
    scope: Scope, *, entities: Iterable[tuple[str, str]] = (), until: datetime | None = None
) -> None:
    """Allow the response to this read to be cached.

    Args:
        scope: ASGI scope of the request. Path and raw query form the cache key. A response to
            `refresh=true` is never cached.
        entities: (surface, entity id) of the captures that the response depends on. A new capture
            of one of them, in any process, invalidates the response.
        until: Aware expiry time, for example the end of the data's freshness.
    """
    names = frozenset(entity_key(surface, entity_id) for surface, entity_id in entities)
    envelope.request_info(scope).cache_policy = envelope.CachePolicy(names, until)


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    """A cached response, the change tick at which it was read, its expiry and its size."""

    response: envelope.CachedResponse
    entities: frozenset[str]
    tick: int
    until: datetime
    size: int


class ResponseCache:
    """Middleware that caches responses of at most `max_bytes` in total. Serves one event loop.

    Without `changes` it caches only responses that depend on no entity.
    """

    def __init__(self, app: ASGIApp, *, changes: EntityChanges | None, max_bytes: int) -> None:
        self._app = app
        self._changes = changes
        self._max_bytes = max_bytes
        self._entries: OrderedDict[CacheKey, _CacheEntry] = OrderedDict()
        self._size = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        call = envelope.request_info(scope)
        key = (scope["path"], scope["query_string"])
        entry = self._entries.get(key)
        if entry is not None and await self._is_valid(key, entry, call.moment):
            self._entries.move_to_end(key)
            await envelope.send_cached_response(scope, entry.response, send)
            return
        # Before the route runs: a change during the read must keep its response out of the cache.
        since = self._changes.mark() if self._changes is not None else ChangeMark(0, None)
        await self._app(scope, receive, send)
        response = envelope.to_cached_response(scope) if call.cache_policy is not None else None
        if call.cache_policy is not None and response is not None:
            self._store(key, response, call.cache_policy, call, since)

    async def _is_valid(self, key: CacheKey, entry: _CacheEntry, now: datetime) -> bool:
        """Return whether an entry may be sent now; drop it if it never may again."""
        if now >= entry.until:
            self._drop(key)
            return False
        if self._changes is None or not entry.entities:
            return True
        is_current = await self._changes.is_current()
        if self._changes.holds(entry.entities, entry.tick):
            # Without a recent check the entry stays, but this request is served by the route.
            return is_current
        self._drop(key)
        return False

    def _store(
        self,
        key: CacheKey,
        response: envelope.CachedResponse,
        policy: envelope.CachePolicy,
        call: envelope.RequestInfo,
        since: ChangeMark,
    ) -> None:
        """Store the response of a route, if its data did not change while it was read."""
        size = len(response.tail) + _OVERHEAD_BYTES
        if call.params.get("refresh") is True or size > self._max_bytes:
            return
        if self._changes is None:
            is_storable = not policy.entities
        else:
            is_storable = self._changes.watch(policy.entities, since)
        if not is_storable:
            return
        # Security headers are added here once, so that no request has to add them.
        names = {name for name, _ in response.headers}
        security = [pair for pair in RAW_SECURITY_HEADERS if pair[0] not in names]
        response = replace(response, headers=(*response.headers, *security))
        latest = call.moment + MAX_AGE
        until = latest if policy.until is None else min(latest, policy.until)
        self._drop(key)
        self._entries[key] = _CacheEntry(response, policy.entities, since.tick, until, size)
        self._size += size
        while self._size > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: CacheKey) -> None:
        entry = self._entries.pop(key, None)
        self._size -= entry.size if entry is not None else 0
