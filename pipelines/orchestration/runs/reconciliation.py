"""Reconcile job rows with Dagster runs, in both directions.

Not here: how a worker supervises its own processes.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from socket import AF_UNIX, socket
from typing import get_args

import dagster as dg
import orjson

from pipelines.orchestration.runs import run_identity
from warehouse.control import ControlStore, jobs
from warehouse.records.jobs import FINAL_STATUSES, Job, Origin

SETTLED_AFTER = timedelta(seconds=10)
"""The run of a job that has just ended may be about to report its end itself."""
GOES_ON = "The run was lost; the job goes on from its last checkpoint in another run"
PROCESS_GONE = "No process executes this run any more"
MOST_AT_ONCE = 100
_OF_JOBS = {run_identity.ORIGIN_TAG: list(get_args(Origin))}
_UNDER_WAY = (
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)
_CODE_SERVER_TAG = ".dagster/grpc_info"
"""Where Dagster notes the code server that launched a run."""
_ASKED_TO_END = (dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED)


def cancel_jobs_of_terminated_runs(
    instance: dg.DagsterInstance,
    control: ControlStore,
    run_ids: Collection[str],
    *,
    expires_at: datetime,
) -> None:
    """Request cancellation of the jobs whose run was terminated in Dagster's UI.

    `expires_at` is the expiry of jobs that end at once, because they wait for their next run.
    """
    if not run_ids:
        return
    terminated = dg.RunsFilter(run_ids=list(run_ids), statuses=list(_ASKED_TO_END))
    for run in instance.get_runs(terminated):
        jobs.request_cancel(control, run_identity.job_id_of(run), expires_at=expires_at)


def end_orphaned_runs(
    instance: dg.DagsterInstance, control: ControlStore, *, now: datetime | None = None
) -> list[str]:
    """End up to `MOST_AT_ONCE` runs whose job has ended, was deleted or goes on in another run.

    Returns their ids.
    """
    now = now or datetime.now(UTC)
    open_runs = dg.RunsFilter(tags=_OF_JOBS, statuses=list(run_identity.OPEN_STATUSES))
    ended = []
    for run in instance.get_runs(open_runs, limit=MOST_AT_ONCE, ascending=True):
        job = jobs.get(control, run_identity.job_id_of(run))
        # A run that repeats another one has the tags of that one until it gets its own job.
        if run.parent_run_id is not None and (job is None or job.job_id != run.run_id):
            continue
        # Its process may be about to report the end of a run itself: leave it some time.
        is_settled = job is None or (
            job.status in FINAL_STATUSES
            and job.finished_at is not None
            and now - job.finished_at >= SETTLED_AFTER
        )
        if is_settled or _is_superseded(job, run):
            end_run(instance, run, job)
            ended.append(run.run_id)
    return ended


def end_unserved_runs(instance: dg.DagsterInstance) -> list[str]:
    """End runs without a job (watchlists, maintenance, reports) whose code server is gone.

    Returns their ids. Only for a storage that no other machine uses, because code servers are found
    by the file of their socket.
    """
    # Their process has ended with the code server. Nothing else reports their end: Dagster would
    # show them as running for ever, and a watchlist would wait for its own run.
    under_way = instance.get_runs(dg.RunsFilter(statuses=list(_UNDER_WAY)))
    lost = [
        run for run in under_way if run_identity.ORIGIN_TAG not in run.tags and _is_unserved(run)
    ]
    for run in lost:
        instance.report_run_failed(run, message=PROCESS_GONE)
    return [run.run_id for run in lost]


def end_run(instance: dg.DagsterInstance, run: dg.DagsterRun, job: Job | None) -> None:
    """Report the end of a run that no process executes any more, by the status of its job."""
    if run.is_finished:
        return
    if _is_superseded(job, run):
        instance.report_run_failed(run, message=GOES_ON)
    elif job is not None and job.status == "cancelled":
        instance.report_run_canceled(run, message="The job was cancelled")
    elif job is not None and job.status == "completed":
        # The result was stored, but the process was killed before it reported its success.
        success = dg.DagsterEvent(
            event_type_value=dg.DagsterEventType.RUN_SUCCESS.value,
            job_name=run.job_name,
            message="The result was complete",
        )
        instance.report_dagster_event(success, run_id=run.run_id)
    else:
        error = (job.error if job is not None else None) or {}
        why = error.get("detail") or PROCESS_GONE
        instance.report_run_failed(run, message=str(why))


def is_finished(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether this run has begun and ended."""
    run = instance.get_run_by_id(run_id)
    return run is not None and run.is_finished


def _is_unserved(run: dg.DagsterRun) -> bool:
    """Whether a code server launched the run and nobody listens to its socket any more."""
    # A run without this tag was not launched by a code server.
    path = orjson.loads(run.tags.get(_CODE_SERVER_TAG, "{}")).get("socket")
    if path is None:
        return False
    with socket(AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError:
            return True
    return False


def _is_superseded(job: Job | None, run: dg.DagsterRun) -> bool:
    """Whether the job waits for another run, or already has another one."""
    if job is None:
        return False
    return job.status == "queued" or run_identity.run_id_of(job) != run.run_id
