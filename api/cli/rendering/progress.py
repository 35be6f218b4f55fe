"""A scan while it runs, as the terminal shows it: stage, counts, requests, time left.

At a terminal it is one moving block; in a file or a pipe one line per stage.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from api.cli.interrupts import Interrupted
from api.cli.job_client import JobDesk
from api.cli.terminal import err, plain, say
from pipelines.documents.videos import Document
from warehouse.records.jobs import FINAL

POLL_EVERY_S = 0.3
WORKER_MISSED_AFTER_S = 15.0
STAGE_WORDS = {
    "resolving": "finding the track",
    "track": "reading the track",
    "music_first_screen": "listing its works",
    "author_first_screens": "looking at the authors' screens",
    "hashtag_first_screens": "looking at the hashtags",
    "search_pages": "searching for the song's name",
    "candidates": "choosing candidates",
    "video_details": "reading detail pages",
    "confirmed_videos": "listening",
    "account_profiles": "reading the accounts' profiles",
    "rankings": "ranking",
    "job_results": "writing the result",
}
_COUNTS = (
    ("candidate_pool_count", "candidates"),
    ("detail_checked_count", "details"),
    ("audio_checked_count", "sounds heard"),
    ("search_page_count", "search pages"),
    ("confirmed_count", "confirmed"),
    ("account_profile_count", "profiles"),
    ("requests_used", "requests"),
)


class Watch(Protocol):
    """Somebody who is told about every look at the job."""

    def update(self, job: Document) -> None: ...


class ScanDisplay:
    """The live block. Use as a context manager; `update` takes a job document."""

    def __init__(self, console: Console = err) -> None:
        self._console = console
        self._live = Live(console=console, transient=True, refresh_per_second=8)
        self._spinner = Spinner("dots", style="cyan")
        self._begun_at = monotonic()
        self._last_stage = ""

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def update(self, job: Document) -> None:
        """Show the job as it is now."""
        stage = stage_of(job)
        if self._console.is_terminal:
            self._live.update(self._block(job, stage))
        elif stage != self._last_stage:
            self._console.print(
                f"{monotonic() - self._begun_at:6.1f} s  {stage}  {counts_of(job)}", soft_wrap=True
            )
        self._last_stage = stage

    def _block(self, job: Document, stage: str) -> Group:
        progress = job.get("progress") or {}
        total = progress.get("stage_count") or len(STAGE_WORDS)
        head = Table.grid(padding=(0, 1))
        head.add_row(
            self._spinner,
            Text(stage, style="bold"),
            ProgressBar(total=total, completed=progress.get("stage_index") or 0, width=28),
            Text(f"{monotonic() - self._begun_at:.0f} s{_left(progress)}", style="dim"),
        )
        return Group(head, Text("  " + counts_of(job), style="dim"))


def stage_of(job: Document) -> str:
    """What the job is doing, in plain words."""
    if job["status"] == "queued":
        return "waiting for a worker"
    if job["status"] != "running":
        return plain(job["status"])
    if job.get("cancel_requested"):
        return "stopping at the next safe point"
    stage = str((job.get("progress") or {}).get("stage", ""))
    return STAGE_WORDS.get(stage, plain(stage))


def counts_of(job: Document) -> str:
    """The counts that are not zero, in one line."""
    progress = job.get("progress") or {}
    shown = [f"{words} {progress[name]:,}" for name, words in _COUNTS if progress.get(name)]
    return " · ".join(shown)


def follow(
    desk: JobDesk,
    job: Document,
    watch: Watch,
    *,
    every_s: float = POLL_EVERY_S,
    look: Callable[[], None] = lambda: None,
    held: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Document:
    """Poll a job until it has ended; the first Ctrl-C asks it to stop and waits for that.

    Args:
        desk: Where to ask.
        job: The job as it was handed in.
        watch: Told about every look.
        every_s: Seconds between two looks.
        look: Called at each look, for example to see that the worker still lives.
        held: Keeps a stop signal back while a look is taken, so that it raises in the pause. What
            a signal raises inside a finalizer or a callback of a library would be lost.

    Raises:
        Interrupted: A second stop signal came.
    """
    asked_to_stop = False
    while True:
        try:
            with held():
                watch.update(job)
                if job["status"] in FINAL:
                    return job
                look()
            sleep(every_s)
            with held():
                job = desk.job(job["job_id"])
        except (Interrupted, KeyboardInterrupt):
            if asked_to_stop:
                raise
            asked_to_stop = True
            with held():
                say("[yellow]stopping[/]: asked the job to end at its next safe point")
                job = desk.cancel(job["job_id"])


def _left(progress: dict[str, Any]) -> str:
    eta_s = progress.get("eta_s")
    return "" if eta_s is None else f", about {eta_s:.0f} s left"
