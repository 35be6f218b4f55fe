"""A worker among people who cancel, platforms that die and processes that are killed."""

import signal
from typing import Any

import psutil
from dagster import DagsterRunStatus

from tests.stage import Stage

SLOW_MS = 60  # enough that a scan is still reading when something happens to it


def begun(stage: Stage) -> tuple[dict[str, Any], str]:
    """A slow scan that has read some detail pages."""
    stage.start_platform(seed=5, size=0.1, latency_ms=SLOW_MS)
    stage.start_worker()
    track = stage.world("/_world/tracks")["tracks"][0]
    job_id = stage.ask(track["music_id"], music_id=track["music_id"])
    stage.wait(lambda: stage.job(job_id).progress.detail_checked_count >= 10)
    return track, job_id


def kept(stage: Stage) -> int:
    return int(stage.rows("select count(*) as n from seen.videos")[0]["n"])


def test_a_cancelled_scan_ends_soon_and_keeps_what_it_saw(stage: Stage) -> None:
    _, job_id = begun(stage)
    stage.control.request_cancel(job_id)
    job = stage.ended(job_id, patience_s=10)
    assert (job.status, job.error) == ("cancelled", None)
    assert kept(stage) >= 10
    with stage.instance() as instance:
        run = instance.get_run_by_id(job_id)
        assert run is not None
        assert run.status == DagsterRunStatus.CANCELED


def test_a_killed_worker_leaves_a_failed_job_and_every_committed_observation(stage: Stage) -> None:
    track, job_id = begun(stage)
    assert stage.worker is not None
    below = psutil.Process(stage.worker.process.pid).children(recursive=True)
    stage.wait(lambda: kept(stage) > 0)
    stage.worker.process.send_signal(signal.SIGKILL)
    before = kept(stage)
    stage.wait(lambda: not any(one.is_running() for one in below))

    stage.start_worker()
    job = stage.ended(job_id, patience_s=60)
    assert job.status == "failed"
    assert job.error is not None
    assert job.error["type"] == "worker_unavailable"
    assert kept(stage) >= before > 0

    again = stage.ended(stage.ask(track["music_id"], music_id=track["music_id"]))
    assert again.status == "completed"


def test_a_killed_scan_process_fails_its_job_alone(stage: Stage) -> None:
    track, job_id = begun(stage)
    for process in stage.processes(with_word="spawn_main"):
        process.kill()
    job = stage.ended(job_id, patience_s=15)
    assert job.status == "failed"
    assert job.error is not None
    assert job.error["type"] == "worker_unavailable"
    again = stage.ended(stage.ask(track["music_id"], music_id=track["music_id"]))
    assert again.status == "completed"


def test_a_platform_that_is_down_fails_the_job_by_name(stage: Stage) -> None:
    stage.start_worker()
    job = stage.ended(stage.ask("7361729694329545668", music_id="7361729694329545668"))
    assert job.status == "failed"
    assert job.error is not None
    assert job.error["type"] == "upstream_unreachable"
    upstream = job.error["upstream"]
    assert isinstance(upstream, dict)
    assert upstream["surface"] == "music_info"


def test_a_track_that_does_not_exist_fails_the_job_by_name(stage: Stage) -> None:
    stage.start_platform(seed=5, size=0.1)
    stage.start_worker()
    job = stage.ended(stage.ask("1234567890123456789", music_id="1234567890123456789"))
    assert job.status == "failed"
    assert job.error is not None
    assert job.error["type"] == "invalid_music_input"


def test_a_platform_that_demands_verification_gives_an_honest_short_result(stage: Stage) -> None:
    stage.start_platform(seed=5, size=0.1)
    stage.fault(surface="video_page", kind="captcha", nth=8, times=100_000)
    stage.start_worker()
    track = stage.world("/_world/tracks")["tracks"][0]
    job_id = stage.ask(track["music_id"], music_id=track["music_id"])
    job = stage.ended(job_id)
    assert job.status == "completed"
    reasons = {
        row["stop_reason"]
        for row in stage.rows("select * from marts.coverage where job_id = $id", id=job_id)
    }
    assert "upstream_verification" in reasons


def test_a_run_is_visible_with_its_partition_and_its_materializations(stage: Stage) -> None:
    stage.start_platform(seed=5, size=0.1)
    stage.start_worker()
    track = stage.world("/_world/tracks")["tracks"][0]
    job_id = stage.ask(track["music_id"], music_id=track["music_id"], candidate_limit=30)
    assert stage.ended(job_id).status == "completed"
    with stage.instance() as instance:
        run = instance.get_run_by_id(job_id)
        assert run is not None
        assert run.status == DagsterRunStatus.SUCCESS
        assert run.tags["dagster/partition"] == f"music:{track['music_id']}"
        assert run.remote_job_origin is not None
        records = instance.get_records_for_run(job_id).records
    events = [record.event_log_entry.dagster_event for record in records]
    materialized = {
        "/".join(event.asset_key.path)
        for event in events
        if event is not None
        and event.asset_key is not None
        and event.event_type_value == "ASSET_MATERIALIZATION"
    }
    assert {"marts/confirmed_videos", "marts/rankings", "marts/job_results"} <= materialized


def test_two_links_of_one_track_are_scanned_once(stage: Stage) -> None:
    stage.start_platform(seed=5, size=0.1)
    stage.start_worker(WORKER_RUNS="2")
    track = stage.world("/_world/tracks")["tracks"][0]
    first = stage.ask(track["prose"], candidate_limit=30)
    second = stage.ask(track["share_link"], candidate_limit=30)
    assert {stage.ended(job_id).status for job_id in (first, second)} == {"completed"}
    with stage.instance() as instance:
        runs = [instance.get_run_by_id(job_id) for job_id in (first, second)]
    assert sum(run is not None for run in runs) == 1
    found = stage.rows("select confirmed_count from marts.job_results")
    assert len(found) == 2
    assert found[0] == found[1]
