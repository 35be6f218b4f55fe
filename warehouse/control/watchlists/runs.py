"""Runs of watchlists: which process works on a run, the check of each entry, the outcome.

A run is held by one process at a time. A hold expires, so the run of a process that died is taken
over by the next. Creating runs is in `definitions`, executing them in `pipelines.watchlists`.
"""

from datetime import UTC, datetime

import orjson
from sqlalchemy import ColumnElement, RowMapping, delete, func, or_, select, update

from warehouse.control.database import Database
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

_TIMES = ("due_at", "began_at", "ended_at")
_DOCUMENTS = ("digest", "told")


class WatchlistRunRows:
    """Runs of watchlists in the control store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def watch_run(self, run_id: str) -> WatchlistRun | None:
        """Return one run, or None."""
        query = select(WATCHLIST_RUNS).where(WATCHLIST_RUNS.c.run_id == run_id)
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().first()
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
        with self._database.reading() as connection:
            return [_to_run(row) for row in connection.execute(query).mappings()]

    def unheld_watch_runs(self) -> list[WatchlistRun]:
        """Return runs that have not ended and that no process holds, oldest first."""
        query = (
            select(WATCHLIST_RUNS)
            .where(
                WATCHLIST_RUNS.c.status.not_in(ENDED_RUN_STATUSES), _is_free(self._database.now())
            )
            .order_by(WATCHLIST_RUNS.c.due_at, WATCHLIST_RUNS.c.run_id)
        )
        with self._database.reading() as connection:
            return [_to_run(row) for row in connection.execute(query).mappings()]

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
            row = connection.execute(taken).mappings().first()
        return None if row is None else _to_run(row)

    def release_run(self, run_id: str, owner: str, *, status: RunStatus) -> bool:
        """Release a run that continues later; False if another process has taken it over."""
        return self._write(run_id, owner, {"status": status})

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
            "status": status,
            "outcome": outcome,
            "digest": _json(digest),
            "ended_at": self._database.now(),
        }
        return self._write(run_id, owner, values)

    def renew_run_hold(self, run_id: str, owner: str, *, ttl_s: float) -> bool:
        """Renew the hold on a run; False if another process has taken it over."""
        mine = (WATCHLIST_RUNS.c.run_id == run_id) & (WATCHLIST_RUNS.c.owner == owner)
        until = self._database.now() + ttl_s
        with self._database.writing() as connection:
            done = connection.execute(update(WATCHLIST_RUNS).where(mine).values(held_until=until))
            return bool(done.rowcount)

    def save_notification(self, run_id: str, outcome: ReadOnlyDocument) -> None:
        """Store the result of the notification."""
        row = WATCHLIST_RUNS.c.run_id == run_id
        with self._database.writing() as connection:
            connection.execute(update(WATCHLIST_RUNS).where(row).values(told=_json(outcome)))

    def entry_checks(self, run_id: str) -> list[EntryCheck]:
        """Return the checks of a run's entries, in the order of the watchlist."""
        query = (
            select(WATCHLIST_CHECKS)
            .where(WATCHLIST_CHECKS.c.run_id == run_id)
            .order_by(WATCHLIST_CHECKS.c.position)
        )
        with self._database.reading() as connection:
            return [_to_check(row) for row in connection.execute(query).mappings()]

    def save_entry_check(self, check: EntryCheck) -> None:
        """Store the check of an entry."""
        is_over = check.status in ENDED_CHECK_STATUSES
        values = {
            "status": check.status,
            "subject": check.subject,
            "job_id": check.job_id,
            "error": _json(check.error),
            "observation": _json(check.observation),
            "ended_at": self._database.now() if is_over else None,
        }
        row = (WATCHLIST_CHECKS.c.run_id == check.run_id) & (
            WATCHLIST_CHECKS.c.position == check.position
        )
        with self._database.writing() as connection:
            connection.execute(update(WATCHLIST_CHECKS).where(row).values(values))

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
        with self._database.reading() as connection:
            found = connection.execute(query).scalar()
        return None if found is None else dict(orjson.loads(found))

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
        older = (
            (WATCHLIST_CHECKS.c.watchlist == name)
            & (WATCHLIST_CHECKS.c.run_id != run_id)
            & observed_again
        )
        with self._database.writing() as connection:
            connection.execute(update(WATCHLIST_CHECKS).where(older).values(observation=None))

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
        mine = (WATCHLIST_RUNS.c.run_id == run_id) & (WATCHLIST_RUNS.c.owner == owner)
        with self._database.writing() as connection:
            done = connection.execute(
                update(WATCHLIST_RUNS).where(mine).values(owner=None, held_until=None, **values)
            )
            return bool(done.rowcount)


def _is_free(now: float) -> ColumnElement[bool]:
    return or_(WATCHLIST_RUNS.c.owner.is_(None), WATCHLIST_RUNS.c.held_until <= now)


def _to_run(row: RowMapping) -> WatchlistRun:
    values: Document = {
        name: value for name, value in row.items() if name not in {"owner", "held_until"}
    }
    for name in _TIMES:
        moment = values[name]
        values[name] = None if moment is None else datetime.fromtimestamp(moment, UTC)
    for name in _DOCUMENTS:
        values[name] = None if values[name] is None else orjson.loads(values[name])
    return WatchlistRun(**{**values, "plan": parse_plan(orjson.loads(values["plan"]))})


def _to_check(row: RowMapping) -> EntryCheck:
    return EntryCheck(
        run_id=row["run_id"],
        position=row["position"],
        watchlist=row["watchlist"],
        entry=WatchlistEntry(kind=row["kind"], input=row["input"]),
        status=row["status"],
        subject=row["subject"],
        job_id=row["job_id"],
        error=None if row["error"] is None else orjson.loads(row["error"]),
        observation=None if row["observation"] is None else orjson.loads(row["observation"]),
    )


def _json(document: ReadOnlyDocument | None) -> str | None:
    return None if document is None else orjson.dumps(document).decode()
