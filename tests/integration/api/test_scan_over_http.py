"""The main job over HTTP: prose around a link in, the described ranking out."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.cli.processes import Child, find_port
from api.schemas.result import HotVideosAnswer, JobDocument
from api.schemas.shape import Envelope
from tests.stage import Stage, open_stage, wait_for

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
HOT = "/api/v1/vidplat/app/v3/fetch_music_hot_videos"
SMALL = {"candidate_limit": 20}
LATENCY_MS = 30  # enough that the service can be killed while a scan still reads


@pytest.fixture
def stage(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    given = os.environ.get("SAMETRACK_TEST_SOUNDS")
    sounds = Path(given) if given else tmp_path_factory.getbasetemp() / "sounds"
    with open_stage(tmp_path, sounds) as built:
        yield built


def serve(stage: Stage, port: int) -> Child:
    child = stage._start("serve", [], API_PORT=str(port))
    wait_for(lambda: is_alive(port))
    return child


def is_alive(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/healthz").is_success
    except httpx2.TransportError:
        return False


def ended(client: httpx2.Client, poll_url: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        job: dict[str, Any] = client.get(poll_url).json()["data"]
        return job if job["finished_at"] else None

    return wait_for(look)


def test_a_scan_outlives_the_service_and_is_served_again_without_a_scan(stage: Stage) -> None:
    stage.start_platform(seed=5, size=0.1, latency_ms=LATENCY_MS)
    stage.start_worker()
    port = find_port()
    service = serve(stage, port)
    track = stage.world("/_world/tracks")["tracks"][0]
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        started = client.post(JOBS, json={"input": track["prose"], **SMALL})
        poll_url = started.headers["location"]
        wait_for(lambda: client.get(poll_url).json()["data"]["status"] == "running")
        service.process.send_signal(signal.SIGKILL)
        service.process.wait()

        serve(stage, port)
        job = JobDocument.model_validate(ended(client, poll_url))
        assert (started.status_code, job.status, job.error) == (202, "completed", None)
        assert job.result is not None
        assert job.result.aweme_list
        for video in job.result.aweme_list:
            assert (video.evidence is None) == (video.link_type == "exact_music_id")
        assert {video.statistics_source for video in job.result.aweme_list} == {
            "public_video_detail_page"
        }

        for text in (track["prose"], track["share_link"], track["music_id"]):
            again = client.post(JOBS, json={"input": text, "count": 3, **SMALL})
            assert (again.status_code, again.json()["data"]["job_id"]) == (200, job.job_id)
        ranking = client.get(HOT, params={"music_id": track["music_id"], "count": 3, **SMALL})
        found = Envelope[HotVideosAnswer].model_validate(ranking.json()).data
        assert (found.returned_count, found.job_id) == (3, job.job_id)

        unknown = client.post(JOBS, json={"input": "999999999999999999"})
        failed = JobDocument.model_validate(ended(client, unknown.headers["location"]))
        assert failed.error is not None
        assert (failed.status, failed.error.type) == ("failed", "invalid_music_input")
