"""Prints catalogues, imports, the states of tracks, and the run of a catalogue.

A run is a status line in a terminal; in a file or a pipe it is a line per track that ended. Text
from outside passes `safe`.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Self

from rich import box
from rich.console import Console
from rich.status import Status
from rich.table import Table

from api.cli.rendering.progress import STAGE_LABELS, WAITING_LABELS
from api.cli.terminal import err, format_count, safe
from pipelines.catalog.rules import StopReason, TrackState, state_of
from pipelines.catalog.run import CatalogProgress
from pipelines.catalog.service import to_catalog_document, to_track_document
from pipelines.documents.messages import counted
from pipelines.documents.videos import to_time
from warehouse.records.values import Document

if TYPE_CHECKING:
    from pipelines.catalog.service import CatalogStatus, ImportReport

INPUT_LIMIT = 60
MOST_PROBLEMS = 50
STOP_LABELS: dict[StopReason, str] = {
    "nothing_due": "nothing more is due",
    "track_budget": "the day's scans are used up; the next day (UTC) goes on",
    "request_budget": "the day's requests are used up; the next day (UTC) goes on",
    "disk_full": "the disk is too full for another scan",
    "cancelled": "the run was cancelled",
    "taken_over": "another process has taken the run over",
}
_STYLES: dict[TrackState, str] = {
    "running": "cyan",
    "failed": "red",
    "fresh": "green",
    "stale": "yellow",
    "never_read": "white",
}


def print_import(console: Console, report: "ImportReport") -> None:
    """Print what an import did, and each line that it did not import."""
    outcome = report.outcome
    console.print(
        f"[bold]{safe(report.name)}[/] {format_count(report.new_count)} new · "
        f"{format_count(report.updated_count)} updated · "
        f"{format_count(len(outcome.duplicates))} duplicates · "
        f"{format_count(len(outcome.problems))} problems · "
        f"{format_count(report.track_count)} tracks in all"
        + (" [dim](dry run: nothing was stored)[/]" if report.is_dry_run else "")
    )
    for songs in report.lists:
        stated = "" if songs.stated_count is None else f" of {format_count(songs.stated_count)}"
        console.print(
            f"  line {songs.line}: list {safe(songs.title or songs.input, limit=INPUT_LIMIT)}, "
            f"{format_count(songs.song_count)}{stated} songs"
        )
    for problem in outcome.problems[:MOST_PROBLEMS]:
        text = "" if problem.input is None else f" [dim]{safe(problem.input, limit=INPUT_LIMIT)}[/]"
        console.print(f"  [red]line {problem.line}[/]:{text} {safe(problem.message)}")
    # The first line of a track is imported, later ones are named.
    for line in outcome.duplicates[:MOST_PROBLEMS]:
        console.print(
            f"  [yellow]line {line.line}[/]: [dim]{safe(line.input, limit=INPUT_LIMIT)}[/] "
            f"is the track of line {line.first_line}"
        )
    for name, lines in (("problems", outcome.problems), ("duplicates", outcome.duplicates)):
        if len(lines) > MOST_PROBLEMS:
            more = len(lines) - MOST_PROBLEMS
            console.print(f"  [dim]{more:,} more {name}: --json names all[/]")


def to_status_document(status: "CatalogStatus", *, tracks: Collection[TrackState]) -> Document:
    """Return a status as JSON values, with the tracks in these states."""
    settings, now = status.catalog.settings, status.read_at
    return {
        **to_catalog_document(status),
        "tracks": [
            to_track_document(status, track)
            for track in status.tracks
            if state_of(track, settings, now) in tracks
        ],
    }


def print_catalogs(console: Console, statuses: "Iterable[CatalogStatus]") -> None:
    """Print one row per catalogue."""
    table = _table("name", "tracks", "due", "running", "fresh", "failed", "scans today", "requests")
    for status in statuses:
        table.add_row(
            f"[bold]{safe(status.catalog.name)}[/]",
            format_count(len(status.tracks)),
            format_count(len(status.due)),
            format_count(status.states["running"]),
            format_count(status.states["fresh"]),
            format_count(status.states["failed"]),
            format_count(status.spent.tracks),
            format_count(status.spent.requests),
        )
    console.print(table)


def print_status(
    console: Console, status: "CatalogStatus", *, tracks: Collection[TrackState]
) -> None:
    """Print the states of a catalogue, and one row per track in these states."""
    catalog, spent = status.catalog, status.spent
    settings = catalog.settings
    console.print(
        f"[bold]{safe(catalog.name)}[/] {counted(len(status.tracks), 'track')} · "
        f"{format_count(len(status.due))} due · "
        + " · ".join(
            f"{_styled(state)} {format_count(count)}" for state, count in status.states.items()
        )
    )
    console.print(
        f"  today: {_of(spent.tracks, settings.tracks_per_day)} scans, "
        f"{_of(spent.requests, settings.requests_per_day)} requests; "
        f"results are fresh for {settings.fresh_days:g} d"
    )
    for music_id, keys in status.same_music.items():
        console.print(f"  [dim]{safe(', '.join(keys))} are one music id: {safe(music_id)}[/]")
    if not tracks:
        return
    table = _table("track", "label", "priority", "state", "music id", "result", "")
    for track in status.tracks:
        state = state_of(track, settings, status.read_at)
        if state not in tracks:
            continue
        # A note: the stage of its scan, else why the last one failed
        job = status.jobs.get(track.given.key)
        note = job.progress.stage if job else (track.error or {}).get("detail", "")
        table.add_row(
            safe(track.given.input, limit=INPUT_LIMIT),
            safe(track.given.label or "—", limit=INPUT_LIMIT),
            str(track.given.priority),
            _styled(state),
            safe(track.music_id or "—"),
            to_time(track.result_at) or "—",
            safe(note),
        )
    console.print(table)


def _styled(state: TrackState) -> str:
    name = "not run yet" if state == "never_read" else state
    return f"[{_STYLES[state]}]{name}[/]"


def _of(count: int, budget: int | None) -> str:
    return format_count(count) + ("" if budget is None else f" of {format_count(budget)}")


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    return table


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
            label = safe(track.given.label or track.given.input, limit=INPUT_LIMIT)
            if track.given.key in progress.cancelled:
                line = f"[yellow]cancelled[/] {label}"
            elif track.failed_at is not None:
                detail = (track.error or {}).get("detail", "no details")
                line = f"[red]failed[/] {label}: {safe(detail)}"
            else:
                line = f"[green]done[/] {label} [dim]{safe(track.music_id or '')}[/]"
            self._console.print(line, soft_wrap=True)
        self._status.update(describe(progress))

    def close(self, progress: CatalogProgress) -> None:
        """Print where the run ended and why."""
        reason = "" if progress.stop is None else f" · {STOP_LABELS[progress.stop]}"
        self._console.print(f"{describe(progress)}{reason}", soft_wrap=True)


def describe(progress: CatalogProgress) -> str:
    """Return where a run stands in one line."""
    activities = Counter(
        STAGE_LABELS.get(job.progress.stage, job.progress.stage)
        if job.progress.waiting_for is None
        else WAITING_LABELS[job.progress.waiting_for]
        for job in progress.jobs.values()
    )
    jobs = ", ".join(f"{count} {activity}" for activity, count in activities.most_common())
    return (
        f"{format_count(progress.due_count)} due · {len(progress.jobs)} running"
        + (f" ({safe(jobs)})" if jobs else "")
        + f" · {format_count(progress.states['fresh'])} fresh"
        + f" · {format_count(progress.states['failed'])} failed"
        + f" · today {format_count(progress.spent.tracks)} scans, "
        + f"{format_count(progress.spent.requests)} requests"
    )
