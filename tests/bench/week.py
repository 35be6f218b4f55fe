"""A week of a watchlist with real scans: the stand-in platform's clock is moved, a driver gives
each due time in turn.

`python -m tests.bench.week [--days 7] [--tracks 5] [--size 0.1] [--every "every 12 hours"]`.
Checked: every due time is a run once though two watchers look, every track is scanned once in each,
a world that stands still gives no digest that names a change, and a work that one scan is refused
is missing in that digest and new in the next. Works of the stand-in platform do not grow: growth
series need a driver of their own.
"""

import argparse
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from rich.console import Console

from pipelines.domain.jobs import PRIORITY_SCHEDULES
from pipelines.domain.watching import RUN_ENDED, Entry, Plan, WatchRun, to_cron
from pipelines.open_desk import build_desk
from pipelines.settings import Settings
from pipelines.upstream.providers import choose_profile
from pipelines.watches.calendar import CronCalendar
from pipelines.watches.digest import DigestFolder
from pipelines.watches.telling import Nobody
from pipelines.watches.watcher import Watcher
from tests.stage import Stage, open_stage, wait_for
from warehouse.control import open_control

NAME = "week"
HOUR_S = 3600
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
console = Console(width=130)

type Figure = tuple[str, str, str]


class Clock:
    """The time of the watchlists; jobs, leases and hosts keep the machine's own."""

    now = MONDAY

    def __call__(self) -> float:
        return self.now.timestamp()

    def moment(self) -> datetime:
        return self.now


def measure_week(
    root: Path, cache: Path, *, days: int, tracks: int, size: float, every: str
) -> list[Figure]:
    """Run the week; what was found, beside what it should be."""
    root.mkdir(parents=True, exist_ok=True)
    clock, began = Clock(), time.monotonic()
    with open_stage(root, cache) as stage, ExitStack() as stack:
        stage.start_platform(seed=7, size=size)
        stage.start_worker()
        ids = [one["music_id"] for one in stage.world("/_world/tracks")["tracks"][:tracks]]
        watchers = [_open_watcher(stage, stack, clock) for _ in range(2)]
        plan = Plan(
            name=NAME,
            every=every,
            entries=tuple(Entry(kind="track", input=music_id) for music_id in ids),
            parameters={"candidate_limit": 30, "count": 10, "search_enabled": False},
        )
        watchers[0].control.create_watchlist(plan, to_cron(every))
        hidden = _pass_days(stage, watchers, clock, days=days)
        runs = list(reversed(watchers[0].control.watch_runs(NAME, limit=9999)))
        jobs = stage.control.jobs(limit=9999)
    return [
        ("due times / runs / distinct", _counts(runs, days=days, every=every), "equal"),
        (
            "scans of each track",
            str(sorted(Counter(job.input for job in jobs).values())),
            f"{len(runs)} each",
        ),
        ("priority of all scans", str({job.priority for job in jobs}), f"{{{PRIORITY_SCHEDULES}}}"),
        ("changes by digest", str([_changes(run) for run in runs]), f"0 but at {hidden}"),
        ("seconds per run", f"{(time.monotonic() - began) / max(len(runs), 1):.1f} s", "stated"),
    ]


def _open_watcher(stage: Stage, stack: ExitStack, clock: Clock) -> Watcher:
    """Rows of watchlists by the moved clock; all else over the stage's own stores."""
    settings = Settings(
        _env_file=None,
        profile="sandbox",
        data_home=stage.root / "home",
        sandbox_port=stage.port,
    )
    moved = stack.enter_context(
        closing(open_control(stage.home.control_url, world="sandbox", clock=clock))
    )
    profile = choose_profile(settings)
    return Watcher(
        control=moved,
        desk=build_desk(settings, profile, control=stage.control, engine=stage.engine),
        look=_look_at_nothing,
        gone_works=lambda _job_id: {},
        calendar=CronCalendar(),
        digests=DigestFolder(stage.home.digests_dir),
        teller=Nobody(),
        is_demo=True,
        clock=clock.moment,
    )


def _look_at_nothing(entry: Entry) -> Any:
    raise AssertionError(f"{entry} is no track")


def _pass_days(stage: Stage, watchers: list[Watcher], clock: Clock, *, days: int) -> str:
    """Hour by hour; both watchers look, the runs of an hour end before the next begins."""
    hidden, hide_at = "", MONDAY + timedelta(days=days / 2)
    for _ in range(days * 24):
        clock.now += timedelta(seconds=HOUR_S)
        move = {"advance_s": HOUR_S}
        url = f"http://127.0.0.1:{stage.port}/_world/"
        httpx2.post(f"{url}clock", json=move).raise_for_status()
        if not hidden and clock.now >= hide_at:
            hidden = _hide_one(stage, watchers[0])
        before = _open(watchers[0])
        for watcher in watchers:
            watcher.advance()
        if _open(watchers[0]) or before:
            wait_for(lambda: not _advanced(watchers))
            if hidden:
                httpx2.delete(f"{url}faults").raise_for_status()
    return hidden or "nowhere"


def _hide_one(stage: Stage, watcher: Watcher) -> str:
    """The platform refuses one confirmed work until the next run is over; its id."""
    run = next(run for run in watcher.control.watch_runs(NAME, limit=1))
    seen = watcher.control.looks(run.run_id)[0].observation or {}
    aweme_id: str = seen["works"][0]["aweme_id"]
    stage.fault(surface="video_page", kind="gone", entity=aweme_id, times=0)
    return aweme_id


def _advanced(watchers: list[Watcher]) -> bool:
    """True while a run is open."""
    for watcher in watchers:
        watcher.advance()
    return _open(watchers[0])


def _open(watcher: Watcher) -> bool:
    runs = watcher.control.watch_runs(NAME, limit=1)
    return bool(runs) and runs[0].status not in RUN_ENDED


def _changes(run: WatchRun) -> int | str:
    return run.status if run.digest is None else int(run.digest["change_count"])


def _counts(runs: list[WatchRun], *, days: int, every: str) -> str:
    calendar, moment, due = CronCalendar(), MONDAY, 0
    while (following := calendar.following(to_cron(every), moment)) is not None:
        if following > MONDAY + timedelta(days=days):
            break
        moment, due = following, due + 1
    return f"{due} / {len(runs)} / {len({run.due_at for run in runs})}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--tracks", type=int, default=5)
    parser.add_argument("--size", type=float, default=0.1)
    parser.add_argument("--every", default="every 12 hours")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for figure in measure_week(root / "stage", root / "sounds", **vars(options)):
            console.print(*figure, sep="   ")


if __name__ == "__main__":
    main()
