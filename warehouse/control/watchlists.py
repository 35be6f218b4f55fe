"""Watchlists: their definitions, their runs, and the check of each entry of a run.

One transaction turns a due time into a run. A run is held by one process at a time; a hold expires,
so another process takes over the run of a process that died. Which time is due is decided in
`pipelines.watchlists.schedule`; runs are executed in `pipelines.watchlists.run`.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, delete, func, or_, select, update

from warehouse.control import database
from warehouse.control.schema import WATCHLIST_CHECKS, WATCHLIST_RUNS, WATCHLISTS
from warehouse.records import watchlists
from warehouse.records.jobs import Origin
from warehouse.records.values import Document, ReadOnlyDocument

type PlanChange = Callable[[watchlists.WatchlistPlan], tuple[watchlists.WatchlistPlan, str]]
"""Returns the new plan and its cron expression. It runs within the transaction."""
_UNHELD = {"owner": None, "held_until": None}


def create(control: database.ControlStore, plan: watchlists.WatchlistPlan, cron: str) -> bool:
    """Store a new watchlist; False if the name is taken. Times before now are never due."""
    now = control.now()
    values = {**_columns(plan, cron), "created_at": now, "updated_at": now}
    insert = control.insert(WATCHLISTS).values(**values, considered_until=now)
    new = insert.on_conflict_do_nothing().returning(WATCHLISTS.c.name)
    with control.write() as connection:
        return connection.execute(new).first() is not None


def replace_plan(control: database.ControlStore, plan: watchlists.WatchlistPlan, cron: str) -> bool:
    """Replace a plan; see `change`."""
    return change(control, plan.name, lambda _before: (plan, cron))


def change(control: database.ControlStore, name: str, edit: PlanChange) -> bool:
    """Change a plan; False if there is no watchlist of this name.

    A changed schedule and a list that is enabled again start now: earlier times are not due.
    """
    now = control.now()
    row = WATCHLISTS.c.name == name
    with control.write() as connection:
        stored = connection.execute(select(WATCHLISTS).where(row).with_for_update()).first()
        if stored is None:
            return False
        plan, cron = edit(watchlists.parse_plan(database.from_json(stored.plan)))
        values = {**_columns(plan, cron), "updated_at": now}
        # Times before the change do not count as missed.
        if stored.cron != cron or (plan.enabled and not stored.enabled):
            values["considered_until"] = now
        connection.execute(update(WATCHLISTS).where(row).values(values))
        return True


def delete_with_runs(control: database.ControlStore, name: str) -> bool:
    """Delete a watchlist with its runs; False if it does not exist. Digest files stay."""
    with control.write() as connection:
        connection.execute(delete(WATCHLIST_CHECKS).where(WATCHLIST_CHECKS.c.watchlist == name))
        connection.execute(delete(WATCHLIST_RUNS).where(WATCHLIST_RUNS.c.watchlist == name))
        result = connection.execute(delete(WATCHLISTS).where(WATCHLISTS.c.name == name))
        return result.rowcount > 0


def get(control: database.ControlStore, name: str) -> watchlists.Watchlist | None:
    """Return one watchlist, or None."""
    with control.read() as connection:
        row = connection.execute(select(WATCHLISTS).where(WATCHLISTS.c.name == name)).first()
    return None if row is None else _to_watchlist(row)


def read_all(control: database.ControlStore) -> list[watchlists.Watchlist]:
    """Return all watchlists, by name."""
    query = select(WATCHLISTS).order_by(WATCHLISTS.c.name)
    with control.read() as connection:
        return [_to_watchlist(row) for row in connection.execute(query)]


def take_due(control: database.ControlStore, name: str, due: watchlists.DueRun) -> str | None:
    """Create the run of a due time; return its id, or None if another process created it.

    While the previous run is still going on, the new one is `skipped` at once.
    """
    moment = due.due_at.timestamp()
    claim = (
        update(WATCHLISTS)
        .where(
            WATCHLISTS.c.name == name,
            WATCHLISTS.c.enabled.is_(True),
            # Of several processes that notice a due time, one raises this and creates the run.
            WATCHLISTS.c.considered_until < moment,
        )
        .values(considered_until=moment)
        .returning(WATCHLISTS.c.plan)
    )
    with control.write() as connection:
        plan = connection.execute(claim).scalar()
        if plan is None:
            return None
        return _insert(
            control,
            connection,
            name,
            plan,
            moment,
            origin="schedule",
            missed_count=due.missed_count,
        )


def request_run(control: database.ControlStore, name: str, *, origin: Origin) -> str | None:
    """Create a run now, outside the schedule.

    Returns its id, or None if there is no such watchlist.

    If a run is going on, its id is returned instead.
    """
    with control.write() as connection:
        # Locked, so that two requests at once create one run.
        query = select(WATCHLISTS.c.plan).where(WATCHLISTS.c.name == name).with_for_update()
        plan = connection.execute(query).scalar()
        if plan is None:
            return None
        open_run = _open_run(connection, name)
        if open_run is not None:
            return open_run
        now = control.now()
        return _insert(control, connection, name, plan, now, origin=origin, missed_count=0)


def get_run(control: database.ControlStore, run_id: str) -> watchlists.WatchlistRun | None:
    """Return one run, or None."""
    query = select(WATCHLIST_RUNS).where(WATCHLIST_RUNS.c.run_id == run_id)
    with control.read() as connection:
        row = connection.execute(query).first()
    return None if row is None else _to_run(row)


def newest_runs(
    control: database.ControlStore, name: str, *, limit: int, with_digest: bool = False
) -> list[watchlists.WatchlistRun]:
    """Return the newest runs of a watchlist, newest first; or the newest that have a digest."""
    query = (
        select(WATCHLIST_RUNS)
        .where(WATCHLIST_RUNS.c.watchlist == name)
        .order_by(WATCHLIST_RUNS.c.due_at.desc(), WATCHLIST_RUNS.c.run_id)
        .limit(limit)
    )
    if with_digest:
        query = query.where(WATCHLIST_RUNS.c.digest.is_not(None))
    with control.read() as connection:
        return [_to_run(row) for row in connection.execute(query)]


def unheld_runs(control: database.ControlStore) -> list[watchlists.WatchlistRun]:
    """Return runs that have not ended and that no process holds, oldest first."""
    query = (
        select(WATCHLIST_RUNS)
        .where(
            WATCHLIST_RUNS.c.status.not_in(watchlists.ENDED_RUN_STATUSES), _is_free(control.now())
        )
        .order_by(WATCHLIST_RUNS.c.due_at, WATCHLIST_RUNS.c.run_id)
    )
    with control.read() as connection:
        return [_to_run(row) for row in connection.execute(query)]


def hold_run(
    control: database.ControlStore, run_id: str, owner: str, *, ttl_s: float
) -> watchlists.WatchlistRun | None:
    """Hold a run exclusively for `ttl_s` seconds.

    Returns None if another process holds it, or if it has ended.
    """
    now = control.now()
    hold = (
        update(WATCHLIST_RUNS)
        .where(
            WATCHLIST_RUNS.c.run_id == run_id,
            WATCHLIST_RUNS.c.status.not_in(watchlists.ENDED_RUN_STATUSES),
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
    with control.write() as connection:
        row = connection.execute(hold).first()
    return None if row is None else _to_run(row)


def release_run(
    control: database.ControlStore, run_id: str, owner: str, *, status: watchlists.RunStatus
) -> bool:
    """Release a run that continues later; False if another process has taken it over."""
    return _update_held(control, run_id, owner, {**_UNHELD, "status": status})


def end_run(
    control: database.ControlStore,
    run_id: str,
    owner: str,
    *,
    status: watchlists.RunStatus,
    outcome: str,
    digest: ReadOnlyDocument | None,
) -> bool:
    """End a run; False if another process has taken it over, whose result counts."""
    values = {
        **_UNHELD,
        "status": status,
        "outcome": outcome,
        "digest": database.to_json(digest),
        "ended_at": control.now(),
    }
    return _update_held(control, run_id, owner, values)


def renew_run_hold(
    control: database.ControlStore, run_id: str, owner: str, *, ttl_s: float
) -> bool:
    """Renew the hold on a run; False if another process has taken it over."""
    return _update_held(control, run_id, owner, {"held_until": control.now() + ttl_s})


def save_notification(
    control: database.ControlStore, run_id: str, outcome: ReadOnlyDocument
) -> None:
    """Store the result of the notification."""
    row = WATCHLIST_RUNS.c.run_id == run_id
    with control.write() as connection:
        connection.execute(update(WATCHLIST_RUNS).where(row).values(told=database.to_json(outcome)))


def read_checks(control: database.ControlStore, run_id: str) -> list[watchlists.EntryCheck]:
    """Return the checks of a run's entries, in the order of the watchlist."""
    query = (
        select(WATCHLIST_CHECKS)
        .where(WATCHLIST_CHECKS.c.run_id == run_id)
        .order_by(WATCHLIST_CHECKS.c.position)
    )
    with control.read() as connection:
        return [
            watchlists.EntryCheck(
                run_id=row.run_id,
                position=row.position,
                watchlist=row.watchlist,
                entry=watchlists.WatchlistEntry(kind=row.kind, input=row.input),
                status=row.status,
                subject=row.subject,
                job_id=row.job_id,
                error=database.from_json(row.error),
                observation=database.from_json(row.observation),
            )
            for row in connection.execute(query)
        ]


def save_check(control: database.ControlStore, check: watchlists.EntryCheck) -> None:
    """Store the check of an entry."""
    is_over = check.status in watchlists.ENDED_CHECK_STATUSES
    values = {
        "status": check.status,
        "subject": check.subject,
        "job_id": check.job_id,
        "error": database.to_json(check.error),
        "observation": database.to_json(check.observation),
        "ended_at": control.now() if is_over else None,
    }
    same = update(WATCHLIST_CHECKS).where(
        WATCHLIST_CHECKS.c.run_id == check.run_id, WATCHLIST_CHECKS.c.position == check.position
    )
    with control.write() as connection:
        connection.execute(same.values(values))


def last_observation(
    control: database.ControlStore, name: str, kind: str, subject: str, *, before_run: str
) -> Document | None:
    """Return the last observation of a subject by an earlier run of this watchlist, or None."""
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
    with control.read() as connection:
        observation: Document | None = database.from_json(connection.execute(query).scalar())
    return observation


def drop_older_observations(control: database.ControlStore, name: str, run_id: str) -> None:
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
    with control.write() as connection:
        connection.execute(older.values(observation=None))


def delete_old_runs(control: database.ControlStore, before: datetime) -> int:
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
    with control.write() as connection:
        run_ids = list(connection.execute(old).scalars())
        connection.execute(delete(WATCHLIST_CHECKS).where(WATCHLIST_CHECKS.c.run_id.in_(run_ids)))
        connection.execute(delete(WATCHLIST_RUNS).where(WATCHLIST_RUNS.c.run_id.in_(run_ids)))
    return len(run_ids)


def _insert(
    control: database.ControlStore,
    connection: Connection,
    name: str,
    plan: str,
    due_at: float,
    *,
    origin: Origin,
    missed_count: int,
) -> str | None:
    # A watchlist has one open run at a time: while it goes on, the next one is skipped.
    run_id, is_skipped = str(uuid4()), _open_run(connection, name) is not None
    values = {
        "run_id": run_id,
        "watchlist": name,
        "plan": plan,
        "due_at": due_at,
        "origin": origin,
        "status": "skipped" if is_skipped else "due",
        "missed_count": missed_count,
        "tries": 0,
        "outcome": watchlists.OVERLAP_OUTCOME if is_skipped else None,
        "ended_at": control.now() if is_skipped else None,
    }
    insert = control.insert(WATCHLIST_RUNS).values(values).on_conflict_do_nothing()
    if connection.execute(insert.returning(WATCHLIST_RUNS.c.run_id)).first() is None:
        return None  # there is a run of this time already
    if not is_skipped:
        checks = [
            {
                "run_id": run_id,
                "position": position,
                "watchlist": name,
                "kind": entry["kind"],
                "input": entry["input"],
                "status": "due",
            }
            for position, entry in enumerate(database.from_json(plan)["entries"])
        ]
        connection.execute(WATCHLIST_CHECKS.insert(), checks)
    return run_id


def _open_run(connection: Connection, name: str) -> str | None:
    """Return the run of a watchlist that has not ended, if any."""
    query = select(WATCHLIST_RUNS.c.run_id).where(
        WATCHLIST_RUNS.c.watchlist == name,
        WATCHLIST_RUNS.c.status.not_in(watchlists.ENDED_RUN_STATUSES),
    )
    run_id: str | None = connection.execute(query).scalar()
    return run_id


def _columns(plan: watchlists.WatchlistPlan, cron: str) -> dict[str, object]:
    return {
        "name": plan.name,
        "plan": database.to_json(plan.to_document()),
        "cron": cron,
        "enabled": plan.enabled,
    }


def _to_watchlist(row: database.StoredRow) -> watchlists.Watchlist:
    return watchlists.Watchlist(
        plan=watchlists.parse_plan(database.from_json(row.plan)),
        cron=row.cron,
        created_at=datetime.fromtimestamp(row.created_at, UTC),
        updated_at=datetime.fromtimestamp(row.updated_at, UTC),
        considered_until=datetime.fromtimestamp(row.considered_until, UTC),
    )


def _update_held(
    control: database.ControlStore, run_id: str, owner: str, values: ReadOnlyDocument
) -> bool:
    """Update a run if this process still holds it."""
    is_held = (WATCHLIST_RUNS.c.run_id == run_id, WATCHLIST_RUNS.c.owner == owner)
    with control.write() as connection:
        result = connection.execute(update(WATCHLIST_RUNS).where(*is_held).values(values))
        return result.rowcount > 0


def _is_free(now: float) -> ColumnElement[bool]:
    return or_(WATCHLIST_RUNS.c.owner.is_(None), WATCHLIST_RUNS.c.held_until <= now)


def _to_run(row: database.StoredRow) -> watchlists.WatchlistRun:
    # A run has every column but those of the hold.
    values = {name: value for name, value in row._asdict().items() if name not in _UNHELD}
    for name in ("due_at", "began_at", "ended_at"):
        values[name] = database.to_time(values[name])
    for name in ("plan", "digest", "told"):
        values[name] = database.from_json(values[name])
    return watchlists.WatchlistRun(**{**values, "plan": watchlists.parse_plan(values["plan"])})
