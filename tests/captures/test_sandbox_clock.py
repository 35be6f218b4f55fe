"""Observations are stamped by the stand-in's clock, and by the machine's with any other profile."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.captures.stored_captures import RecentDetails
from pipelines.platform.profiles import PlatformProfile, load_profile
from pipelines.platform.sandbox_clock import follow_sandbox_clock
from tests.deployment import LOCAL, Deployment, open_deployment
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import video_row
from warehouse.lake.store import open_lake
from warehouse.records.times import observed_now, shift_observed_time
from warehouse.records.videos import Statistics, Video

pytestmark = pytest.mark.full

DAY_S, HALF_DAY_S = 86_400, 43_200
A_WHILE = timedelta(minutes=10)  # what a busy machine may take, and far less than a day
FULL = Statistics(digg_count=1, comment_count=0, collect_count=0, share_count=0)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    root = tmp_path_factory.mktemp("clock")
    with open_deployment(root, root / "sounds") as built:
        built.start_platform(seed=7, size=0.1, tracks=2)
        yield built


@pytest.fixture
def sandbox(deployment: Deployment) -> Iterator[PlatformProfile]:
    yield load_profile("sandbox", sandbox_port=deployment.port)
    reported = deployment.world("/_world/clock")
    _advance(deployment, -reported["offset_s"])
    shift_observed_time(seconds=0)


def _advance(deployment: Deployment, seconds: int) -> None:
    url = f"http://127.0.0.1:{deployment.port}/_world/clock"
    LOCAL.post(url, json={"advance_s": seconds}).raise_for_status()


def _ahead() -> timedelta:
    return observed_now() - datetime.now(UTC)


def test_the_time_of_observations_follows_the_stand_in(
    deployment: Deployment, sandbox: PlatformProfile
) -> None:
    follow_sandbox_clock(sandbox)
    assert abs(_ahead()) < A_WHILE
    _advance(deployment, 3 * DAY_S)
    assert abs(_ahead()) < A_WHILE, "until it is asked for again"
    follow_sandbox_clock(sandbox)
    assert abs(_ahead() - timedelta(days=3)) < A_WHILE


def test_no_other_platform_is_asked_and_the_machines_time_holds(
    deployment: Deployment, sandbox: PlatformProfile
) -> None:
    _advance(deployment, DAY_S)
    follow_sandbox_clock(sandbox)
    follow_sandbox_clock(sandbox.model_copy(update={"name": "mine"}))
    assert abs(_ahead()) < A_WHILE


def test_a_stand_in_that_does_not_answer_leaves_the_time_as_it_was(
    deployment: Deployment, sandbox: PlatformProfile
) -> None:
    _advance(deployment, DAY_S)
    follow_sandbox_clock(sandbox)
    follow_sandbox_clock(sandbox.model_copy(update={"port": 1}))
    assert _ahead() > timedelta(hours=23)


def test_the_platform_shows_the_moment_and_truth_tells_of_any(deployment: Deployment) -> None:
    track = deployment.world("/_world/tracks?limit=1&counts=0")["tracks"][0]["music_id"]
    first = _likes(deployment, track)
    later = _likes(deployment, track, at=7 * DAY_S)
    assert sum(later.values()) > sum(first.values())
    _advance(deployment, 7 * DAY_S)
    assert (_likes(deployment, track), _shown(deployment, track)) == (
        later,
        _public(deployment, track),
    )
    assert _likes(deployment, track, at=0) == first
    _advance(deployment, -7 * DAY_S)
    assert _likes(deployment, track) == first


def _works(deployment: Deployment, track: str, at: int | None = None) -> list[dict[str, Any]]:
    query = "" if at is None else f"?at={at}"
    found: list[dict[str, Any]] = deployment.world(f"/_world/truth/{track}{query}")["works"]
    return found


def _likes(deployment: Deployment, track: str, at: int | None = None) -> dict[str, int]:
    return {work["aweme_id"]: work["digg_count"] for work in _works(deployment, track, at)}


def _public(deployment: Deployment, track: str) -> dict[str, int]:
    """Likes of the works that the music list shows, by truth."""
    return {
        work["aweme_id"]: work["digg_count"]
        for work in _works(deployment, track)
        if work["music_id"] == track and work["in_music_list"]
    }


def _shown(deployment: Deployment, track: str) -> dict[str, int]:
    """The same by the platform's own list."""
    found: dict[str, int] = {}
    for cursor in range(0, 60, 20):
        path = f"/web/api/v2/music/list/aweme/?music_id={track}&count=20&cursor={cursor}"
        host = {"host": f"share.vidplat.localhost:{deployment.port}"}
        answer = LOCAL.get(f"http://127.0.0.1:{deployment.port}{path}", headers=host).json()
        works = answer["aweme_list"]
        found |= {work["aweme_id"]: work["statistics"]["digg_count"] for work in works}
    return found


async def test_rows_are_committed_and_age_by_the_time_of_observations(tmp_path: Path) -> None:
    lake = open_lake(str(tmp_path / "lake"), world="sandbox")
    try:
        shift_observed_time(seconds=5 * DAY_S)
        video = Video(
            aweme_id="11111", surface="video_page", observed_at=observed_now(), statistics=FULL
        )
        row = video_row(video, capture_id=None, job_id=None, data_provider="public-graph")
        lake.append("raw.videos", [row])
        with closing(Engine(lake)) as engine:
            sql = "select epoch(committed_at - observed_at) as later_s from raw.videos"
            assert 0 <= float(str(engine.rows(sql)[0]["later_s"])) < DAY_S
            assert await RecentDetails(engine).find("11111", max_age_s=HALF_DAY_S) is not None
            shift_observed_time(seconds=6 * DAY_S)
            assert await RecentDetails(engine).find("11111", max_age_s=HALF_DAY_S) is None
            shift_observed_time(seconds=0)
            assert await RecentDetails(engine).find("11111", max_age_s=HALF_DAY_S) is None, (
                "of a time to come"
            )
    finally:
        shift_observed_time(seconds=0)
