"""`sametrack trace`: show what a row of a ranking rests on."""

from typing import Annotated

import typer

from api.cli.commands.analysis.analysis_workspace import open_workspace
from api.cli.terminal import format_count, out, print_json, safe
from pipelines.documents.verdict_reasons import reason_message
from warehouse.exports.extracts import ExportScope, find_scope
from warehouse.queries.provenance import FigureObservation, FigureTrace, trace_figure
from warehouse.records.values import Row


def trace(
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="Id of a completed job, or its beginning.")
    ],
    rank: Annotated[int, typer.Argument(min=1, help="Position in its ranking.")] = 1,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the trace as PROV-JSON of the W3C.")
    ] = False,
) -> None:
    """Show the bodies and sounds behind a row of a ranking, and whether their hashes hold.

    A body is deleted after PAYLOAD_RETENTION_DAYS; its hash stays.
    """
    with open_workspace() as workspace:
        scope = find_scope(workspace.engine, ExportScope(job_id=job))
        found = trace_figure(workspace.engine, job_id=scope.job_id or job, rank=rank)
    if as_json:
        print_json(found.to_document())
    else:
        _show(found)


def _show(found: FigureTrace) -> None:
    row = found.figure
    counts = ", ".join(
        f"{format_count(row[name])} {label}"
        for name, label in (
            ("digg_count", "likes"), ("comment_count", "comments"),
            ("collect_count", "bookmarks"), ("share_count", "shares"),
        )
    )  # fmt: skip
    out.print(f"[bold]rank {row['rank']}[/] of job {safe(row['job_id'])}: {safe(row['aweme_id'])}")
    out.print(f"  {counts}; confirmed by {safe(row['link_type'])}")
    for one in found.observations:
        _show_observation(one)
    if found.comparison is not None:
        _show_comparison(found.comparison)


def _show_observation(one: FigureObservation) -> None:
    shown = [
        label
        for label, is_shown in (("counts", one.shows_counts), ("music id", one.shows_music_id))
        if is_shown
    ]
    what = f"shows its {' and '.join(shown)}" if shown else "shows the video"
    out.print(
        f"{one.observed_at:%Y-%m-%d %H:%M:%S} {safe(one.surface)} of {safe(one.entity_id)}: {what}",
        soft_wrap=True,
    )
    out.print(f"  [dim]payload {safe(one.payload_sha256 or '—')} ({one.body})[/]", soft_wrap=True)


def _show_comparison(pair: Row) -> None:
    out.print(
        f"comparison {safe(pair['comparison_id'])}: {safe(pair['verdict'].replace('_', ' '))}, "
        f"{safe(reason_message(pair['reason']).en)}",
        soft_wrap=True,
    )
    for role in ("reference", "candidate"):
        video, sha256 = pair[f"{role}_aweme_id"], pair[f"{role}_sha256"]
        out.print(f"  [dim]{role} {safe(video)}: sound {safe(sha256 or '—')}[/]", soft_wrap=True)
