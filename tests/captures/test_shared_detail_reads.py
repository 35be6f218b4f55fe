"""Looks into the warehouse are shared, and nobody's waiting depends on who asked first."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.captures.stored_captures import RecentDetails
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import video_row
from warehouse.lake.store import open_lake
from warehouse.records.videos import Statistics, Video

pytestmark = pytest.mark.full

FULL = Statistics(digg_count=1, comment_count=0, collect_count=0, share_count=0)


class CountingEngine(Engine):
    """Counts the questions."""

    asked = 0

    def rows(self, *question: Any, **options: Any) -> list[dict[str, object]]:
        self.asked += 1
        return super().rows(*question, **options)


def _video(aweme_id: str, *, age_s: float, statistics: Statistics = FULL) -> Video:
    return Video(
        aweme_id=aweme_id,
        surface="video_page",
        observed_at=datetime.now(UTC) - timedelta(seconds=age_s),
        statistics=statistics,
    )


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    lake = open_lake(str(tmp_path / "lake"), world="sandbox")
    videos = [
        _video("11111", age_s=10),
        _video("22222", age_s=5000),
        _video("33333", age_s=10, statistics=Statistics(digg_count=1)),
    ]
    rows = [
        video_row(video, capture_id=None, job_id=None, data_provider="public-graph")
        for video in videos
    ]
    lake.append("raw.videos", rows)
    engine = CountingEngine(lake)
    yield engine
    engine.close()


async def test_only_complete_and_fresh_observations_are_served(engine: CountingEngine) -> None:
    recall = RecentDetails(engine)
    names = ("11111", "22222", "33333", "44444")
    found = await asyncio.gather(*(recall.find(name, max_age_s=60) for name in names))
    assert [video and video.aweme_id for video in found] == ["11111", None, None, None]
    assert engine.asked == 1


async def test_shown_works_are_looked_up_with_the_first_question(engine: CountingEngine) -> None:
    recall = RecentDetails(engine)
    recall.expected.update(["11111", "22222", "99999"])
    await recall.find("33333", max_age_s=60)
    assert await recall.find("11111", max_age_s=60) is not None
    assert await recall.find("99999", max_age_s=60) is None
    assert engine.asked == 1


async def test_cancelling_who_asked_first_leaves_the_others_their_answer(
    engine: CountingEngine,
) -> None:
    recall = RecentDetails(engine)
    first = asyncio.create_task(recall.find("22222", max_age_s=60))
    second = asyncio.create_task(recall.find("11111", max_age_s=60))
    await asyncio.sleep(0)
    first.cancel()
    found = await second
    assert found is not None
    assert first.cancelled()
