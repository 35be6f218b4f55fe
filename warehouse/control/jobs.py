"""Job rows: created once per request, moved only along allowed transitions.

Here: creating, reading, counting, progress, ends, cancelling, retention. Claims are in
`job_claims`; running a job is in `pipelines.orchestration.worker.worker`; the transitions are in
`warehouse.records.jobs`.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Update,
    delete,
    func,
    select,
    update,
)

from warehouse.control.database import StoredRow, StoreRows, to_json, values_of
from warehouse.control.records import NewJob
from warehouse.control.scan_journal import delete_scan_rows
from warehouse.control.schema import JOBS, JOINABLE_JOBS, LEASES, LINKS, WORKERS
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.jobs import (
    FINAL_STATUSES,
    TRANSITIONS,
    Job,
    JobStatus,
    ProgressRecord,
    can_transition,
)

_DAY_S = 86_400
_JOIN_ATTEMPTS = 10  # each retry: another process created and ended the same job meanwhile


class JobRows(StoreRows):
    """Jobs in the control store."""

    def create_or_join(self, new: NewJob) -> tuple[Job, bool]:
        """Create a queued job, or join the queued or running one with the same fingerprint.

        Returns the job and whether it was created. A job that is being cancelled is not joined; one
        of lower priority is raised to the new job's priority.
        """
        values = new_values(new, self._database.now())
        draft = self._database.insert(JOBS).values(values).on_conflict_do_nothing()
        insert = draft.returning(JOBS.c.job_id)  # the row count of an insert is not reliable
        for _ in range(_JOIN_ATTEMPTS):
            with self._database.writing() as connection:
                created = connection.execute(insert).first() is not None
                if not created:
                    connection.execute(_raise_priority(values))
                found = first_job(connection, _joinable(values))
            if found is not None:
                return found, created
        raise WarehouseUnavailableError("the queue does not accept this job", retry_after=1)

    def job(self, job_id: str) -> Job | None:
        """Return one job, or None if there is none or its retention period is over."""
        found = self._database.first(select(JOBS).where(JOBS.c.job_id == job_id))
        return None if found is None else to_job(found)

    def jobs(
        self, *, limit: int, status: JobStatus | None = None, kept_at: datetime | None = None
    ) -> list[Job]:
        """Return the newest jobs, newest first; with `kept_at` only those still kept then."""
        query = select(JOBS).order_by(JOBS.c.created_at.desc(), JOBS.c.job_id).limit(limit)
        if status is not None:
            query = query.where(JOBS.c.status == status)
        if kept_at is not None:
            is_kept = JOBS.c.expires_at.is_(None) | (JOBS.c.expires_at > kept_at.timestamp())
            query = query.where(is_kept)
        return self._read_jobs(query)

    def save_progress(
        self, job_id: str, progress: ProgressRecord, *, run_number: int | None = None
    ) -> None:
        """Store the progress of a running job; a job that has ended keeps its last progress.

        With `run_number` only if that run still holds the job.
        """
        running = update(JOBS).where(*held_by(job_id, run_number), JOBS.c.status == "running")
        self._database.write(running.values(progress=to_json(progress.to_document())))

    def set_target(self, job_id: str, *, music_id: str, scan_key: str | None) -> None:
        """Store the track that the input resolved to."""
        target = {"target": music_id, "music_id": music_id, "scan_key": scan_key}
        self._database.write(update(JOBS).where(JOBS.c.job_id == job_id).values(target))

    def finish(
        self,
        job_id: str,
        status: JobStatus,
        *,
        error: dict[str, object] | None = None,
        expires_at: datetime | None = None,
        run_number: int | None = None,
    ) -> bool:
        """End a job, and delete the journal of its scan.

        False, without effect, if there is no such job, it has already ended, or the run of
        `run_number` has lost it.
        """
        if status not in FINAL_STATUSES:
            return False
        with self._database.writing() as connection:
            has_ended = transition_job(
                connection,
                job_id,
                status,
                of_run=run_number,
                error=to_json(error),
                finished_at=self._database.now(),
                expires_at=None if expires_at is None else expires_at.timestamp(),
            )
            if has_ended:
                delete_scan_rows(connection, job_id)
            return has_ended

    def request_cancel(self, job_id: str, *, expires_at: datetime | None = None) -> Job | None:
        """Ask a job to stop.

        A queued job is cancelled at once, between two attempts too; one that has ended stays
        unchanged.
        """
        row = JOBS.c.job_id == job_id
        ended = {
            "cancel_requested": True,
            "finished_at": self._database.now(),
            "expires_at": None if expires_at is None else expires_at.timestamp(),
        }
        with self._database.writing() as connection:
            queued = update(JOBS).where(row, JOBS.c.status == "queued")
            running = update(JOBS).where(row, JOBS.c.status == "running")
            # Two conditional updates instead of a read first: a worker may claim the job in
            # between.
            if connection.execute(queued.values(status="cancelled", **ended)).rowcount:
                delete_scan_rows(connection, job_id)
            connection.execute(running.values(cancel_requested=True))
            return first_job(connection, select(JOBS).where(row))

    def jobs_of(self, kind: str, target: str, *, limit: int) -> list[Job]:
        """Return the newest jobs of a kind for one track or searched name, newest first."""
        same = (JOBS.c.kind == kind, JOBS.c.target == target)
        newest = select(JOBS).where(*same).order_by(JOBS.c.created_at.desc(), JOBS.c.job_id)
        return self._read_jobs(newest.limit(limit))

    def is_cancel_requested(self, job_id: str) -> bool:
        """Return True if cancelling the job was requested."""
        query = select(JOBS.c.cancel_requested).where(JOBS.c.job_id == job_id)
        return bool(self._database.scalar(query))

    def completed_jobs(self, scan_key: str, *, since: datetime) -> list[Job]:
        """Return jobs of the same scan completed since then, newest first."""
        return self._read_jobs(
            select(JOBS)
            .where(
                JOBS.c.scan_key == scan_key,
                JOBS.c.status == "completed",
                JOBS.c.finished_at >= since.timestamp(),
            )
            .order_by(JOBS.c.finished_at.desc(), JOBS.c.job_id)
        )

    def expired_jobs(self, now: datetime, *, limit: int) -> list[str]:
        """Return ids of ended jobs whose retention period is over, oldest first."""
        query = (
            select(JOBS.c.job_id)
            .where(JOBS.c.status.in_(FINAL_STATUSES), JOBS.c.expires_at <= now.timestamp())
            .order_by(JOBS.c.expires_at, JOBS.c.job_id)
            .limit(limit)
        )
        return self._database.scalars(query)

    def delete_jobs(self, job_ids: Sequence[str]) -> int:
        """Delete ended jobs and return how many; jobs that have not ended are kept."""
        ended = delete(JOBS).where(JOBS.c.job_id.in_(job_ids), JOBS.c.status.in_(FINAL_STATUSES))
        return self._database.write(ended)

    def delete_expired_state(self, now: datetime) -> int:
        """Delete expired links and leases and workers silent for a day; return how many."""
        moment = now.timestamp()
        statements = (
            delete(LINKS).where(LINKS.c.expires_at <= moment),
            delete(LEASES).where(LEASES.c.expires_at <= moment),
            delete(WORKERS).where(WORKERS.c.heartbeat_at <= moment - _DAY_S),
        )
        with self._database.writing() as connection:
            return sum(int(connection.execute(one).rowcount) for one in statements)

    def job_counts(self) -> dict[str, int]:
        """Return the number of jobs by status; a status without jobs is absent."""
        query = select(JOBS.c.status, func.count()).group_by(JOBS.c.status)
        return {str(status): int(count) for status, count in self._database.read(query)}

    def queue_age_s(self) -> float:
        """Return how many seconds the oldest queued job has waited; 0 if the queue is empty."""
        query = select(func.min(JOBS.c.created_at)).where(JOBS.c.status == "queued")
        oldest = self._database.scalar(query)
        return 0.0 if oldest is None else max(0.0, self._database.now() - float(oldest))

    def _read_jobs(self, query: Executable) -> list[Job]:
        return [to_job(row) for row in self._database.read(query)]


def transition_job(
    connection: Connection,
    job_id: str,
    status: JobStatus,
    *,
    of_run: int | None = None,
    **values: object,
) -> bool:
    """Change the status in one statement if the transition from the present one is allowed."""
    allowed = [before for before in TRANSITIONS if can_transition(before, status)]
    moved = connection.execute(
        update(JOBS)
        .where(*held_by(job_id, of_run), JOBS.c.status.in_(allowed))
        .values(status=status, **values)
    )
    return moved.rowcount == 1


def held_by(job_id: str, run_number: int | None) -> tuple[ColumnElement[bool], ...]:
    """Select a job; with `run_number` only while that run holds it.

    A run that was given up holds it no more, although its number is the highest one until the next
    claim.
    """
    one = JOBS.c.job_id == job_id
    if run_number is None:
        return (one,)
    return (one, JOBS.c.run_number == run_number, JOBS.c.status == "running")


def _joinable(values: dict[str, object]) -> Executable:
    """Select the job of this id, or the active job of the same fingerprint."""
    same_id = JOBS.c.job_id == values["job_id"]
    same_wish = JOINABLE_JOBS & (JOBS.c.fingerprint == values["fingerprint"])
    return select(JOBS).where(same_id | same_wish).order_by(same_id.desc()).limit(1)


def _raise_priority(values: dict[str, object]) -> Update:
    """Raise a job to the priority of the one that joins it.

    A running one, too: its priority says whether a user waits for it.
    """
    same_wish = JOINABLE_JOBS & (JOBS.c.fingerprint == values["fingerprint"])
    lower = same_wish & (JOBS.c.priority < values["priority"])
    return update(JOBS).where(lower).values(priority=values["priority"])


def new_values(new: NewJob, now: float) -> dict[str, object]:
    return {
        **asdict(new),
        "job_id": new.job_id or str(uuid4()),
        "status": "queued",
        "parameters": to_json(new.parameters),
        "progress": to_json(ProgressRecord(waiting_for="worker").to_document()),
        "cancel_requested": False,
        "created_at": now,
    }


def first_job(connection: Connection, query: Executable) -> Job | None:
    row = connection.execute(query).first()
    return None if row is None else to_job(row)


def to_job(row: StoredRow) -> Job:
    return Job.from_columns(values_of(row))
