"""Runs of watchlists: which process works on a run, the check of each entry, the outcome.

A run is held by one process at a time. A hold expires, so the run of a process that died is taken
over by the next. Creating runs is in `definitions`, executing them in `pipelines.watchlists`.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, or_, select, update

from warehouse.control.database import StoredRow, StoreRows, from_json, to_json, to_time, values_of
from warehouse.control.schema import WATCHLIST_CHECKS, WATCHLIST_RUNS
from warehouse.records.values import Document, ReadOnlyDocument
from warehouse.records.watchlists import (
    ENDED_CHECK_STATUSES,
    ENDED_RUN_STATUSES,
    EntryCheck,
    RunStatus,
    WatchlistEntry,
    WatchlistRun,
    parse_plan,
)

_UNHELD = {"owner": None, "held_until": None}


class WatchlistRunRows(StoreRows):
    """Runs of watchlists in the control store."""

    def watch_run(self, run_id: str) -> WatchlistRun | None:
        """Return one run, or None."""
        row = self._database.first(select(WATCHLIST_RUNS).where(WATCHLIST_RUNS.c.run_id == run_id))
        return None if row is None else _to_run(row)

    def watch_runs(self, name: str, *, limit: int, with_digest: bool = False) -> list[WatchlistRun]:
        """Return the newest runs of a watchlist, newest first; or the newest that have a digest."""
        query = (
            select(WATCHLIST_RUNS)
            .where(WATCHLIST_RUNS.c.watchlist == name)
            .order_by(WATCHLIST_RUNS.c.due_at.desc(), WATCHLIST_RUNS.c.run_id)
            .limit(limit)
        )
        if with_digest:
            query = query.where(WATCHLIST_RUNS.c.digest.is_not(None))
        return [_to_run(row) for row in self._database.read(query)]

    def unheld_watch_runs(self) -> list[WatchlistRun]:
        """Return runs that have not ended and that no process holds, oldest first."""
        query = (
            select(WATCHLIST_RUNS)
            .where(
                WATCHLIST_RUNS.c.status.not_in(ENDED_RUN_STATUSES), _is_free(self._database.now())
            )
            .order_by(WATCHLIST_RUNS.c.due_at, WATCHLIST_RUNS.c.run_id)
        )
        return [_to_run(row) for row in self._database.read(query)]

    def hold_run(self, run_id: str, owner: str, *, ttl_s: float) -> WatchlistRun | None:
        """Hold a run exclusively for `ttl_s` seconds.

        None: another process does, or it has ended.
        """
        now = self._database.now()
        taken = (
            update(WATCHLIST_RUNS)
            .where(
                WATCHLIST_RUNS.c.run_id == run_id,
                WATCHLIST_RUNS.c.status.not_in(ENDED_RUN_STATUSES),
                _is_free(now),
            )
            .values(
                owner=owner,
                held_until=now + ttl_s,
                tries=WATCHLIST_RUNS.c.tries + 1,
                # A later try keeps the time of the first.
                began_at=func.coalesce(WATCHLIST_RUNS.c.began_at, now),
            )
            .returning(*WATCHLIST_RUNS.c)
        )
        with self._database.writing() as connection:
            row = connection.execute(taken).first()
        return None if row is None else _to_run(row)

    def release_run(self, run_id: str, owner: str, *, status: RunStatus) -> bool:
        """Release a run that continues later; False if another process has taken it over."""
        return self._write(run_id, owner, {**_UNHELD, "status": status})

    def end_run(
        self,
        run_id: str,
        owner: str,
        *,
        status: RunStatus,
        outcome: str,
        digest: ReadOnlyDocument | None,
    ) -> bool:
        """End a run; False if another process has taken it over, whose result counts."""
        values = {
            **_UNHELD,
            "status": status,
            "outcome": outcome,
            "digest": to_json(digest),
            "ended_at": self._database.now(),
        }
        return self._write(run_id, owner, values)

    def renew_run_hold(self, run_id: str, owner: str, *, ttl_s: float) -> bool:
        """Renew the hold on a run; False if another process has taken it over."""
        return self._write(run_id, owner, {"held_until": self._database.now() + ttl_s})

    def save_notification(self, run_id: str, outcome: ReadOnlyDocument) -> None:
        """Store the result of the notification."""
        row = WATCHLIST_RUNS.c.run_id == run_id
        self._database.write(update(WATCHLIST_RUNS).where(row).values(told=to_json(outcome)))

    def entry_checks(self, run_id: str) -> list[EntryCheck]:
        """Return the checks of a run's entries, in the order of the watchlist."""
        query = (
            select(WATCHLIST_CHECKS)
            .where(WATCHLIST_CHECKS.c.run_id == run_id)
            .order_by(WATCHLIST_CHECKS.c.position)
        )
        return [_to_check(row) for row in self._database.read(query)]

    def save_entry_check(self, check: EntryCheck) -> None:
        """Store the check of an entry."""
        is_over = check.status in ENDED_CHECK_STATUSES
        values = {
            "status": check.status,
            "subject": check.subject,
            "job_id": check.job_id,
            "error": to_json(check.error),
            "observation": to_json(check.observation),
            "ended_at": self._database.now() if is_over else None,
        }
        this = update(WATCHLIST_CHECKS).where(
            WATCHLIST_CHECKS.c.run_id == check.run_id, WATCHLIST_CHECKS.c.position == check.position
        )
        self._database.write(this.values(values))

    def last_observation(
        self, name: str, kind: str, subject: str, *, before_run: str
    ) -> Document | None:
        """Return what an earlier run of this watchlist last observed of a subject, or None."""
        query = (
            select(WATCHLIST_CHECKS.c.observation)
            .where(
                WATCHLIST_CHECKS.c.watchlist == name,
                WATCHLIST_CHECKS.c.kind == kind,
                WATCHLIST_CHECKS.c.subject == subject,
                WATCHLIST_CHECKS.c.observation.is_not(None),
                WATCHLIST_CHECKS.c.run_id != before_run,
            )
            .order_by(WATCHLIST_CHECKS.c.ended_at.desc())
            .limit(1)
        )
        found: Document | None = from_json(self._database.scalar(query))
        return found

    def drop_older_observations(self, name: str, run_id: str) -> None:
        """Delete older observations of the subjects that this run observed.

        The next run is compared with this one only; earlier observations are in the lake, and their
        changes in the digests.
        """
        newer = WATCHLIST_CHECKS.alias("newer")
        observed_again = (
            select(newer.c.position)
            .where(
                newer.c.run_id == run_id,
                newer.c.observation.is_not(None),
                newer.c.kind == WATCHLIST_CHECKS.c.kind,
                newer.c.subject == WATCHLIST_CHECKS.c.subject,
            )
            .exists()
        )
        older = update(WATCHLIST_CHECKS).where(
            WATCHLIST_CHECKS.c.watchlist == name,
            WATCHLIST_CHECKS.c.run_id != run_id,
            observed_again,
        )
        self._database.write(older.values(observation=None))

    def delete_old_runs(self, before: datetime) -> int:
        """Delete runs that ended before this time; return how many.

        The newest run of each watchlist is kept, so that the next one has something to compare
        with.
        """
        newest = (
            select(func.max(WATCHLIST_RUNS.c.due_at))
            .where(WATCHLIST_RUNS.c.status == "completed")
            .group_by(WATCHLIST_RUNS.c.watchlist)
        )
        old = select(WATCHLIST_RUNS.c.run_id).where(
            WATCHLIST_RUNS.c.ended_at < before.timestamp(), WATCHLIST_RUNS.c.due_at.not_in(newest)
        )
        with self._database.writing() as connection:
            gone = list(connection.execute(old).scalars())
            connection.execute(delete(WATCHLIST_CHECKS).where(WATCHLIST_CHECKS.c.run_id.in_(gone)))
            connection.execute(delete(WATCHLIST_RUNS).where(WATCHLIST_RUNS.c.run_id.in_(gone)))
        return len(gone)

    def _write(self, run_id: str, owner: str, values: ReadOnlyDocument) -> bool:
        held = (WATCHLIST_RUNS.c.run_id == run_id, WATCHLIST_RUNS.c.owner == owner)
        return self._database.write(update(WATCHLIST_RUNS).where(*held).values(values)) > 0


def _is_free(now: float) -> ColumnElement[bool]:
    return or_(WATCHLIST_RUNS.c.owner.is_(None), WATCHLIST_RUNS.c.held_until <= now)


def _to_run(row: StoredRow) -> WatchlistRun:
    values = {name: value for name, value in values_of(row).items() if name not in _UNHELD}
    for name in ("due_at", "began_at", "ended_at"):
        values[name] = to_time(values[name])
    for name in ("plan", "digest", "told"):
        values[name] = from_json(values[name])
    return WatchlistRun(**{**values, "plan": parse_plan(values["plan"])})


def _to_check(row: StoredRow) -> EntryCheck:
    return EntryCheck(
        run_id=row.run_id,
        position=row.position,
        watchlist=row.watchlist,
        entry=WatchlistEntry(kind=row.kind, input=row.input),
        status=row.status,
        subject=row.subject,
        job_id=row.job_id,
        error=from_json(row.error),
        observation=from_json(row.observation),
    )
