"""The state of a running scan: its job, open captures, findings, progress and cancellation.

Findings are in memory because a scan is one run in one process; what must survive is appended to
the lake immediately. Not here: rules (`rules/`), reading and audio verification (the sibling
modules).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from pipelines.audio.features.sounds import SoundMeasurement
from pipelines.captures.search_walk import SearchWalk
from pipelines.captures.session import Captures
from pipelines.documents.result_types import StoredResult
from pipelines.parameters.scan import ScanParameters, scan_parameters
from pipelines.scan.rules.candidate_pool import Candidate, Sighting
from pipelines.scan.rules.discovery import DiscoveryParameters
from pipelines.scan.rules.expansion import ConfirmedVideo, VideoVariant
from pipelines.scan.rules.titles import title_to_match
from pipelines.scan.runtime import Runtime
from pipelines.scan.stopwatch import Stopwatch
from warehouse.records.coverage import SourceCoverage
from warehouse.records.errors import RunCancelledError
from warehouse.records.evidence import Comparison, ReferenceSource
from warehouse.records.jobs import DISCOVERY, KEYWORD_SEARCH, Job, keyword_subject
from warehouse.records.times import observed_now, to_utc_text
from warehouse.records.values import Row
from warehouse.records.videos import (
    Account,
    ServiceSong,
    Track,
    UnavailableVideo,
    Video,
    VideoDetail,
)

PROGRESS_EVERY_S = 0.5
CANCEL_POLL_S = 0.25
SONG_SURFACE = "service_track"


@dataclass(frozen=True, slots=True)
class MeasuredVideo:
    """A video with its measured sound, or with the reason why it cannot be compared."""

    video: Video
    sound: SoundMeasurement

    @property
    def source(self) -> ReferenceSource:
        """Where the sound comes from."""
        return "music_service" if self.video.surface == SONG_SURFACE else "platform"


@dataclass(slots=True)
class ScanFindings:
    """Everything a scan has found so far. `outcomes` has the result for each candidate."""

    track: Track | None = None
    song: ServiceSong | None = None
    songs_asked: set[str] = field(default_factory=set)
    sightings: list[Sighting] = field(default_factory=list)
    seen_ids: set[str] = field(default_factory=set)
    pool: dict[str, Candidate] = field(default_factory=dict)
    candidates: dict[str, Candidate] = field(default_factory=dict)
    details: dict[str, VideoDetail] = field(default_factory=dict)
    unavailable: dict[str, UnavailableVideo] = field(default_factory=dict)
    outcomes: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    confirmed: dict[str, ConfirmedVideo] = field(default_factory=dict)
    comparisons: list[Comparison] = field(default_factory=list)
    sound_rows: list[dict[str, object]] = field(default_factory=list)
    sound_hashes: dict[str, str] = field(default_factory=dict)
    sound_files: dict[str, Path] = field(default_factory=dict)
    cutting: list[asyncio.Task[None]] = field(default_factory=list)
    references: list[MeasuredVideo] = field(default_factory=list)
    has_altered_references: bool = False
    known_sounds: dict[str, Row] = field(default_factory=dict)
    variants: dict[str, VideoVariant] = field(default_factory=dict)
    variant_ids: dict[str, Comparison] = field(default_factory=dict)
    verified: dict[str, Comparison | None] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    screened: set[str] = field(default_factory=set)
    scanned_authors: set[str] = field(default_factory=set)
    search: SearchWalk | None = None
    search_union: dict[str, Sequence[str]] = field(default_factory=dict)
    scanned_hashtags: set[str] = field(default_factory=set)
    sounds_wanted: int = 0
    sounds_read: int = 0
    sound_refusals: Counter[str] = field(default_factory=Counter)
    profiles: dict[str, Account] = field(default_factory=dict)
    profiles_end: str = "completed"
    authors_left: tuple[str, ...] = ()
    rounds: list[tuple[tuple[str, ...], int]] = field(default_factory=list)
    coverage_report: list[SourceCoverage] = field(default_factory=list)
    not_reached: list[str] = field(default_factory=list)

    def videos(self) -> list[Video]:
        """Return every video whose detail page was read, in reading order."""
        return [detail.video for detail in self.details.values()]

    def silent_videos(self) -> set[str]:
        """Return the ids of photo posts with the platform's silent placeholder as sound."""
        return {name for name, detail in self.details.items() if detail.is_silent_placeholder}


class ScanRun:
    """A running scan. Use it as a context manager; it owns an event loop and the captures."""

    def __init__(
        self,
        runtime: Runtime,
        job: Job,
        *,
        music_id: str,
        clock: Callable[[], datetime] = observed_now,
    ) -> None:
        self.runtime = runtime
        self.job = job
        self.music_id = music_id
        self.clock = clock
        self.discovery = (
            DiscoveryParameters(**job.parameters)  # type: ignore[arg-type]  # validated on input
            if job.kind == DISCOVERY
            else DiscoveryParameters()
        )
        self.parameters: ScanParameters = (
            self.discovery.to_scan_parameters()
            if job.kind == DISCOVERY
            else scan_parameters(job.parameters)
        )
        self.findings = ScanFindings()
        self.result: StoredResult | None = None
        self.on_canceling: Callable[[], object] = lambda: None
        self.progress = job.progress
        self.stopwatch = Stopwatch()
        self.items_read = 0
        self._saved_at = self._looked_at = self._begun_at = time.monotonic()
        self._cancelled = False
        self._runner = asyncio.Runner()
        self._writer = ThreadPoolExecutor(max_workers=4)  # commits of different tables may overlap
        self._appends: list[Future[None]] = []
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        self.captures: Captures = self.run(
            self._stack.enter_async_context(
                self.runtime.captures(job_id=self.job.job_id, cancelled=self.is_cancelled)
            )
        )
        return self

    def __exit__(self, *_exc: object) -> None:
        try:
            self.run(self._stack.aclose())
        finally:
            self._runner.close()
            self._writer.shutdown()
            self.save_progress()

    def run[T](self, coroutine: Coroutine[object, object, T]) -> T:
        """Run a coroutine on this scan's event loop, so that all stages share one client."""
        return self._runner.run(coroutine)

    def music_of(self, video: Video) -> str:
        """Return the music id of a video, or the track's own if the video names none."""
        return video.music.music_id if video.music else self.music_id

    @property
    def keyword(self) -> str | None:
        """The song name of a search by name; None for the scan of a track."""
        return self.job.input if self.job.kind == KEYWORD_SEARCH else None

    @property
    def subject(self) -> str:
        """The subject of this job's rows: the music id, or the key of the keyword."""
        return self.music_id if self.keyword is None else keyword_subject(self.keyword)

    @property
    def song_title(self) -> str | None:
        """The title that texts are matched against; None if there is none.

        The title of a user sound names its uploader; the platform may name the song inside it.
        """
        track = self.findings.track
        if self.keyword or track is None:
            return self.keyword
        return title_to_match(track.title, track.mapped_title)

    @property
    def verifies_audio(self) -> bool:
        """Whether other music ids are verified by audio. A search by name has no reference."""
        return self.parameters.verify_audio and self.keyword is None

    @property
    def job_path(self) -> str:
        """The API path of this job."""
        return f"/api/v1/vidplat/app/v3/music_collection_jobs/{self.job.job_id}"

    def append_later(self, name: str, rows: list[dict[str, object]]) -> None:
        """Append to a table in the background; `finish_appends` waits and raises."""
        write = self.runtime.lake.append
        self._appends.append(self._writer.submit(write, name, rows, job_id=self.job.job_id))

    def finish_appends(self) -> None:
        """Wait for the background appends.

        Raises:
            WarehouseError: An append failed.
        """
        waiting, self._appends = self._appends, []
        for write in waiting:
            write.result()

    def append(self, noun: str, rows: list[dict[str, object]]) -> None:
        """Append rows to a mart in one background commit; without rows there is no commit."""
        if rows:
            self.append_later(f"marts.{noun}", rows)

    def is_cancelled(self) -> bool:
        """Whether cancellation was requested; polls the control store a few times a second."""
        now = time.monotonic()
        if not self._cancelled and now - self._looked_at >= CANCEL_POLL_S:
            self._looked_at = now
            self._cancelled = self.runtime.control.is_cancel_requested(self.job.job_id)
        return self._cancelled

    def check_cancelled(self) -> None:
        """Raise at a safe point if the job is cancelled.

        Raises:
            RunCancelledError: Cancellation was requested.
        """
        if self.is_cancelled():
            raise RunCancelledError(self.job.job_id)

    def report_canceling(self) -> None:
        """Notify the runner of this scan that it is about to end as cancelled."""
        self.on_canceling()

    def enter(self, stage: str) -> None:
        """Begin a stage: check for cancellation and save the progress immediately."""
        self.check_cancelled()
        self.progress = self.progress.at(stage)
        self.save_progress()

    def note_item(self, aweme_id: str) -> None:
        """One more work of the list that is read: a candidate, before the pool is filled."""
        self.items_read += aweme_id not in self.findings.seen_ids
        self.count()

    def count(self, *, audio_checked: int = 0) -> None:
        """Update the progress from the findings; save it at most twice a second."""
        found = self.findings
        self.progress = replace(
            self.progress,
            candidate_pool_count=len(found.pool) + self.items_read,
            confirmed_count=len(found.confirmed),
            detail_checked_count=len(found.details) + len(found.unavailable),
            account_profile_count=len(found.profiles),
            search_page_count=sum(term.pages for term in found.search.terms) if found.search else 0,
            audio_checked_count=self.progress.audio_checked_count + audio_checked,
            requests_used=self.captures.requests_used,
        )
        if time.monotonic() - self._saved_at >= PROGRESS_EVERY_S:
            self.save_progress()

    def save_progress(self) -> None:
        """Save the progress now."""
        self._saved_at = time.monotonic()
        self.progress = replace(
            self.progress, eta_s=self._eta_s(), updated_at=to_utc_text(datetime.now(UTC))
        )
        self.runtime.control.save_progress(self.job.job_id, self.progress)

    def _eta_s(self) -> float | None:
        """Estimate the remaining seconds from the remaining details and sounds at the pace so far.

        None before the first item is done, and once only the result remains to be written.
        """
        now, found = self.progress, self.findings
        done = now.detail_checked_count + now.audio_checked_count
        sounds = max(found.sounds_wanted, now.audio_checked_count)
        wanted = max(self.parameters.candidate_limit, now.detail_checked_count) + sounds
        if done == 0 or now.stage_index >= now.stage_count - 2:
            return None
        spent = time.monotonic() - self._begun_at
        return round(spent * (wanted - done) / done, 1)
