"""Claims of jobs: which worker runs a job, how long it was silent, and how a job is queued again.

A claim starts a run and increments `run_number`. With that number a run proves that it still holds
the job: a run that was considered lost, and resumes, finds the job in the queue or a higher number,
and changes nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from sqlalchemy import ColumnElement, String, Update, delete, literal, or_, select, update

from warehouse.control.database import ControlStore, to_json
from warehouse.control.jobs import (
    NewJob,
    first_job,
    held_by,
    new_values,
    read_jobs,
    transition_job,
)
from warehouse.control.schema import JOBS, LEASES, WORKERS
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.jobs import (
    FINAL_STATUSES,
    JOB_KINDS,
    LONGEST_WAIT_S,
    MAX_ATTEMPTS,
    Job,
    ProgressRecord,
    WaitingFor,
)

ClaimState = Literal["held", "cancelled", "lost"]
_WAIT = "wait:"
"""Prefix of the lease that keeps a queued job from being claimed; the job is its owner."""


def claim(control: ControlStore, worker_id: str, *, kinds: Sequence[str] = JOB_KINDS) -> Job | None:
    """Start a run of the next queued job: highest priority first, then oldest.

    No job is claimed twice, or before its wait for a resource is over.
    """
    next_job = (
        select(JOBS)
        .where(JOBS.c.status == "queued", JOBS.c.kind.in_(kinds), ~_waits(control.now()))
        .order_by(JOBS.c.priority.desc(), JOBS.c.created_at, JOBS.c.job_id)
        .limit(1)
        .with_for_update(skip_locked=True)  # SQLite ignores it: it has one writer at a time
    )
    with control.write() as connection:
        job = first_job(connection, next_job)
        if job is None:
            return None
        now = control.now()
        # A later run of the job keeps the time of the first one.
        transition_job(
            connection,
            job.job_id,
            "running",
            worker_id=worker_id,
            started_at=job.started_at.timestamp() if job.started_at else now,
            heartbeat_at=now,
            progress=_waiting(job, "processor"),
            run_number=job.run_number + 1,
        )
        return first_job(connection, select(JOBS).where(JOBS.c.job_id == job.job_id))


def begin(control: ControlStore, new: NewJob, worker_id: str) -> Job:
    """Create a job that is running already, for a run that was started outside the queue.

    Raises:
        WarehouseUnavailableError: There is a job of this id or fingerprint already.
    """
    now = control.now()
    values = new_values(new, now) | {
        "status": "running",
        "worker_id": worker_id,
        "started_at": now,
        "heartbeat_at": now,
        "progress": to_json(ProgressRecord().to_document()),
        "run_number": 1,
    }
    draft = control.insert(JOBS).values(values).on_conflict_do_nothing()
    with control.write() as connection:
        created = connection.execute(draft.returning(JOBS.c.job_id)).first()
        job = first_job(connection, select(JOBS).where(JOBS.c.job_id == values["job_id"]))
    if created is None or job is None:
        raise WarehouseUnavailableError("the queue does not accept this job", retry_after=1)
    return job


def requeue(
    control: ControlStore,
    job_id: str,
    *,
    run_number: int,
    costs_attempt: bool,
    waiting_for: WaitingFor = "worker",
    wait_s: float = 0.0,
) -> bool:
    """Put a running job back into the queue, where any worker claims it.

    Args:
        control: The control store.
        job_id: The job.
        run_number: The run that ends; without effect if a later one holds the job.
        costs_attempt: True for a run that was lost; False for a run that a worker hands back, or
            that waits for a resource.
        waiting_for: What the job waits for now.
        wait_s: Seconds before it may be claimed again, at most `LONGEST_WAIT_S`.

    Returns:
        False, without effect, if the run does not hold the job, its cancellation was requested,
        or no attempt is left.
    """
    row = select(JOBS).where(*held_by(job_id, run_number), JOBS.c.cancel_requested.is_(False))
    with control.write() as connection:
        job = first_job(connection, row.with_for_update())
        if job is None or (costs_attempt and job.attempt >= MAX_ATTEMPTS):
            return False
        if wait_s > 0:
            until = control.now() + min(wait_s, LONGEST_WAIT_S)
            wait = {"name": f"{_WAIT}{job_id}", "owner": job_id, "expires_at": until}
            connection.execute(control.upsert(LEASES, wait))
        return transition_job(
            connection,
            job_id,
            "queued",
            attempt=job.attempt + costs_attempt,
            worker_id=None,
            heartbeat_at=None,
            progress=_waiting(job, waiting_for),
        )


def set_waiting_for(control: ControlStore, job_id: str, waiting_for: WaitingFor | None) -> None:
    """Record what a job waits for; a job that has ended stays as it is."""
    is_open = JOBS.c.status.not_in(FINAL_STATUSES)
    with control.write() as connection:
        job = first_job(connection, select(JOBS).where(JOBS.c.job_id == job_id, is_open))
        if job is not None and job.progress.waiting_for != waiting_for:
            document = _waiting(job, waiting_for)
            connection.execute(
                update(JOBS).where(JOBS.c.job_id == job_id).values(progress=document)
            )


def set_queue_waiting_for_disk(control: ControlStore, is_full: bool) -> None:
    """Record that all queued jobs wait for space on the disk, or that they no longer do."""
    query = select(JOBS).where(JOBS.c.status == "queued").with_for_update()
    with control.write() as connection:
        for row in connection.execute(query).all():
            job = Job.from_columns(row._asdict())
            if (job.progress.waiting_for == "disk") == is_full:
                continue
            document = _waiting(job, "disk" if is_full else "worker")
            connection.execute(
                update(JOBS).where(JOBS.c.job_id == job.job_id).values(progress=document)
            )


def beat(control: ControlStore, worker_id: str, job_ids: Sequence[str]) -> None:
    """Record a heartbeat of a worker and of the jobs it runs."""
    now = control.now()
    worker = {"worker_id": worker_id, "heartbeat_at": now}
    with control.write() as connection:
        same = update(WORKERS).where(WORKERS.c.worker_id == worker_id)
        if not connection.execute(same.values(heartbeat_at=now)).rowcount:
            new = control.insert(WORKERS).values(worker)
            connection.execute(new.on_conflict_do_nothing())
        if job_ids:
            # Not the jobs that another worker has claimed meanwhile, or its death would not show.
            connection.execute(_heartbeat(job_ids, now).where(JOBS.c.worker_id == worker_id))


def beat_job(control: ControlStore, job_id: str, *, run_number: int | None = None) -> None:
    """Record a heartbeat of a job, sent by its run independently of the worker."""
    with control.write() as connection:
        beat = _heartbeat([job_id], control.now())
        connection.execute(beat.where(*held_by(job_id, run_number)))


def check(control: ControlStore, job_id: str, run_number: int) -> ClaimState:
    """Return whether a run still holds its job, and whether it is to stop."""
    query = select(JOBS.c.run_number, JOBS.c.status, JOBS.c.cancel_requested)
    with control.read() as connection:
        job = connection.execute(query.where(JOBS.c.job_id == job_id)).first()
    if job is None or job.run_number != run_number or job.status != "running":
        return "lost"
    return "cancelled" if job.cancel_requested else "held"


def retire(control: ControlStore, worker_id: str) -> None:
    """Remove a worker that has stopped from the live workers."""
    with control.write() as connection:
        connection.execute(delete(WORKERS).where(WORKERS.c.worker_id == worker_id))


def live_workers(control: ControlStore, within_s: float) -> list[str]:
    """Return the workers with a heartbeat within the last `within_s` seconds.

    A heartbeat farther in the future does not count, as in `lost`.
    """
    now = control.now()
    is_alive = WORKERS.c.heartbeat_at.between(now - within_s, now + within_s)
    query = select(WORKERS.c.worker_id).where(is_alive).order_by(WORKERS.c.worker_id)
    with control.read() as connection:
        return list(connection.execute(query).scalars())


def lost(control: ControlStore, silent_s: float) -> list[Job]:
    """Return running jobs without a heartbeat for `silent_s` seconds.

    A heartbeat as far in the future does not count: the clock was set back since, and the job would
    seem alive until the clock has caught up.
    """
    now, beat_at = control.now(), JOBS.c.heartbeat_at
    is_silent = or_(beat_at < now - silent_s, beat_at > now + silent_s)
    query = select(JOBS).where(JOBS.c.status == "running", is_silent).order_by(JOBS.c.heartbeat_at)
    return read_jobs(control, query)


def _waits(now: float) -> ColumnElement[bool]:
    """Return the condition that a job still waits for a resource."""
    until, of_job = LEASES.c.expires_at, LEASES.c.name == literal(_WAIT, String) + JOBS.c.job_id
    # A wait that ends later than the longest one does not count: the clock was set back since.
    is_waiting = (until > now) & (until <= now + LONGEST_WAIT_S)
    return select(LEASES.c.name).where(of_job, is_waiting).exists()


def _heartbeat(job_ids: Sequence[str], now: float) -> Update:
    return (
        update(JOBS)
        .where(JOBS.c.job_id.in_(job_ids), JOBS.c.status == "running")
        .values(heartbeat_at=now)
    )


def _waiting(job: Job, waiting_for: WaitingFor | None) -> str | None:
    """Return the progress of a job, as stored, with what it waits for."""
    return to_json(replace(job.progress, waiting_for=waiting_for).to_document())
