"""Runs of watchlists: who works on one, what each entry showed, how it ended.

A run is held by one process at a time; a hold runs out, so a process that dies loses it to the
next. Not here: which runs there are to be (`watchlists`), what a run does (`pipelines.watchlists`).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy import RowMapping, delete, func, or_, select, update

from warehouse.control.database import Database
from warehouse.control.schema import WATCH_LOOKS, WATCH_RUNS
from warehouse.records.watchlists import (
    LOOK_ENDED,
    RUN_ENDED,
    Entry,
    Look,
    RunStatus,
    WatchRun,
    to_plan,
)

_TIMES = ("due_at", "began_at", "ended_at")
_DOCUMENTS = ("digest", "told")


class WatchRunRows:
    """The part of the control store that keeps runs of watchlists."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def watch_run(self, run_id: str) -> WatchRun | None:
        """One run; None if there is none."""
        query = select(WATCH_RUNS).where(WATCH_RUNS.c.run_id == run_id)
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _to_run(row)

    def watch_runs(self, name: str, *, limit: int) -> list[WatchRun]:
        """The newest runs of a watchlist, newest first."""
        query = (
            select(WATCH_RUNS)
            .where(WATCH_RUNS.c.watchlist == name)
            .order_by(WATCH_RUNS.c.due_at.desc(), WATCH_RUNS.c.run_id)
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [_to_run(row) for row in connection.execute(query).mappings()]

    def free_watch_runs(self) -> list[WatchRun]:
        """Runs that have not ended and that nobody works on, oldest first."""
        query = (
            select(WATCH_RUNS)
            .where(WATCH_RUNS.c.status.not_in(RUN_ENDED), _is_free(self._database.now()))
            .order_by(WATCH_RUNS.c.due_at, WATCH_RUNS.c.run_id)
        )
        with self._database.reading() as connection:
            return [_to_run(row) for row in connection.execute(query).mappings()]

    def hold_run(self, run_id: str, owner: str, *, ttl_s: float) -> WatchRun | None:
        """Work on a run alone for `ttl_s` seconds; None: somebody else does, or it has ended."""
        now = self._database.now()
        taken = (
            update(WATCH_RUNS)
            .where(
                WATCH_RUNS.c.run_id == run_id,
                WATCH_RUNS.c.status.not_in(RUN_ENDED),
                _is_free(now),
            )
            .values(
                owner=owner,
                held_until=now + ttl_s,
                tries=WATCH_RUNS.c.tries + 1,
                began_at=func.coalesce(WATCH_RUNS.c.began_at, now),
            )
            .returning(*WATCH_RUNS.c)
        )
        with self._database.writing() as connection:
            row = connection.execute(taken).mappings().first()
        return None if row is None else _to_run(row)

    def release_run(self, run_id: str, owner: str, *, status: RunStatus) -> bool:
        """Stop working on a run that goes on; False if it was lost to somebody else."""
        return self._write(run_id, owner, {"status": status})

    def end_run(
        self,
        run_id: str,
        owner: str,
        *,
        status: RunStatus,
        outcome: str,
        digest: Mapping[str, Any] | None,
    ) -> bool:
        """End a run; False if it was lost to somebody else, whose end counts."""
        values = {
            "status": status,
            "outcome": outcome,
            "digest": _json(digest),
            "ended_at": self._database.now(),
        }
        return self._write(run_id, owner, values)

    def prolong_run(self, run_id: str, owner: str, *, ttl_s: float) -> bool:
        """Go on working on a run; False if it was lost to somebody else."""
        mine = (WATCH_RUNS.c.run_id == run_id) & (WATCH_RUNS.c.owner == owner)
        until = self._database.now() + ttl_s
        with self._database.writing() as connection:
            done = connection.execute(update(WATCH_RUNS).where(mine).values(held_until=until))
            return bool(done.rowcount)

    def save_told(self, run_id: str, told: Mapping[str, Any]) -> None:
        """Write what became of telling somebody."""
        row = WATCH_RUNS.c.run_id == run_id
        with self._database.writing() as connection:
            connection.execute(update(WATCH_RUNS).where(row).values(told=_json(told)))

    def looks(self, run_id: str) -> list[Look]:
        """The entries of a run, in the order of the watchlist."""
        query = (
            select(WATCH_LOOKS)
            .where(WATCH_LOOKS.c.run_id == run_id)
            .order_by(WATCH_LOOKS.c.position)
        )
        with self._database.reading() as connection:
            return [_to_look(row) for row in connection.execute(query).mappings()]

    def save_look(self, look: Look) -> None:
        """Write what became of an entry."""
        is_over = look.status in LOOK_ENDED
        values = {
            "status": look.status,
            "subject": look.subject,
            "job_id": look.job_id,
            "error": _json(look.error),
            "observation": _json(look.observation),
            "ended_at": self._database.now() if is_over else None,
        }
        row = (WATCH_LOOKS.c.run_id == look.run_id) & (WATCH_LOOKS.c.position == look.position)
        with self._database.writing() as connection:
            connection.execute(update(WATCH_LOOKS).where(row).values(values))

    def last_observation(
        self, name: str, kind: str, subject: str, *, before_run: str
    ) -> dict[str, Any] | None:
        """What an earlier run of this watchlist saw of a subject last; None: it never did."""
        query = (
            select(WATCH_LOOKS.c.observation)
            .where(
                WATCH_LOOKS.c.watchlist == name,
                WATCH_LOOKS.c.kind == kind,
                WATCH_LOOKS.c.subject == subject,
                WATCH_LOOKS.c.observation.is_not(None),
                WATCH_LOOKS.c.run_id != before_run,
            )
            .order_by(WATCH_LOOKS.c.ended_at.desc())
            .limit(1)
        )
        with self._database.reading() as connection:
            found = connection.execute(query).scalar()
        return None if found is None else dict(orjson.loads(found))

    def drop_older_observations(self, name: str, run_id: str) -> None:
        """Keep of each subject that this run saw what it saw alone: the next is compared with
        that, what was observed before is in the lake, and what changed is in the digests.
        """
        newer = WATCH_LOOKS.alias("newer")
        seen_again = (
            select(newer.c.position)
            .where(
                newer.c.run_id == run_id,
                newer.c.observation.is_not(None),
                newer.c.kind == WATCH_LOOKS.c.kind,
                newer.c.subject == WATCH_LOOKS.c.subject,
            )
            .exists()
        )
        older = (WATCH_LOOKS.c.watchlist == name) & (WATCH_LOOKS.c.run_id != run_id) & seen_again
        with self._database.writing() as connection:
            connection.execute(update(WATCH_LOOKS).where(older).values(observation=None))

    def delete_old_runs(self, before: datetime) -> int:
        """Forget runs that ended before; how many. The newest of each watchlist stays, so that
        the next has something to be compared with.
        """
        newest = (
            select(func.max(WATCH_RUNS.c.due_at))
            .where(WATCH_RUNS.c.status == "completed")
            .group_by(WATCH_RUNS.c.watchlist)
        )
        old = select(WATCH_RUNS.c.run_id).where(
            WATCH_RUNS.c.ended_at < before.timestamp(), WATCH_RUNS.c.due_at.not_in(newest)
        )
        with self._database.writing() as connection:
            gone = list(connection.execute(old).scalars())
            connection.execute(delete(WATCH_LOOKS).where(WATCH_LOOKS.c.run_id.in_(gone)))
            connection.execute(delete(WATCH_RUNS).where(WATCH_RUNS.c.run_id.in_(gone)))
        return len(gone)

    def _write(self, run_id: str, owner: str, values: Mapping[str, Any]) -> bool:
        mine = (WATCH_RUNS.c.run_id == run_id) & (WATCH_RUNS.c.owner == owner)
        with self._database.writing() as connection:
            done = connection.execute(
                update(WATCH_RUNS).where(mine).values(owner=None, held_until=None, **values)
            )
            return bool(done.rowcount)


def _is_free(now: float) -> Any:
    return or_(WATCH_RUNS.c.owner.is_(None), WATCH_RUNS.c.held_until <= now)


def _to_run(row: RowMapping) -> WatchRun:
    values: dict[str, Any] = {
        name: value for name, value in row.items() if name not in {"owner", "held_until"}
    }
    for name in _TIMES:
        moment = values[name]
        values[name] = None if moment is None else datetime.fromtimestamp(moment, UTC)
    for name in _DOCUMENTS:
        values[name] = None if values[name] is None else orjson.loads(values[name])
    return WatchRun(**{**values, "plan": to_plan(orjson.loads(values["plan"]))})


def _to_look(row: RowMapping) -> Look:
    return Look(
        run_id=row["run_id"],
        position=row["position"],
        watchlist=row["watchlist"],
        entry=Entry(kind=row["kind"], input=row["input"]),
        status=row["status"],
        subject=row["subject"],
        job_id=row["job_id"],
        error=None if row["error"] is None else orjson.loads(row["error"]),
        observation=None if row["observation"] is None else orjson.loads(row["observation"]),
    )


def _json(document: Mapping[str, Any] | None) -> str | None:
    return None if document is None else orjson.dumps(document).decode()
