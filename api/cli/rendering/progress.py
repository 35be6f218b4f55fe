"""Shows the progress of a scan: stage, counts, requests, time left.

A live block in a terminal; one line per stage in a file or a pipe.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from time import monotonic, sleep
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from api.cli.interrupts import Interrupted
from api.cli.terminal import err, print_message, sanitize
from warehouse.records.jobs import FINAL_STATUSES
from warehouse.records.values import Document

if TYPE_CHECKING:
    from api.cli.job_client import JobClient

POLL_EVERY_S = 0.3
STAGE_LABELS = {
    "resolving": "resolving the input",
    "track": "reading the track",
    "music_first_screen": "reading the music page",
    "author_first_screens": "reading the authors' pages",
    "hashtag_first_screens": "reading hashtags",
    "search_pages": "searching for the song",
    "candidates": "choosing candidates",
    "video_details": "reading detail pages",
    "confirmed_videos": "verifying audio",
    "account_profiles": "reading account profiles",
    "rankings": "ranking",
    "job_results": "writing the result",
}
WAITING_LABELS = {
    "worker": "waiting for a worker",
    "processor": "waiting for the processor",
    "host_pause": "waiting for a host that asked for a pause",
    "budget": "waiting for the daily budget of a host",
    "disk": "waiting for space on the disk",
    "lease": "waiting for an equal job",
}
_COUNTS = (
    ("candidate_pool_count", "candidates"),
    ("detail_checked_count", "details"),
    ("audio_checked_count", "audio checked"),
    ("search_page_count", "search pages"),
    ("confirmed_count", "confirmed"),
    ("account_profile_count", "profiles"),
    ("requests_used", "requests"),
)


class JobObserver(Protocol):
    """Receives the job document after each poll."""

    def update(self, job: Document) -> None: ...


class LiveDisplay:
    """A block that a terminal shows until the end, as a context manager; nothing in a pipe."""

    def __init__(self, console: Console = err) -> None:
        self._console = console
        self._live = Live(console=console, transient=True, refresh_per_second=8)
        self._spinner = Spinner("dots", style="cyan")
        self._begun_at = monotonic()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._console.is_terminal:
            self._live.stop()


class ScanDisplay(LiveDisplay):
    """A live display of a job; in a pipe, a line per stage."""

    _last_stage = ""

    def update(self, job: Document) -> None:
        """Display a job document."""
        stage = describe_stage(job)
        if self._console.is_terminal:
            progress = job.get("progress") or {}
            total = progress.get("stage_count") or len(STAGE_LABELS)
            bounds = progress.get("eta_range_s")
            left = "" if bounds is None else f", {bounds[0]:.0f} to {bounds[1]:.0f} s left"
            head = Table.grid(padding=(0, 1))
            head.add_row(
                self._spinner,
                Text(stage, style="bold"),
                ProgressBar(total=total, completed=progress.get("stage_index") or 0, width=28),
                Text(f"{monotonic() - self._begun_at:.0f} s{left}", style="dim"),
            )
            self._live.update(Group(head, Text("  " + format_counts(job), style="dim")))
        elif stage != self._last_stage:
            line = f"{monotonic() - self._begun_at:6.1f} s  {stage}  {format_counts(job)}"
            self._console.print(line.rstrip(), soft_wrap=True)
        self._last_stage = stage


def describe_stage(job: Document) -> str:
    """Describe the current stage of a job."""
    progress = job.get("progress") or {}
    waiting_for = progress.get("waiting_for")
    # The reason to wait, if the job is queued; its status, if it has ended
    if job["status"] == "queued":
        return WAITING_LABELS.get(str(waiting_for), WAITING_LABELS["worker"])
    if job["status"] != "running":
        return sanitize(job["status"])
    if job.get("cancel_requested"):
        return "stopping at the next safe point"
    stage = str(progress.get("stage", ""))
    label = STAGE_LABELS.get(stage, sanitize(stage))
    # A later attempt, or one that continues what an earlier run has begun
    notes = []
    if progress.get("attempt", 1) > 1:
        notes.append(f"attempt {progress['attempt']} of {progress['attempt_count']}")
    checkpoint = progress.get("continued_from")
    if checkpoint:
        stage = str(checkpoint["stage"])
        number = f", round {checkpoint['round']}" if checkpoint["round"] else ""
        notes.append(f"continued from {STAGE_LABELS.get(stage, sanitize(stage))}{number}")
    if notes:
        label += f" ({', '.join(notes)})"
    waits = WAITING_LABELS.get(str(waiting_for), "")
    return f"{label}, {waits}" if waits else label


def format_counts(job: Document, *, first: str | None = None) -> str:
    """Return the non-zero counts of a job in one line; `first` is the one that comes first."""
    progress = job.get("progress") or {}
    counts = sorted(_COUNTS, key=lambda count: count[0] != first)
    return " · ".join(f"{label} {progress[name]:,}" for name, label in counts if progress.get(name))


def follow_job(
    client: "JobClient",
    job: Document,
    watch: JobObserver,
    *,
    every_s: float = POLL_EVERY_S,
    look: Callable[[], None] = lambda: None,
    held: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Document:
    """Poll a job until it ends. The first Ctrl-C cancels it and waits for its end.

    Args:
        client: Client to poll with.
        job: The job document after submission.
        watch: Receives the document after each poll.
        every_s: Seconds between polls.
        look: Called at each poll, for example to check that the worker is alive.
        held: Delays stop signals during a poll, so that they raise in the pause: an exception
            raised inside a finalizer or a library callback would be lost.

    Raises:
        Interrupted: A second stop signal arrived.
    """
    is_cancelled = False
    while True:
        try:
            with held():
                watch.update(job)
                if job["status"] in FINAL_STATUSES:
                    return job
                look()
            sleep(every_s)
            with held():
                job = client.job(job["job_id"])
        except (Interrupted, KeyboardInterrupt):
            # The first signal cancels the job, the second ends this command.
            if is_cancelled:
                raise
            is_cancelled = True
            with held():
                print_message("[yellow]stopping[/]: the job ends at its next safe point")
                job = client.cancel(job["job_id"])
