"""`sametrack report`: writes the HTML report of a completed job."""

from pathlib import Path
from typing import Annotated

import typer

from api.cli.terminal import out, refuse, safe
from api.evidence.gathering import GatheredPairs
from pipelines.domain.documents import Document

_JobId = Annotated[str, typer.Argument(metavar="JOB_ID", help="Id of a completed job.")]
_Out = Annotated[
    Path | None, typer.Option("--out", help="File to write. Default: the reports folder.")
]


def report(job_id: _JobId, *, out_file: _Out = None) -> None:
    """Write the report of a completed job as one HTML file that needs no network."""
    from api.cli.store_desk import open_store_desk, reports_dir  # noqa: PLC0415 -- loads DuckDB
    from api.settings import ApiSettings  # noqa: PLC0415 -- as above

    settings = ApiSettings()
    with open_store_desk(settings) as desk:
        job = desk.job(desk.whole_id(job_id))
        if job["result"] is None:
            refuse(f"job {job['job_id']} is {job['status']} and has no result to report")
        pairs = desk.gather_pairs(job)
    path = out_file or reports_dir(settings) / f"{job['job_id']}.html"
    write_report(path, job, pairs=pairs)
    out.print(f"[green]written[/] {safe(path)}", soft_wrap=True)


def write_report(path: Path, job: Document, *, pairs: GatheredPairs | None = None) -> None:
    """Write the report of a completed job document."""
    from api.report.render import render_report  # noqa: PLC0415 -- jinja2 costs 0.1 s

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_report(job, pairs=pairs), encoding="utf-8")
