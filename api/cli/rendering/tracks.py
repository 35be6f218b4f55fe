"""Prints the page of a track: usage count with a plot, scans, creators, regions, variants.

Texts from the platform pass `safe`.
"""

from collections.abc import Mapping, Sequence
from datetime import date

from rich import box
from rich.console import Console
from rich.table import Table

from api.cli.rendering.reads import NAME_LIMIT, print_fields
from api.cli.terminal import format_count, safe
from pipelines.documents import messages
from pipelines.documents.messages import counted
from warehouse.records.values import ReadOnlyDocument

_PLOT_DAYS = 60
_BLOCKS = "▁▂▃▄▅▆▇█"
_GAP = "·"
_SHOWN_SCANS = 10
_BAR_CELLS = 24


def print_track(console: Console, track: ReadOnlyDocument) -> None:
    """Print all that is stored of a track."""
    console.print(
        f"[bold]{safe(track['title'] or track['music_id'])}[/] "
        f"[dim]by {safe(track['artist'] or '—')} · {safe(track['music_id'])}[/]"
    )
    _print_usage(console, track)
    _print_scans(console, track["scans"])
    _print_creators(console, track)
    _print_bars(
        console,
        "Regions of the creators",
        {
            safe(region["ip_location"] or "unknown"): region["account_count"]
            for region in track["regions"]
        },
    )
    kinds = track["variants"]["by_kind"].items()
    _print_bars(console, "Variants", {messages.VARIANTS[kind].en: count for kind, count in kinds})


def usage_line(points: Sequence[ReadOnlyDocument]) -> str:
    """Draw the counts of the last days, one sign per day: a block, or a dot without a count."""
    by_day = {date.fromisoformat(point["day"]): point["use_count"] for point in points}
    last = max(by_day)
    first = max(min(by_day), date.fromordinal(last.toordinal() - _PLOT_DAYS + 1))
    days = [date.fromordinal(day) for day in range(first.toordinal(), last.toordinal() + 1)]
    counts = [by_day[day] for day in days if day in by_day]
    low, high = min(counts), max(counts)
    height = (len(_BLOCKS) - 1) / (high - low) if high > low else 0
    return "".join(
        _BLOCKS[round((by_day[day] - low) * height)] if day in by_day else _GAP for day in days
    )


def _print_usage(console: Console, track: ReadOnlyDocument) -> None:
    points = track["usage"]["points"]
    lacking = track["uncounted_music_id_count"]
    videos = track["videos"][-1] if track["videos"] else None
    facts = {
        "videos, counted by the platform": _use(points[-1]) if points else "not shown yet",
        "all music ids together": f"{format_count(track['use_count'])}"
        + (f", and {counted(lacking, 'music id')} without a count" if lacking else ""),
        "videos seen by scans": format_count(videos and videos["observed_video_count"]),
        "confirmed videos": format_count(videos and videos["confirmed_video_count"]),
        "accounts": format_count(track["account_count"]),
    }
    print_fields(console, facts)
    if len(points) > 1:
        console.print(f"[cyan]{usage_line(points)}[/]")
        console.print(
            f"[dim]{points[0]['day']} to {points[-1]['day']}, one sign a day, at most the last "
            f"{_PLOT_DAYS}; {_GAP} is a day without a count[/]"
        )


def _use(point: ReadOnlyDocument) -> str:
    step = point["use_count_step"]
    rounded = "" if point["use_count_exact"] else ", rounded"
    if step is not None:
        rounded = f", rounded to {step:,}"
    gained, since = point["uses_gained"], point["previous_date"]
    change = "" if gained is None else f"; {gained:+,} since {since}"
    return f"{point['use_count']:,}{rounded}, {point['use_count_observed_at']}{change}"


def _print_scans(console: Console, scans: Sequence[ReadOnlyDocument]) -> None:
    if not scans:
        console.print("[dim]not scanned yet: sametrack scan ID[/]")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("scan (UTC)", "confirmed", "likes", "since the scan before", "job"):
        table.add_column(name, justify="right" if name in {"confirmed", "likes"} else "left")
    for scan in scans[:_SHOWN_SCANS]:
        table.add_row(
            scan["concluded_at"],
            format_count(scan["confirmed_video_count"]),
            format_count(scan["digg_count"]),
            _change(scan),
            scan["job_id"] if scan["has_result"] else "[dim]result deleted[/]",
        )
    console.print(table)
    if len(scans) > _SHOWN_SCANS:
        console.print(f"[dim]… and {len(scans) - _SHOWN_SCANS} earlier; --json has all[/]")


def _change(scan: ReadOnlyDocument) -> str:
    if scan["previous_job_id"] is None:
        return "first scan"
    parts = (
        scan["new_video_count"] and f"{scan['new_video_count']:,} new",
        scan["gone_video_count"] and f"{scan['gone_video_count']:,} gone",
        scan["new_music_id_count"] and counted(scan["new_music_id_count"], "new music id"),
        scan["risen_video_count"] and f"{scan['risen_video_count']:,} ranked higher",
        scan["fallen_video_count"] and f"{scan['fallen_video_count']:,} ranked lower",
    )
    return ", ".join(filter(None, parts)) or "nothing"


def _print_creators(console: Console, track: ReadOnlyDocument) -> None:
    lists = {
        "First creators": track["first_creators"],
        "Biggest creators": track["biggest_creators"],
    }
    for title, creators in lists.items():
        if not creators:
            continue
        table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
        table.add_column("account", no_wrap=True, overflow="ellipsis", max_width=NAME_LIMIT)
        table.add_column("first video (UTC)")
        for name in ("followers", "videos", "likes"):
            table.add_column(name, justify="right")
        for creator in creators:
            table.add_row(
                safe(creator["nickname"] or "—", limit=NAME_LIMIT),
                creator["first_created_at"] or "—",
                format_count(creator["follower_count"]),
                format_count(creator["confirmed_video_count"]),
                format_count(creator["digg_count"]),
            )
        console.print(table)


def _print_bars(console: Console, title: str, counts: Mapping[str, int]) -> None:
    """Print a bar for each name; the names have passed `safe`."""
    if not counts:
        return
    table = Table(box=None, title=title, title_justify="left", show_header=False, pad_edge=False)
    most = max(counts.values())
    for name, count in counts.items():
        bar = "█" * max(1, round(_BAR_CELLS * count / most))
        table.add_row(name, f"[cyan]{bar}[/]", format_count(count))
    console.print(table)
