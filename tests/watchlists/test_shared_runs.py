"""Runs of watchlists that another process holds, has not begun or takes over, and runs whose jobs
are deleted.
"""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.watchlists.run import LEASE_S, WatchlistRunner
from pipelines.watchlists.schedule import to_cron
from tests.watchlists.simulated_songs import (
    PLAN,
    TRACKS,
    Clock,
    FakeScanService,
    Songs,
    build_runner,
)
from warehouse.control import ControlStore, jobs, open_control, watchlists
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.records.watchlists import WatchlistRun

pytestmark = pytest.mark.full

OTHER = "another process"


class Recipient:
    """Notes the digests that it is sent."""

    def __init__(self) -> None:
        self.notified: list[str] = []

    def notify(self, digest: Any) -> None:
        self.notified.append(digest["run_id"])


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def control(tmp_path: Path, clock: Clock) -> Iterator[ControlStore]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=clock)) as control:
        watchlists.create(control, PLAN, to_cron(PLAN.every))
        yield control


@pytest.fixture
def scan_service(control: ControlStore, clock: Clock) -> FakeScanService:
    return FakeScanService(control, Songs(clock))


@pytest.fixture
def watcher(
    control: ControlStore, scan_service: FakeScanService, tmp_path: Path
) -> WatchlistRunner:
    return build_runner(control, scan_service, tmp_path / "digests")


def due_run(watcher: WatchlistRunner, clock: Clock) -> str:
    clock.now += timedelta(hours=6)
    (run_id,) = watcher.take_due()
    return run_id


def stored(control: ControlStore, run_id: str) -> WatchlistRun:
    found = watchlists.get_run(control, run_id)
    assert found is not None
    return found


def test_a_run_that_another_process_concludes_is_left_to_it(
    watcher: WatchlistRunner, control: ControlStore, clock: Clock
) -> None:
    run_id = due_run(watcher, clock)
    watcher.begin(run_id)
    assert watchlists.hold_run(control, run_id, OTHER, ttl_s=LEASE_S) is not None
    assert watcher.conclude(run_id) is None
    assert (stored(control, run_id).status, stored(control, run_id).digest) == ("waiting", None)
    assert watchlists.release_run(control, run_id, OTHER, status="waiting")


def test_a_run_that_has_not_begun_is_not_concluded_and_is_free_again(
    watcher: WatchlistRunner, control: ControlStore, clock: Clock
) -> None:
    run_id = due_run(watcher, clock)
    run = watcher.conclude(run_id)
    assert run is not None
    assert (run.status, run.digest) == ("due", None)
    assert [one.run_id for one in watcher.not_begun()] == [run_id]


def test_a_process_that_was_overtaken_while_it_compared_notifies_nobody(
    control: ControlStore, scan_service: FakeScanService, clock: Clock, tmp_path: Path
) -> None:
    recipient = Recipient()

    def overtaken(_job_id: str) -> dict[str, str | None]:
        if watchlists.hold_run(control, run_id, OTHER, ttl_s=LEASE_S) is None:
            clock.now += timedelta(seconds=LEASE_S)
            assert watchlists.hold_run(control, run_id, OTHER, ttl_s=LEASE_S) is not None
        return {}

    slow = build_runner(
        control, scan_service, tmp_path / "digests", notify=recipient.notify, gone_videos=overtaken
    )
    run_id = due_run(slow, clock)
    slow.begin(run_id)
    run = slow.conclude(run_id)
    assert run is not None
    assert (run.status, run.digest, run.ended_at) == ("waiting", None, None)
    assert recipient.notified == []
    assert watchlists.end_run(
        control, run_id, OTHER, status="completed", outcome="5 of 5", digest={}
    )


def test_a_job_that_was_deleted_fails_its_entry_alone(
    watcher: WatchlistRunner, control: ControlStore, clock: Clock
) -> None:
    run_id = due_run(watcher, clock)
    watcher.begin(run_id)
    first = watchlists.read_checks(control, run_id)[0]
    assert jobs.delete_ended(control, [str(first.job_id)]) == 1
    run = watcher.conclude(run_id)
    assert run is not None
    assert run.digest is not None
    assert (run.status, run.digest["completed_count"]) == ("completed", len(TRACKS) - 1)
    failed = run.digest["entries"][0]
    assert (failed["status"], failed["error"]["type"]) == ("failed", "job_not_found")


def test_a_job_without_its_result_is_a_failed_entry_and_the_run_ends(
    watcher: WatchlistRunner, scan_service: FakeScanService, clock: Clock
) -> None:
    run_id = due_run(watcher, clock)
    watcher.begin(run_id)
    scan_service.lose_result(scan_service.asked[0])
    run = watcher.conclude(run_id)
    assert run is not None
    assert run.digest is not None
    assert (run.status, run.digest["completed_count"]) == ("completed", len(TRACKS) - 1)
    (failed,) = (one for one in run.digest["entries"] if one["status"] == "failed")
    assert failed["error"]["type"] == "warehouse_unavailable"


def test_a_video_that_comes_back_is_reported_once(
    watcher: WatchlistRunner, scan_service: FakeScanService, clock: Clock
) -> None:
    reported = []
    hidden = (TRACKS[0], 4)
    for change in (set, scan_service.songs.hidden.add, scan_service.songs.hidden.discard):
        change(hidden)
        run_id = due_run(watcher, clock)
        watcher.begin(run_id)
        run = watcher.conclude(run_id)
        assert run is not None
        assert run.digest is not None
        changes = run.digest["entries"][0]["changes"]
        names = ("vanished_works", "new_works", "new_music_ids")
        reported.append({name: len(changes[name]) for name in names if changes[name]})
    assert reported == [{}, {"vanished_works": 1}, {}]


def test_a_store_that_cannot_be_used_fails_no_entry_and_the_run_is_tried_again(
    watcher: WatchlistRunner, control: ControlStore, scan_service: FakeScanService, clock: Clock
) -> None:
    ask, scan_service.ask = scan_service.ask, store_away  # type: ignore[method-assign]  # the lake restarts
    run_id = due_run(watcher, clock)
    with pytest.raises(WarehouseUnavailableError):
        watcher.begin(run_id)
    assert {check.status for check in watchlists.read_checks(control, run_id)} == {"due"}
    assert [one.run_id for one in watcher.not_begun()] == [run_id]
    scan_service.ask = ask  # type: ignore[method-assign]  # it is back
    watcher.begin(run_id)
    run = watcher.conclude(run_id)
    assert run is not None
    assert (run.status, run.digest and run.digest["failed_count"]) == ("completed", 0)


def store_away(*_args: Any, **_options: Any) -> Any:
    raise WarehouseUnavailableError("the lake cannot be reached", retry_after=5)
