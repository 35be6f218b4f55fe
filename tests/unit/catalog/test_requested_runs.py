"""Runs of catalogues that somebody requested, made by workers."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pipelines.catalog.background import CatalogRunner
from pipelines.catalog.run import LEASE_S, cancel_run
from pipelines.catalog.run_requests import is_run_requested, request_run
from tests.unit.catalog.test_catalog_runs import TTL, World, build_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = build_world(tmp_path)
    with closing(made.control):
        yield made


def runner_of(world: World) -> CatalogRunner:
    return CatalogRunner(world.control, world.scans, result_ttl=TTL, clock=world.clock.now)


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
    world.control.delete_catalog("songs")
    runner.step()
    assert not is_run_requested(world.control, "songs")
