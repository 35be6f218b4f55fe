"""Prints watchlists, runs and digests. Text from outside passes `safe`."""

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
    "new_music_ids": ("new music id", "music_id"),
    "fast_works": ("fast", "aweme_id"),
    "rank_changes": ("rank", "aweme_id"),
    "new_works": ("new", "aweme_id"),
    "vanished_works": ("missing", "aweme_id"),
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
        for change in changes[name]:
            description = _describe_change(name, change)
            console.print(f"  [cyan]{word:<12}[/] {safe(change[key])} {description}")
    if changes["since"] is None:
        console.print("  [dim]first run: nothing to compare with[/]")


def _describe_change(name: str, change: ReadOnlyDocument) -> str:
    """Describe an item of one of `_CHANGE_LISTS`."""
    if name == "new_music_ids":
        return counted(change["work_count"], "video")
    title = safe(change["title"] or "—", limit=TITLE_LIMIT)
    if name == "fast_works":
        return f"{change['velocity']:+,.0f} a day · {title}"
    if name == "rank_changes":
        return f"{change['before']} → {change['after']} · {title}"
    if name == "new_works":
        return title
    cause = change["reason"]
    reason = "not visible in this run" if cause is None else stop_message(cause).en
    return f"{title} · {safe(reason)}"


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
