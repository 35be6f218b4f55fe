"""Runs of catalogues that somebody requested, made by workers."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.catalog.background import CatalogRunner
from pipelines.catalog.look_ups import FIRST_AFTER, LookUps
from pipelines.catalog.rules import DaySpending, ImportLine, count_states
from pipelines.catalog.run import LEASE_S, CatalogProgress, cancel_run
from pipelines.catalog.run_requests import is_run_requested, request_run
from pipelines.catalog.service import CatalogService
from tests.catalog.test_catalog_runs import TTL, World, build_world
from warehouse.control import catalogs
from warehouse.records.catalogs import CatalogSettings, CatalogTrack, ImportedTrack
from warehouse.records.videos import ServiceSongList

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass
class FakeLookUp:
    """A look-up that a test ends."""

    is_running: bool = True
    exitcode: int | None = 0

    def is_alive(self) -> bool:
        return self.is_running

    def terminate(self) -> None:
        self.is_running = False

    def fail(self) -> None:
        self.is_running, self.exitcode = False, 1


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = build_world(tmp_path)
    with closing(made.control):
        yield made


def runner_of(world: World, started: list[FakeLookUp] | None = None) -> CatalogRunner:
    begun = [] if started is None else started

    def start() -> FakeLookUp:
        begun.append(FakeLookUp())
        return begun[-1]

    return CatalogRunner(
        control=world.control,
        scans=world.scans,
        result_ttl=TTL,
        new_look_ups=lambda _name: LookUps(start),
        clock=world.clock.now,
    )


def work_until_over(world: World, runner: CatalogRunner) -> None:
    for _ in range(20):
        runner.step()
        world.scans.work()
        if not is_run_requested(world.control, "songs"):
            return
    pytest.fail("the run does not end")


def test_a_requested_run_scans_what_is_due_and_then_the_request_is_met(world: World) -> None:
    runner = runner_of(world)
    runner.step()
    assert world.inputs() == []
    request_run(world.control, "songs")
    request_run(world.control, "songs")
    work_until_over(world, runner)
    assert sorted(world.inputs()) == ["10000", "20000", "30000", "40000", "50000"]
    runner.step()
    assert len(world.inputs()) == 5


def test_a_run_of_a_killed_worker_goes_on_in_another_one(world: World) -> None:
    request_run(world.control, "songs")
    runner_of(world).step()  # and never again
    world.scans.work()
    other = runner_of(world)
    other.step()
    assert len(world.inputs()) == 4, "the lease of the killed one holds"
    world.clock.advance(LEASE_S + 1)
    work_until_over(world, other)
    assert len(world.inputs()) == 5


def test_a_worker_that_is_stopped_leaves_the_run_to_the_others_at_once(world: World) -> None:
    request_run(world.control, "songs")
    one = runner_of(world)
    one.step()
    one.close()
    work_until_over(world, runner_of(world))
    assert len(world.inputs()) == 5


def test_a_spent_budget_ends_the_run(world: World) -> None:
    world.settings(tracks_per_day=2)
    request_run(world.control, "songs")
    work_until_over(world, runner_of(world))
    assert len(world.inputs()) == 2


def test_a_cancelled_run_is_not_begun_again(world: World) -> None:
    request_run(world.control, "songs")
    runner = runner_of(world)
    runner.step()
    assert cancel_run("songs", control=world.control, scans=world.scans) == 4
    for _ in range(3):
        runner.step()
    assert not is_run_requested(world.control, "songs")
    assert len(world.inputs()) == 4
    runner_of(world).step()
    assert len(world.inputs()) == 4


def test_a_removed_catalogue_ends_its_run(world: World) -> None:
    request_run(world.control, "songs")
    runner = runner_of(world)
    runner.step()
    catalogs.delete_with_tracks(world.control, "songs")
    runner.step()
    assert not is_run_requested(world.control, "songs")


def remove_and_import_again(world: World) -> None:
    catalogs = CatalogService(
        control=world.control, find_target=lambda _: None, read_songs=no_songs, song_link=str
    )
    catalogs.remove("songs")
    catalogs.import_lines("songs", [ImportLine(number=1, values={"track": "60000"})])


def no_songs(kind: str, list_id: str) -> ServiceSongList:
    raise AssertionError((kind, list_id))


def test_a_request_goes_with_its_catalogue(world: World) -> None:
    request_run(world.control, "songs")
    remove_and_import_again(world)
    assert not is_run_requested(world.control, "songs")
    runner_of(world).step()
    assert world.inputs() == []


def test_a_catalogue_that_is_removed_and_imported_again_at_once_has_no_run(world: World) -> None:
    request_run(world.control, "songs")
    runner = runner_of(world)
    runner.step()
    before = world.inputs()
    remove_and_import_again(world)
    for _ in range(3):
        runner.step()
        world.scans.work()
    assert world.inputs() == before


def test_a_request_whose_catalogue_is_unknown_is_withdrawn(world: World) -> None:
    request_run(world.control, "gone")
    runner_of(world).step()
    assert not is_run_requested(world.control, "gone")


def test_a_request_that_follows_a_cancelled_run_is_met(world: World) -> None:
    request_run(world.control, "songs")
    runner = runner_of(world)
    runner.step()
    cancel_run("songs", control=world.control, scans=world.scans)
    request_run(world.control, "songs")
    work_until_over(world, runner)
    assert sorted(set(world.inputs())) == ["10000", "20000", "30000", "40000", "50000"]


def test_the_sounds_of_a_run_are_looked_up_once_it_is_over(world: World) -> None:
    started: list[FakeLookUp] = []
    runner = runner_of(world, started)
    request_run(world.control, "songs")
    work_until_over(world, runner)
    assert len(started) == 1
    runner.step()
    assert len(started) == 1, "nothing has ended since"


def test_a_stopped_worker_ends_the_look_up(world: World) -> None:
    started: list[FakeLookUp] = []
    runner = runner_of(world, started)
    request_run(world.control, "songs")
    work_until_over(world, runner)
    runner.close()
    assert [one.is_running for one in started] == [False]


def look_ups_begun(world: World) -> list[FakeLookUp]:
    """The look-ups that another worker begins, within a minute after the last hold on one."""
    begun: list[FakeLookUp] = []
    other = runner_of(world, begun)
    other.step()
    assert begun == [], "one worker at a time"
    world.clock.advance(LEASE_S + 1)
    other.step()
    return begun


def test_the_last_look_up_of_a_killed_worker_is_begun_again_by_another_one(world: World) -> None:
    started: list[FakeLookUp] = []
    request_run(world.control, "songs")
    work_until_over(world, runner_of(world, started))  # and never again
    assert len(look_ups_begun(world)) == 1


def test_a_last_look_up_that_fails_is_begun_again(world: World) -> None:
    started: list[FakeLookUp] = []
    runner = runner_of(world, started)
    request_run(world.control, "songs")
    work_until_over(world, runner)
    started[0].fail()
    runner.step()
    assert len(look_ups_begun(world)) == 1


def test_a_stopped_worker_leaves_its_last_look_up_to_the_others_at_once(world: World) -> None:
    started: list[FakeLookUp] = []
    runner = runner_of(world, started)
    request_run(world.control, "songs")
    work_until_over(world, runner)
    runner.close()
    runner_of(world, started).step()
    assert [one.is_running for one in started] == [False, True]


def test_a_last_look_up_that_was_made_is_not_begun_again(world: World) -> None:
    started: list[FakeLookUp] = []
    runner = runner_of(world, started)
    request_run(world.control, "songs")
    work_until_over(world, runner)
    started[0].terminate()
    runner.step()
    world.clock.advance(LEASE_S + 1)
    runner_of(world, started).step()
    assert len(started) == 1


def test_a_run_that_ends_during_the_last_look_up_of_another_has_its_own(world: World) -> None:
    started: list[FakeLookUp] = []
    runner = runner_of(world, started)
    for _ in range(2):
        request_run(world.control, "songs")
        work_until_over(world, runner)
    assert len(started) == 1, "one at a time"
    started[0].terminate()
    runner.step()
    assert len(started) == 2


def test_the_look_up_of_a_removed_catalogue_is_not_begun(world: World) -> None:
    started: list[FakeLookUp] = []
    request_run(world.control, "songs")
    work_until_over(world, runner_of(world, started))
    catalogs.delete_with_tracks(world.control, "songs")
    world.clock.advance(LEASE_S + 1)
    runner_of(world, started).step()
    catalogs.change(world.control, "songs", {})
    runner_of(world, started).step()
    assert len(started) == 1


def test_a_run_that_ends_no_track_looks_up_what_an_interrupted_one_has_left() -> None:
    started: list[FakeLookUp] = []

    def start() -> FakeLookUp:
        started.append(FakeLookUp(is_running=False))
        return started[-1]

    look_ups = LookUps(start)
    for _ in range(3):
        look_ups.note(ended(0, is_over=True))
        look_ups.advance()
    assert len(started) == 1


def ended(count: int, *, is_over: bool = False) -> CatalogProgress:
    return CatalogProgress(
        states=count_states([], CatalogSettings(), NOW), due_count=0, jobs={},
        ended=(CatalogTrack(given=ImportedTrack(key="k", input="i"), position=0),) * count,
        spent=DaySpending(tracks=0, requests=0), stop="nothing_due" if is_over else None,
    )  # fmt: skip


def test_within_a_run_sounds_are_looked_up_when_the_number_of_tracks_has_doubled() -> None:
    started: list[FakeLookUp] = []

    def start() -> FakeLookUp:
        started.append(FakeLookUp(is_running=False))
        return started[-1]

    look_ups, when = LookUps(start), []
    for track in range(1, 8 * FIRST_AFTER + 1):
        before = len(started)
        look_ups.note(ended(1))
        look_ups.advance()
        if len(started) > before:
            when.append(track)
    assert when == [FIRST_AFTER, 2 * FIRST_AFTER, 4 * FIRST_AFTER, 8 * FIRST_AFTER]


def test_a_second_look_up_waits_for_the_first() -> None:
    started: list[FakeLookUp] = []

    def start() -> FakeLookUp:
        started.append(FakeLookUp())
        return started[-1]

    look_ups = LookUps(start)
    look_ups.note(ended(FIRST_AFTER))
    assert look_ups.advance()
    look_ups.note(ended(FIRST_AFTER, is_over=True))
    assert look_ups.advance()
    assert len(started) == 1
    started[0].terminate()
    assert look_ups.advance()
    assert len(started) == 2
    started[1].terminate()
    assert not look_ups.advance()
