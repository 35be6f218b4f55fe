"""A cluster of real processes: PostgreSQL, Redis, S3, Dagster and Celery workers."""

from pathlib import Path

import pytest

from tests.deploy.clusters import open_cluster

pytestmark = pytest.mark.soak  # needs Redis: make setup-cluster


def test_a_scan_whose_celery_worker_is_lost_goes_on_in_another(sound_cache: Path) -> None:
    world = {"seed": 5, "size": 0.1, "latency_ms": 100, "sound_cache": sound_cache}
    with open_cluster(celery_workers=2, apis=1, **world) as cluster:
        track = cluster.tracks()[0]
        whole = cluster.ended(cluster.ask(track, candidate_limit=15, search_enabled=False))
        assert whole["status"] == "completed"
        lost = cluster.ask(track, candidate_limit=15, search_enabled=False, refresh=True)
        cluster.wait(lambda: cluster.job(lost)["progress"]["detail_checked_count"] >= 4)
        (number,) = cluster.busy_workers()
        cluster.kill_celery_worker(number)
        again = cluster.ended(lost)
        assert (again["status"], again["progress"]["attempt"]) == ("completed", 2)
        videos = [one["aweme_id"] for one in whole["result"]["aweme_list"]]
        assert videos
        assert [one["aweme_id"] for one in again["result"]["aweme_list"]] == videos


def test_a_cancelled_scan_ends_in_its_celery_worker(sound_cache: Path) -> None:
    world = {"seed": 5, "size": 0.1, "latency_ms": 300, "sound_cache": sound_cache}
    with open_cluster(celery_workers=1, apis=1, **world) as cluster:
        job_id = cluster.ask(cluster.tracks()[0], candidate_limit=60)
        cluster.wait(lambda: cluster.job(job_id)["progress"]["detail_checked_count"] >= 1)
        cluster.cancel(job_id)
        assert cluster.ended(job_id)["status"] == "cancelled"
        cluster.wait(lambda: not cluster.busy_workers())


@pytest.mark.parametrize("store", ["postgres", "redis"])
def test_a_scan_goes_on_when_a_store_is_restarted(sound_cache: Path, store: str) -> None:
    world = {"seed": 5, "size": 0.1, "latency_ms": 200, "sound_cache": sound_cache}
    with open_cluster(celery_workers=2, apis=1, **world) as cluster:
        track = cluster.tracks()[0]
        whole = cluster.ended(cluster.ask(track, candidate_limit=15, search_enabled=False))
        met = cluster.ask(track, candidate_limit=15, search_enabled=False, refresh=True)
        cluster.wait(lambda: cluster.job(met)["progress"]["detail_checked_count"] >= 4)
        cluster.restart_store(store, down_s=10)
        cluster.wait(cluster.is_ready)
        after = cluster.ask(cluster.tracks()[1], candidate_limit=15, search_enabled=False)
        for job_id in (met, after):
            assert cluster.ended(job_id)["status"] == "completed"
        again = cluster.job(met)
        videos = [one["aweme_id"] for one in whole["result"]["aweme_list"]]
        assert videos
        assert [one["aweme_id"] for one in again["result"]["aweme_list"]] == videos
