"""Lookups of recent videos: several of one video are one query, and a store that fails tells all
who wait and nobody else.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any, cast

from pipelines.captures.stored_captures import RecentDetails
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import video_row
from warehouse.records.errors import SametrackError, WarehouseUnavailableError
from warehouse.records.videos import Statistics, Video

LONG_S = 30 * 24 * 3600
FULL = Statistics(digg_count=1, comment_count=0, collect_count=0, share_count=0)
VIDEO = Video(
    aweme_id="11111", surface="video_page", observed_at=datetime.now(UTC), statistics=FULL
)


class OneVideo:
    """An engine that knows one video, and fails while `error` is set."""

    def __init__(self, error: SametrackError | None = None) -> None:
        self.error = error
        self.asked: list[list[str]] = []

    def rows(self, _sql: str, *, ids: list[str]) -> list[dict[str, Any]]:
        self.asked.append(ids)
        if self.error is not None:
            raise self.error
        row = video_row(VIDEO, capture_id=None, job_id=None, data_provider="mock")
        return [row for _ in set(ids) & {VIDEO.aweme_id}]


async def find(recall: RecentDetails) -> Video | None:
    return await recall.find(VIDEO.aweme_id, max_age_s=LONG_S)


async def test_two_who_ask_for_one_video_at_once_share_its_query() -> None:
    engine = OneVideo()
    recall = RecentDetails(cast("Engine", engine))
    found = await asyncio.gather(find(recall), find(recall))
    assert [video and video.aweme_id for video in found] == ["11111", "11111"]
    assert engine.asked == [["11111"]]


async def test_a_failure_is_raised_to_all_who_wait_and_the_next_asks_again() -> None:
    error = WarehouseUnavailableError("the disk went away")
    engine = OneVideo(error)
    recall = RecentDetails(cast("Engine", engine))
    waiting = (find(recall), recall.find("22222", max_age_s=LONG_S))
    met = await asyncio.gather(*waiting, return_exceptions=True)
    assert list(met) == [error, error]
    engine.error = None
    assert await find(recall) is not None
    assert engine.asked == [["11111", "22222"], ["11111"]]
