"""Job row and orchestrator's run end together, whoever ends one of them."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from socket import AF_UNIX, socket
from typing import Any

import pytest
from dagster import DagsterRunStatus

from pipelines.orchestration.runs.reconciliation import (
    ORIGIN_TAG,
    cancel_jobs_of_terminated_runs,
    end_run,
    end_unserved_runs,
)
from pipelines.orchestration.watchlist_runs import WATCH_RUN_TAG
from pipelines.orchestration.worker.worker import CANCEL_GRACE_S, RECONCILE_EVERY_S
from tests.orchestration.runs.fake_runs import empty_scan
from warehouse.control import jobs
from warehouse.records.jobs import Job, JobStatus

pytestmark = pytest.mark.full


def test_terminate_in_the_ui_asks_the_job_to_stop(harness: Any) -> None:
    job_id = harness.running()
    assert harness.instance.run_launcher.terminate(job_id)
    assert harness.run_status(job_id) == DagsterRunStatus.CANCELING
    harness.pass_by(3)
    assert jobs.is_cancel_requested(harness.control, job_id)
    assert harness.status(job_id) == "running"


def test_a_run_marked_as_cancelled_at_once_stops_its_job_too(harness: Any) -> None:
    job_id = harness.running()
    harness.instance.report_run_canceled(harness.instance.get_run_by_id(job_id))
    harness.pass_by(3)
    assert jobs.is_cancel_requested(harness.control, job_id)


def test_a_job_that_ends_as_its_lost_run_is_terminated_is_not_kept_for_ever(harness: Any) -> None:
    job_id = harness.running()
    jobs.requeue(harness.control, job_id, run_number=1, costs_attempt=True)
    harness.instance.report_run_canceled(harness.instance.get_run_by_id(job_id))
    kept_until = datetime(2027, 1, 1, tzinfo=UTC)
    cancel_jobs_of_terminated_runs(
        harness.instance, harness.control, [job_id], expires_at=kept_until
    )
    assert (harness.status(job_id), harness.job(job_id).expires_at) == ("cancelled", kept_until)


def test_a_run_of_something_else_is_terminated_as_ever(harness: Any) -> None:
    run = harness.instance.create_run_for_job(empty_scan, status=DagsterRunStatus.STARTED)
    assert not harness.instance.run_launcher.terminate(run.run_id)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("failed", DagsterRunStatus.FAILURE),
        ("cancelled", DagsterRunStatus.CANCELED),
        ("completed", DagsterRunStatus.SUCCESS),
    ],
)
def test_a_job_ended_by_somebody_else_takes_its_run_along(
    harness: Any, status: JobStatus, expected: DagsterRunStatus
) -> None:
    job_id = harness.running()
    harness.worker.held.clear()
    jobs.finish(harness.control, job_id, status)
    harness.pass_by(RECONCILE_EVERY_S + 1)
    assert harness.run_status(job_id) == expected


def test_a_run_whose_job_is_gone_is_ended_and_one_at_work_is_not(harness: Any) -> None:
    job_id = harness.running()
    left = harness.instance.create_run_for_job(
        empty_scan, tags={ORIGIN_TAG: "api"}, status=DagsterRunStatus.STARTED
    )
    harness.pass_by(RECONCILE_EVERY_S + 1)
    assert harness.run_status(left.run_id) == DagsterRunStatus.FAILURE
    assert harness.run_status(job_id) == DagsterRunStatus.STARTED


def test_runs_of_a_dead_code_server_are_ended_and_those_of_a_live_one_kept(
    harness: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short

    def under_way(server: str | None, **tags: str) -> str:
        info = {} if server is None else {".dagster/grpc_info": f'{{"socket": "{server}"}}'}
        run = harness.instance.create_run_for_job(
            empty_scan, tags=tags | info, status=DagsterRunStatus.STARTED
        )
        return str(run.run_id)

    with socket(AF_UNIX) as server:
        server.bind("live.sock")
        server.listen()
        lost = under_way("gone.sock")
        others = [
            under_way("live.sock"), under_way(None), under_way("gone.sock", **{ORIGIN_TAG: "api"})
        ]  # fmt: skip
        assert end_unserved_runs(harness.instance) == [lost]
    assert harness.run_status(lost) == DagsterRunStatus.FAILURE
    assert {harness.run_status(one) for one in others} == {DagsterRunStatus.STARTED}


def test_no_number_of_local_scans_keeps_other_runs_waiting(harness: Any) -> None:
    queue = harness.instance.get_concurrency_config().run_queue_config
    assert queue.max_concurrent_runs == -1, "no limit over all runs"
    assert {limit["key"] for limit in queue.tag_concurrency_limits} == {
        "dagster/backfill", WATCH_RUN_TAG
    }  # fmt: skip


def test_a_scan_that_does_not_stop_is_ended_by_force(harness: Any) -> None:
    job_id = harness.running()
    jobs.request_cancel(harness.control, job_id)
    harness.pass_by(3)
    assert not harness.launcher.runs[job_id].is_gone
    harness.pass_by(CANCEL_GRACE_S)
    assert harness.launcher.runs[job_id].is_gone
    harness.pass_by(1)
    assert (harness.status(job_id), harness.run_status(job_id)) == (
        "cancelled",
        DagsterRunStatus.CANCELED,
    )


def test_a_cancelled_scan_that_has_not_begun_is_not_waited_for(harness: Any) -> None:
    harness.launcher.begin_at_once = False
    job_id = harness.ask()
    harness.pass_by(1)
    jobs.request_cancel(harness.control, job_id)
    harness.pass_by(3)
    harness.pass_by(1)
    assert harness.status(job_id) == "cancelled"


def test_a_scan_whose_run_has_failed_begins_another_run(harness: Any) -> None:
    job_id = harness.running()
    harness.instance.report_run_failed(harness.instance.get_run_by_id(job_id))
    harness.pass_by(3)
    harness.pass_by(CANCEL_GRACE_S)
    harness.pass_by(1)
    job = harness.job(job_id)
    assert (job.status, job.attempt, job.run_number) == ("running", 2, 2)


def test_a_scan_that_loses_its_process_three_times_fails_with_the_reason(harness: Any) -> None:
    job_id = harness.running()
    for attempt in (1, 2, 3):
        assert (harness.status(job_id), harness.job(job_id).attempt) == ("running", attempt)
        harness.launcher.runs[job_id].is_gone = True
        harness.pass_by(1)
    error = harness.job(job_id).error
    assert (harness.status(job_id), error["type"]) == ("failed", "worker_unavailable")
    assert error["detail"] == (
        "The process that ran this scan ended unexpectedly. 3 attempts were made"
    )
    assert harness.run_status(job_id) == DagsterRunStatus.FAILURE


def test_a_job_is_cancelled_between_two_attempts(harness: Any) -> None:
    job_id = harness.running()
    harness.worker.held.clear()
    assert jobs.requeue(harness.control, job_id, run_number=1, costs_attempt=True)
    cancelled = jobs.request_cancel(harness.control, job_id)
    assert cancelled is not None
    assert cancelled.status == "cancelled"
    harness.pass_by(RECONCILE_EVERY_S + 1)
    assert harness.launcher.launched == [job_id]
    assert harness.run_status(job_id) == DagsterRunStatus.CANCELED


def test_a_job_whose_process_was_killed_after_its_run_had_succeeded_is_completed(
    harness: Any,
) -> None:
    job_id = harness.running()
    end_run(
        harness.instance, harness.instance.get_run_by_id(job_id), a_completed(harness.job(job_id))
    )
    harness.launcher.runs[job_id].is_gone = True
    harness.pass_by(1)
    assert (harness.status(job_id), harness.run_status(job_id)) == (
        "completed",
        DagsterRunStatus.SUCCESS,
    )


def test_a_worker_that_stops_completes_a_job_whose_run_has_just_succeeded(harness: Any) -> None:
    job_id = harness.running()
    end_run(
        harness.instance, harness.instance.get_run_by_id(job_id), a_completed(harness.job(job_id))
    )
    harness.worker.hand_back_all("The worker was stopped")
    assert (harness.status(job_id), harness.run_status(job_id)) == (
        "completed",
        DagsterRunStatus.SUCCESS,
    )


def a_completed(job: Job) -> Job:
    return replace(job, status="completed")
