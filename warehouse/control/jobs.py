"""Job rows: created once per request, claimed once, moved only along allowed transitions.

Here: the queue, heartbeats, progress, cancelling, retention. Running a job is in
`pipelines.orchestration.worker.worker`; the transitions are in `warehouse.records.jobs`.
"""

from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from uuid import uuid4

import orjson
from sqlalchemy import Connection, Executable, RowMapping, Update, delete, select, update

from warehouse.control.database import Database
from warehouse.control.records import NewJob
from warehouse.control.schema import JOBS, JOINABLE_JOBS, LEASES, LINKS, WORKERS
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.jobs import (
    FINAL_STATUSES,
    JOB_KINDS,
    TRANSITIONS,
    Job,
    JobStatus,
    ProgressRecord,
    can_transition,
)
from warehouse.records.values import Row

_PROGRESS_FIELDS = frozenset(field.name for field in fields(ProgressRecord))
_TIMES = ("heartbeat_at", "created_at", "started_at", "finished_at", "expires_at")
_DAY_S = 86_400
_JOIN_ATTEMPTS = 10  # each retry: another process created and ended the same job meanwhile


class JobRows:
    """Jobs in the control store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create_or_join(self, new: NewJob) -> tuple[Job, bool]:
        """Create a queued job, or join the queued or running one with the same fingerprint.

        Returns the job and whether it was created. A job that is being cancelled is not joined; a
        queued one of lower priority is raised to the new job's priority.
        """
        values = _new_values(new, self._database.now())
        draft = self._database.insert(JOBS).values(values).on_conflict_do_nothing()
        insert = draft.returning(JOBS.c.job_id)  # the row count of an insert is not reliable
        for _ in range(_JOIN_ATTEMPTS):
            with self._database.writing() as connection:
                created = connection.execute(insert).first() is not None
                if not created:
                    connection.execute(_raise_priority(values))
                found = _first(connection, _joinable(values))
            if found is not None:
                return found, created
        raise WarehouseUnavailableError("the queue does not accept this job", retry_after=1)

    def job(self, job_id: str) -> Job | None:
        """Return one job, or None if there is none or its retention period is over."""
        with self._database.reading() as connection:
            return _first(connection, select(JOBS).where(JOBS.c.job_id == job_id))

    def jobs(self, *, limit: int, status: JobStatus | None = None) -> list[Job]:
        """Return the newest jobs, newest first."""
        query = select(JOBS).order_by(JOBS.c.created_at.desc(), JOBS.c.job_id).limit(limit)
        return self._read(query if status is None else query.where(JOBS.c.status == status))

    def claim(self, worker_id: str, *, kinds: Sequence[str] = JOB_KINDS) -> Job | None:
        """Start the next queued job: highest priority first, then oldest.

        No job is claimed twice.
        """
        following = (
            select(JOBS)
            .where(JOBS.c.status == "queued", JOBS.c.kind.in_(kinds))
            .order_by(JOBS.c.priority.desc(), JOBS.c.created_at, JOBS.c.job_id)
            .limit(1)
            .with_for_update(skip_locked=True)  # SQLite needs none: it has one writer at a time
        )
        with self._database.writing() as connection:
            found = _first(connection, following)
            if found is None:
                return None
            now = self._database.now()
            _transition(
                connection,
                found.job_id,
                "running",
                worker_id=worker_id,
                started_at=now,
                heartbeat_at=now,
            )
            return _first(connection, select(JOBS).where(JOBS.c.job_id == found.job_id))

    def beat(self, worker_id: str, job_ids: Sequence[str]) -> None:
        """Record a heartbeat of a worker and of the jobs it runs."""
        now = self._database.now()
        insert = self._database.insert(WORKERS).values(worker_id=worker_id, heartbeat_at=now)
        alive = insert.on_conflict_do_update(
            index_elements=[WORKERS.c.worker_id], set_={"heartbeat_at": now}
        )
        with self._database.writing() as connection:
            connection.execute(alive)
            connection.execute(_heartbeat(job_ids, now))

    def heartbeat_job(self, job_id: str) -> None:
        """Record a heartbeat of a job, sent by its run independently of the worker."""
        with self._database.writing() as connection:
            connection.execute(_heartbeat([job_id], self._database.now()))

    def retire(self, worker_id: str) -> None:
        """Remove a worker that has stopped from the live workers."""
        with self._database.writing() as connection:
            connection.execute(delete(WORKERS).where(WORKERS.c.worker_id == worker_id))

    def live_workers(self, within_s: float) -> list[str]:
        """Return the workers with a heartbeat within the last `within_s` seconds."""
        since = self._database.now() - within_s
        query = select(WORKERS.c.worker_id).where(WORKERS.c.heartbeat_at >= since)
        with self._database.reading() as connection:
            return list(connection.execute(query.order_by(WORKERS.c.worker_id)).scalars())

    def save_progress(self, job_id: str, progress: ProgressRecord) -> None:
        """Store the progress of a running job; a job that has ended keeps its last progress."""
        document = _to_json(progress.to_document())
        with self._database.writing() as connection:
            connection.execute(
                update(JOBS)
                .where(JOBS.c.job_id == job_id, JOBS.c.status == "running")
                .values(progress=document)
            )

    def set_target(self, job_id: str, *, music_id: str, scan_key: str | None) -> None:
        """Store the track that the input resolved to."""
        with self._database.writing() as connection:
            connection.execute(
                update(JOBS)
                .where(JOBS.c.job_id == job_id)
                .values(target=music_id, music_id=music_id, scan_key=scan_key)
            )

    def finish(
        self,
        job_id: str,
        status: JobStatus,
        *,
        error: dict[str, object] | None = None,
        expires_at: datetime | None = None,
    ) -> bool:
        """End a job. False, without effect, if there is none or it has already ended."""
        if status not in FINAL_STATUSES:
            return False
        with self._database.writing() as connection:
            return _transition(
                connection,
                job_id,
                status,
                error=None if error is None else _to_json(error),
                finished_at=self._database.now(),
                expires_at=None if expires_at is None else expires_at.timestamp(),
            )

    def request_cancel(self, job_id: str, *, expires_at: datetime | None = None) -> Job | None:
        """Ask a job to stop.

        A queued job is cancelled at once; one that has ended stays unchanged.
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
            connection.execute(queued.values(status="cancelled", **ended))
            connection.execute(running.values(cancel_requested=True))
            return _first(connection, select(JOBS).where(row))

    def is_cancel_requested(self, job_id: str) -> bool:
        """Return True if cancelling the job was requested."""
        query = select(JOBS.c.cancel_requested).where(JOBS.c.job_id == job_id)
        with self._database.reading() as connection:
            return bool(connection.execute(query).scalar())

    def lost_jobs(self, silent_s: float) -> list[Job]:
        """Return running jobs without a heartbeat for `silent_s` seconds."""
        before = self._database.now() - silent_s
        return self._read(
            select(JOBS)
            .where(JOBS.c.status == "running", JOBS.c.heartbeat_at < before)
            .order_by(JOBS.c.heartbeat_at)
        )

    def completed_jobs(self, scan_key: str, *, since: datetime) -> list[Job]:
        """Return jobs of the same scan completed since then, newest first."""
        return self._read(
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
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def delete_jobs(self, job_ids: Sequence[str]) -> int:
        """Delete ended jobs and return how many; jobs that have not ended are kept."""
        ended = delete(JOBS).where(JOBS.c.job_id.in_(job_ids), JOBS.c.status.in_(FINAL_STATUSES))
        with self._database.writing() as connection:
            return int(connection.execute(ended).rowcount)

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

    def _read(self, query: Executable) -> list[Job]:
        with self._database.reading() as connection:
            return [_to_job(row) for row in connection.execute(query).mappings()]


def _heartbeat(job_ids: Sequence[str], now: float) -> Update:
    return (
        update(JOBS)
        .where(JOBS.c.job_id.in_(job_ids), JOBS.c.status == "running")
        .values(heartbeat_at=now)
    )


def _transition(connection: Connection, job_id: str, status: JobStatus, **values: object) -> bool:
    """Change the status in one statement if the transition from the present one is allowed."""
    allowed = [before for before in TRANSITIONS if can_transition(before, status)]
    moved = connection.execute(
        update(JOBS)
        .where(JOBS.c.job_id == job_id, JOBS.c.status.in_(allowed))
        .values(status=status, **values)
    )
    return moved.rowcount == 1


def _joinable(values: dict[str, object]) -> Executable:
    """Select the job of this id, or the active job of the same fingerprint."""
    same_id = JOBS.c.job_id == values["job_id"]
    same_wish = JOINABLE_JOBS & (JOBS.c.fingerprint == values["fingerprint"])
    return select(JOBS).where(same_id | same_wish).order_by(same_id.desc()).limit(1)


def _raise_priority(values: dict[str, object]) -> Update:
    """Raise a queued job to the priority of the one that joins it."""
    same_wish = JOINABLE_JOBS & (JOBS.c.fingerprint == values["fingerprint"])
    waiting = same_wish & (JOBS.c.status == "queued") & (JOBS.c.priority < values["priority"])
    return update(JOBS).where(waiting).values(priority=values["priority"])


def _new_values(new: NewJob, now: float) -> dict[str, object]:
    return {
        "job_id": new.job_id or str(uuid4()),
        "kind": new.kind,
        "status": "queued",
        "input": new.input,
        "target": new.target,
        "music_id": new.music_id,
        "parameters": _to_json(new.parameters),
        "fingerprint": new.fingerprint,
        "scan_key": new.scan_key,
        "origin": new.origin,
        "priority": new.priority,
        "progress": _to_json(ProgressRecord().to_document()),
        "cancel_requested": False,
        "created_at": now,
    }


def _first(connection: Connection, query: Executable) -> Job | None:
    row = connection.execute(query).mappings().first()
    return None if row is None else _to_job(row)


def _to_job(row: RowMapping) -> Job:
    values: Row = dict(row)
    for name in _TIMES:
        values[name] = None if values[name] is None else datetime.fromtimestamp(values[name], UTC)
    progress = orjson.loads(values["progress"])
    values["progress"] = ProgressRecord(
        **{n: v for n, v in progress.items() if n in _PROGRESS_FIELDS}
    )
    values["parameters"] = orjson.loads(values["parameters"])
    values["error"] = None if values["error"] is None else orjson.loads(values["error"])
    return Job(**values)


def _to_json(document: dict[str, object]) -> str:
    return orjson.dumps(document).decode()
