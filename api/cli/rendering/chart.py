"""Prints chart back-fills, chart songs and their links. Text from outside passes `safe`."""

from rich import box
from rich.table import Table

from api.cli.terminal import out, safe
from warehouse.records.values import ReadOnlyDocument

_SHOWN_GAPS = 12
_TITLE_LIMIT = 40


def print_backfill(found: ReadOnlyDocument) -> None:
    """Print the outcome of a back-fill."""
    cut = f" (requested: {found['requested_last_day']})" if found["is_cut"] else ""
    out.print(f"[bold]{found['first_day']} to {found['last_day']}[/]{cut}: {found['ending']}")
    out.print(
        f"{found['issue_count']:,} issues: {found['known_count']:,} already stored, "
        f"{found['new_count']:,} read now, {found['left_count']:,} left; "
        f"{found['requests_used']:,} requests"
    )
    if found["unreleased_count"]:
        out.print(f"  {found['unreleased_count']} issues are not released yet")
    for gap in found["gaps"][:_SHOWN_GAPS]:
        days = gap["day_count"]
        out.print(f"  no issue {gap['first_day']} to {gap['last_day']} ({days} d)")
    if len(found["gaps"]) > _SHOWN_GAPS:
        out.print(f"  and {len(found['gaps']) - _SHOWN_GAPS} more gaps; --json lists all")
    if found["undated_count"]:
        out.print(f"  {found['undated_count']} issues have no date and belong to no range")
    for one in found["refused"][:_SHOWN_GAPS]:
        out.print(f"  [red]{safe(one['error_type'])}[/] {one['chart_date']} {safe(one['volid'])}")
    if found["error"] is not None:
        out.print(
            f"[red]stopped by {safe(found['error']['type'])}[/]: {safe(found['error']['detail'])}"
        )


def print_song(found: ReadOnlyDocument) -> None:
    """Print a song with its links and its lead."""
    chart, lead = found["chart"], found["lead"]
    out.print(
        f"[bold]{safe(found['title'])}[/] {safe(found['artist'] or '—')}  {found['song_key']}"
    )
    out.print(
        f"on {chart['issue_count']} of {chart['kept_issue_count']} stored issues, "
        f"{chart['first_chart_date']} to {chart['last_chart_date']}, best position "
        f"{chart['best_rank']}; entry {_entry(chart)}"
    )
    table = Table("music id", "relation", "confidence", "reason", "title", box=box.SIMPLE)
    for link in found["links"]:
        table.add_row(
            link["music_id"], link["relation"], link["confidence"], link["reason"],
            safe(link["music_title"] or "—", limit=_TITLE_LIMIT),
        )  # fmt: skip
    out.print(table if found["links"] else "no music id is linked")
    out.print(_lead(lead))


def print_link_decisions(found: ReadOnlyDocument) -> None:
    """Print the link decisions of users, oldest first."""
    table = Table("time", "song", "music id", "decision", "by", "note", box=box.SIMPLE)
    for one in found["links"]:
        table.add_row(
            one["said_at"], safe(one["song_key"]), one["music_id"], one["said"],
            safe(one["said_by"] or "—"), safe(one["note"] or "—", limit=_TITLE_LIMIT),
        )  # fmt: skip
    out.print(table if found["links"] else "no link decisions yet")


def _entry(chart: ReadOnlyDocument) -> str:
    after = chart["entry_after_date"]
    return "before the first stored issue" if after is None else f"after the issue of {after}"


def _lead(lead: ReadOnlyDocument) -> str:
    basis = (
        f"{lead['observation_count']} observations of {lead['work_count']} videos on "
        f"{lead['observed_day_count']} days"
    )
    bounds = f"{_days(lead['low_days'])} to {_days(lead['high_days'])} days"
    if lead["lead_days"] is None:
        return f"no lead estimated ({lead['reason']}); bounds {bounds}; {basis}"
    return (
        f"lead of the platform, estimated: {lead['lead_days']:+.1f} days, bounds {bounds}, "
        f"{lead['direction']}; {basis}"
    )


def _days(value: float | None) -> str:
    return "unknown" if value is None else f"{value:+.1f}"
