"""Names of Dagster runs: the first run of a job has the id of the job, later ones a derived id.

Dagster takes each id once. Every run carries its job as a tag, so *Runs* can be filtered by it.
"""

from uuid import NAMESPACE_OID, uuid5

from dagster import DagsterRun, DagsterRunStatus

from warehouse.records.jobs import Job

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
