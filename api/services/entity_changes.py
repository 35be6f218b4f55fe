"""What has become of the entities that kept answers depend on: one cheap look, then and when.

Captures of this process are heard of at once, those of others by a look at their generations, off
the event loop and at most every `LOOK_EVERY_S`. Not here: the answers (`answer_cache.py`).
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import islice

import structlog
from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from warehouse.control.shared import ANYTHING
from warehouse.records.errors import SametrackError

LOOK_EVERY_S = 0.2
TRUSTED_S = 0.4  # an older look vouches for nothing: who asks then waits for a new one
WATCHED_MOST = 2_000

type Generations = Callable[[Collection[str]], Mapping[str, int]]
"""Blocking: how often each entity has changed; one that never did is left out."""

_log = structlog.get_logger("api")


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment before a read: what changes after it, the read may have missed."""

    tick: int
    total: int | None


@dataclass(slots=True)
class _Watched:
    """An entity: its generation, None before the first look, and when it was seen to change."""

    generation: int | None
    tick: int


@dataclass(frozen=True, slots=True)
class _News:
    """What a look found: generations, and that of anything before and after they were read."""

    found: Mapping[str, int]
    total: int
    total_after: int


class Changes:
    """Watches entities for everybody on one event loop.

    Args:
        generations: Looks into the shared store.
        see: Blocking; makes this process see what others have committed. Called before a change is
            made known, so that who reads after it reads the new.
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
        self._looked_at = float("-inf")
        self._looking: asyncio.Task[None] | None = None
        self._limiter: CapacityLimiter | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def mark(self) -> Mark:
        """Now, before a read."""
        return Mark(self._tick, self._total)

    def watch(self, entities: Collection[str], since: Mark) -> bool:
        """Watch these from now on. True: none of them is known to have changed since the mark."""
        is_first = any(entity not in self._watched for entity in entities)
        for entity in entities:
            self._watched.setdefault(entity, _Watched(None, since.tick))
            self._watched.move_to_end(entity)
        self._forget_old()
        is_seen = self._total == since.total or not is_first
        return is_seen and self.holds(entities, since.tick)

    def holds(self, entities: Collection[str], tick: int) -> bool:
        """Whether all are watched and none of them is known to have changed after that tick."""
        if tick < self._floor:
            return False
        watched = self._watched
        return all(entity in watched and watched[entity].tick <= tick for entity in entities)

    async def is_current(self) -> bool:
        """Whether what is known here is new enough; waits for a look where it is not."""
        age = self._clock() - self._looked_at
        if age <= LOOK_EVERY_S:
            return True
        looking = self._looking or self._look_soon()
        if age <= TRUSTED_S:
            return True
        await asyncio.shield(looking)
        return self._clock() - self._looked_at <= TRUSTED_S

    def told(self, entities: Collection[str]) -> None:
        """Something new of these was written by this process. May be called in any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._note, tuple(entities))

    def _note(self, entities: Collection[str]) -> None:
        """These have changed. Whoever asks next of what is kept waits for a look."""
        self._tick += 1
        for entity in entities:
            self._watched.setdefault(entity, _Watched(None, 0)).tick = self._tick
        self._forget_old()
        self._looked_at = float("-inf")

    def _forget_old(self) -> None:
        """Many at once, because nothing holds that was noted before: it may be of one of them."""
        if len(self._watched) > WATCHED_MOST:
            self._tick += 1
            self._floor = self._tick
            for entity in list(islice(self._watched, WATCHED_MOST // 2)):
                del self._watched[entity]

    def _look_soon(self) -> asyncio.Task[None]:
        self._loop = asyncio.get_running_loop()
        self._looking = self._loop.create_task(self._look())
        return self._looking

    async def _look(self) -> None:
        began, tick = self._clock(), self._tick
        known = {entity: watched.generation for entity, watched in self._watched.items()}
        try:
            self._limiter = self._limiter or CapacityLimiter(1)  # readers may use up the others
            news = await run_sync(self._ask, known, self._total, limiter=self._limiter)
        except SametrackError as error:
            _log.warning("changes cannot be looked at", error=error.type)
        else:
            if tick == self._tick:  # else something was told meanwhile: the next one looks again
                self._looked_at = began
            self._take(news)
        finally:
            self._looking = None

    def _ask(self, known: Mapping[str, int | None], known_total: int | None) -> _News:
        total = self._total_now()
        is_new = total != known_total
        asked = [entity for entity, generation in known.items() if is_new or generation is None]
        found = dict.fromkeys(asked, 0) | dict(self._generations(asked))
        if is_new:
            self._see()
        return _News(found, total, self._total_now() if asked else total)

    def _total_now(self) -> int:
        return self._generations((ANYTHING,)).get(ANYTHING, 0)

    def _take(self, news: _News) -> None:
        """An entity seen for the first time holds if nothing at all was new meanwhile."""
        is_quiet = news.total == news.total_after == self._total
        self._tick += 1
        for entity, watched in self._watched.items():
            before, now = watched.generation, news.found.get(entity, watched.generation)
            if before != now or now is None:
                watched.generation = now
                if before is not None or not is_quiet:
                    watched.tick = self._tick
        self._total = news.total
