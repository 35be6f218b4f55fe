"""Memory cache for responses to reads, and the changes of entities that invalidate it.

A route calls `cache_response` next to `read`; later requests for the same path and query get the
same `data` in a fresh envelope, without running the route. Failures are never cached. Not here:
polled jobs (`api/services/job_document.py`), tokens (checked earlier in the stack).

Captures of this process are reported at once. Those of other processes are detected by comparing
generation counters in the control store, off the event loop and at most every `CHECK_INTERVAL_S`.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

import structlog
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses import envelope
from api.server.middleware import RAW_SECURITY_HEADERS
from pipelines.captures.capture import entity_key
from warehouse.control.captures import ANY_ENTITY
from warehouse.records.errors import SametrackError

CHECK_INTERVAL_S = 0.2
MAX_CHECK_AGE_S = 0.4  # after an older check, a reader waits for a new one
MAX_WATCHED = 2_000

type Generations = Callable[[Collection[str]], Mapping[str, int]]
"""Returns the change count of each entity, without entities that never changed. Blocks."""

_log = structlog.get_logger("api")


@dataclass(frozen=True, slots=True)
class ChangeMark:
    """State before a read. The read may have missed changes after it."""

    tick: int
    total: int | None


@dataclass(slots=True)
class _Watched:
    """A watched entity: its generation, None before the first check, and the tick of its last
    change.
    """

    generation: int | None
    tick: int


@dataclass(frozen=True, slots=True)
class _ChangeCheck:
    """Result of a check: generations, and the total change count before and after reading them."""

    generations: Mapping[str, int]
    total: int
    total_after: int


class EntityChanges:
    """Watches entities for all users of one event loop.

    Args:
        generations: Reads the counters of the control store.
        see: Makes commits of other processes visible. Called before a change is published, so that
            later reads return the new data. Blocks.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        generations: Generations,
        *,
        see: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._generations = generations
        self._see = see
        self._clock = clock
        self._watched: OrderedDict[str, _Watched] = OrderedDict()
        self._total: int | None = None
        self._tick = self._floor = 0
        self._checked_at = float("-inf")
        self._check: asyncio.Task[None] | None = None
        self._limiter: CapacityLimiter | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def mark(self) -> ChangeMark:
        """Return the current state, to be taken before a read."""
        return ChangeMark(self._tick, self._total)

    def watch(self, entities: Collection[str], since: ChangeMark) -> bool:
        """Watch entities from now on. Return True if none is known to have changed since
        the mark.
        """
        is_new = any(entity not in self._watched for entity in entities)
        for entity in entities:
            self._watched.setdefault(entity, _Watched(None, since.tick))
            self._watched.move_to_end(entity)
        self._forget_old()
        # A new entity has no generation to compare with, so nothing at all may have changed since
        # the mark.
        if is_new and self._total != since.total:
            return False
        return self.are_unchanged(entities, since.tick)

    def are_unchanged(self, entities: Collection[str], tick: int) -> bool:
        """Return whether all entities are watched and none is known to have changed after
        the tick.
        """
        if tick < self._floor:
            return False
        watched = self._watched
        return all(entity in watched and watched[entity].tick <= tick for entity in entities)

    async def is_current(self) -> bool:
        """Return whether the last check is recent enough, waiting for a new one if it is not."""
        age = self._clock() - self._checked_at
        if age <= CHECK_INTERVAL_S:
            return True
        if self._check is None:
            self._loop = asyncio.get_running_loop()
            self._check = self._loop.create_task(self._check_generations())
        # A check that is a little old still counts; its successor is under way.
        if age <= MAX_CHECK_AGE_S:
            return True
        await asyncio.shield(self._check)
        return self._clock() - self._checked_at <= MAX_CHECK_AGE_S

    def report_changed(self, entities: Collection[str]) -> None:
        """Report entities changed by this process. Thread-safe."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._apply_own_changes, tuple(entities))

    def _apply_own_changes(self, entities: Collection[str]) -> None:
        self._tick += 1
        for entity in entities:
            self._watched.setdefault(entity, _Watched(None, 0)).tick = self._tick
        self._forget_old()
        # The next reader of a cached response waits for a check, which makes the change visible.
        self._checked_at = float("-inf")

    def _forget_old(self) -> None:
        """Forget half of the entities at once and invalidate all earlier ticks."""
        if len(self._watched) > MAX_WATCHED:
            self._tick += 1
            self._floor = self._tick
            for entity in list(islice(self._watched, MAX_WATCHED // 2)):
                del self._watched[entity]

    async def _check_generations(self) -> None:
        began, tick = self._clock(), self._tick
        generations = {entity: watched.generation for entity, watched in self._watched.items()}
        try:
            # A thread of its own: the shared ones may all be taken by readers that wait for this.
            self._limiter = self._limiter or CapacityLimiter(1)
            result = await run_sync(
                self._read_generations, generations, self._total, limiter=self._limiter
            )
        except SametrackError as error:
            _log.warning("entity changes could not be read", error=error.type)
        else:
            # Otherwise a change was reported meanwhile, and another check is needed.
            if tick == self._tick:
                self._checked_at = began
            self._apply_check(result)
        finally:
            self._check = None

    def _read_generations(
        self, generations: Mapping[str, int | None], total_before: int | None
    ) -> _ChangeCheck:
        """Read the counters that may differ from `generations`. Blocks: runs in a thread."""
        total = self._read_total()
        has_changed = total != total_before
        entities = [
            entity
            for entity, generation in generations.items()
            if has_changed or generation is None
        ]
        current = dict.fromkeys(entities, 0) | dict(self._generations(entities))
        if has_changed:
            self._see()
        return _ChangeCheck(current, total, self._read_total() if entities else total)

    def _read_total(self) -> int:
        return self._generations((ANY_ENTITY,)).get(ANY_ENTITY, 0)

    def _apply_check(self, check: _ChangeCheck) -> None:
        """Mark the entities whose generation differs as changed."""
        is_quiet = check.total == check.total_after == self._total
        self._tick += 1
        for entity, watched in self._watched.items():
            before = watched.generation
            now = check.generations.get(entity, before)
            if before != now or now is None:
                watched.generation = now
                # An entity that is read for the first time counts as unchanged only if nothing at
                # all changed meanwhile.
                if before is not None or not is_quiet:
                    watched.tick = self._tick
        self._total = check.total


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
        policy, response = call.cache_policy, call.cacheable
        if policy is None or response is None or call.params.get("refresh") is True:
            return
        size = len(response.tail) + _OVERHEAD_BYTES
        if size > self._max_bytes:
            return
        # Not if its data changed while it was read.
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

    async def _is_valid(self, key: CacheKey, entry: _CacheEntry, now: datetime) -> bool:
        """Return whether an entry may be sent now; drop it if it never may again."""
        if now >= entry.until:
            self._drop(key)
            return False
        if self._changes is None or not entry.entities:
            return True
        is_current = await self._changes.is_current()
        if self._changes.are_unchanged(entry.entities, entry.tick):
            # Without a recent check the entry stays, but this request is served by the route.
            return is_current
        self._drop(key)
        return False

    def _drop(self, key: CacheKey) -> None:
        entry = self._entries.pop(key, None)
        self._size -= entry.size if entry is not None else 0
