"""Job row and orchestrator's run end together, whoever ends one of them."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from socket import AF_UNIX, socket
from typing import Any

import pytest
from dagster import DagsterRunStatus

from pipelines.orchestration.runs.reconciliation import (
    cancel_jobs_of_terminated_runs,
    end_run,
    end_unserved_runs,
)
from pipelines.orchestration.runs.run_identity import ORIGIN_TAG
from pipelines.orchestration.watchlist_runs import WATCH_RUN_TAG
from pipelines.orchestration.worker.worker import CANCEL_GRACE_S, RECONCILE_EVERY_S
from tests.fake_runs import empty_scan
from warehouse.control import job_claims, jobs
from warehouse.records.jobs import Job, JobStatus

pytestmark = pytest.mark.full


def test_terminate_in_the_ui_asks_the_job_to_stop(house: Any) -> None:
    job_id = house.running()
    assert house.instance.run_launcher.terminate(job_id)
    assert house.run_status(job_id) == DagsterRunStatus.CANCELING
    house.pass_by(3)
    assert jobs.is_cancel_requested(house.control, job_id)
    assert house.status(job_id) == "running"


def test_a_run_marked_as_cancelled_at_once_stops_its_job_too(house: Any) -> None:
    job_id = house.running()
    house.instance.report_run_canceled(house.instance.get_run_by_id(job_id))
    house.pass_by(3)
    assert jobs.is_cancel_requested(house.control, job_id)


def test_a_job_that_ends_as_its_lost_run_is_terminated_is_not_kept_for_ever(house: Any) -> None:
    job_id = house.running()
    job_claims.requeue(house.control, job_id, run_number=1, costs_attempt=True)
    house.instance.report_run_canceled(house.instance.get_run_by_id(job_id))
    kept_until = datetime(2027, 1, 1, tzinfo=UTC)
    cancel_jobs_of_terminated_runs(house.instance, house.control, [job_id], expires_at=kept_until)
    assert (house.status(job_id), house.job(job_id).expires_at) == ("cancelled", kept_until)


def test_a_run_of_something_else_is_terminated_as_ever(house: Any) -> None:
    run = house.instance.create_run_for_job(empty_scan, status=DagsterRunStatus.STARTED)
    assert not house.instance.run_launcher.terminate(run.run_id)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("failed", DagsterRunStatus.FAILURE),
        ("cancelled", DagsterRunStatus.CANCELED),
        ("completed", DagsterRunStatus.SUCCESS),
    ],
)
def test_a_job_ended_by_somebody_else_takes_its_run_along(
    house: Any, status: JobStatus, expected: DagsterRunStatus
) -> None:
    job_id = house.running()
    house.worker.held.clear()
    jobs.finish(house.control, job_id, status)
    house.pass_by(RECONCILE_EVERY_S + 1)
    assert house.run_status(job_id) == expected


def test_a_run_whose_job_is_gone_is_ended_and_one_at_work_is_not(house: Any) -> None:
    job_id = house.running()
    left = house.instance.create_run_for_job(
        empty_scan, tags={ORIGIN_TAG: "api"}, status=DagsterRunStatus.STARTED
    )
    house.pass_by(RECONCILE_EVERY_S + 1)
    assert house.run_status(left.run_id) == DagsterRunStatus.FAILURE
    assert house.run_status(job_id) == DagsterRunStatus.STARTED


def test_what_a_gone_code_server_ran_is_ended_and_what_a_live_one_runs_is_not(
    house: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short

    def under_way(server: str | None, **tags: str) -> str:
        info = {} if server is None else {".dagster/grpc_info": f'{{"socket": "{server}"}}'}
        run = house.instance.create_run_for_job(
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
        assert end_unserved_runs(house.instance) == [lost]
    assert house.run_status(lost) == DagsterRunStatus.FAILURE
    assert {house.run_status(one) for one in others} == {DagsterRunStatus.STARTED}


def test_no_number_of_local_scans_keeps_other_runs_waiting(house: Any) -> None:
    queue = house.instance.get_concurrency_config().run_queue_config
    assert queue.max_concurrent_runs == -1, "no limit over all runs"
    assert {limit["key"] for limit in queue.tag_concurrency_limits} == {
        "dagster/backfill", WATCH_RUN_TAG
    }  # fmt: skip


def test_a_scan_that_does_not_stop_is_ended_by_force(house: Any) -> None:
    job_id = house.running()
    jobs.request_cancel(house.control, job_id)
    house.pass_by(3)
    assert not house.launcher.runs[job_id].is_gone
    house.pass_by(CANCEL_GRACE_S)
    assert house.launcher.runs[job_id].is_gone
    house.pass_by(1)
    assert (house.status(job_id), house.run_status(job_id)) == (
        "cancelled",
        DagsterRunStatus.CANCELED,
    )


def test_a_cancelled_scan_that_has_not_begun_is_not_waited_for(house: Any) -> None:
    house.launcher.begin_at_once = False
    job_id = house.ask()
    house.pass_by(1)
    jobs.request_cancel(house.control, job_id)
    house.pass_by(3)
    house.pass_by(1)
    assert house.status(job_id) == "cancelled"


def test_a_scan_whose_run_has_failed_begins_another_run(house: Any) -> None:
    job_id = house.running()
    house.instance.report_run_failed(house.instance.get_run_by_id(job_id))
    house.pass_by(3)
    house.pass_by(CANCEL_GRACE_S)
    house.pass_by(1)
    job = house.job(job_id)
    assert (job.status, job.attempt, job.run_number) == ("running", 2, 2)


def test_a_scan_that_loses_its_process_three_times_fails_with_the_reason(house: Any) -> None:
    job_id = house.running()
    for attempt in (1, 2, 3):
        assert (house.status(job_id), house.job(job_id).attempt) == ("running", attempt)
        house.launcher.runs[job_id].is_gone = True
        house.pass_by(1)
    error = house.job(job_id).error
    assert (house.status(job_id), error["type"]) == ("failed", "worker_unavailable")
    assert error["detail"] == (
        "The process that ran this scan ended unexpectedly. 3 attempts were made"
    )
    assert house.run_status(job_id) == DagsterRunStatus.FAILURE


def test_a_job_is_cancelled_between_two_attempts(house: Any) -> None:
    job_id = house.running()
    house.worker.held.clear()
    assert job_claims.requeue(house.control, job_id, run_number=1, costs_attempt=True)
    cancelled = jobs.request_cancel(house.control, job_id)
    assert cancelled is not None
    assert cancelled.status == "cancelled"
    house.pass_by(RECONCILE_EVERY_S + 1)
    assert house.launcher.launched == [job_id]
    assert house.run_status(job_id) == DagsterRunStatus.CANCELED


def test_a_job_whose_process_was_killed_after_its_run_had_succeeded_is_completed(
    house: Any,
) -> None:
    job_id = house.running()
    end_run(house.instance, house.instance.get_run_by_id(job_id), a_completed(house.job(job_id)))
    house.launcher.runs[job_id].is_gone = True
    house.pass_by(1)
    assert (house.status(job_id), house.run_status(job_id)) == (
        "completed",
        DagsterRunStatus.SUCCESS,
    )


def test_a_worker_that_stops_completes_a_job_whose_run_has_just_succeeded(house: Any) -> None:
    job_id = house.running()
    end_run(house.instance, house.instance.get_run_by_id(job_id), a_completed(house.job(job_id)))
    house.worker.hand_back_all("The worker was stopped")
    assert (house.status(job_id), house.run_status(job_id)) == (
        "completed",
        DagsterRunStatus.SUCCESS,
    )


def a_completed(job: Job) -> Job:
    return replace(job, status="completed")
