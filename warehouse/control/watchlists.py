"""Watchlists: their definitions, their runs, and the check of each entry of a run.

One transaction turns a due time into a run. A run is held by one process at a time; a hold expires,
so another process takes over the run of a process that died. Which time is due is decided in
`pipelines.watchlists.schedule`; runs are executed in `pipelines.watchlists.run`.

And the alerts about runs: channels, and the message to each of them. An attempt to send one is
recorded before it is made: a process that dies while sending leaves one with an unknown outcome,
and the message is sent again. When one is repeated is decided in `pipelines.watchlists.alerts`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, delete, func, literal, or_, select, update

from warehouse.control import database
from warehouse.control.schema import (
    ALERT_CHANNELS,
    ALERT_DELIVERIES,
    WATCHLIST_CHECKS,
    WATCHLIST_RUNS,
    WATCHLISTS,
)
from warehouse.records import watchlists
from warehouse.records.alerts import AlertAttempt, AlertChannel, AlertDelivery, DeliveryStatus
from warehouse.records.jobs import Origin
from warehouse.records.times import to_utc_text
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
        runs = select(WATCHLIST_RUNS.c.run_id).where(WATCHLIST_RUNS.c.watchlist == name)
        connection.execute(delete(ALERT_DELIVERIES).where(ALERT_DELIVERIES.c.run_id.in_(runs)))
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
    sends_alerts: bool = False,
) -> bool:
    """End a run; False if another process has taken it over, whose result counts.

    With `sends_alerts` a message about it is due for every channel.
    """
    now = control.now()
    values = {
        **_UNHELD,
        "status": status,
        "outcome": outcome,
        "digest": database.to_json(digest),
        "ended_at": now,
    }
    is_held = (WATCHLIST_RUNS.c.run_id == run_id, WATCHLIST_RUNS.c.owner == owner)
    with control.write() as connection:
        has_ended = connection.execute(update(WATCHLIST_RUNS).where(*is_held).values(values))
        if has_ended.rowcount and sends_alerts:
            _request_deliveries(connection, run_id, now=now)
        return has_ended.rowcount > 0


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
        connection.execute(delete(ALERT_DELIVERIES).where(ALERT_DELIVERIES.c.run_id.in_(run_ids)))
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


def create_channel(control: database.ControlStore, channel: AlertChannel) -> bool:
    """Store a new channel; False if the name is taken."""
    values = {
        "name": channel.name,
        "url": channel.url,
        "service": channel.service,
        "language": channel.language,
        "created_at": control.now(),
    }
    new = control.insert(ALERT_CHANNELS).values(values).on_conflict_do_nothing()
    with control.write() as connection:
        return connection.execute(new.returning(ALERT_CHANNELS.c.name)).first() is not None


def read_channels(control: database.ControlStore) -> list[AlertChannel]:
    """Return all channels, by name."""
    query = select(ALERT_CHANNELS).order_by(ALERT_CHANNELS.c.name)
    with control.read() as connection:
        return [_to_channel(row) for row in connection.execute(query)]


def get_channel(control: database.ControlStore, name: str) -> AlertChannel | None:
    """Return one channel, or None."""
    query = select(ALERT_CHANNELS).where(ALERT_CHANNELS.c.name == name)
    with control.read() as connection:
        row = connection.execute(query).first()
    return None if row is None else _to_channel(row)


def delete_channel(control: database.ControlStore, name: str) -> bool:
    """Delete a channel and what waits for it; False if it does not exist."""
    waiting = (ALERT_DELIVERIES.c.channel == name, ALERT_DELIVERIES.c.status == "waiting")
    with control.write() as connection:
        connection.execute(delete(ALERT_DELIVERIES).where(*waiting))
        result = connection.execute(delete(ALERT_CHANNELS).where(ALERT_CHANNELS.c.name == name))
        return result.rowcount > 0


def save_channel_test(control: database.ControlStore, name: str, attempt: AlertAttempt) -> None:
    """Store the outcome of the newest test of a channel."""
    row = ALERT_CHANNELS.c.name == name
    test = database.to_json(_attempt_document(attempt))
    with control.write() as connection:
        connection.execute(update(ALERT_CHANNELS).where(row).values(test=test))


def _request_deliveries(connection: Connection, run_id: str, *, now: float) -> None:
    """Have a message about a run sent to every channel, in the transaction that ends the run."""
    attempts = _attempts_text(())
    every_channel = select(
        literal(run_id), ALERT_CHANNELS.c.name, literal("waiting"), literal(attempts), literal(now)
    )
    columns = ["run_id", "channel", "status", "attempts", "next_at"]
    connection.execute(ALERT_DELIVERIES.insert().from_select(columns, every_channel))


def runs_with_due_alerts(control: database.ControlStore) -> list[str]:
    """Return the ids of the runs with a message that is due."""
    query = select(ALERT_DELIVERIES.c.run_id).where(*_is_alert_due(control.now())).distinct()
    with control.read() as connection:
        return sorted(connection.execute(query).scalars())


def take_due_alerts(
    control: database.ControlStore, run_id: str, *, lease_s: float
) -> list[AlertDelivery]:
    """Take the messages about a run that are due; no other process sends them for `lease_s`.

    Each has a new attempt of unknown outcome, which `save_alert_attempt` replaces.
    """
    now = control.now()
    taken: list[AlertDelivery] = []
    with control.write() as connection:
        query = select(ALERT_DELIVERIES).where(
            ALERT_DELIVERIES.c.run_id == run_id, *_is_alert_due(now)
        )
        for row in connection.execute(query.with_for_update()).all():
            delivery = _to_delivery(row)
            attempt = AlertAttempt(at=datetime.fromtimestamp(now, UTC), outcome="unknown")
            delivery = replace(delivery, attempts=(*delivery.attempts, attempt))
            _save_alert(connection, delivery, status="waiting", next_at=now + lease_s)
            taken.append(delivery)
    return taken


def save_alert_attempt(
    control: database.ControlStore,
    delivery: AlertDelivery,
    attempt: AlertAttempt,
    *,
    status: DeliveryStatus,
    retry_after_s: float | None,
) -> None:
    """Store how the newest attempt ended, and in how many seconds the next one is due."""
    ended = replace(delivery, attempts=(*delivery.attempts[:-1], attempt))
    next_at = None if retry_after_s is None else control.now() + retry_after_s
    with control.write() as connection:
        _save_alert(connection, ended, status=status, next_at=next_at)


def read_alerts(
    control: database.ControlStore, run_ids: Sequence[str]
) -> dict[str, list[AlertDelivery]]:
    """Return the messages about these runs, by run; in the order of their channels."""
    query = (
        select(ALERT_DELIVERIES)
        .where(ALERT_DELIVERIES.c.run_id.in_(run_ids))
        .order_by(ALERT_DELIVERIES.c.channel)
    )
    deliveries: dict[str, list[AlertDelivery]] = {run_id: [] for run_id in run_ids}
    with control.read() as connection:
        for row in connection.execute(query):
            deliveries[row.run_id].append(_to_delivery(row))
    return deliveries


def _is_alert_due(now: float) -> tuple[Any, ...]:
    return (ALERT_DELIVERIES.c.status == "waiting", ALERT_DELIVERIES.c.next_at <= now)


def _save_alert(
    connection: Connection,
    delivery: AlertDelivery,
    *,
    status: DeliveryStatus,
    next_at: float | None,
) -> None:
    row = (
        ALERT_DELIVERIES.c.run_id == delivery.run_id,
        ALERT_DELIVERIES.c.channel == delivery.channel,
    )
    values = {"status": status, "attempts": _attempts_text(delivery.attempts), "next_at": next_at}
    connection.execute(update(ALERT_DELIVERIES).where(*row).values(values))


def _to_channel(row: database.StoredRow) -> AlertChannel:
    test = database.from_json(row.test)
    return AlertChannel(
        name=row.name,
        url=row.url,
        service=row.service,
        language=row.language,
        created_at=datetime.fromtimestamp(row.created_at, UTC),
        test=None if test is None else _to_attempt(test),
    )


def _to_delivery(row: database.StoredRow) -> AlertDelivery:
    return AlertDelivery(
        run_id=row.run_id,
        channel=row.channel,
        status=row.status,
        attempts=tuple(map(_to_attempt, database.from_json(row.attempts)["attempts"])),
        next_at=database.to_time(row.next_at),
    )


def _attempts_text(attempts: Sequence[AlertAttempt]) -> str | None:
    return database.to_json({"attempts": [_attempt_document(attempt) for attempt in attempts]})


def _attempt_document(attempt: AlertAttempt) -> Document:
    return {"at": to_utc_text(attempt.at), "outcome": attempt.outcome, "status": attempt.status}


def _to_attempt(document: Document) -> AlertAttempt:
    return AlertAttempt(**{**document, "at": datetime.fromisoformat(document["at"])})
