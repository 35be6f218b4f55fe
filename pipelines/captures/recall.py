"""Details that were read not long ago, from the warehouse: many small questions in one query."""

import asyncio
from datetime import UTC, datetime, timedelta

from pipelines.domain.records import Video
from warehouse.engine import Engine
from warehouse.queries import read_latest_videos

GATHER_S = 0.005


class Recall:
    """Answers which works have a complete observation that is fresh enough."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._asked: dict[str, asyncio.Future[Video | None]] = {}

    async def find(self, aweme_id: str, *, max_age_s: float) -> Video | None:
        """The newest complete observation of a work; None when there is none young enough.

        Questions of the same moment share one query.
        """
        answer = self._asked.get(aweme_id)
        if answer is None:
            answer = asyncio.get_running_loop().create_future()
            is_first = not self._asked
            self._asked[aweme_id] = answer
            if is_first:
                await self._answer_all()
        video = await asyncio.shield(answer)
        if video is None or not video.statistics_complete:
            return None
        oldest = datetime.now(UTC) - timedelta(seconds=max_age_s)
        return video if video.observed_at >= oldest else None

    async def _answer_all(self) -> None:
        try:
            await asyncio.sleep(GATHER_S)
        finally:
            asked, self._asked = self._asked, {}
        try:
            found = await asyncio.to_thread(read_latest_videos, self._engine, list(asked))
        except BaseException as error:
            for answer in asked.values():
                if not answer.done():
                    answer.set_exception(error)
                    answer.exception()  # the others re-raise it; nobody need be left to
            raise
        for aweme_id, answer in asked.items():
            if not answer.done():
                answer.set_result(found.get(aweme_id))
