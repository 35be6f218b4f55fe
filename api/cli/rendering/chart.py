"""Prints chart back-fills, chart songs and their links. Text from outside passes `safe`."""

from rich import box
from rich.table import Table

from api.cli.terminal import out, safe
from pipelines.documents.messages import counted
from pipelines.documents.stop_reasons import stop_message
from warehouse.records.values import ReadOnlyDocument

_SHOWN_GAPS = 12
_TITLE_LIMIT = 40


def print_backfill(found: ReadOnlyDocument) -> None:
    """Print the outcome of a back-fill."""
    cut = f" (requested: {found['requested_last_day']})" if found["is_cut"] else ""
    out.print(f"[bold]{found['first_day']} to {found['last_day']}[/]{cut}: {found['ending']}")
    out.print(
        f"{counted(found['issue_count'], 'issue')}: {found['known_count']:,} already stored, "
        f"{found['new_count']:,} read now, {found['left_count']:,} left; "
        f"{counted(found['requests_used'], 'request')}"
    )
    if found["unreleased_count"]:
        out.print(f"  not released yet: {counted(found['unreleased_count'], 'issue')}")
    for gap in found["gaps"][:_SHOWN_GAPS]:
        days = gap["day_count"]
        out.print(f"  no issue {gap['first_day']} to {gap['last_day']} ({days} d)")
    if len(found["gaps"]) > _SHOWN_GAPS:
        out.print(f"  and {len(found['gaps']) - _SHOWN_GAPS} more gaps; --json lists all")
    if found["undated_count"]:
        out.print(f"  without a date, so in no range: {counted(found['undated_count'], 'issue')}")
    for one in found["refused"][:_SHOWN_GAPS]:
        why = safe(stop_message(one["error_type"]).en)
        out.print(f"  issue {safe(one['volid'])} of {one['chart_date']}: [red]{why}[/]")
    if found["error"] is not None:
        out.print(f"[red]stopped:[/] {safe(found['error']['detail'])}")


def print_song(found: ReadOnlyDocument) -> None:
    """Print a song with its links and its lead."""
    chart, lead = found["chart"], found["lead"]
    out.print(
        f"[bold]{safe(found['title'])}[/] {safe(found['artist'] or '—')}  {found['song_key']}"
    )
    out.print(
        f"on {chart['issue_count']} of {counted(chart['kept_issue_count'], 'stored issue')}, "
        f"{chart['first_chart_date']} to {chart['last_chart_date']}, best position "
        f"{chart['best_rank']}; entry {_entry(chart)}"
    )
    table = Table("music id", "relation", "confidence", "reason", "title", box=box.SIMPLE)
    for link in found["links"]:
        table.add_row(
            link["music_id"], link["relation"], link["confidence"],
            link["reason"].replace("_", " "),
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
        f"{counted(lead['observation_count'], 'observation')} of "
        f"{counted(lead['work_count'], 'video')} on {counted(lead['observed_day_count'], 'day')}"
    )
    bounds = f"{_days(lead['low_days'])} to {_days(lead['high_days'])} days"
    if lead["lead_days"] is None:
        why = lead["reason"].replace("_", " ")
        return f"no lead estimated ({why}); bounds {bounds}; {basis}"
    return (
        f"lead of the platform, estimated: {lead['lead_days']:+.1f} days, bounds {bounds}, "
        f"{lead['direction'].replace('_', ' ')}; {basis}"
    )


def _days(value: float | None) -> str:
    return "unknown" if value is None else f"{value:+.1f}"
