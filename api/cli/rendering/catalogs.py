"""Prints catalogues, imports and the states of tracks. Text from outside passes `safe`."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from api.cli.terminal import format_count, safe
from pipelines.catalog.documents import to_catalog_document, to_track_document
from pipelines.catalog.rules.planning import TrackState, state_of
from pipelines.documents.messages import counted
from pipelines.documents.videos import to_time
from warehouse.records.values import Document

if TYPE_CHECKING:
    from pipelines.catalog.service import CatalogStatus, ImportReport

INPUT_LIMIT = 60
MOST_PROBLEMS = 50
_STYLES: dict[TrackState, str] = {
    "running": "cyan", "failed": "red", "fresh": "green", "stale": "yellow", "never_read": "white",
}  # fmt: skip


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
    for found in report.lists:
        stated = "" if found.stated_count is None else f" of {format_count(found.stated_count)}"
        console.print(
            f"  line {found.line}: list {safe(found.title or found.input, limit=INPUT_LIMIT)}, "
            f"{format_count(found.song_count)}{stated} songs"
        )
    for problem in outcome.problems[:MOST_PROBLEMS]:
        shown = (
            "" if problem.input is None else f" [dim]{safe(problem.input, limit=INPUT_LIMIT)}[/]"
        )
        console.print(f"  [red]line {problem.line}[/]:{shown} {safe(problem.message)}")
    for line in outcome.duplicates[:MOST_PROBLEMS]:
        console.print(
            f"  [yellow]line {line.line}[/]: [dim]{safe(line.input, limit=INPUT_LIMIT)}[/] "
            f"is the track of line {line.first_line}"
        )
    _print_rest(console, len(outcome.problems), "problems")
    _print_rest(console, len(outcome.duplicates), "duplicates")


def _print_rest(console: Console, count: int, what: str) -> None:
    if count > MOST_PROBLEMS:
        console.print(f"  [dim]{count - MOST_PROBLEMS:,} more {what}: --json names all[/]")


def to_status_document(status: "CatalogStatus", *, tracks: Collection[TrackState]) -> Document:
    """Return a status as JSON values, with the tracks in these states."""
    settings, now = status.catalog.settings, status.read_at
    return {
        **to_catalog_document(status),
        "tracks": [
            to_track_document(status, one)
            for one in status.tracks
            if state_of(one, settings, now) in tracks
        ],
    }


def print_catalogs(console: Console, found: "Iterable[CatalogStatus]") -> None:
    """Print one row per catalogue."""
    table = _table("name", "tracks", "due", "running", "fresh", "failed", "scans today", "requests")
    for status in found:
        states = status.states
        table.add_row(
            f"[bold]{safe(status.catalog.name)}[/]",
            *(format_count(count) for count in (
                len(status.tracks), len(status.due), states["running"], states["fresh"],
                states["failed"], status.spent.tracks, status.spent.requests,
            )),
        )  # fmt: skip
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
            f"{_shown(state)} {format_count(count)}" for state, count in status.states.items()
        )
    )
    console.print(
        f"  today: {_of(spent.tracks, settings.tracks_per_day)} scans, "
        f"{_of(spent.requests, settings.requests_per_day)} requests; "
        f"results are fresh for {settings.fresh_days:g} d"
    )
    for music_id, keys in status.same_music.items():
        console.print(f"  [dim]{safe(', '.join(keys))} are one music id: {safe(music_id)}[/]")
    if tracks:
        _print_tracks(console, status, tracks)


def _print_tracks(
    console: Console, status: "CatalogStatus", tracks: Collection[TrackState]
) -> None:
    table = _table("track", "label", "priority", "state", "music id", "result", "")
    for track in status.tracks:
        state = state_of(track, status.catalog.settings, status.read_at)
        if state not in tracks:
            continue
        job = status.jobs.get(track.given.key)
        note = job.progress.stage if job else (track.error or {}).get("detail", "")
        table.add_row(
            safe(track.given.input, limit=INPUT_LIMIT),
            safe(track.given.label or "—", limit=INPUT_LIMIT),
            str(track.given.priority),
            _shown(state),
            safe(track.music_id or "—"),
            to_time(track.result_at) or "—",
            safe(note),
        )
    console.print(table)


def _shown(state: TrackState) -> str:
    name = "not run yet" if state == "never_read" else state
    return f"[{_STYLES[state]}]{name}[/]"


def _of(count: int, budget: int | None) -> str:
    return format_count(count) + ("" if budget is None else f" of {format_count(budget)}")


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    return table
