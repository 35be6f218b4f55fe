"""Fresh observations: when one expires, and lookups of recent video details in one query."""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta

from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.results import read_latest_videos
from warehouse.records.errors import SametrackError
from warehouse.records.times import observed_now
from warehouse.records.videos import Video


def fresh_until(observed_at: datetime | None, ttl_s: float) -> datetime | None:
    """Return when an observation expires; None if there is none."""
    return None if observed_at is None else observed_at + timedelta(seconds=ttl_s)


def is_fresh(observed_at: datetime | None, *, now: datetime, ttl_s: float) -> bool:
    """Return True if an observation is younger than `ttl_s`.

    One slightly later than `now` was made meanwhile and is fresh; one much later is from before the
    clock was set back, and is not.
    """
    return observed_at is not None and abs((now - observed_at).total_seconds()) < ttl_s


BATCH_WINDOW_S = 0.005  # little beside the query itself, enough for lookups of one moment


class RecentDetails:
    """Looks up videos with a complete observation that is fresh enough.

    A query costs tens of milliseconds whatever its size, so concurrent lookups share one. It also
    includes the videos that lists have shown, since their details are usually needed next.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._shown: set[str] = set()
        self._known: dict[str, Video | None] = {}
        self._asked: dict[str, asyncio.Future[None]] = {}
        self._looking: asyncio.Task[None] | None = None

    def expect(self, aweme_ids: Iterable[str]) -> None:
        """Include these videos in the next query."""
        self._shown.update(aweme_ids)

    async def find(self, aweme_id: str, *, max_age_s: float) -> Video | None:
        """Return the newest complete observation of a video; None if none is fresh enough."""
        if aweme_id not in self._known:
            await self._ask(aweme_id)
        video = self._known.get(aweme_id)
        if video is None or not video.statistics_complete:
            return None
        is_young = is_fresh(video.observed_at, now=observed_now(), ttl_s=max_age_s)
        return video if is_young else None

    async def _ask(self, aweme_id: str) -> None:
        answer = self._asked.get(aweme_id)
        if answer is None:
            answer = asyncio.get_running_loop().create_future()
            self._asked[aweme_id] = answer
        if self._looking is None:
            # A separate task: the first caller may be cancelled while others still wait.
            self._looking = asyncio.create_task(self._answer_all())
        # Shielded: others wait for the same future, and must not be cancelled with this caller.
        await asyncio.shield(answer)

    async def _answer_all(self) -> None:
        await asyncio.sleep(BATCH_WINDOW_S)
        # Who asks from now on starts the next batch.
        asked, self._asked, self._looking = self._asked, {}, None
        aweme_ids = (self._shown | set(asked)) - self._known.keys()
        try:
            videos = await asyncio.to_thread(read_latest_videos, self._engine, sorted(aweme_ids))
        except SametrackError as error:
            for answer in asked.values():
                answer.set_exception(error)
                answer.exception()  # waiting callers raise it; there may be none left
            return
        self._known.update({aweme_id: videos.get(aweme_id) for aweme_id in aweme_ids})
        for answer in asked.values():
            answer.set_result(None)
