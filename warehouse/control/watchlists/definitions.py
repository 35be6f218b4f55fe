"""Definitions of watchlists, and the one transaction that turns a due time into a run.

The life of a run is in `runs`; which time is due is decided by `warehouse.records.watchlists`.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

from sqlalchemy import Connection, delete, select, update

from warehouse.control.database import StoredRow, StoreRows, from_json, to_json
from warehouse.control.schema import WATCHLIST_CHECKS, WATCHLIST_RUNS, WATCHLISTS
from warehouse.records.jobs import Origin
from warehouse.records.watchlists import (
    ENDED_RUN_STATUSES,
    OVERLAP_OUTCOME,
    DueRun,
    Watchlist,
    WatchlistPlan,
    parse_plan,
)

type PlanChange = Callable[[WatchlistPlan], tuple[WatchlistPlan, str]]
"""Returns the new plan and its cron expression. It runs within the transaction."""


class WatchlistRows(StoreRows):
    """Watchlists in the control store."""

    def create_watchlist(self, plan: WatchlistPlan, cron: str) -> bool:
        """Store a new watchlist; False if the name is taken. Times before now are never due."""
        now = self._database.now()
        values = {**_columns(plan, cron), "created_at": now, "updated_at": now}
        insert = self._database.insert(WATCHLISTS).values(**values, considered_until=now)
        new = insert.on_conflict_do_nothing().returning(WATCHLISTS.c.name)
        with self._database.writing() as connection:
            return connection.execute(new).first() is not None

    def update_watchlist(self, plan: WatchlistPlan, cron: str) -> bool:
        """Replace a plan; see `change_watchlist`."""
        return self.change_watchlist(plan.name, lambda _before: (plan, cron))

    def change_watchlist(self, name: str, change: PlanChange) -> bool:
        """Change a plan; False if there is no watchlist of this name.

        A changed schedule and a list that is enabled again start now: earlier times are not due.
        """
        now = self._database.now()
        row = WATCHLISTS.c.name == name
        with self._database.writing() as connection:
            found = connection.execute(select(WATCHLISTS).where(row).with_for_update()).first()
            if found is None:
                return False
            plan, cron = change(parse_plan(from_json(found.plan)))
            values = {**_columns(plan, cron), "updated_at": now}
            if found.cron != cron or (plan.enabled and not found.enabled):
                values["considered_until"] = now
            connection.execute(update(WATCHLISTS).where(row).values(values))
            return True

    def delete_watchlist(self, name: str) -> bool:
        """Delete a watchlist with its runs; False if there is none. Digest files stay."""
        with self._database.writing() as connection:
            connection.execute(delete(WATCHLIST_CHECKS).where(WATCHLIST_CHECKS.c.watchlist == name))
            connection.execute(delete(WATCHLIST_RUNS).where(WATCHLIST_RUNS.c.watchlist == name))
            gone = connection.execute(delete(WATCHLISTS).where(WATCHLISTS.c.name == name))
            return bool(gone.rowcount)

    def watchlist(self, name: str) -> Watchlist | None:
        """Return one watchlist, or None."""
        row = self._database.first(select(WATCHLISTS).where(WATCHLISTS.c.name == name))
        return None if row is None else _to_watchlist(row)

    def watchlists(self) -> list[Watchlist]:
        """Return all watchlists, by name."""
        query = select(WATCHLISTS).order_by(WATCHLISTS.c.name)
        return [_to_watchlist(row) for row in self._database.read(query)]

    def take_due(self, name: str, due: DueRun) -> str | None:
        """Create the run of a due time; return its id, or None if another process created it.

        While the previous run is still going on, the new one is `skipped` at once.
        """
        moment = due.due_at.timestamp()
        unseen = (
            update(WATCHLISTS)
            .where(
                WATCHLISTS.c.name == name,
                WATCHLISTS.c.enabled.is_(True),
                # Of several processes that see a time pass, one raises this and creates the run.
                WATCHLISTS.c.considered_until < moment,
            )
            .values(considered_until=moment)
            .returning(WATCHLISTS.c.plan)
        )
        with self._database.writing() as connection:
            plan = connection.execute(unseen).scalar()
            if plan is None:
                return None
            return self._insert(
                connection, name, plan, moment, origin="schedule", missed_count=due.missed_count
            )

    def request_run(self, name: str, *, origin: Origin) -> str | None:
        """Create a run now, outside the schedule.

        Returns its id, or None if there is no such watchlist.

        If a run is going on, its id is returned instead.
        """
        with self._database.writing() as connection:
            query = select(WATCHLISTS.c.plan).where(WATCHLISTS.c.name == name).with_for_update()
            plan = connection.execute(query).scalar()
            if plan is None:
                return None
            going = _open_run(connection, name)
            if going is not None:
                return going
            now = self._database.now()
            return self._insert(connection, name, plan, now, origin=origin, missed_count=0)

    def _insert(
        self,
        connection: Connection,
        name: str,
        plan: str,
        due_at: float,
        *,
        origin: Origin,
        missed_count: int,
    ) -> str | None:
        run_id, is_taken = str(uuid4()), _open_run(connection, name) is not None
        values = {
            "run_id": run_id,
            "watchlist": name,
            "plan": plan,
            "due_at": due_at,
            "origin": origin,
            "status": "skipped" if is_taken else "due",
            "missed_count": missed_count,
            "tries": 0,
            "outcome": OVERLAP_OUTCOME if is_taken else None,
            "ended_at": self._database.now() if is_taken else None,
        }
        insert = self._database.insert(WATCHLIST_RUNS).values(values).on_conflict_do_nothing()
        if connection.execute(insert.returning(WATCHLIST_RUNS.c.run_id)).first() is None:
            return None
        if not is_taken:
            connection.execute(WATCHLIST_CHECKS.insert(), _new_checks(run_id, name, plan))
        return run_id


def _open_run(connection: Connection, name: str) -> str | None:
    """Return the run of a watchlist that has not ended, if any."""
    query = select(WATCHLIST_RUNS.c.run_id).where(
        WATCHLIST_RUNS.c.watchlist == name, WATCHLIST_RUNS.c.status.not_in(ENDED_RUN_STATUSES)
    )
    found: str | None = connection.execute(query).scalar()
    return found


def _new_checks(run_id: str, name: str, plan: str) -> list[dict[str, object]]:
    """Return a row per entry; a plan has at least one."""
    return [
        {
            "run_id": run_id,
            "position": position,
            "watchlist": name,
            "kind": entry["kind"],
            "input": entry["input"],
            "status": "due",
        }
        for position, entry in enumerate(from_json(plan)["entries"])
    ]


def _columns(plan: WatchlistPlan, cron: str) -> dict[str, object]:
    return {
        "name": plan.name,
        "plan": to_json(plan.to_document()),
        "cron": cron,
        "enabled": plan.enabled,
    }


def _to_watchlist(row: StoredRow) -> Watchlist:
    return Watchlist(
        plan=parse_plan(from_json(row.plan)),
        cron=row.cron,
        created_at=datetime.fromtimestamp(row.created_at, UTC),
        updated_at=datetime.fromtimestamp(row.updated_at, UTC),
        considered_until=datetime.fromtimestamp(row.considered_until, UTC),
    )
