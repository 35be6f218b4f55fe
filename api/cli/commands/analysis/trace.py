"""`sametrack trace`: show what a row of a ranking rests on."""

from typing import Annotated

import typer

from api.cli.commands.analysis.query import open_workspace
from api.cli.terminal import format_count, out, print_json, safe
from pipelines.documents.messages import FIGURES, reason_message
from warehouse.exports.extracts import ExportScope, find_scope
from warehouse.queries.provenance import trace_figure
from warehouse.records.videos import COUNTS


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
        traced = trace_figure(workspace.engine, job_id=scope.job_id or job, rank=rank)
    if as_json:
        print_json(traced.to_document())
        return
    # The row of the ranking with its four counts
    row = traced.figure
    counts = ", ".join(f"{format_count(row[name])} {FIGURES[name].en}" for name in COUNTS)
    out.print(f"[bold]rank {row['rank']}[/] of job {safe(row['job_id'])}: {safe(row['aweme_id'])}")
    out.print(f"  {counts}; confirmed by {safe(row['link_type'])}")
    # The bodies that showed it, oldest first
    for body in traced.observations:
        parts = ["counts"] * body.shows_counts + ["music id"] * body.shows_music_id
        what = f"shows its {' and '.join(parts)}" if parts else "shows the video"
        time = f"{body.observed_at:%Y-%m-%d %H:%M:%S}"
        out.print(f"{time} {safe(body.surface)} of {safe(body.entity_id)}: {what}", soft_wrap=True)
        sha256 = safe(body.payload_sha256 or "—")
        out.print(f"  [dim]payload {sha256} ({body.body})[/]", soft_wrap=True)
    # The two sounds, if it was matched by audio
    pair = traced.comparison
    if pair is None:
        return
    out.print(
        f"comparison {safe(pair['comparison_id'])}: {safe(pair['verdict'].replace('_', ' '))}, "
        f"{safe(reason_message(pair['reason']).en)}",
        soft_wrap=True,
    )
    for role in ("reference", "candidate"):
        video, sha256 = pair[f"{role}_aweme_id"], pair[f"{role}_sha256"]
        out.print(f"  [dim]{role} {safe(video)}: sound {safe(sha256 or '—')}[/]", soft_wrap=True)
