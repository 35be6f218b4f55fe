"""Scans on a disk that turns read-only, and on one that is slow: a real file system each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment import Deployment, open_deployment
from tests.scan.whole_scans.disks import Disk, can_slow_down, has_loop_devices, open_disk

pytestmark = [
    pytest.mark.soak,  # needs root
    pytest.mark.skipif(not has_loop_devices(), reason="no loop devices, or not root"),
]

SEED, SIZE = 5, 0.1
JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
SCAN = {"candidate_limit": 15, "search_enabled": False}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with open_disk(tmp_path / "home") as mounted:
        yield mounted


def track_of(deployment: Deployment) -> str:
    return str(deployment.world("/_world/tracks")["tracks"][0]["music_id"])


def ranking(deployment: Deployment, job_id: str) -> list[str]:
    sql = "select aweme_id from marts.rankings where job_id = $id order by rank"
    return [row["aweme_id"] for row in deployment.rows(sql, id=job_id)]


def committed(deployment: Deployment) -> set[str]:
    return {row["capture_id"] for row in deployment.rows("select capture_id from raw.captures")}


def test_a_scan_goes_on_after_its_disk_had_turned_read_only(
    disk: Disk, tmp_path: Path, sound_cache: Path
) -> None:
    with open_deployment(tmp_path, sound_cache) as deployment:
        deployment.start_platform(seed=SEED, size=SIZE, latency_ms=50)
        client = deployment.start_api()
        deployment.start_worker()
        track = track_of(deployment)
        whole = deployment.ask(track, music_id=track, **SCAN)
        assert deployment.ended(whole).status == "completed"
        expected = ranking(deployment, whole)
        assert expected
        met = deployment.ask(track, music_id=track, refresh=True, **SCAN)
        deployment.wait(lambda: deployment.job(met).progress.detail_checked_count >= 4)
        kept = committed(deployment)
        disk.turn_read_only()
        deployment.wait(lambda: client.get("/readyz").status_code == 503)
        said = client.get("/readyz").text
        assert "read-only" in said
        assert client.get("/healthz").is_success
        asked = client.post(JOBS, json={"music_id": track})
        assert asked.status_code == 503
        assert asked.json()["data"]["error"]["type"] == "warehouse_unavailable"
    disk.repair()
    with open_deployment(tmp_path, sound_cache) as deployment:
        assert kept <= committed(deployment)
        deployment.start_platform(seed=SEED, size=SIZE, latency_ms=50)
        deployment.pronounce_worker_dead()
        deployment.start_worker()
        ended = deployment.ended(met)
        assert ended.status == "completed", ended.error
        assert ranking(deployment, met) == expected
        assert kept <= committed(deployment)


def test_a_scan_on_a_full_disk_waits_with_its_attempts_and_goes_on(
    tmp_path: Path, sound_cache: Path
) -> None:
    """Full for the lake, which refuses below 50 MB, and not yet for the worker, which claims."""
    with (
        open_disk(tmp_path / "home", size_mb=400) as disk,
        open_deployment(tmp_path, sound_cache, settings={"MIN_FREE_DISK_MB": "1"}) as deployment,
    ):
        deployment.start_platform(seed=SEED, size=SIZE, latency_ms=50)
        deployment.start_worker()
        track = track_of(deployment)
        job_id = deployment.ask(track, music_id=track, **SCAN)
        deployment.wait(lambda: deployment.job(job_id).progress.detail_checked_count >= 2)
        with disk.filled(leaving_mb=30):
            deployment.wait(lambda: deployment.job(job_id).progress.waiting_for == "disk")
            number = deployment.job(job_id).run_number
            deployment.wait(
                lambda: deployment.job(job_id).run_number >= number + 2
            )  # tried again meanwhile
            met = deployment.job(job_id)
            assert (met.attempt, met.error) == (1, None)
        ended = deployment.ended(job_id)
        assert (ended.status, ended.attempt) == ("completed", 1), ended.error
        assert ranking(deployment, job_id)


@pytest.mark.skipif(not can_slow_down(), reason="the kernel cannot slow a device down")
def test_a_scan_completes_on_a_slow_disk(disk: Disk, tmp_path: Path, sound_cache: Path) -> None:
    with open_deployment(tmp_path, sound_cache) as deployment:
        deployment.start_platform(seed=SEED, size=SIZE)
        client = deployment.start_api()
        deployment.start_worker(WORKER_LOST_AFTER_S="15")
        track = track_of(deployment)
        whole = deployment.ask(track, music_id=track, **SCAN)
        assert deployment.ended(whole).status == "completed"
        disk.slow_down(reads_per_s=50, writes_per_s=20)
        slow = deployment.ask(track, music_id=track, refresh=True, **SCAN)
        ended = deployment.ended(slow, max_wait_s=1200)
        assert ended.status == "completed", ended.error
        assert ended.attempt == 1
        assert ranking(deployment, slow) == ranking(deployment, whole)
        assert client.get("/readyz").is_success
