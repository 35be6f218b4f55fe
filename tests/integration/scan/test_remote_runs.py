"""Scans that the orchestrator launches itself: code server, web server, daemon and worker."""

from pathlib import Path
from typing import Any

from dagster import DagsterRunStatus

from tests.integration.scan.orchestrator import start_orchestrator
from tests.stage import Stage


def test_a_job_is_one_run_of_the_orchestrator_under_its_own_id(
    stage: Stage, tmp_path: Path
) -> None:
    stage.start_platform(seed=5, size=0.1)
    start_orchestrator(stage, tmp_path)
    stage.start_worker(RUNS="remote", WORKER_RUNS="2")
    track = stage.world("/_world/tracks")["tracks"][0]
    job_id = stage.ask(track["prose"], candidate_limit=15)
    twin_id = stage.ask(track["share_link"], candidate_limit=15)
    for job in (stage.ended(job_id), stage.ended(twin_id)):
        assert job.status == "completed", job.error
    rows = stage.rows("select confirmed_count from marts.job_results")
    assert len(rows) == 2
    assert rows[0] == rows[1]
    with stage.instance() as instance:
        stage.wait(lambda: _ended(instance, job_id, twin_id))
        (run,) = [run for run in instance.get_runs() if run.run_id in {job_id, twin_id}]
        assert run.status == DagsterRunStatus.SUCCESS
        assert run.tags["dagster/partition"] == f"music:{track['music_id']}"
        launched = [run for run in instance.get_runs() if run.job_name == "scan"]
    assert len(launched) == 1


def _ended(instance: Any, *job_ids: str) -> bool:
    runs = [instance.get_run_by_id(job_id) for job_id in job_ids]
    return all(run.is_finished for run in runs if run is not None)
