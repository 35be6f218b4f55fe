"""Watchlists in the control store: a due time is a run once, whoever looks and however many."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from tests.integration.warehouse.together import run_together
from warehouse.control import ControlStore, open_control
from warehouse.records.watchlists import (
    OVERLAP_OUTCOME,
    DueRun,
    EntryCheckStatus,
    WatchlistEntry,
    WatchlistPlan,
)

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


def test_a_watchlist_is_kept_as_it_was_given(control: ControlStore) -> None:
    assert control.create_watchlist(PLAN, "0 * * * *")
    assert not control.create_watchlist(PLAN, "0 * * * *")
    found = control.watchlist(PLAN.name)
    assert found is not None
    assert (found.plan, found.cron, found.considered_until) == (PLAN, "0 * * * *", NOON)
    assert control.watchlists() == [found]
    assert control.delete_watchlist(PLAN.name)
    assert not control.delete_watchlist(PLAN.name)
    assert control.watchlist(PLAN.name) is None


def test_a_new_rhythm_begins_now_and_other_changes_do_not_move_it(
    control: ControlStore, clock: Clock
) -> None:
    control.create_watchlist(PLAN, "0 * * * *")
    clock.now += HOUR / 2
    control.update_watchlist(replace(PLAN, parameters={}), "0 * * * *")
    assert [one.considered_until for one in control.watchlists()] == [NOON]
    control.update_watchlist(replace(PLAN, enabled=False), "0 * * * *")
    control.update_watchlist(PLAN, "0 * * * *")
    assert [one.considered_until for one in control.watchlists()] == [clock.now]
    clock.now += HOUR
    control.update_watchlist(PLAN, "0 0 * * *")
    assert [one.considered_until for one in control.watchlists()] == [clock.now]
    assert not control.update_watchlist(replace(PLAN, name="other"), "0 * * * *")


def test_changes_made_at_the_same_time_are_all_kept(control: ControlStore) -> None:
    def count_one_more(before: WatchlistPlan) -> tuple[WatchlistPlan, str]:
        count = cast("int", before.parameters["count"])
        return replace(before, parameters={"count": count + 1}), "0 * * * *"

    control.create_watchlist(PLAN, "0 * * * *")
    with ThreadPoolExecutor(4) as threads:
        done = [
            threads.submit(control.change_watchlist, PLAN.name, count_one_more) for _ in range(40)
        ]
    assert all(one.result() for one in done)
    assert [one.plan.parameters for one in control.watchlists()] == [{"count": 45}]
    assert not control.change_watchlist("other", count_one_more)


def test_a_due_time_is_taken_once_and_not_at_all_while_disabled(
    control: ControlStore, clock: Clock
) -> None:
    control.create_watchlist(PLAN, "0 * * * *")
    due = DueRun(due_at=NOON + HOUR, missed_count=3)
    run_id = control.take_due(PLAN.name, due)
    assert run_id is not None
    assert control.take_due(PLAN.name, due) is None
    run = control.watch_run(run_id)
    assert run is not None
    assert (run.status, run.missed_count, run.origin, run.plan) == ("due", 3, "schedule", PLAN)
    assert [look.entry for look in control.entry_checks(run_id)] == list(PLAN.entries)
    control.update_watchlist(replace(PLAN, enabled=False), "0 * * * *")
    assert control.take_due(PLAN.name, DueRun(due_at=NOON + 9 * HOUR)) is None


def test_while_a_run_goes_on_the_next_is_skipped_and_a_wish_joins_it(
    control: ControlStore,
) -> None:
    control.create_watchlist(PLAN, "0 * * * *")
    first = control.take_due(PLAN.name, DueRun(due_at=NOON + HOUR))
    second = control.take_due(PLAN.name, DueRun(due_at=NOON + 2 * HOUR))
    assert first is not None
    assert control.request_run(PLAN.name, origin="cli") == first
    assert control.request_run("nobody", origin="cli") is None
    runs = control.watch_runs(PLAN.name, limit=9)
    assert [(run.run_id, run.status, run.outcome) for run in runs] == [
        (second, "skipped", OVERLAP_OUTCOME),
        (first, "due", None),
    ]
    assert [run.run_id for run in control.unheld_watch_runs()] == [first]


def test_one_process_works_on_a_run_and_loses_it_when_it_dies(
    control: ControlStore, clock: Clock
) -> None:
    control.create_watchlist(PLAN, "0 * * * *")
    run_id = control.request_run(PLAN.name, origin="api")
    assert run_id is not None
    held = control.hold_run(run_id, "first", ttl_s=60)
    assert held is not None
    assert (held.tries, held.began_at) == (1, NOON)
    assert control.hold_run(run_id, "second", ttl_s=60) is None
    assert control.unheld_watch_runs() == []
    clock.now += timedelta(seconds=61)
    taken = control.hold_run(run_id, "second", ttl_s=60)
    assert taken is not None
    assert (taken.tries, taken.began_at) == (2, NOON)
    assert not control.release_run(run_id, "first", status="waiting")
    ending = {"status": "completed", "outcome": "done", "digest": {"a": 1}}
    assert not control.end_run(run_id, "first", **ending)  # type: ignore[arg-type]  # fields by name
    assert control.end_run(run_id, "second", **ending)  # type: ignore[arg-type]  # as above
    assert control.hold_run(run_id, "third", ttl_s=60) is None
    ended = control.watch_run(run_id)
    assert ended is not None
    assert (ended.status, ended.digest, ended.ended_at) == ("completed", {"a": 1}, clock.now)


def test_what_was_seen_last_is_found_again_though_old_runs_are_forgotten(
    control: ControlStore, clock: Clock
) -> None:
    control.create_watchlist(PLAN, "0 * * * *")
    run_ids = []
    for hour in range(3):
        clock.now = NOON + hour * HOUR
        run_id = control.request_run(PLAN.name, origin="cli")
        assert run_id is not None
        run_ids.append(run_id)
        look = control.entry_checks(run_id)[0]
        done = replace(look, status="completed", subject="1", observation={"hour": hour})
        control.save_entry_check(done)
        control.hold_run(run_id, "one", ttl_s=60)
        control.end_run(run_id, "one", status="completed", outcome="done", digest=None)
    last = control.last_observation(PLAN.name, "track", "1", before_run=run_ids[2])
    assert last == {"hour": 1}
    assert control.delete_old_runs(clock.now + HOUR) == 2
    assert [run.run_id for run in control.watch_runs(PLAN.name, limit=9)] == run_ids[2:]
    last = control.last_observation(PLAN.name, "track", "1", before_run="next")
    assert last == {"hour": 2}


def test_of_each_subject_only_what_was_seen_last_is_kept(
    control: ControlStore, clock: Clock
) -> None:
    control.create_watchlist(PLAN, "0 * * * *")
    run_ids = []
    for hour, subjects in enumerate((("1", "a"), ("1", None))):
        clock.now += HOUR
        run_id = control.request_run(PLAN.name, origin="cli")
        assert run_id is not None
        run_ids.append(run_id)
        for look, subject in zip(control.entry_checks(run_id), subjects, strict=True):
            seen = None if subject is None else {"hour": hour}
            status: EntryCheckStatus = "failed" if subject is None else "completed"
            control.save_entry_check(
                replace(look, status=status, subject=subject, observation=seen)
            )
        control.hold_run(run_id, "one", ttl_s=60)
        control.end_run(run_id, "one", status="completed", outcome="done", digest=None)
        control.drop_older_observations(PLAN.name, run_id)
    found = [[look.observation for look in control.entry_checks(run_id)] for run_id in run_ids]
    assert found == [[None, {"hour": 0}], [{"hour": 1}, None]]


def test_processes_that_look_at_the_same_time_make_one_run_of_each_due_time(
    control_url: str, programs: Path
) -> None:
    with closing(open_control(control_url, world="sandbox")) as control:
        control.create_watchlist(PLAN, "* * * * *")
        lookers = [(control_url, PLAN.name, "12")] * 2
        taken = sorted(run_together("warehouse.control", programs / "take_due.py", *lookers))
        runs = control.watch_runs(PLAN.name, limit=99)
    assert len(taken) == len(set(taken)) == 12
    assert sorted(run.run_id for run in runs) == taken
    assert len({run.due_at for run in runs}) == 12
