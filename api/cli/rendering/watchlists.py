"""Prints watchlists, runs and digests. Text from outside passes `safe`."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from api.cli.rendering.results import print_banner
from api.cli.terminal import err, format_count, safe
from pipelines.documents.messages import counted, stop_message
from warehouse.records.values import ReadOnlyDocument

TITLE_LIMIT = 40
_STYLES = {
    "due": "yellow",
    "waiting": "cyan",
    "completed": "green",
    "failed": "red",
    "skipped": "dim",
}
_CHANGE_LISTS = {
    "usage_growth": ("usage", "music_id"),
    "new_music_ids": ("new music id", "music_id"),
    "fast_works": ("fast", "aweme_id"),
    "rank_changes": ("rank", "aweme_id"),
    "new_works": ("new", "aweme_id"),
    "vanished_works": ("missing", "aweme_id"),
    "disappeared_works": ("not shown", "aweme_id"),
    "reached_likes": ("likes", "aweme_id"),
    "new_creators": ("creator", "sec_uid"),
}


def print_lists(console: Console, document: ReadOnlyDocument) -> None:
    """Print one row per watchlist."""
    _print_demo_banner(document)
    table = _table("name", "schedule", "entries", "next run", "last run")
    for watchlist in document["watchlists"]:
        last = watchlist["last_run"]
        table.add_row(
            f"[bold]{safe(watchlist['name'])}[/]",
            safe(watchlist["every"]),
            str(len(watchlist["entries"])),
            safe(watchlist["next_due_at"] or "paused"),
            "—" if last is None else f"{_status(last['status'])} {safe(last['due_at'])}",
        )
    console.print(table)


def print_channels(console: Console, channels: Sequence[ReadOnlyDocument]) -> None:
    """Print one row per channel for alerts."""
    table = _table("name", "service", "language", "newest test")
    for channel in channels:
        test = channel["test"]
        outcome = "—"
        if test is not None:
            code = "" if test["status"] is None else f" ({test['status']})"
            outcome = f"{safe(test['outcome'])}{code} {safe(test['at'])}"
        table.add_row(
            f"[bold]{safe(channel['name'])}[/]",
            safe(channel["service"]),
            channel["language"],
            outcome,
        )
    console.print(table)


def print_runs(console: Console, document: ReadOnlyDocument) -> None:
    """Print one row per run, newest first."""
    _print_demo_banner(document)
    table = _table("run", "due", "status", "changes", "missed", "outcome")
    for run in document["runs"]:
        table.add_row(
            safe(run["run_id"]),
            safe(run["due_at"]),
            _status(run["status"]),
            format_count(run["change_count"]),
            format_count(run["missed_count"]),
            safe(run["outcome"] or ""),
        )
    console.print(table)


def print_digest(console: Console, digest: ReadOnlyDocument) -> None:
    """Print the changes of a run, by entry."""
    _print_demo_banner(digest)
    console.print(
        f"[bold]{safe(digest['watchlist'])}[/] due {safe(digest['due_at'])} · "
        f"{counted(digest['change_count'], 'change')} · {digest['failed_count']} failed"
    )
    for entry in digest["entries"]:
        _print_entry(console, entry)
    console.print(f"[dim]{safe(digest['files']['html'])}[/]")


def _print_entry(console: Console, entry: ReadOnlyDocument) -> None:
    """Print the figures of an entry with their growth, then its changes or its error."""
    title = safe(entry["title"] or entry["input"], limit=TITLE_LIMIT)
    console.print(f"\n[bold]{title}[/] [dim]{entry['kind']} {safe(entry['subject'] or '')}[/]")
    if entry["error"] is not None:
        console.print(f"  [red]failed:[/] {safe(entry['error']['detail'])}", soft_wrap=True)
        return
    # The figures of the run with their growth, then a line per change
    changes = entry["changes"]
    figures = []
    for figure in changes["figures"]:
        growth = "" if figure["change"] is None else f" ({figure['change']:+,})"
        figures.append(f"{safe(figure['name'])} {format_count(figure['after'])}{growth}")
    console.print(f"  {'  '.join(figures)}")
    # Each list of changes, named by the id of what changed
    for name, (word, key) in _CHANGE_LISTS.items():
        for change in changes.get(name, ()):  # digests of earlier versions lack some of them
            description = _describe_change(name, change)
            console.print(f"  [cyan]{word:<12}[/] {safe(change[key])} {description}")
    if changes["since"] is None:
        console.print("  [dim]first run: nothing to compare with[/]")


def _describe_change(name: str, change: ReadOnlyDocument) -> str:
    """Describe an item of one of `_CHANGE_LISTS`."""
    title: str | None
    number: str | None
    match name:
        case "new_music_ids":
            return counted(change["work_count"], "video")
        case "usage_growth":
            counts = f"{change['before']:,} → {change['after']:,}"
            return f"{counts}, {change['percent_per_day']:+,.0f} % a day"
        case "new_creators":
            title, number = change["nickname"], counted(change["follower_count"], "follower")
        case "reached_likes":
            title, number = change["title"], counted(change["after"], "like")
        case "fast_works":
            title, number = change["title"], f"{change['velocity']:+,.0f} a day"
        case "rank_changes":
            title, number = change["title"], f"{change['before']} → {change['after']}"
        case "new_works":
            title, number = change["title"], None
        case _:
            cause = change["reason"]
            reason = "not visible in this run" if cause is None else stop_message(cause).en
            return f"{safe(change['title'] or '—', limit=TITLE_LIMIT)} · {safe(reason)}"
    shown_title = safe(title or "—", limit=TITLE_LIMIT)
    return shown_title if number is None else f"{number} · {shown_title}"


def _print_demo_banner(document: ReadOnlyDocument) -> None:
    if document["is_demo_data"]:
        print_banner(err)


def _status(status: str) -> str:
    return f"[{_STYLES.get(status, 'white')}]{safe(status)}[/]"


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    return table
