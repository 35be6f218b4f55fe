"""Watchlists in the control store: a due time is a run once, whoever looks and however many."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from tests.postgres import on_both
from tests.warehouse.parallel_programs import run_together
from warehouse.control import ControlStore, open_control, watchlists
from warehouse.records.watchlists import (
    OVERLAP_OUTCOME,
    DueRun,
    EntryCheckStatus,
    WatchlistEntry,
    WatchlistPlan,
)

pytestmark = pytest.mark.full

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
PLAN = WatchlistPlan(
    name="five-songs",
    every="hourly",
    entries=(
        WatchlistEntry(kind="track", input="7300000000000000001"),
        WatchlistEntry(kind="account", input="x"),
    ),
    parameters={"count": 5},
)


class Clock:
    now = NOON

    def __call__(self) -> float:
        return self.now.timestamp()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def control(control_url: str, clock: Clock) -> Iterator[ControlStore]:
    with closing(open_control(control_url, world="sandbox", clock=clock)) as store:
        yield store


@on_both
def test_a_watchlist_is_kept_as_it_was_given(control: ControlStore) -> None:
    assert watchlists.create(control, PLAN, "0 * * * *")
    assert not watchlists.create(control, PLAN, "0 * * * *")
    found = watchlists.get(control, PLAN.name)
    assert found is not None
    assert (found.plan, found.cron, found.considered_until) == (PLAN, "0 * * * *", NOON)
    assert watchlists.read_all(control) == [found]
    assert watchlists.delete_with_runs(control, PLAN.name)
    assert not watchlists.delete_with_runs(control, PLAN.name)
    assert watchlists.get(control, PLAN.name) is None


def test_a_new_rhythm_begins_now_and_other_changes_do_not_move_it(
    control: ControlStore, clock: Clock
) -> None:
    watchlists.create(control, PLAN, "0 * * * *")
    clock.now += HOUR / 2
    watchlists.replace_plan(control, replace(PLAN, parameters={}), "0 * * * *")
    assert [one.considered_until for one in watchlists.read_all(control)] == [NOON]
    watchlists.replace_plan(control, replace(PLAN, enabled=False), "0 * * * *")
    watchlists.replace_plan(control, PLAN, "0 * * * *")
    assert [one.considered_until for one in watchlists.read_all(control)] == [clock.now]
    clock.now += HOUR
    watchlists.replace_plan(control, PLAN, "0 0 * * *")
    assert [one.considered_until for one in watchlists.read_all(control)] == [clock.now]
    assert not watchlists.replace_plan(control, replace(PLAN, name="other"), "0 * * * *")


@on_both
def test_changes_made_at_the_same_time_are_all_kept(control: ControlStore) -> None:
    def count_one_more(before: WatchlistPlan) -> tuple[WatchlistPlan, str]:
        count = cast("int", before.parameters["count"])
        return replace(before, parameters={"count": count + 1}), "0 * * * *"

    watchlists.create(control, PLAN, "0 * * * *")
    with ThreadPoolExecutor(4) as threads:
        done = [
            threads.submit(watchlists.change, control, PLAN.name, count_one_more) for _ in range(40)
        ]
    assert all(one.result() for one in done)
    assert [one.plan.parameters for one in watchlists.read_all(control)] == [{"count": 45}]
    assert not watchlists.change(control, "other", count_one_more)


def test_a_due_time_is_taken_once_and_not_at_all_while_disabled(
    control: ControlStore, clock: Clock
) -> None:
    watchlists.create(control, PLAN, "0 * * * *")
    due = DueRun(due_at=NOON + HOUR, missed_count=3)
    run_id = watchlists.take_due(control, PLAN.name, due)
    assert run_id is not None
    assert watchlists.take_due(control, PLAN.name, due) is None
    run = watchlists.get_run(control, run_id)
    assert run is not None
    assert (run.status, run.missed_count, run.origin, run.plan) == ("due", 3, "schedule", PLAN)
    assert [look.entry for look in watchlists.read_checks(control, run_id)] == list(PLAN.entries)
    watchlists.replace_plan(control, replace(PLAN, enabled=False), "0 * * * *")
    assert watchlists.take_due(control, PLAN.name, DueRun(due_at=NOON + 9 * HOUR)) is None


def test_while_a_run_goes_on_the_next_is_skipped_and_a_wish_joins_it(
    control: ControlStore,
) -> None:
    watchlists.create(control, PLAN, "0 * * * *")
    first = watchlists.take_due(control, PLAN.name, DueRun(due_at=NOON + HOUR))
    second = watchlists.take_due(control, PLAN.name, DueRun(due_at=NOON + 2 * HOUR))
    assert first is not None
    assert watchlists.request_run(control, PLAN.name, origin="cli") == first
    assert watchlists.request_run(control, "nobody", origin="cli") is None
    runs = watchlists.newest_runs(control, PLAN.name, limit=9)
    assert [(run.run_id, run.status, run.outcome) for run in runs] == [
        (second, "skipped", OVERLAP_OUTCOME),
        (first, "due", None),
    ]
    assert [run.run_id for run in watchlists.unheld_runs(control)] == [first]


@on_both
def test_watchlist_run_is_held_by_one_process_until_it_dies(
    control: ControlStore, clock: Clock
) -> None:
    watchlists.create(control, PLAN, "0 * * * *")
    run_id = watchlists.request_run(control, PLAN.name, origin="api")
    assert run_id is not None
    held = watchlists.hold_run(control, run_id, "first", ttl_s=60)
    assert held is not None
    assert (held.tries, held.began_at) == (1, NOON)
    assert watchlists.hold_run(control, run_id, "second", ttl_s=60) is None
    assert watchlists.unheld_runs(control) == []
    clock.now += timedelta(seconds=61)
    taken = watchlists.hold_run(control, run_id, "second", ttl_s=60)
    assert taken is not None
    assert (taken.tries, taken.began_at) == (2, NOON)
    assert not watchlists.release_run(control, run_id, "first", status="waiting")
    ending = {"status": "completed", "outcome": "done", "digest": {"a": 1}}
    assert not watchlists.end_run(control, run_id, "first", **ending)  # type: ignore[arg-type]  # fields by name
    assert watchlists.end_run(control, run_id, "second", **ending)  # type: ignore[arg-type]  # as above
    assert watchlists.hold_run(control, run_id, "third", ttl_s=60) is None
    ended = watchlists.get_run(control, run_id)
    assert ended is not None
    assert (ended.status, ended.digest, ended.ended_at) == ("completed", {"a": 1}, clock.now)


def test_last_watchlist_observation_survives_deletion_of_old_runs(
    control: ControlStore, clock: Clock
) -> None:
    watchlists.create(control, PLAN, "0 * * * *")
    run_ids = []
    for hour in range(3):
        clock.now = NOON + hour * HOUR
        run_id = watchlists.request_run(control, PLAN.name, origin="cli")
        assert run_id is not None
        run_ids.append(run_id)
        look = watchlists.read_checks(control, run_id)[0]
        done = replace(look, status="completed", subject="1", observation={"hour": hour})
        watchlists.save_check(control, done)
        watchlists.hold_run(control, run_id, "one", ttl_s=60)
        watchlists.end_run(control, run_id, "one", status="completed", outcome="done", digest=None)
    last = watchlists.last_observation(control, PLAN.name, "track", "1", before_run=run_ids[2])
    assert last == {"hour": 1}
    assert watchlists.delete_old_runs(control, clock.now + HOUR) == 2
    assert [run.run_id for run in watchlists.newest_runs(control, PLAN.name, limit=9)] == run_ids[
        2:
    ]
    last = watchlists.last_observation(control, PLAN.name, "track", "1", before_run="next")
    assert last == {"hour": 2}


def test_watchlists_keep_the_last_observation_of_each_subject(
    control: ControlStore, clock: Clock
) -> None:
    watchlists.create(control, PLAN, "0 * * * *")
    run_ids = []
    for hour, subjects in enumerate((("1", "a"), ("1", None))):
        clock.now += HOUR
        run_id = watchlists.request_run(control, PLAN.name, origin="cli")
        assert run_id is not None
        run_ids.append(run_id)
        for look, subject in zip(watchlists.read_checks(control, run_id), subjects, strict=True):
            seen = None if subject is None else {"hour": hour}
            status: EntryCheckStatus = "failed" if subject is None else "completed"
            watchlists.save_check(
                control, replace(look, status=status, subject=subject, observation=seen)
            )
        watchlists.hold_run(control, run_id, "one", ttl_s=60)
        watchlists.end_run(control, run_id, "one", status="completed", outcome="done", digest=None)
        watchlists.drop_older_observations(control, PLAN.name, run_id)
    found = [
        [look.observation for look in watchlists.read_checks(control, run_id)] for run_id in run_ids
    ]
    assert found == [[None, {"hour": 0}], [{"hour": 1}, None]]


@on_both
def test_processes_that_look_at_the_same_time_make_one_run_of_each_due_time(
    control_url: str, programs: Path
) -> None:
    with closing(open_control(control_url, world="sandbox")) as control:
        watchlists.create(control, PLAN, "* * * * *")
        lookers = [(control_url, PLAN.name, "12")] * 2
        taken = sorted(run_together("warehouse.control", programs / "take_due.py", *lookers))
        runs = watchlists.newest_runs(control, PLAN.name, limit=99)
    assert len(taken) == len(set(taken)) == 12
    assert sorted(run.run_id for run in runs) == taken
    assert len({run.due_at for run in runs}) == 12
