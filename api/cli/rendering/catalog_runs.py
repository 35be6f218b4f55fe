"""Shows the run of a catalogue: a line per track that ended, and where the run stands.

A status line in a terminal; in a file or a pipe the lines of the tracks alone.
"""

from collections import Counter
from dataclasses import asdict
from typing import Self

from rich.console import Console
from rich.status import Status

from api.cli.rendering.progress import STAGE_LABELS, WAITING_LABELS
from api.cli.terminal import err, format_count, safe
from pipelines.catalog.rules.planning import StopReason
from pipelines.catalog.run import CatalogProgress
from warehouse.records.catalog.tracks import CatalogTrack
from warehouse.records.jobs import Job
from warehouse.records.values import Document

LABEL_LIMIT = 60
STOP_LABELS: dict[StopReason, str] = {
    "nothing_due": "nothing more is due",
    "track_budget": "the day's scans are used up; the next day (UTC) goes on",
    "request_budget": "the day's requests are used up; the next day (UTC) goes on",
    "disk_full": "the disk is too full for another scan",
    "cancelled": "the run was cancelled",
    "taken_over": "another process has taken the run over",
}


def to_progress_document(name: str, progress: CatalogProgress) -> Document:
    """Return where a run stands as JSON values."""
    return {
        "name": name,
        "states": dict(progress.states),
        "due_count": progress.due_count,
        "running": [job.job_id for job in progress.jobs.values()],
        "spent_today": asdict(progress.spent),
        "stop": progress.stop,
    }


class CatalogRunDisplay:
    """A display of a run, as a context manager."""

    def __init__(self, console: Console = err) -> None:
        self._console = console
        self._status = Status("", console=console)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._status.stop()

    def update(self, progress: CatalogProgress) -> None:
        """Print the tracks that ended, and show what is under way."""
        for track in progress.ended:
            is_cancelled = track.given.key in progress.cancelled
            self._console.print(_describe_end(track, is_cancelled=is_cancelled), soft_wrap=True)
        self._status.update(describe(progress))

    def close(self, progress: CatalogProgress) -> None:
        """Print where the run ended and why."""
        reason = "" if progress.stop is None else f" · {STOP_LABELS[progress.stop]}"
        self._console.print(f"{describe(progress)}{reason}", soft_wrap=True)


def describe(progress: CatalogProgress) -> str:
    """Return where a run stands in one line."""
    doing = Counter(_doing(job) for job in progress.jobs.values())
    jobs = ", ".join(f"{count} {what}" for what, count in doing.most_common())
    return (
        f"{format_count(progress.due_count)} due · {len(progress.jobs)} running"
        + (f" ({safe(jobs)})" if jobs else "")
        + f" · {format_count(progress.states['fresh'])} fresh"
        + f" · {format_count(progress.states['failed'])} failed"
        + f" · today {format_count(progress.spent.tracks)} scans, "
        + f"{format_count(progress.spent.requests)} requests"
    )


def _doing(job: Job) -> str:
    if job.progress.waiting_for is not None:
        return WAITING_LABELS[job.progress.waiting_for]
    return STAGE_LABELS.get(job.progress.stage, job.progress.stage)


def _describe_end(track: CatalogTrack, *, is_cancelled: bool) -> str:
    label = safe(track.given.label or track.given.input, limit=LABEL_LIMIT)
    if is_cancelled:
        return f"[yellow]cancelled[/] {label}"
    if track.failed_at is not None:
        error = track.error or {}
        return f"[red]failed[/] {label}: {safe(error.get('detail', 'no details'))}"
    return f"[green]done[/] {label} [dim]{safe(track.music_id or '')}[/]"
