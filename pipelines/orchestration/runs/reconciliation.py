"""Reconcile job rows with Dagster runs, in both directions.

Not here: how a worker supervises its own processes.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from socket import AF_UNIX, socket
from typing import get_args
from uuid import NAMESPACE_OID, uuid5

import dagster as dg
import orjson
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, RunsFilter

from warehouse.control import ControlStore, jobs
from warehouse.records.jobs import FINAL_STATUSES, Job, Origin

# Names of Dagster runs: the first run of a job has the id of the job, later ones a derived id.
#
# Dagster takes each id once. Every run carries its job as a tag, so *Runs* can be filtered by it.

JOB_TAG = "sametrack/job"
ATTEMPT_TAG = "sametrack/attempt"
ORIGIN_TAG = "sametrack/origin"
"""Tag on the run of every job; its value is the origin of the job."""

ENDED_STATUSES = (DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED)
OPEN_STATUSES = tuple(status for status in DagsterRunStatus if status not in ENDED_STATUSES)


def run_id_of(job: Job) -> str:
    """Return the id of the present run of a job."""
    return run_id(job.job_id, job.run_number)


def run_id(job_id: str, run_number: int) -> str:
    """Return the id of a run of a job, from 1; a job that never ran has the id of its first."""
    return job_id if run_number <= 1 else str(uuid5(NAMESPACE_OID, f"{job_id}/{run_number}"))


def tags_of(job: Job, partition: str) -> dict[str, str]:
    """Return the tags of the present run of a job."""
    return {
        "dagster/partition": partition,
        ORIGIN_TAG: job.origin,
        JOB_TAG: job.job_id,
        ATTEMPT_TAG: str(job.attempt),
    }


def job_id_of(run: DagsterRun) -> str:
    """Return the job of a run; runs of older releases have its id and no tag."""
    return run.tags.get(JOB_TAG, run.run_id)


SETTLED_AFTER = timedelta(seconds=10)
"""The run of a job that has just ended may be about to report its end itself."""
GOES_ON = "The run was lost; the job goes on from its last checkpoint in another run"
PROCESS_GONE = "No process executes this run any more"
MOST_AT_ONCE = 100
_OF_JOBS = {ORIGIN_TAG: list(get_args(Origin))}
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
        jobs.request_cancel(control, job_id_of(run), expires_at=expires_at)


def end_orphaned_runs(
    instance: dg.DagsterInstance, control: ControlStore, *, now: datetime | None = None
) -> list[str]:
    """End up to `MOST_AT_ONCE` runs whose job has ended, was deleted or goes on in another run.

    Returns their ids.
    """
    now = now or datetime.now(UTC)
    open_runs = dg.RunsFilter(tags=_OF_JOBS, statuses=list(OPEN_STATUSES))
    ended = []
    for run in instance.get_runs(open_runs, limit=MOST_AT_ONCE, ascending=True):
        job = jobs.get(control, job_id_of(run))
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
    lost = [run for run in under_way if ORIGIN_TAG not in run.tags and _is_unserved(run)]
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
    return job.status == "queued" or run_id_of(job) != run.run_id


# Count the launches that a sensor repeats for the same work, and pause longer after each.
#
# Dagster launches a run key only once, so the key of a repeated launch contains how many have
# ended.

_FIRST_PAUSE = timedelta(seconds=20)
_LONGEST_PAUSE = timedelta(hours=1)
_LAST_DOUBLING = 8  # beyond it the longest pause applies


@dataclass(frozen=True, slots=True)
class EndedLaunches:
    """The launches for a piece of work that have ended.

    Attributes:
        count: How many there are, however they ended.
        newest_at: End of the newest one in UTC; None if `count` is 0.
    """

    count: int
    newest_at: datetime | None

    def is_pausing(self, now: datetime) -> bool:
        """Whether the next launch has to wait: 0 s after the first, then 20 s, 60 s, to 1 h."""
        if self.newest_at is None:
            return False
        # 0, 1, 3, 7, … times the first pause.
        factor = (1 << min(self.count - 1, _LAST_DOUBLING)) - 1
        return now < self.newest_at + min(factor * _FIRST_PAUSE, _LONGEST_PAUSE)


def find_ended_launches(
    instance: DagsterInstance, job_name: str, tags: Mapping[str, str]
) -> EndedLaunches:
    """Find the ended launches of a job that carry these tags."""
    ended = RunsFilter(job_name=job_name, tags=dict(tags), statuses=list(ENDED_STATUSES))
    newest = instance.get_run_records(ended, limit=1)
    if not newest:
        return EndedLaunches(0, None)
    return EndedLaunches(instance.get_runs_count(ended), newest[0].update_timestamp)
