"""The life of job rows, on SQLite and on PostgreSQL."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.postgres import on_both
from warehouse.control import ControlStore, jobs, open_control
from warehouse.control.jobs import NewJob
from warehouse.records.jobs import JobStatus, ProgressRecord

pytestmark = pytest.mark.full

START = datetime(2026, 11, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now.timestamp()

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def control(control_url: str, clock: Clock) -> Iterator[ControlStore]:
    store = open_control(control_url, world="sandbox", clock=clock)
    yield store
    store.close()


def new_job(
    fingerprint: str, *, priority: int = 100, kind: str = "scan", job_id: str | None = None
) -> NewJob:
    return NewJob(
        kind=kind,
        input="看这个 https://example.invalid/✓",
        target="7000000000000000001",
        music_id=None,
        parameters={"count": 30, "search_keywords": ["热门", "\x00"], "match_threshold": 0.65},
        fingerprint=fingerprint,
        scan_key=None,
        origin="api",
        priority=priority,
        job_id=job_id,
    )


@on_both
def test_new_job_is_queued_with_everything_it_was_given(control: ControlStore) -> None:
    job, created = jobs.create_or_join(control, new_job("f", job_id="chosen"))
    assert created
    assert job == jobs.get(control, "chosen")
    assert (job.status, job.created_at, job.progress) == (
        "queued",
        START,
        ProgressRecord(waiting_for="worker"),
    )
    assert job.parameters == new_job("f").parameters
    assert job.input == new_job("f").input
    assert (job.started_at, job.finished_at, job.expires_at, job.error) == (None,) * 4


@on_both
def test_equal_wish_joins_the_job_while_it_is_wanted(control: ControlStore) -> None:
    first, _ = jobs.create_or_join(control, new_job("f"))
    assert jobs.create_or_join(control, new_job("f"))[0].job_id == first.job_id
    jobs.claim(control, "w")
    joined, created = jobs.create_or_join(control, new_job("f"))
    assert (joined.job_id, joined.status, created) == (first.job_id, "running", False)


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_ended_job_is_not_joined(control: ControlStore, status: JobStatus) -> None:
    first, _ = jobs.create_or_join(control, new_job("f"))
    jobs.claim(control, "w")
    assert jobs.finish(control, first.job_id, status)
    second, created = jobs.create_or_join(control, new_job("f"))
    assert created
    assert second.job_id != first.job_id


def test_job_that_is_being_cancelled_is_not_joined(control: ControlStore) -> None:
    first, _ = jobs.create_or_join(control, new_job("f"))
    jobs.claim(control, "w")
    jobs.request_cancel(control, first.job_id)
    assert jobs.create_or_join(control, new_job("f"))[1]


@on_both
def test_creating_twice_under_one_id_gives_the_same_job(control: ControlStore) -> None:
    first, _ = jobs.create_or_join(control, new_job("f", job_id="chosen"))
    again, created = jobs.create_or_join(control, new_job("g", job_id="chosen"))
    assert (again, created) == (first, False)


def test_unknown_job_is_none(control: ControlStore) -> None:
    assert jobs.get(control, "nobody") is None
    assert jobs.request_cancel(control, "nobody") is None
    assert not jobs.is_cancel_requested(control, "nobody")
    assert not jobs.finish(control, "nobody", "failed")


@on_both
def test_claims_go_by_priority_and_then_by_age(control: ControlStore, clock: Clock) -> None:
    wishes = [("schedule", 10), ("older", 100), ("newer", 100), ("other kind", 900)]
    for name, priority in wishes:
        kind = "publish" if name == "other kind" else "scan"
        jobs.create_or_join(control, new_job(name, priority=priority, kind=kind, job_id=name))
        clock.pass_by(1)
    claimed = [jobs.claim(control, "w") for _ in range(4)]
    assert [job and job.job_id for job in claimed] == ["older", "newer", "schedule", None]
    other = jobs.claim(control, "w", kinds=("publish", "scan"))
    assert other is not None
    assert other.job_id == "other kind"


def test_claimed_job_says_who_and_since_when(control: ControlStore, clock: Clock) -> None:
    jobs.create_or_join(control, new_job("f"))
    clock.pass_by(3)
    job = jobs.claim(control, "worker-1")
    assert job is not None
    assert (job.status, job.worker_id) == ("running", "worker-1")
    assert job.started_at == job.heartbeat_at == START + timedelta(seconds=3)


@on_both
def test_silent_jobs_are_lost_and_those_heard_of_are_not(
    control: ControlStore, clock: Clock
) -> None:
    for name in ("silent", "heard"):
        jobs.create_or_join(control, new_job(name, job_id=name))
        jobs.claim(control, "w")
    clock.pass_by(30)
    jobs.beat(control, "w", ["heard"])
    assert [job.job_id for job in jobs.lost(control, 20)] == ["silent"]
    jobs.finish(control, "silent", "failed")
    assert jobs.lost(control, 20) == []


def test_a_heartbeat_from_before_the_clock_was_set_back_is_none(
    control: ControlStore, clock: Clock
) -> None:
    jobs.create_or_join(control, new_job("f", job_id="silent"))
    jobs.create_or_join(control, new_job("g", job_id="alive"))
    for _ in range(2):
        jobs.claim(control, "worker")
    clock.pass_by(-3600)
    jobs.beat_job(control, "alive", run_number=1)
    assert [job.job_id for job in jobs.lost(control, 20)] == ["silent"]


def test_workers_live_as_long_as_they_are_heard_of(control: ControlStore, clock: Clock) -> None:
    jobs.beat(control, "b", [])
    clock.pass_by(10)
    jobs.beat(control, "a", [])
    assert jobs.live_workers(control, 5) == ["a"]
    assert jobs.live_workers(control, 10) == ["a", "b"]
    jobs.retire(control, "a")
    assert jobs.live_workers(control, 10) == ["b"]


def test_a_worker_heard_of_before_the_clock_was_set_back_is_not_alive(
    control: ControlStore, clock: Clock
) -> None:
    jobs.beat(control, "gone", [])
    clock.pass_by(-3600)
    jobs.beat(control, "here", [])
    clock.pass_by(-4)
    assert jobs.live_workers(control, 10) == ["here"]


def test_progress_is_kept_while_running_and_frozen_after(control: ControlStore) -> None:
    job, _ = jobs.create_or_join(control, new_job("f"))
    jobs.claim(control, "w")
    progress = ProgressRecord(candidate_pool_count=7, eta_s=1.5).at("candidates")
    jobs.save_progress(control, job.job_id, progress)
    jobs.finish(control, job.job_id, "completed")
    jobs.save_progress(control, job.job_id, ProgressRecord(candidate_pool_count=99))
    found = jobs.get(control, job.job_id)
    assert found is not None
    assert found.progress == progress


def test_ending_keeps_error_and_retention(control: ControlStore, clock: Clock) -> None:
    job, _ = jobs.create_or_join(control, new_job("f"))
    error: dict[str, object] = {"type": "upstream_empty", "upstream": {"status": 200}}
    clock.pass_by(5)
    until = START + timedelta(days=30)
    assert jobs.finish(control, job.job_id, "failed", error=error, expires_at=until)
    found = jobs.get(control, job.job_id)
    assert found is not None
    assert (found.status, found.error, found.expires_at) == ("failed", error, until)
    assert found.finished_at == START + timedelta(seconds=5)


def test_ended_job_cannot_be_ended_again(control: ControlStore) -> None:
    job, _ = jobs.create_or_join(control, new_job("f"))
    assert jobs.finish(control, job.job_id, "completed")
    before = jobs.get(control, job.job_id)
    assert not jobs.finish(control, job.job_id, "failed", error={"type": "x"})
    assert not jobs.finish(control, job.job_id, "running")
    assert jobs.get(control, job.job_id) == before


def test_a_run_that_was_given_up_ends_nothing_while_its_job_waits(control: ControlStore) -> None:
    """Its number is still the highest one: the job has no other run yet."""
    jobs.create_or_join(control, new_job("f", job_id="j"))
    jobs.claim(control, "silent")
    assert jobs.requeue(control, "j", run_number=1, costs_attempt=True)
    assert jobs.finish(control, "j", "failed", run_number=1) is False
    jobs.save_progress(control, "j", ProgressRecord(stage="complete"), run_number=1)
    job = jobs.get(control, "j")
    assert job is not None
    assert (job.status, job.progress.stage, job.progress.waiting_for) == (
        "queued", ProgressRecord().stage, "worker",
    )  # fmt: skip


def test_cancelling_depends_on_how_far_the_job_is(control: ControlStore) -> None:
    queued, _ = jobs.create_or_join(control, new_job("queued", priority=1))
    running, _ = jobs.create_or_join(control, new_job("running", priority=9))
    ended, _ = jobs.create_or_join(control, new_job("ended", priority=1))
    jobs.claim(control, "w")
    jobs.finish(control, ended.job_id, "completed")
    until = START + timedelta(days=1)
    asked = [
        jobs.request_cancel(control, job.job_id, expires_at=until) for job in (queued, running)
    ]
    assert [job and (job.status, job.cancel_requested) for job in asked] == [
        ("cancelled", True),
        ("running", True),
    ]
    assert asked[0] is not None
    assert (asked[0].finished_at, asked[0].expires_at) == (START, until)
    assert jobs.is_cancel_requested(control, running.job_id)
    untouched = jobs.request_cancel(control, ended.job_id)
    assert untouched is not None
    assert (untouched.status, untouched.cancel_requested) == ("completed", False)
    assert jobs.claim(control, "w") is None


def test_a_job_that_has_ended_waits_for_nothing_any_more(control: ControlStore) -> None:
    created, _ = jobs.create_or_join(control, new_job("f"))
    jobs.claim(control, "w")
    jobs.set_waiting_for(control, created.job_id, "lease")
    waiting = jobs.get(control, created.job_id)
    assert waiting is not None
    assert waiting.progress.waiting_for == "lease"
    jobs.finish(control, created.job_id, "cancelled")
    ended = jobs.get(control, created.job_id)
    jobs.set_waiting_for(control, created.job_id, "disk")
    assert jobs.get(control, created.job_id) == ended


def test_the_whole_queue_waits_for_the_disk_and_no_longer(control: ControlStore) -> None:
    for number in range(150):
        jobs.create_or_join(control, new_job(f"{number}", job_id=f"{number}"))
    started = jobs.claim(control, "w")
    assert started is not None

    def waits() -> Counter[tuple[str, str | None]]:
        newest = jobs.newest(control, limit=200)
        return Counter((job.status, job.progress.waiting_for) for job in newest)

    before = waits()
    jobs.set_queue_waiting_for_disk(control, True)
    assert waits() == {("queued", "disk"): 149, ("running", started.progress.waiting_for): 1}
    jobs.set_queue_waiting_for_disk(control, False)
    assert waits() == before
    assert before["queued", "worker"] == 149


@on_both
def test_completed_jobs_are_found_by_what_they_scanned(control: ControlStore, clock: Clock) -> None:
    for name in ("old", "new", "failed", "elsewhere"):
        jobs.create_or_join(control, new_job(name, job_id=name))
        key = "other" if name == "elsewhere" else "key"
        jobs.set_target(control, name, music_id="7000000000000000002", scan_key=key)
        jobs.finish(control, name, "failed" if name == "failed" else "completed")
        clock.pass_by(60)
    found = jobs.completed(control, "key", since=START)
    assert [(job.job_id, job.target, job.music_id) for job in found] == [
        (name, "7000000000000000002", "7000000000000000002") for name in ("new", "old")
    ]
    assert [
        job.job_id for job in jobs.completed(control, "key", since=START + timedelta(1 / 1440))
    ] == ["new"]


def test_jobs_are_listed_newest_first(control: ControlStore, clock: Clock) -> None:
    for number in range(4):
        jobs.create_or_join(control, new_job(str(number), job_id=str(number)))
        clock.pass_by(1)
    jobs.finish(control, "3", "failed")
    assert [job.job_id for job in jobs.newest(control, limit=3)] == ["3", "2", "1"]
    assert [job.job_id for job in jobs.newest(control, limit=9, status="queued")] == ["2", "1", "0"]


@on_both
def test_only_ended_jobs_past_their_retention_are_deleted(control: ControlStore) -> None:
    soon, later = START + timedelta(days=1), START + timedelta(days=2)
    for name, until in (("a", soon), ("b", later), ("c", None)):
        jobs.create_or_join(control, new_job(name, job_id=name))
        jobs.finish(control, name, "completed", expires_at=until)
    jobs.create_or_join(control, new_job("queued", job_id="queued"))
    assert jobs.expired(control, soon, limit=9) == ["a"]
    assert jobs.expired(control, later, limit=1) == ["a"]
    assert jobs.delete_ended(control, ["a", "queued", "nobody"]) == 1
    assert {job.job_id for job in jobs.newest(control, limit=9)} == {"b", "c", "queued"}
