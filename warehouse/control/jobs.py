"""Jobs: created once per request, claimed by one worker at a time, kept until they expire.

A job's status changes only along the transitions of `warehouse.records.jobs`. Running a job is in
`pipelines.orchestration.worker.worker`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import uuid4

import sqlalchemy as sa

from warehouse.control.database import ControlStore, to_json
from warehouse.control.scan_journal import delete_scan_rows
from warehouse.control.schema import JOBS, JOINABLE_JOBS, LEASES, WORKERS
from warehouse.records import jobs
from warehouse.records import jobs as job_records
from warehouse.records.errors import WarehouseUnavailableError

_JOIN_ATTEMPTS = 10  # each retry: another process created and ended the same job meanwhile


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to create. `target` is the music id if the input contains it, else the input.

    Without `job_id` it gets a new UUID.
    """

    kind: str
    input: str
    target: str
    music_id: str | None
    parameters: dict[str, object]
    fingerprint: str
    scan_key: str | None
    origin: jobs.Origin
    priority: int
    job_id: str | None = None


def create_or_join(control: ControlStore, new: NewJob) -> tuple[jobs.Job, bool]:
    """Create a queued job, or join the queued or running one with the same fingerprint.

    Returns the job and whether it was created. A job that is being cancelled is not joined; one of
    lower priority is raised to the new job's priority, a running one too: its priority says whether
    a user waits for it.
    """
    values = new_values(new, control.now())
    # A unique index over open jobs makes a second insert of the same request a conflict.
    draft = control.insert(JOBS).values(values).on_conflict_do_nothing()
    insert = draft.returning(JOBS.c.job_id)  # the row count of an insert is not reliable
    has_same_id = JOBS.c.job_id == values["job_id"]
    is_same_request = JOINABLE_JOBS & (JOBS.c.fingerprint == new.fingerprint)
    joined = (
        sa.select(JOBS).where(has_same_id | is_same_request).order_by(has_same_id.desc()).limit(1)
    )
    is_lower = is_same_request & (JOBS.c.priority < new.priority)
    for _ in range(_JOIN_ATTEMPTS):
        with control.write() as connection:
            created = connection.execute(insert).first() is not None
            if not created:
                connection.execute(sa.update(JOBS).where(is_lower).values(priority=new.priority))
            job = first_job(connection, joined)
        # Without a job, the open one has ended between the insert and the read: try again.
        if job is not None:
            return job, created
    raise WarehouseUnavailableError("the queue does not accept this job", retry_after=1)


def get(control: ControlStore, job_id: str) -> jobs.Job | None:
    """Return one job, or None if it does not exist or its retention period is over."""
    with control.read() as connection:
        return first_job(connection, sa.select(JOBS).where(JOBS.c.job_id == job_id))


def newest(
    control: ControlStore,
    *,
    limit: int,
    status: jobs.JobStatus | None = None,
    kept_at: datetime | None = None,
) -> list[jobs.Job]:
    """Return the newest jobs, newest first; with `kept_at` only those still kept then."""
    query = sa.select(JOBS).order_by(JOBS.c.created_at.desc(), JOBS.c.job_id).limit(limit)
    if status is not None:
        query = query.where(JOBS.c.status == status)
    if kept_at is not None:
        is_kept = JOBS.c.expires_at.is_(None) | (JOBS.c.expires_at > kept_at.timestamp())
        query = query.where(is_kept)
    return read_jobs(control, query)


def newest_of(control: ControlStore, kind: str, target: str, *, limit: int) -> list[jobs.Job]:
    """Return the newest jobs of a kind for one track or searched name, newest first."""
    same = (JOBS.c.kind == kind, JOBS.c.target == target)
    query = sa.select(JOBS).where(*same).order_by(JOBS.c.created_at.desc(), JOBS.c.job_id)
    return read_jobs(control, query.limit(limit))


def completed(control: ControlStore, scan_key: str, *, since: datetime) -> list[jobs.Job]:
    """Return jobs of the same scan completed since then, newest first."""
    query = (
        sa.select(JOBS)
        .where(
            JOBS.c.scan_key == scan_key,
            JOBS.c.status == "completed",
            JOBS.c.finished_at >= since.timestamp(),
        )
        .order_by(JOBS.c.finished_at.desc(), JOBS.c.job_id)
    )
    return read_jobs(control, query)


def save_progress(
    control: ControlStore,
    job_id: str,
    progress: jobs.ProgressRecord,
    *,
    run_number: int | None = None,
) -> None:
    """Store the progress of a running job; a job that has ended keeps its last progress.

    With `run_number` only if that run still holds the job.
    """
    running = sa.update(JOBS).where(*held_by(job_id, run_number), JOBS.c.status == "running")
    with control.write() as connection:
        connection.execute(running.values(progress=to_json(progress.to_document())))


def set_target(control: ControlStore, job_id: str, *, music_id: str, scan_key: str | None) -> None:
    """Store the track that the input resolved to."""
    target = {"target": music_id, "music_id": music_id, "scan_key": scan_key}
    with control.write() as connection:
        connection.execute(sa.update(JOBS).where(JOBS.c.job_id == job_id).values(target))


def finish(
    control: ControlStore,
    job_id: str,
    status: jobs.JobStatus,
    *,
    error: dict[str, object] | None = None,
    expires_at: datetime | None = None,
    run_number: int | None = None,
) -> bool:
    """End a job, and delete the journal of its scan.

    False, without effect, if there is no such job, it has already ended, or the run of
    `run_number` has lost it.
    """
    if status not in jobs.FINAL_STATUSES:
        return False
    with control.write() as connection:
        has_ended = transition_job(
            connection,
            job_id,
            status,
            of_run=run_number,
            error=to_json(error),
            finished_at=control.now(),
            expires_at=None if expires_at is None else expires_at.timestamp(),
        )
        # No later run of the job will read its journal.
        if has_ended:
            delete_scan_rows(connection, job_id)
        return has_ended


def request_cancel(
    control: ControlStore, job_id: str, *, expires_at: datetime | None = None
) -> jobs.Job | None:
    """Request that a job stops.

    A queued job is cancelled at once, between two attempts too; a job that has ended stays
    unchanged.
    """
    row = JOBS.c.job_id == job_id
    ended = {
        "cancel_requested": True,
        "finished_at": control.now(),
        "expires_at": None if expires_at is None else expires_at.timestamp(),
    }
    with control.write() as connection:
        queued = sa.update(JOBS).where(row, JOBS.c.status == "queued")
        running = sa.update(JOBS).where(row, JOBS.c.status == "running")
        # Two conditional updates instead of a read first: a worker may claim the job in between.
        if connection.execute(queued.values(status="cancelled", **ended)).rowcount:
            delete_scan_rows(connection, job_id)
        connection.execute(running.values(cancel_requested=True))
        return first_job(connection, sa.select(JOBS).where(row))


def is_cancel_requested(control: ControlStore, job_id: str) -> bool:
    """Return True if cancelling the job was requested."""
    query = sa.select(JOBS.c.cancel_requested).where(JOBS.c.job_id == job_id)
    with control.read() as connection:
        return bool(connection.execute(query).scalar())


def expired(control: ControlStore, now: datetime, *, limit: int) -> list[str]:
    """Return ids of ended jobs whose retention period is over, oldest first."""
    query = (
        sa.select(JOBS.c.job_id)
        .where(JOBS.c.status.in_(jobs.FINAL_STATUSES), JOBS.c.expires_at <= now.timestamp())
        .order_by(JOBS.c.expires_at, JOBS.c.job_id)
        .limit(limit)
    )
    with control.read() as connection:
        return list(connection.execute(query).scalars())


def delete_ended(control: ControlStore, job_ids: Sequence[str]) -> int:
    """Delete ended jobs and return how many; jobs that have not ended are kept."""
    ended = sa.delete(JOBS).where(
        JOBS.c.job_id.in_(job_ids), JOBS.c.status.in_(jobs.FINAL_STATUSES)
    )
    with control.write() as connection:
        return connection.execute(ended).rowcount


def counts(control: ControlStore) -> dict[str, int]:
    """Return the number of jobs by status; a status without jobs is absent."""
    query = sa.select(JOBS.c.status, sa.func.count()).group_by(JOBS.c.status)
    with control.read() as connection:
        return {str(status): int(count) for status, count in connection.execute(query)}


def queue_age_s(control: ControlStore) -> float:
    """Return how many seconds the oldest queued job has waited; 0 if the queue is empty."""
    query = sa.select(sa.func.min(JOBS.c.created_at)).where(JOBS.c.status == "queued")
    with control.read() as connection:
        oldest = connection.execute(query).scalar()
    return 0.0 if oldest is None else max(0.0, control.now() - float(oldest))


def transition_job(
    connection: sa.Connection,
    job_id: str,
    status: jobs.JobStatus,
    *,
    of_run: int | None = None,
    **values: object,
) -> bool:
    """Change the status if the transition from the present status is allowed."""
    allowed = [before for before in jobs.TRANSITIONS if jobs.can_transition(before, status)]
    # One statement: no other process changes the status between a read and the update.
    result = connection.execute(
        sa.update(JOBS)
        .where(*held_by(job_id, of_run), JOBS.c.status.in_(allowed))
        .values(status=status, **values)
    )
    return result.rowcount == 1


def held_by(job_id: str, run_number: int | None) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the conditions that select a job; with `run_number` only while that run holds it."""
    row = JOBS.c.job_id == job_id
    if run_number is None:
        return (row,)
    # The status too: a run that was considered lost has the highest number until the next claim.
    return (row, JOBS.c.run_number == run_number, JOBS.c.status == "running")


def new_values(new: NewJob, now: float) -> dict[str, object]:
    return {
        **asdict(new),
        "job_id": new.job_id or str(uuid4()),
        "status": "queued",
        "parameters": to_json(new.parameters),
        "progress": to_json(jobs.ProgressRecord(waiting_for="worker").to_document()),
        "cancel_requested": False,
        "created_at": now,
    }


def first_job(connection: sa.Connection, query: sa.Executable) -> jobs.Job | None:
    row = connection.execute(query).first()
    return None if row is None else jobs.Job.from_columns(row._asdict())


def read_jobs(control: ControlStore, query: sa.Executable) -> list[jobs.Job]:
    with control.read() as connection:
        return [jobs.Job.from_columns(row._asdict()) for row in connection.execute(query)]


# Claims of jobs: which worker runs a job, how long it was silent, and how a job is queued again.
#
# A claim starts a run and increments `run_number`. With that number a run proves that it still
# holds the job: a run that was considered lost, and resumes, finds the job in the queue or a
# higher number, and changes nothing.

ClaimState = Literal["held", "cancelled", "lost"]
_WAIT = "wait:"
"""Prefix of the lease that keeps a queued job from being claimed; the job is its owner."""


def claim(
    control: ControlStore, worker_id: str, *, kinds: Sequence[str] = job_records.JOB_KINDS
) -> job_records.Job | None:
    """Start a run of the next queued job: highest priority first, then oldest.

    No job is claimed twice, or before its wait for a resource is over.
    """
    next_job = (
        sa.select(JOBS)
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
        return first_job(connection, sa.select(JOBS).where(JOBS.c.job_id == job.job_id))


def begin(control: ControlStore, new: NewJob, worker_id: str) -> job_records.Job:
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
        "progress": to_json(job_records.ProgressRecord().to_document()),
        "run_number": 1,
    }
    draft = control.insert(JOBS).values(values).on_conflict_do_nothing()
    with control.write() as connection:
        created = connection.execute(draft.returning(JOBS.c.job_id)).first()
        job = first_job(connection, sa.select(JOBS).where(JOBS.c.job_id == values["job_id"]))
    if created is None or job is None:
        raise WarehouseUnavailableError("the queue does not accept this job", retry_after=1)
    return job


def requeue(
    control: ControlStore,
    job_id: str,
    *,
    run_number: int,
    costs_attempt: bool,
    waiting_for: job_records.WaitingFor = "worker",
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
    row = sa.select(JOBS).where(*held_by(job_id, run_number), JOBS.c.cancel_requested.is_(False))
    with control.write() as connection:
        job = first_job(connection, row.with_for_update())
        if job is None or (costs_attempt and job.attempt >= job_records.MAX_ATTEMPTS):
            return False
        if wait_s > 0:
            until = control.now() + min(wait_s, job_records.LONGEST_WAIT_S)
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


def set_waiting_for(
    control: ControlStore, job_id: str, waiting_for: job_records.WaitingFor | None
) -> None:
    """Record what a job waits for; a job that has ended stays as it is."""
    is_open = JOBS.c.status.not_in(job_records.FINAL_STATUSES)
    with control.write() as connection:
        job = first_job(connection, sa.select(JOBS).where(JOBS.c.job_id == job_id, is_open))
        if job is not None and job.progress.waiting_for != waiting_for:
            document = _waiting(job, waiting_for)
            connection.execute(
                sa.update(JOBS).where(JOBS.c.job_id == job_id).values(progress=document)
            )


def set_queue_waiting_for_disk(control: ControlStore, is_full: bool) -> None:
    """Record that all queued jobs wait for space on the disk, or that they no longer do."""
    query = sa.select(JOBS).where(JOBS.c.status == "queued").with_for_update()
    with control.write() as connection:
        for row in connection.execute(query).all():
            job = job_records.Job.from_columns(row._asdict())
            if (job.progress.waiting_for == "disk") == is_full:
                continue
            document = _waiting(job, "disk" if is_full else "worker")
            connection.execute(
                sa.update(JOBS).where(JOBS.c.job_id == job.job_id).values(progress=document)
            )


def beat(control: ControlStore, worker_id: str, job_ids: Sequence[str]) -> None:
    """Record a heartbeat of a worker and of the jobs it runs."""
    now = control.now()
    worker = {"worker_id": worker_id, "heartbeat_at": now}
    with control.write() as connection:
        same = sa.update(WORKERS).where(WORKERS.c.worker_id == worker_id)
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
    query = sa.select(JOBS.c.run_number, JOBS.c.status, JOBS.c.cancel_requested)
    with control.read() as connection:
        job = connection.execute(query.where(JOBS.c.job_id == job_id)).first()
    if job is None or job.run_number != run_number or job.status != "running":
        return "lost"
    return "cancelled" if job.cancel_requested else "held"


def retire(control: ControlStore, worker_id: str) -> None:
    """Remove a worker that has stopped from the live workers."""
    with control.write() as connection:
        connection.execute(sa.delete(WORKERS).where(WORKERS.c.worker_id == worker_id))


def live_workers(control: ControlStore, within_s: float) -> list[str]:
    """Return the workers with a heartbeat within the last `within_s` seconds.

    A heartbeat farther in the future does not count, as in `lost`.
    """
    now = control.now()
    is_alive = WORKERS.c.heartbeat_at.between(now - within_s, now + within_s)
    query = sa.select(WORKERS.c.worker_id).where(is_alive).order_by(WORKERS.c.worker_id)
    with control.read() as connection:
        return list(connection.execute(query).scalars())


def lost(control: ControlStore, silent_s: float) -> list[job_records.Job]:
    """Return running jobs without a heartbeat for `silent_s` seconds.

    A heartbeat as far in the future does not count: the clock was set back since, and the job would
    seem alive until the clock has caught up.
    """
    now, beat_at = control.now(), JOBS.c.heartbeat_at
    is_silent = sa.or_(beat_at < now - silent_s, beat_at > now + silent_s)
    query = (
        sa.select(JOBS).where(JOBS.c.status == "running", is_silent).order_by(JOBS.c.heartbeat_at)
    )
    return read_jobs(control, query)


def _waits(now: float) -> sa.ColumnElement[bool]:
    """Return the condition that a job still waits for a resource."""
    until, of_job = (
        LEASES.c.expires_at,
        LEASES.c.name == sa.literal(_WAIT, sa.String) + JOBS.c.job_id,
    )
    # A wait that ends later than the longest one does not count: the clock was set back since.
    is_waiting = (until > now) & (until <= now + job_records.LONGEST_WAIT_S)
    return sa.select(LEASES.c.name).where(of_job, is_waiting).exists()


def _heartbeat(job_ids: Sequence[str], now: float) -> sa.Update:
    return (
        sa.update(JOBS)
        .where(JOBS.c.job_id.in_(job_ids), JOBS.c.status == "running")
        .values(heartbeat_at=now)
    )


def _waiting(job: job_records.Job, waiting_for: job_records.WaitingFor | None) -> str | None:
    """Return the progress of a job, as stored, with what it waits for."""
    return to_json(replace(job.progress, waiting_for=waiting_for).to_document())
