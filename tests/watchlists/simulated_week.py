"""A week of a watchlist in minutes: the stand-in platform's clock is moved to each due time, two
watchers look, a real worker scans, and what the platform knows is noted beside each run.

For the bench and its small version among the tests. Not here: what is expected (`week_truth`).
"""

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2

from pipelines.platform.providers import choose_profile
from pipelines.scan.service.open_service import build_scan_service
from pipelines.settings import Settings
from pipelines.watchlists.run import WatchlistRunner
from pipelines.watchlists.schedule import next_time, to_cron
from tests.deployment import Deployment, wait_for
from warehouse.control import open_control, watchlists
from warehouse.queries.results import read_candidates
from warehouse.records.watchlists import (
    ENDED_RUN_STATUSES,
    DigestThresholds,
    WatchlistEntry,
    WatchlistPlan,
    WatchlistRun,
)

NAME = "week"
PATIENCE_S = 1800.0
"""For one run: the first one also waits for the sounds of all its tracks to be rendered."""
Truth = dict[str, dict[str, Any]]
"""What is true about each work of a track, by its id."""


@dataclass
class Clock:
    """The machine's time, moved as the platform's is. Of watchlists alone: jobs, leases and hosts
    keep the machine's own.
    """

    moved_s: int = 0

    def __call__(self) -> float:
        return self.moment().timestamp()

    def moment(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.moved_s)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One due time: how far the platform had moved on, and what was true then, by track."""

    due_at: datetime
    passed_s: int
    truth: dict[str, Truth]


@dataclass
class Week:
    """The driver. `steps` grow as it goes."""

    deployment: Deployment
    stack: ExitStack
    every: str = "every 12 hours"
    thresholds: DigestThresholds = field(default_factory=DigestThresholds)
    clock: Clock = field(default_factory=Clock)
    steps: list[Step] = field(default_factory=list)

    def begin(self, *, tracks: int, candidate_limit: int = 300) -> None:
        """Keep the watchlist; from now on it falls due."""
        reported = self.deployment.world(f"/_world/tracks?limit={tracks}")["tracks"]
        self.tracks = [one["music_id"] for one in reported]
        self.watchers = [self._open_watcher() for _ in range(2)]
        plan = WatchlistPlan(
            name=NAME,
            every=self.every,
            entries=tuple(WatchlistEntry(kind="track", input=music_id) for music_id in self.tracks),
            thresholds=self.thresholds,
            parameters={
                "candidate_limit": candidate_limit, "count": 15, "search_enabled": False,
            },
        )  # fmt: skip
        self.began_at = self.clock.moment()
        watchlists.create(self.watchers[0].control, plan, to_cron(self.every))

    def go_on(self, *, days: float, disturb: Callable[[int], bool] = lambda _: False) -> None:
        """Pass so many days. `disturb(step)`: called until it says True, after each hand-in."""
        until = self.began_at + timedelta(days=days)
        while (due := self._following()) is not None and due <= until:
            half = (due - self.clock.moment()) / 2
            self._move(int(half.total_seconds()))
            assert not self._look()
            self._move(int((due - self.clock.moment()).total_seconds()) + 1)
            self.steps.append(
                Step(due_at=due, passed_s=self.clock.moved_s, truth=self._truth_of_all())
            )
            self._run(lambda: disturb(len(self.steps) - 1))

    def runs(self) -> list[WatchlistRun]:
        """All runs, oldest first."""
        return list(reversed(watchlists.newest_runs(self.watchers[0].control, NAME, limit=9999)))

    def due_times(self, *, days: float) -> list[datetime]:
        """What the calendar says should have been run."""
        moment, found = self.began_at, []
        while (following := next_time(to_cron(self.every), moment)) is not None:
            if following > self.began_at + timedelta(days=days):
                break
            moment = following
            found.append(moment)
        return found

    def _run(self, disturb: Callable[[], bool]) -> None:
        """Everybody looks until the run is over."""
        assert self._look()
        is_quiet = False

        def is_over() -> bool:
            nonlocal is_quiet
            is_quiet = is_quiet or disturb()
            return not self._look()

        wait_for(is_over, max_wait_s=PATIENCE_S)

    def _look(self) -> bool:
        """Both watchers look; True while a run is open."""
        for watcher in self.watchers:
            watcher.advance()
        runs = watchlists.newest_runs(self.watchers[0].control, NAME, limit=1)
        return bool(runs) and runs[0].status not in ENDED_RUN_STATUSES

    def _following(self) -> datetime | None:
        return next_time(to_cron(self.every), self.clock.moment())

    def _move(self, seconds: int) -> None:
        """Move the platform and the watchlists on together."""
        url = f"http://127.0.0.1:{self.deployment.port}/_world/clock"
        reported = (
            httpx2.post(url, json={"advance_s": seconds}, timeout=60).raise_for_status().json()
        )
        self.clock.moved_s = int(reported["offset_s"])

    def _truth_of_all(self) -> dict[str, Truth]:
        return {music_id: self._truth(music_id) for music_id in self.tracks}

    def _truth(self, music_id: str) -> Truth:
        works = self.deployment.world(f"/_world/truth/{music_id}")["works"]
        return {work["aweme_id"]: work for work in works}

    def _open_watcher(self) -> WatchlistRunner:
        """Rows of watchlists by the moved clock; all else over the stage's own stores."""
        deployment = self.deployment
        settings = Settings(
            _env_file=None,
            profile="sandbox",
            data_home=deployment.root / "home",
            sandbox_port=deployment.port,
        )
        moved = self.stack.enter_context(
            closing(open_control(deployment.home.control_url, world="sandbox", clock=self.clock))
        )
        return WatchlistRunner(
            control=moved,
            scan_service=build_scan_service(
                settings,
                choose_profile(settings),
                deployment.home,
                control=deployment.control,
                open_engine=lambda: deployment.engine,
            ),
            observe=_look_at_nothing,
            gone_videos=self._gone_videos,
            digests=deployment.home.digests_dir,
            is_demo=True,
            clock=self.clock.moment,
        )

    def _gone_videos(self, job_id: str) -> dict[str, str | None]:
        rows = read_candidates(self.deployment.engine, job_id)
        return {row["aweme_id"]: row["reason"] for row in rows if row["outcome"] == "unavailable"}


def _look_at_nothing(entry: WatchlistEntry) -> Any:
    raise AssertionError(f"{entry} is no track")
