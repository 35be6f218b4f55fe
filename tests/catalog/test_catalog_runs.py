"""Runs of a catalogue over a real control store, with scans that a test ends."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.catalog.run import LEASE_S, CatalogProgress, CatalogRun, cancel_run
from pipelines.catalog.service import settle_tracks
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.service.service import ScanJob
from tests.fake_clock import FakeClock
from warehouse.control import ControlStore, catalogs, jobs, open_control
from warehouse.control.jobs import NewJob
from warehouse.records.catalogs import CatalogTrack, ImportedTrack
from warehouse.records.errors import CapacityExhaustedError, InvalidMusicInputError
from warehouse.records.jobs import (
    PRIORITY_INTERACTIVE,
    PRIORITY_SCHEDULED,
    Job,
    JobStatus,
    Origin,
    ProgressRecord,
)

DAY_S = 86_400.0
TTL = timedelta(hours=6)


@dataclass
class FakeScans:
    """The scan service: jobs wait in the store until `work` ends them, as a worker would."""

    control: ControlStore
    clock: FakeClock
    stored: dict[str, Job] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    asked: list[tuple[str, ScanParameters]] = field(default_factory=list)
    is_full: bool = False

    def ask(
        self, text: str, parameters: ScanParameters, *, origin: Origin, job_id: str | None = None
    ) -> ScanJob:
        if self.is_full:
            raise CapacityExhaustedError("The disk is too full for another scan")
        if text in self.refused:
            raise InvalidMusicInputError(f"{text} is no track any more")
        self.asked.append((text, parameters))
        if text in self.stored and not parameters.refresh:
            return ScanJob(self.stored[text], cast("Any", {}))
        new = NewJob(
            kind="scan", input=text, target=text, music_id=text, fingerprint=text, scan_key=None,
            parameters=parameters.to_document(), origin=origin, job_id=job_id,
            priority=PRIORITY_SCHEDULED,
        )  # fmt: skip
        return ScanJob(jobs.create_or_join(self.control, new)[0])

    def cancel(self, job_id: str) -> tuple[JobStatus, ScanJob]:
        job = jobs.request_cancel(self.control, job_id)
        assert job is not None
        return "queued", ScanJob(job)

    def work(self, status: JobStatus = "completed", *, most: int = 99, requests: int = 10) -> int:
        """End up to `most` queued jobs; return how many."""
        for done in range(most):
            job = jobs.claim(self.control, "worker")
            if job is None:
                return done
            jobs.save_progress(self.control, job.job_id, ProgressRecord(requests_used=requests))
            error: dict[str, object] = {"type": "upstream_empty", "detail": "nothing came"}
            jobs.finish(
                self.control, job.job_id, status, error=error if status == "failed" else None
            )
        return most


@dataclass
class World:
    """A catalogue of five tracks, the second one with priority."""

    control: ControlStore
    clock: FakeClock
    scans: FakeScans

    def settings(self, **given: Any) -> None:
        catalogs.change(self.control, "songs", given)

    def run(self, at_once: int = 2) -> CatalogRun:
        found = CatalogRun(
            name="songs", control=self.control, scans=self.scans, result_ttl=TTL, at_once=at_once,
            clock=self.clock.now,
        )  # fmt: skip
        assert found.begin()
        return found

    def finish(self, at_once: int = 2, *, status: JobStatus = "completed") -> CatalogProgress:
        """Run until the run is over; its worker ends each job in turn."""
        run = self.run(at_once)
        while not (progress := run.step()).is_over:
            assert len(progress.jobs) <= at_once
            self.scans.work(status)
        run.end()
        return progress

    def tracks(self) -> dict[str, CatalogTrack]:
        return {track.given.input: track for track in catalogs.read_tracks(self.control, "songs")}

    def inputs(self) -> list[str]:
        return [text for text, _ in self.scans.asked]


TRACKS = [
    ImportedTrack(key=f"music:{n}0000", input=f"{n}0000", priority=int(n == 2)) for n in range(1, 6)
]


def build_world(folder: Path) -> World:
    clock = FakeClock()
    control = open_control(f"sqlite:///{folder / 'c.sqlite'}", world="sandbox", clock=clock.unix)
    catalogs.change(control, "songs", {})
    catalogs.import_tracks(control, "songs", TRACKS)
    return World(control, clock, FakeScans(control, clock))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = build_world(tmp_path)
    with closing(made.control):
        yield made


def test_a_run_scans_every_track_once_by_priority_and_a_few_at_a_time(world: World) -> None:
    assert world.finish().stop == "nothing_due"
    assert world.inputs() == ["20000", "10000", "30000", "40000", "50000"]
    assert {one.charged_requests for one in world.tracks().values()} == {10}
    assert all(one.music_id and one.result_job_id for one in world.tracks().values())


def test_scans_of_a_catalogue_wait_behind_those_of_users(world: World) -> None:
    progress = world.run().step()
    assert {job.priority for job in progress.jobs.values()} == {PRIORITY_SCHEDULED}


def test_catalog_run_skips_tracks_that_are_still_fresh(world: World) -> None:
    world.finish()
    world.clock.advance(6.9 * DAY_S)
    catalogs.import_tracks(
        world.control, "songs", [ImportedTrack(key="music:60000", input="60000")]
    )
    assert world.finish().stop == "nothing_due"
    assert world.inputs()[5:] == ["60000"]
    world.clock.advance(0.2 * DAY_S)
    world.finish()
    assert len(world.inputs()) == 11


def test_a_stale_result_is_refreshed_only_if_the_service_could_answer_with_it(
    world: World,
) -> None:
    world.settings(fresh_days=0.1)
    world.finish()
    world.clock.advance(0.2 * DAY_S)
    world.finish()
    assert [parameters.refresh for _, parameters in world.scans.asked] == [False] * 5 + [True] * 5
    world.clock.advance(TTL.total_seconds())
    world.finish()
    assert not any(parameters.refresh for _, parameters in world.scans.asked[10:])


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_run_that_was_killed_is_continued_without_a_second_scan(world: World, steps: int) -> None:
    killed = world.run()
    for _ in range(steps):
        killed.step()
        world.scans.work(most=1)
    world.clock.advance(LEASE_S)
    assert world.finish().stop == "nothing_due"
    assert sorted(world.inputs()) == sorted(track.input for track in TRACKS)


def test_a_run_killed_before_it_stored_its_job_finds_it_again(world: World) -> None:
    world.run().step()
    for track in world.tracks().values():
        before = CatalogTrack(given=track.given, position=track.position)
        catalogs.update_track(world.control, "songs", before, job_before=track.job_id)
    world.clock.advance(LEASE_S)
    world.scans.work()
    world.finish()
    assert len(jobs.newest(world.control, limit=99)) == len(TRACKS)


def test_a_track_ends_for_the_run_also_if_another_process_has_stored_its_outcome(
    world: World,
) -> None:
    run = world.run()
    under_way = run.step().jobs
    world.scans.work()
    settle_tracks(
        world.control, "songs", catalogs.read_tracks(world.control, "songs"), now=world.clock.now()
    )
    progress = run.step()
    assert {track.given.key for track in progress.ended} == under_way.keys()
    assert not progress.cancelled


def test_a_cancelled_scan_is_no_result_although_the_track_has_one(world: World) -> None:
    world.finish()
    world.clock.advance(8 * DAY_S)
    run = world.run()
    under_way = run.step().jobs
    cancelled, failing = sorted(under_way)[:2]
    jobs.request_cancel(world.control, under_way[cancelled].job_id)
    jobs.finish(world.control, under_way[failing].job_id, "failed", error={"type": "x"})
    progress = run.step()
    assert {track.given.key for track in progress.ended} == {cancelled, failing}
    assert progress.cancelled == {cancelled}


def test_one_process_runs_a_catalogue_at_a_time(world: World) -> None:
    first = world.run()
    other = CatalogRun(name="songs", control=world.control, scans=world.scans, result_ttl=TTL)
    assert not other.begin()
    world.clock.advance(LEASE_S)
    assert other.begin()
    progress = first.step()
    assert (progress.stop, progress.is_over, world.inputs()) == ("taken_over", True, [])


def test_a_budget_of_scans_ends_the_run_and_the_next_day_goes_on(world: World) -> None:
    world.settings(tracks_per_day=2)
    assert world.finish().stop == "track_budget"
    assert world.finish().stop == "track_budget"
    assert len(world.inputs()) == 2
    world.clock.advance(DAY_S)
    world.finish()
    assert world.inputs() == ["20000", "10000", "30000", "40000"]


def test_a_budget_of_scans_counts_each_scan_of_a_track(world: World) -> None:
    world.settings(fresh_days=0.05, tracks_per_day=7)
    assert world.finish().stop == "nothing_due"
    world.clock.advance(0.1 * DAY_S)
    progress = world.finish()
    assert (progress.stop, progress.spent.tracks) == ("track_budget", 7)
    assert len(world.inputs()) == 7


def test_a_budget_of_requests_counts_the_scans_under_way(world: World) -> None:
    world.settings(requests_per_day=15)
    run = world.run(at_once=1)
    run.step()
    world.scans.work(requests=10)
    progress = run.step()
    assert (progress.spent.requests, progress.stop, len(progress.jobs)) == (10, None, 1)
    world.scans.work(requests=5)
    progress = run.step()
    assert (progress.spent.requests, progress.stop) == (15, "request_budget")
    assert progress.is_over


def test_requests_of_scans_under_way_count_for_the_budget(world: World) -> None:
    world.settings(requests_per_day=15)
    run = world.run(at_once=2)
    run.step()
    claimed = jobs.claim(world.control, "worker")
    assert claimed is not None
    jobs.save_progress(world.control, claimed.job_id, ProgressRecord(requests_used=15))
    world.scans.work("failed", requests=0)  # the other one: now there is room
    progress = run.step()
    assert (progress.spent.requests, progress.stop) == (15, "request_budget")
    assert len(progress.jobs) == 1


def test_while_every_place_is_taken_the_jobs_are_shown_as_they_are(world: World) -> None:
    run = world.run(at_once=1)
    run.step()
    claimed = jobs.claim(world.control, "worker")
    assert claimed is not None
    jobs.save_progress(world.control, claimed.job_id, ProgressRecord(stage="candidates"))
    (job,) = run.step().jobs.values()
    assert (job.status, job.progress.stage, world.inputs()) == ("running", "candidates", ["20000"])


def test_a_stored_result_costs_nothing_of_the_budget(world: World) -> None:
    world.finish()
    results = {one.given.input: one.result_job_id or "" for one in world.tracks().values()}
    ended = {text: jobs.get(world.control, job_id) for text, job_id in results.items()}
    world.scans.stored = {text: job for text, job in ended.items() if job is not None}
    catalogs.delete_with_tracks(world.control, "songs")
    world.clock.advance(60)
    world.settings(tracks_per_day=1)
    catalogs.import_tracks(world.control, "songs", TRACKS)
    progress = world.finish()
    assert (progress.states["fresh"], progress.spent.tracks) == (5, 0)


def test_a_failed_track_waits_a_day_and_does_not_hold_up_the_others(world: World) -> None:
    assert world.finish(status="failed").states["failed"] == 5
    assert world.finish().stop == "nothing_due"
    assert len(world.inputs()) == 5
    world.clock.advance(DAY_S)
    assert world.finish().states["fresh"] == 5


def test_an_input_that_is_refused_fails_its_track_alone(world: World) -> None:
    world.scans.refused = {"20000"}
    progress = world.finish()
    assert (progress.states["failed"], progress.states["fresh"]) == (1, 4)
    assert (world.tracks()["20000"].error or {})["type"] == "invalid_music_input"


def test_a_full_disk_stops_the_run(world: World) -> None:
    world.scans.is_full = True
    assert world.finish().stop == "disk_full"
    assert world.inputs() == []


def test_cancelling_stops_the_run_and_its_jobs_and_the_next_run_goes_on(world: World) -> None:
    run = world.run()
    run.step()
    assert cancel_run("songs", control=world.control, scans=world.scans) == 2
    progress = run.step()
    assert (progress.stop, progress.is_over) == ("cancelled", True)
    run.end()
    assert world.finish().stop == "nothing_due"
    assert world.inputs() == ["20000", "10000", "20000", "10000", "30000", "40000", "50000"]


@pytest.mark.parametrize("is_running", [False, True])
def test_a_job_that_a_user_has_joined_is_not_cancelled(world: World, is_running: bool) -> None:
    world.run().step()
    if is_running:
        assert [jobs.claim(world.control, "worker") for _ in range(2)]
    joined, created = jobs.create_or_join(world.control, same_scan("20000", PRIORITY_INTERACTIVE))
    assert (joined.status == "running", created) == (is_running, False)
    assert cancel_run("songs", control=world.control, scans=world.scans) == 1
    assert not jobs.is_cancel_requested(world.control, joined.job_id)


def test_a_job_that_a_watchlist_has_created_is_not_cancelled(world: World) -> None:
    joined, _ = jobs.create_or_join(world.control, same_scan("20000", PRIORITY_SCHEDULED))
    world.run().step()
    assert world.tracks()["20000"].job_id == joined.job_id
    assert cancel_run("songs", control=world.control, scans=world.scans) == 1
    assert not jobs.is_cancel_requested(world.control, joined.job_id)


def same_scan(text: str, priority: int) -> NewJob:
    """The request of a scan that equals one of the catalogue."""
    return NewJob(
        kind="scan", input=text, target=text, music_id=None, fingerprint=text, scan_key=None,
        parameters={}, origin="console", priority=priority,
    )  # fmt: skip


def test_a_job_that_is_gone_leaves_its_track_due(world: World) -> None:
    world.run().step()
    world.scans.work("failed")
    jobs.delete_ended(world.control, [job.job_id for job in jobs.newest(world.control, limit=9)])
    world.clock.advance(LEASE_S)
    assert world.finish().states["fresh"] == 5


ENDS: tuple[JobStatus, ...] = ("completed", "failed", "cancelled")


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from([*ENDS, "later", "step", "killed"]), max_size=25))
def test_however_it_is_interrupted_a_catalogue_is_scanned_in_the_end(
    tmp_path_factory: pytest.TempPathFactory, actions: list[str]
) -> None:
    world = build_world(tmp_path_factory.mktemp("drawn"))
    with closing(world.control):
        run = world.run()
        for action in actions:
            if action == "step":
                assert len(run.step().jobs) <= 2
            elif action in ENDS:
                world.scans.work(action, most=1)
            else:
                world.clock.advance(LEASE_S)
                run = world.run() if action == "killed" else run
        world.clock.advance(DAY_S)
        assert world.finish().states == {
            "running": 0, "failed": 0, "fresh": 5, "stale": 0, "never_read": 0,
        }  # fmt: skip
