"""A run of a scan: its job, open captures, state, checkpoints, progress, times and cancellation.

What must survive this process is in `state`, which a checkpoint stores after each step and each
round. Not here: rules (`rules/`), reading and audio verification (the sibling modules).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from contextvars import copy_context
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, Self

import structlog

from pipelines.captures.journal import ScanJournal
from pipelines.captures.session import Captures
from pipelines.documents.result_types import ScanPreview, StoredResult
from pipelines.parameters.scan import ScanParameters, scan_parameters
from pipelines.platform.call_trace import watch_pauses
from pipelines.scan.rules.discovery import discovery_parameters
from pipelines.scan.rules.remaining_time import remaining_time
from pipelines.scan.rules.search import title_to_match
from pipelines.scan.runtime import Runtime
from pipelines.scan.state import scan_state
from pipelines.scan.state.preview import PreviewWriter, preview_document
from warehouse.control import jobs, scan_journal
from warehouse.records import jobs as job_records
from warehouse.records.errors import RunCancelledError
from warehouse.records.times import observed_now, to_utc_text
from warehouse.records.videos import Video

log = structlog.get_logger("scan")
PROGRESS_EVERY_S = 0.5
CANCEL_POLL_S = 0.25

type WaitKind = Literal["upstream", "audio"]


class Stopwatch:
    """Wall-clock seconds of a scan: waiting for upstream, audio verification, own work.

    Waits overlap; time counts as own work only while nothing is in flight. Needs no lock: a scan
    has one event loop.
    """

    def __init__(self) -> None:
        self._started_at = time.monotonic()
        self._earlier: Mapping[str, float] = {}
        # None stands for a wait of any kind.
        self._in_flight: Counter[WaitKind | None] = Counter()
        self._since: dict[WaitKind | None, float] = {}
        self._spent: dict[WaitKind | None, float] = {"upstream": 0.0, "audio": 0.0, None: 0.0}

    @contextmanager
    def waiting(self, kind: WaitKind) -> Iterator[None]:
        """Count the time of this block as `kind`."""
        self._count(kind, +1)
        try:
            yield
        finally:
            self._count(kind, -1)

    def _count(self, kind: WaitKind, step: int) -> None:
        """Add a wait that begins (1) or ends (-1); time is counted from the first to the last."""
        now = time.monotonic()
        for key in (kind, None):
            before = self._in_flight[key]
            self._in_flight[key] += step
            if before == 0:
                self._since[key] = now
            elif self._in_flight[key] == 0:
                self._spent[key] += now - self._since.pop(key)

    def seconds(self) -> dict[str, float]:
        """Return the seconds with upstream in flight, with audio in flight, own and in total."""
        total = time.monotonic() - self._started_at
        times = {
            "upstream_s": self._spent["upstream"],
            "listening_s": self._spent["audio"],
            "own_s": max(0.0, total - self._spent[None]),
            "total_s": total,
        }
        return {key: round(value + self._earlier.get(key, 0.0), 3) for key, value in times.items()}

    def add_earlier(self, times: Mapping[str, float]) -> None:
        """Add the seconds that earlier runs of the scan took until its checkpoint."""
        self._earlier = times


class ScanRun:
    """A running scan. Use it as a context manager; it owns an event loop and the captures."""

    def __init__(
        self,
        runtime: Runtime,
        job: job_records.Job,
        *,
        music_id: str,
        begin_with: scan_state.ScanState | None = None,
        clock: Callable[[], datetime] = observed_now,
    ) -> None:
        """Prepare the run; entering it opens the captures.

        `begin_with`: the state of another job that the first run of this one begins with.
        """
        self.runtime = runtime
        self.job = job
        self.music_id = music_id
        self.clock = clock
        is_discovery = job.kind == job_records.DISCOVERY
        self.discovery = discovery_parameters(job.parameters if is_discovery else {})
        self.parameters: ScanParameters = (
            self.discovery.to_scan_parameters() if is_discovery else scan_parameters(job.parameters)
        )
        self.state = scan_state.ScanState() if begin_with is None else begin_with
        self.sounds = scan_state.SoundWorkspace()
        self.result: StoredResult | None = None
        self.on_canceling: Callable[[], object] = lambda: None  # called before it ends as cancelled
        self.progress = job.progress
        self.stopwatch = Stopwatch()
        self.items_read = 0
        self._saved_at = self._polled_at = time.monotonic()
        self._cancelled = False
        self._resumed_stage = 0
        self._runner = asyncio.Runner()
        # Every coroutine runs in this context, so that pauses of its requests are counted here.
        self._context = copy_context()
        self._context.run(watch_pauses, self._count_pause)
        self._pauses = 0
        self._preview = PreviewWriter(
            lambda packed: scan_journal.save_preview(
                runtime.control, job.job_id, packed, run_number=job.run_number
            )
        )
        self._writer = ThreadPoolExecutor(max_workers=4)  # commits of different tables may overlap
        self._appends: list[Future[None]] = []
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        # Begin with the state of the last checkpoint, if an earlier run stored one.
        job = self.job
        resumed = scan_state.resume_scan(self.runtime, job, fresh=self.state)
        self.state = resumed.state
        self.stopwatch.add_earlier(self.state.timings)
        self.progress = replace(
            self.progress,
            waiting_for=None,
            continued_from=resumed.stage,
            continued_round=resumed.round_number,
        )
        if resumed.stage is not None:
            self._resumed_stage = job_records.STAGES.index(resumed.stage)
            log.info(
                "scan continues",
                stage=resumed.stage,
                round=resumed.round_number,
                attempt=job.attempt,
                run_number=job.run_number,
            )

        # Open the captures on this scan's event loop; requests count on from the checkpoint.
        self.journal = ScanJournal(
            self.runtime.control,
            job.job_id,
            run_number=job.run_number,
            checkpoint=self.state.checkpoint,
        )
        captures = self.runtime.captures(
            job_id=job.job_id, cancelled=self.is_cancelled, journal=self.journal
        )
        self.captures: Captures = self.wait_for(self._stack.enter_async_context(captures))
        self.captures.restore_counters(self.state.spent)
        self.save_progress()
        return self

    def __exit__(self, *_exc: object) -> None:
        try:
            self.wait_for(self._stack.aclose())
        finally:
            self._runner.close()
            self._writer.shutdown()
            self.save_progress()

    def complete_step(self, step: str, work: Callable[[], dict[str, int]]) -> dict[str, int]:
        """Do a step and store a checkpoint, unless an earlier run did it; return its counts."""
        counts = self.state.steps.get(step)
        if counts is None:
            counts = self.state.steps[step] = work()
            self.checkpoint()
        return counts

    def checkpoint(self, *, round_number: int | None = None) -> None:
        """Store the present state in the background, after everything that was written before."""
        self.state.checkpoint += 1
        self.state.spent = self.captures.counters()
        self.state.timings = self.stopwatch.seconds()
        # Rows keep the number they were written with: if this checkpoint is never stored, the next
        # run reads the journal from the one before.
        self.journal.advance(self.state.checkpoint)
        row = scan_state.checkpoint_row(
            self.job, self.state, stage=self.progress.stage, round_number=round_number
        )
        earlier = tuple(self._appends)

        def store() -> None:
            # An append that failed leaves no checkpoint after it. It fails the scan as soon as the
            # scan waits for its appends.
            for append in earlier:
                append.result()
            self.runtime.lake.append(scan_state.CHECKPOINTS, [row], job_id=self.job.job_id)

        self._appends.append(self._writer.submit(store))

    def wait_for[T](self, coroutine: Coroutine[object, object, T]) -> T:
        """Return the result of a coroutine.

        It runs on this scan's event loop, so that all stages share one client.
        """
        return self._runner.run(coroutine, context=self._context)

    def music_of(self, video: Video) -> str:
        """Return the music id of a video, or the track's own if the video names none."""
        return video.music.music_id if video.music else self.music_id

    @property
    def keyword(self) -> str | None:
        """The song name of a search by name; None for the scan of a track."""
        return self.job.input if self.job.kind == job_records.KEYWORD_SEARCH else None

    @property
    def subject(self) -> str:
        """The subject of this job's rows: the music id, or the key of the keyword."""
        return self.music_id if self.keyword is None else job_records.keyword_subject(self.keyword)

    @property
    def song_title(self) -> str | None:
        """The title that texts are matched against; None if the track has no title.

        The title of a user sound names its uploader; the platform may name the song inside it.
        """
        track = self.state.track
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
        append = self.runtime.lake.append
        self._appends.append(self._writer.submit(append, name, rows, job_id=self.job.job_id))

    def finish_appends(self) -> None:
        """Wait for the background appends.

        Raises:
            WarehouseError: An append failed.
        """
        appends, self._appends = self._appends, []
        for append in appends:
            append.result()

    def append(self, noun: str, rows: list[dict[str, object]]) -> None:
        """Append rows of this job to a mart in one background commit; without rows, do nothing."""
        if rows:
            self.append_later(f"marts.{noun}", [{"job_id": self.job.job_id, **row} for row in rows])
            self.state.written.add(noun)

    def is_cancelled(self) -> bool:
        """Whether this run must stop; polls the control store a few times a second.

        Either cancellation was requested, or the run was taken for lost and another has the job.
        """
        now = time.monotonic()
        if not self._cancelled and now - self._polled_at >= CANCEL_POLL_S:
            self._polled_at = now
            claim = jobs.check(self.runtime.control, self.job.job_id, self.job.run_number)
            self._cancelled = claim != "held"
        return self._cancelled

    def check_cancelled(self) -> None:
        """Raise at a safe point if the job is cancelled.

        Raises:
            RunCancelledError: Cancellation was requested.
        """
        if self.is_cancelled():
            raise RunCancelledError(self.job.job_id)

    def enter(self, stage: str) -> None:
        """Begin a stage: check for cancellation and save the progress immediately."""
        self.check_cancelled()
        if job_records.STAGES.index(stage) < self._resumed_stage:
            return  # an earlier run was further than that
        self.progress = self.progress.at(stage)
        self.save_progress()

    def note_item(self, aweme_id: str) -> None:
        """Count a video of the list that is read: a candidate, before the pool is filled."""
        self.items_read += aweme_id not in self.state.seen_ids
        self.update_progress()

    def update_progress(self, *, audio_checked: int = 0) -> None:
        """Update the progress from the state; save it at most twice a second."""
        state = self.state
        state.audio_checked += audio_checked
        terms = state.search.terms if state.search else ()
        counts = {
            "candidate_pool_count": len(state.pool) + self.items_read,
            "confirmed_count": len(state.confirmed),
            "detail_checked_count": len(state.details) + len(state.unavailable),
            "account_profile_count": len(state.profiles),
            "search_page_count": sum(term.pages for term in terms),
            "audio_checked_count": state.audio_checked,
            "requests_used": self.captures.requests_used,
        }
        # No count falls below what an earlier run has reported.
        before = self.job.progress
        self.progress = replace(
            self.progress,
            **{name: max(value, getattr(before, name)) for name, value in counts.items()},
        )
        if time.monotonic() - self._saved_at >= PROGRESS_EVERY_S:
            self.save_progress()

    @property
    def _waiting_for(self) -> job_records.WaitingFor | None:
        """What this scan waits for: a host that asked for a pause, while any request does."""
        return "host_pause" if self._pauses else None

    def _count_pause(self, step: int) -> None:
        """Count a request that begins to wait for its host (1), or ends to (-1)."""
        self._pauses += step
        if self._waiting_for != self.progress.waiting_for:
            self.save_progress()

    def save_progress(self) -> None:
        """Save the progress now, with the estimated remaining seconds and a preview."""
        self._saved_at = time.monotonic()
        now = self.progress
        estimate = None
        if now.stage_index < now.stage_count - 2:  # later only the result remains to be written
            estimate = remaining_time(
                spent_s=self.stopwatch.seconds()["total_s"],
                details_done=now.detail_checked_count,
                sounds_done=now.audio_checked_count,
                pooled=len(self.state.pool),
                limit=self.parameters.candidate_limit,
                sounds_total=self.state.sounds_wanted,
            )
        self.progress = replace(
            now,
            eta_s=estimate.likely_s if estimate else None,
            eta_range_s=(estimate.low_s, estimate.high_s) if estimate else None,
            waiting_for=self._waiting_for,
            updated_at=to_utc_text(datetime.now(UTC)),
        )
        jobs.save_progress(
            self.runtime.control, self.job.job_id, self.progress, run_number=self.job.run_number
        )
        if self.job.kind == job_records.SCAN:
            self._preview.offer(self._build_preview)

    def _build_preview(self) -> ScanPreview:
        profile = self.runtime.profile
        return preview_document(
            self.state,
            music_id=self.music_id,
            parameters=self.parameters,
            link_of=lambda music_id: profile.address("public_music", music_id=music_id),
        )
