"""Jobs: created once per request; their status changes only along allowed transitions.

Here: creating, reading, counting, progress, ends, cancelling, retention. Claims are in
`job_claims`; running a job is in `pipelines.orchestration.worker.worker`; the transitions are in
`warehouse.records.jobs`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, Executable, delete, func, select, update

from warehouse.control.database import ControlStore, to_json
from warehouse.control.scan_journal import delete_scan_rows
from warehouse.control.schema import JOBS, JOINABLE_JOBS
from warehouse.records import jobs
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
    joined = select(JOBS).where(has_same_id | is_same_request).order_by(has_same_id.desc()).limit(1)
    is_lower = is_same_request & (JOBS.c.priority < new.priority)
    for _ in range(_JOIN_ATTEMPTS):
        with control.write() as connection:
            created = connection.execute(insert).first() is not None
            if not created:
                connection.execute(update(JOBS).where(is_lower).values(priority=new.priority))
            job = first_job(connection, joined)
        # Without a job, the open one has ended between the insert and the read: try again.
        if job is not None:
            return job, created
    raise WarehouseUnavailableError("the queue does not accept this job", retry_after=1)


def get(control: ControlStore, job_id: str) -> jobs.Job | None:
    """Return one job, or None if it does not exist or its retention period is over."""
    with control.read() as connection:
        return first_job(connection, select(JOBS).where(JOBS.c.job_id == job_id))


def newest(
    control: ControlStore,
    *,
    limit: int,
    status: jobs.JobStatus | None = None,
    kept_at: datetime | None = None,
) -> list[jobs.Job]:
    """Return the newest jobs, newest first; with `kept_at` only those still kept then."""
    query = select(JOBS).order_by(JOBS.c.created_at.desc(), JOBS.c.job_id).limit(limit)
    if status is not None:
        query = query.where(JOBS.c.status == status)
    if kept_at is not None:
        is_kept = JOBS.c.expires_at.is_(None) | (JOBS.c.expires_at > kept_at.timestamp())
        query = query.where(is_kept)
    return read_jobs(control, query)


def newest_of(control: ControlStore, kind: str, target: str, *, limit: int) -> list[jobs.Job]:
    """Return the newest jobs of a kind for one track or searched name, newest first."""
    same = (JOBS.c.kind == kind, JOBS.c.target == target)
    query = select(JOBS).where(*same).order_by(JOBS.c.created_at.desc(), JOBS.c.job_id)
    return read_jobs(control, query.limit(limit))


def completed(control: ControlStore, scan_key: str, *, since: datetime) -> list[jobs.Job]:
    """Return jobs of the same scan completed since then, newest first."""
    query = (
        select(JOBS)
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
    running = update(JOBS).where(*held_by(job_id, run_number), JOBS.c.status == "running")
    with control.write() as connection:
        connection.execute(running.values(progress=to_json(progress.to_document())))


def set_target(control: ControlStore, job_id: str, *, music_id: str, scan_key: str | None) -> None:
    """Store the track that the input resolved to."""
    target = {"target": music_id, "music_id": music_id, "scan_key": scan_key}
    with control.write() as connection:
        connection.execute(update(JOBS).where(JOBS.c.job_id == job_id).values(target))


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
        queued = update(JOBS).where(row, JOBS.c.status == "queued")
        running = update(JOBS).where(row, JOBS.c.status == "running")
        # Two conditional updates instead of a read first: a worker may claim the job in between.
        if connection.execute(queued.values(status="cancelled", **ended)).rowcount:
            delete_scan_rows(connection, job_id)
        connection.execute(running.values(cancel_requested=True))
        return first_job(connection, select(JOBS).where(row))


def is_cancel_requested(control: ControlStore, job_id: str) -> bool:
    """Return True if cancelling the job was requested."""
    query = select(JOBS.c.cancel_requested).where(JOBS.c.job_id == job_id)
    with control.read() as connection:
        return bool(connection.execute(query).scalar())


def expired(control: ControlStore, now: datetime, *, limit: int) -> list[str]:
    """Return ids of ended jobs whose retention period is over, oldest first."""
    query = (
        select(JOBS.c.job_id)
        .where(JOBS.c.status.in_(jobs.FINAL_STATUSES), JOBS.c.expires_at <= now.timestamp())
        .order_by(JOBS.c.expires_at, JOBS.c.job_id)
        .limit(limit)
    )
    with control.read() as connection:
        return list(connection.execute(query).scalars())


def delete_ended(control: ControlStore, job_ids: Sequence[str]) -> int:
    """Delete ended jobs and return how many; jobs that have not ended are kept."""
    ended = delete(JOBS).where(JOBS.c.job_id.in_(job_ids), JOBS.c.status.in_(jobs.FINAL_STATUSES))
    with control.write() as connection:
        return connection.execute(ended).rowcount


def counts(control: ControlStore) -> dict[str, int]:
    """Return the number of jobs by status; a status without jobs is absent."""
    query = select(JOBS.c.status, func.count()).group_by(JOBS.c.status)
    with control.read() as connection:
        return {str(status): int(count) for status, count in connection.execute(query)}


def queue_age_s(control: ControlStore) -> float:
    """Return how many seconds the oldest queued job has waited; 0 if the queue is empty."""
    query = select(func.min(JOBS.c.created_at)).where(JOBS.c.status == "queued")
    with control.read() as connection:
        oldest = connection.execute(query).scalar()
    return 0.0 if oldest is None else max(0.0, control.now() - float(oldest))


def transition_job(
    connection: Connection,
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
        update(JOBS)
        .where(*held_by(job_id, of_run), JOBS.c.status.in_(allowed))
        .values(status=status, **values)
    )
    return result.rowcount == 1


def held_by(job_id: str, run_number: int | None) -> tuple[ColumnElement[bool], ...]:
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


def first_job(connection: Connection, query: Executable) -> jobs.Job | None:
    row = connection.execute(query).first()
    return None if row is None else jobs.Job.from_columns(row._asdict())


def read_jobs(control: ControlStore, query: Executable) -> list[jobs.Job]:
    with control.read() as connection:
        return [jobs.Job.from_columns(row._asdict()) for row in connection.execute(query)]
