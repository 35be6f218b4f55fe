"""A simulated platform for tests of watchlists: tracks, a clock, a service that scans at once."""

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipelines.documents.videos import to_time
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.service.service import ScanJob
from pipelines.watchlists.changes import WatchObservation
from pipelines.watchlists.run import WatchlistRunner
from tests.stored_results import work
from warehouse.control import ControlStore, jobs
from warehouse.control.jobs import NewJob
from warehouse.records.errors import JobNotFoundError, JobResultMissingError
from warehouse.records.jobs import PRIORITY_SCHEDULED, Origin
from warehouse.records.watchlists import WatchlistEntry, WatchlistPlan

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
TRACKS = tuple(f"730000000000000000{number}" for number in range(1, 6))
PLAN = WatchlistPlan(
    name="five-songs",
    every="every 6 hours",
    entries=tuple(WatchlistEntry(kind="track", input=music_id) for music_id in TRACKS),
    parameters={"count": 10},
)


@dataclass
class Clock:
    now: datetime = MONDAY

    def __call__(self) -> float:
        return self.now.timestamp()

    def moment(self) -> datetime:
        return self.now


@dataclass
class Songs:
    """What each track looks like at a moment. Likes grow by `daily` a day, 100 unless told."""

    clock: Clock
    daily: dict[tuple[str, int], int] = field(default_factory=dict)
    boosts: dict[tuple[str, int], int] = field(default_factory=dict)
    hidden: set[tuple[str, int]] = field(default_factory=set)
    works: dict[str, list[int]] = field(default_factory=dict)

    def result(self, music_id: str) -> Any:
        """The stored result of a scan that ends now."""
        numbers = self.works.get(music_id, [1, 2, 3, 4, 5])
        ranked = [self._work(music_id, n) for n in numbers if (music_id, n) not in self.hidden]
        return {
            "music_id": music_id,
            "music": {"title": f"Song {music_id[-1]}"},
            "ranked": ranked,
            "unique_account_count": len(ranked),
            "account_summary": {"accounts": []},
            "created_at": to_time(self.clock.now),
        }

    def _work(self, music_id: str, number: int) -> Any:
        document = deepcopy(work(number))
        heard = document["link_type"] != "exact_music_id"
        document |= {
            "aweme_id": f"{music_id}{number:02}",
            "desc": f"Work {number}",
            "observed_at": to_time(self.clock.now),
            "source_music_id": f"{music_id}9{number}" if heard else music_id,
        }
        days = (self.clock.now - MONDAY) / timedelta(days=1)
        likes = 100_000 - 10_000 * number + int(days * self.daily.get((music_id, number), 100))
        document["statistics"] = {
            "digg_count": likes + self.boosts.get((music_id, number), 0),
            "comment_count": 0, "collect_count": 0, "share_count": 0,
        }  # fmt: skip
        return document


@dataclass
class FakeScanService:
    """Scans are done when they are handed in, unless they are held back or fail."""

    control: ControlStore
    songs: Songs
    asked: list[str] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    is_slow: bool = False
    _results: dict[str, Any] = field(default_factory=dict)

    def ask(
        self, text: str, parameters: ScanParameters, *, origin: Origin, job_id: str | None = None
    ) -> ScanJob:
        assert parameters.refresh
        new = NewJob(
            kind="scan", input=text, target=text, music_id=text,
            parameters=parameters.to_document(), fingerprint=text, scan_key=None, origin=origin,
            priority=PRIORITY_SCHEDULED, job_id=job_id,
        )  # fmt: skip
        job, _ = jobs.create_or_join(self.control, new)
        self.asked.append(job.job_id)
        if not self.is_slow:
            self.work()
        return ScanJob(job)

    def work(self) -> None:
        """What a worker does."""
        while (job := jobs.claim(self.control, "worker")) is not None:
            if job.input in self.failing:
                error: dict[str, object] = {
                    "type": "upstream_empty",
                    "detail": "nothing came",
                    "hint": None,
                }
                jobs.finish(self.control, job.job_id, "failed", error=error)
                continue
            self._results[job.job_id] = self.songs.result(job.input)
            jobs.finish(self.control, job.job_id, "completed")

    def job(self, job_id: str) -> ScanJob:
        job = jobs.get(self.control, job_id)
        if job is None:
            raise JobNotFoundError("No job has this id, or its retention is over")
        if job.status == "completed" and job_id not in self._results:
            raise JobResultMissingError("The result of this job cannot be read")
        return ScanJob(job, self._results.get(job_id))

    def lose_result(self, job_id: str) -> None:
        """The lake was restored from a time before the scan."""
        del self._results[job_id]


def look_at_nothing(entry: WatchlistEntry) -> WatchObservation:
    raise AssertionError(f"{entry} is no track")


def build_runner(
    control: ControlStore, fake_scans: FakeScanService, folder: Path, **parts: Any
) -> WatchlistRunner:
    """A watcher over the invented world."""
    given: dict[str, Any] = {"observe": look_at_nothing, "gone_videos": lambda _job_id: {}}
    return WatchlistRunner(
        control=control,
        scan_service=fake_scans,
        digests=folder,
        is_demo=True,
        clock=fake_scans.songs.clock.moment,
        **{**given, **parts},
    )
