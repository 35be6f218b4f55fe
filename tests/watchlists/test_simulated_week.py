"""A week of a watchlist with five tracks, by a clock that is moved: every due time once, and each
digest names exactly what changed.
"""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.watchlists.changes import WatchObservation
from pipelines.watchlists.run import LEASE_S, WatchlistRunner
from pipelines.watchlists.schedule import to_cron
from tests.watchlists.simulated_songs import (
    MONDAY,
    PLAN,
    TRACKS,
    Clock,
    FakeScanService,
    Songs,
    build_runner,
)
from warehouse.control import ControlStore, jobs, open_control, watchlists
from warehouse.control.jobs import NewJob
from warehouse.records.errors import UnreachableError, WarehouseUnavailableError
from warehouse.records.jobs import PRIORITY_INTERACTIVE
from warehouse.records.watchlists import WatchlistEntry, WatchlistRun

HOUR = timedelta(hours=1)


@dataclass
class Week:
    clock: Clock
    control: ControlStore
    songs: Songs
    scan_service: FakeScanService
    watcher: WatchlistRunner
    folder: Path

    def pass_time(self, step: timedelta) -> list[WatchlistRun]:
        self.clock.now += step
        return self.watcher.advance()

    def digests(self) -> list[dict[str, Any]]:
        """Oldest first."""
        runs = watchlists.newest_runs(self.control, PLAN.name, limit=999)
        return [run.digest for run in reversed(runs) if run.digest is not None]


@pytest.fixture
def week(tmp_path: Path) -> Iterator[Week]:
    clock = Clock()
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox", clock=clock)) as control:
        watchlists.create(control, PLAN, to_cron(PLAN.every))
        songs = Songs(clock)
        scan_service = FakeScanService(control, songs)
        folder = tmp_path / "digests"
        yield Week(
            clock, control, songs, scan_service, build_runner(control, scan_service, folder), folder
        )


def named(digest: dict[str, Any]) -> dict[str, dict[str, list[Any]]]:
    """By track: what its digest names, without what is empty."""
    lists = {
        "fast_works": "aweme_id", "rank_changes": "aweme_id", "new_music_ids": "music_id",
        "new_works": "aweme_id", "vanished_works": "aweme_id",
    }  # fmt: skip
    found = {}
    for entry in digest["entries"]:
        reported = {
            name: [one[key] for one in entry["changes"][name]] for name, key in lists.items()
        }
        shown = {name: ids for name, ids in reported.items() if ids}
        if shown:
            found[entry["input"]] = shown
    return found


def test_every_due_time_of_a_week_is_scanned_once_and_digests_name_what_changed(
    week: Week,
) -> None:
    first, second, third, fourth, fifth = TRACKS
    events = {  # hours after Monday, midnight -> what happens in the world just before
        30: lambda: week.songs.daily.update({(first, 2): 1200}),
        54: lambda: week.songs.works.update({second: [1, 2, 3, 4, 5, 6]}),
        78: lambda: week.songs.hidden.add((third, 4)),
        102: lambda: week.songs.boosts.update({(fourth, 5): 60_000}),
    }
    for hour in range(1, 7 * 24 + 1):
        events.get(hour, lambda: None)()
        week.pass_time(HOUR)

    runs = watchlists.newest_runs(week.control, PLAN.name, limit=999)
    due = sorted(run.due_at for run in runs)
    assert due == [MONDAY + 6 * HOUR * number for number in range(1, 29)]
    assert {run.status for run in runs} == {"completed"}
    assert len(week.scan_service.asked) == len(set(week.scan_service.asked)) == 28 * 5
    kept = [
        look
        for run in runs
        for look in watchlists.read_checks(week.control, run.run_id)
        if look.observation
    ]
    assert {look.run_id for look in kept} == {runs[0].run_id}
    scanned = Counter(job.input for job in jobs.newest(week.control, limit=999))
    assert scanned == dict.fromkeys(TRACKS, 28)

    reported = {digest["due_at"]: named(digest) for digest in week.digests()}
    fast = {first: {"fast_works": [f"{first}02"]}}
    eventful = {moment: what for moment, what in reported.items() if what and what != fast}
    assert eventful == {
        "2026-03-04T06:00:00Z": fast | {
            second: {"new_music_ids": [f"{second}96"], "new_works": [f"{second}06"]}
        },
        "2026-03-05T06:00:00Z": fast | {third: {"vanished_works": [f"{third}04"]}},
        "2026-03-06T06:00:00Z": fast | {
            fourth: {"fast_works": [f"{fourth}05"], "rank_changes": [f"{fourth}05"]}
        },
    }  # fmt: skip
    assert [moment for moment, what in reported.items() if not what] == [
        "2026-03-02T06:00:00Z", "2026-03-02T12:00:00Z", "2026-03-02T18:00:00Z",
        "2026-03-03T00:00:00Z",
    ]  # fmt: skip
    assert fifth not in {music_id for what in reported.values() for music_id in what}


def test_growth_is_what_the_world_did(week: Week) -> None:
    week.songs.daily[TRACKS[0], 1] = 2400
    for _ in range(2):
        week.pass_time(6 * HOUR)
    (entry, *_) = week.digests()[1]["entries"]
    (fast,) = entry["changes"]["fast_works"]
    assert (fast["aweme_id"], fast["velocity"]) == (f"{TRACKS[0]}01", 2400.0)
    likes = {count["name"]: count for count in fast["counts"]}["digg_count"]
    assert (likes["before"], likes["after"], likes["change"]) == (90_600, 91_200, 600)


def test_the_first_digest_says_that_it_is_the_first_and_lies_in_two_files(week: Week) -> None:
    (run,) = week.pass_time(6 * HOUR)
    assert run.digest is not None
    assert {entry["changes"]["since"] for entry in run.digest["entries"]} == {None}
    assert run.digest["change_count"] == 0
    written = json.loads((week.folder / run.digest["files"]["json"]).read_text())
    assert written == {name: value for name, value in run.digest.items() if name != "files"}
    assert "演示数据" in (week.folder / run.digest["files"]["html"]).read_text()
    assert sorted(path.suffix for path in week.folder.rglob("*") if path.is_file()) == [
        ".html",
        ".json",
    ]


def test_times_that_passed_while_nothing_ran_are_counted_not_made_up_for(week: Week) -> None:
    (run,) = week.pass_time(31 * HOUR)
    assert (run.due_at, run.missed_count) == (MONDAY + 30 * HOUR, 4)
    assert len(week.scan_service.asked) == 5


def test_a_run_waits_for_its_scans_and_the_next_one_is_skipped_meanwhile(week: Week) -> None:
    week.scan_service.is_slow = True
    assert week.pass_time(6 * HOUR) == []
    assert week.pass_time(6 * HOUR) == []
    week.scan_service.work()
    (run,) = week.pass_time(HOUR)
    assert run.due_at == MONDAY + 6 * HOUR
    statuses = [one.status for one in watchlists.newest_runs(week.control, PLAN.name, limit=9)]
    assert statuses == ["skipped", "completed"]
    assert len(week.scan_service.asked) == 5


def test_a_track_that_fails_does_not_hide_the_others(week: Week) -> None:
    week.scan_service.failing.add(TRACKS[1])
    (run,) = week.pass_time(6 * HOUR)
    assert run.digest is not None
    assert (run.status, run.digest["completed_count"], run.digest["failed_count"]) == (
        "completed", 4, 1,
    )  # fmt: skip
    failed = run.digest["entries"][1]
    assert (failed["status"], failed["error"]["type"], failed["changes"]) == (
        "failed", "upstream_empty", None,
    )  # fmt: skip
    week.scan_service.failing = set(TRACKS)
    (run,) = week.pass_time(6 * HOUR)
    assert run.status == "failed"
    week.scan_service.failing = set()
    (run,) = week.pass_time(6 * HOUR)
    assert run.digest is not None
    since = [entry["changes"]["since"] for entry in run.digest["entries"]]
    assert since == ["2026-03-02T06:00:00Z", None, *["2026-03-02T06:00:00Z"] * 3]


def test_scans_of_schedules_wait_behind_those_of_people(week: Week) -> None:
    week.scan_service.is_slow = True
    week.pass_time(6 * HOUR)
    people = NewJob(
        kind="scan", input="x", target="x", music_id=None, parameters={}, fingerprint="x",
        scan_key=None, origin="api", priority=PRIORITY_INTERACTIVE,
    )  # fmt: skip
    jobs.create_or_join(week.control, people)
    joined, is_new = jobs.create_or_join(week.control, replace(people, fingerprint=TRACKS[3]))
    assert (is_new, joined.priority) == (False, PRIORITY_INTERACTIVE)
    claimed = [jobs.claim(week.control, "worker") for _ in range(3)]
    inputs = [job.input for job in claimed if job is not None]
    assert (set(inputs[:2]), inputs[2] in TRACKS) == ({TRACKS[3], "x"}, True)


def test_a_process_that_dies_half_way_leaves_the_rest_to_the_next(
    week: Week, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def die(*_args: object, **_options: object) -> None:
        if len(asked) == 2:
            raise WarehouseUnavailableError("the disk went away")
        asked.append("one")

    ask = week.scan_service.ask

    def ask_or_die(*args: Any, **options: Any) -> Any:
        die()
        return ask(*args, **options)

    week.scan_service.ask = ask_or_die  # type: ignore[method-assign]  # the store behind the service fails
    with monkeypatch.context() as patched:
        patched.setattr(watchlists, "save_check", die_on_save())
        with pytest.raises(WarehouseUnavailableError):
            week.pass_time(6 * HOUR)
    week.scan_service.ask = ask  # type: ignore[method-assign]  # as above
    (run,) = week.pass_time(timedelta(seconds=1))
    assert (run.status, run.due_at) == ("completed", MONDAY + 6 * HOUR)
    assert len(set(week.scan_service.asked)) == len(jobs.newest(week.control, limit=99)) == 5


def die_on_save() -> Any:
    """The second answer cannot be kept: the job was handed in, and nobody knows."""
    save, times = watchlists.save_check, iter(range(99))

    def dying(control: ControlStore, look: Any) -> None:
        if next(times) == 1:
            raise WarehouseUnavailableError("the disk went away")
        save(control, look)

    return dying


def test_a_run_held_by_a_dead_process_is_taken_up_when_its_hold_has_run_out(week: Week) -> None:
    week.clock.now += 6 * HOUR
    (run_id,) = week.watcher.take_due()
    watchlists.hold_run(week.control, run_id, "a process that died", ttl_s=LEASE_S)
    assert week.pass_time(timedelta(seconds=1)) == []
    (run,) = week.pass_time(timedelta(seconds=LEASE_S))
    assert (run.run_id, run.status, run.tries) == (run_id, "completed", 3)


def test_accounts_and_hashtags_are_looked_at_and_refusals_are_told(
    week: Week, tmp_path: Path
) -> None:
    followers = iter((1000, 1600))

    def look(entry: WatchlistEntry) -> WatchObservation:
        if entry.kind == "hashtag":
            raise UnreachableError("nobody answers", surface="hashtag_info")
        return WatchObservation(
            kind="account", subject="MS4wA", observed_at=week.clock.now, title="阿明",
            figures={"follower_count": next(followers), "aweme_count": None},
        )  # fmt: skip

    plan = replace(
        PLAN,
        name="people",
        entries=(
            WatchlistEntry(kind="account", input="@amin"),
            WatchlistEntry(kind="hashtag", input="123456"),
        ),
    )
    watchlists.delete_with_runs(week.control, PLAN.name)
    watchlists.create(week.control, plan, to_cron(plan.every))
    week.watcher = build_runner(week.control, week.scan_service, tmp_path / "digests", observe=look)
    for _ in range(2):
        (run,) = week.pass_time(6 * HOUR)
    assert run.digest is not None
    person, hashtag = run.digest["entries"]
    followed, unknown = person["changes"]["figures"]
    assert (followed["change"], followed["per_day"]) == (600, 2400.0)
    assert (unknown["change"], unknown["per_day"]) == (None, None)
    assert hashtag["error"]["upstream"]["surface"] == "hashtag_info"
    assert week.scan_service.asked == []


def test_digest_notification_is_sent_once_and_its_outcome_stored(
    week: Week, tmp_path: Path
) -> None:
    heard: list[str] = []

    class Teller:
        def notify(self, digest: Any) -> dict[str, Any]:
            heard.append(digest["run_id"])
            return {"host": "hooks.example", "status": 500, "error": "refused"}

    week.watcher = build_runner(
        week.control, week.scan_service, tmp_path / "digests", notify=Teller().notify
    )
    (run,) = week.pass_time(6 * HOUR)
    week.pass_time(HOUR)
    assert heard == [run.run_id]
    kept = watchlists.get_run(week.control, run.run_id)
    assert kept is not None
    assert kept.told == {"host": "hooks.example", "status": 500, "error": "refused"}
    assert kept.ended_at == datetime(2026, 3, 2, 6, tzinfo=UTC)
