"""Prints chart back-fills, chart songs and their links. Text from outside passes `safe`."""

from rich import box
from rich.table import Table

from api.cli.terminal import out, safe
from pipelines.documents.messages import counted, stop_message
from warehouse.records.values import ReadOnlyDocument

_MOST_LISTED = 12
_TITLE_LIMIT = 40


def print_backfill(result: ReadOnlyDocument) -> None:
    """Print the outcome of a back-fill."""
    cut = f" (requested: {result['requested_last_day']})" if result["is_cut"] else ""
    out.print(f"[bold]{result['first_day']} to {result['last_day']}[/]{cut}: {result['ending']}")
    out.print(
        f"{counted(result['issue_count'], 'issue')}: {result['known_count']:,} already stored, "
        f"{result['new_count']:,} read now, {result['left_count']:,} left; "
        f"{counted(result['requests_used'], 'request')}"
    )
    if result["unreleased_count"]:
        out.print(f"  not released yet: {counted(result['unreleased_count'], 'issue')}")
    # Days without an issue, issues without a date, and refused issues
    gaps = result["gaps"]
    for gap in gaps[:_MOST_LISTED]:
        days = gap["day_count"]
        out.print(f"  no issue {gap['first_day']} to {gap['last_day']} ({days} d)")
    if len(gaps) > _MOST_LISTED:
        out.print(f"  and {len(gaps) - _MOST_LISTED} more gaps; --json lists all")
    if result["undated_count"]:
        out.print(f"  without a date, so in no range: {counted(result['undated_count'], 'issue')}")
    for issue in result["refused"][:_MOST_LISTED]:
        why = safe(stop_message(issue["error_type"]).en)
        out.print(f"  issue {safe(issue['volid'])} of {issue['chart_date']}: [red]{why}[/]")
    if result["error"] is not None:
        out.print(f"[red]stopped:[/] {safe(result['error']['detail'])}")


def print_song(song: ReadOnlyDocument) -> None:
    """Print a song with its links, and how far the platform leads or lags."""
    chart, lead = song["chart"], song["lead"]
    out.print(f"[bold]{safe(song['title'])}[/] {safe(song['artist'] or '—')}  {song['song_key']}")
    after = chart["entry_after_date"]
    entry = "before the first stored issue" if after is None else f"after the issue of {after}"
    out.print(
        f"on {chart['issue_count']} of {counted(chart['kept_issue_count'], 'stored issue')}, "
        f"{chart['first_chart_date']} to {chart['last_chart_date']}, best position "
        f"{chart['best_rank']}; entry {entry}"
    )
    table = Table("music id", "relation", "confidence", "reason", "title", box=box.SIMPLE)
    for link in song["links"]:
        table.add_row(
            link["music_id"],
            link["relation"],
            link["confidence"],
            link["reason"].replace("_", " "),
            safe(link["music_title"] or "—", limit=_TITLE_LIMIT),
        )
    out.print(table if song["links"] else "no music id is linked")
    # The lead with its bounds, or the reason why none can be estimated
    basis = (
        f"{counted(lead['observation_count'], 'observation')} of "
        f"{counted(lead['work_count'], 'video')} on {counted(lead['observed_day_count'], 'day')}"
    )
    bounds = f"{_days(lead['low_days'])} to {_days(lead['high_days'])} days"
    if lead["lead_days"] is None:
        why = lead["reason"].replace("_", " ")
        out.print(f"no lead estimated ({why}); bounds {bounds}; {basis}")
    else:
        out.print(
            f"lead of the platform, estimated: {lead['lead_days']:+.1f} days, bounds {bounds}, "
            f"{lead['direction'].replace('_', ' ')}; {basis}"
        )


def print_link_decisions(document: ReadOnlyDocument) -> None:
    """Print the link decisions of users, oldest first."""
    table = Table("time", "song", "music id", "decision", "by", "note", box=box.SIMPLE)
    for decision in document["links"]:
        table.add_row(
            decision["said_at"],
            safe(decision["song_key"]),
            decision["music_id"],
            decision["said"],
            safe(decision["said_by"] or "—"),
            safe(decision["note"] or "—", limit=_TITLE_LIMIT),
        )
    out.print(table if document["links"] else "no link decisions yet")


def _days(value: float | None) -> str:
    return "unknown" if value is None else f"{value:+.1f}"
