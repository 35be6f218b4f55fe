"""`sametrack jobs`: list, show and cancel jobs, in the stores of this machine or of a service."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from api.cli import terminal
from api.cli.job_client import expand_job_id
from api.cli.local_job_client import LocalJobClient, open_local_job_client
from api.cli.options import JsonOption, ServiceOption
from api.cli.rendering.progress import describe_stage, format_counts
from api.cli.rendering.results import print_result
from api.cli.stores import call_service_or_stores, stored_settings
from pipelines.documents.messages import stop_message
from warehouse.records.values import Document

INPUT_LIMIT = 28
DEFAULT_LIMIT = 20
LISTED_BY_A_SERVICE = 200
"""Most jobs in one answer of a service."""
SHOWN_ROWS = 30
WIDE = 120
"""Columns of a terminal in which the table shows whole ids and times."""
ID_PREFIX = 8
TO_THE_MINUTE = 16
STATUS_STYLES = {
    "queued": "yellow",
    "running": "cyan",
    "completed": "green",
    "failed": "red",
    "cancelled": "dim",
}

app = typer.Typer(help="List, show and cancel jobs.", invoke_without_command=True)
_JobId = Annotated[str, typer.Argument(metavar="ID", help="Id of a job, or a unique prefix.")]
_Limit = Annotated[int, typer.Option(min=1, max=500, help="Number of jobs.")]


@app.callback()
def list_jobs(
    ctx: typer.Context,
    *,
    limit: _Limit = DEFAULT_LIMIT,
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """List the newest jobs."""
    # This callback runs before `jobs show` and `jobs cancel`, too.
    if ctx.invoked_subcommand is not None:
        return
    if api is None:
        with _open_jobs() as opened:
            jobs = opened.jobs(limit=limit)
    else:
        jobs = _newest_at(api, limit)
    if as_json:
        terminal.print_json([{**job, "result": None} for job in jobs])
        return
    if not jobs:
        terminal.print_message("no jobs yet; [bold]sametrack scan LINK[/] starts one")
        return
    # In a narrow terminal ids are prefixes, which the other commands accept.
    is_wide = terminal.out.width >= WIDE
    id_length, time_length = (None, None) if is_wide else (ID_PREFIX, TO_THE_MINUTE)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("job", "status", "input", "progress", "created"):
        table.add_column(name, no_wrap=name != "progress", overflow="ellipsis")
    for job in jobs:
        counts = format_counts(job, first="confirmed_count")
        where = counts if job["status"] != "failed" else stop_message(job["error"]["type"]).en
        table.add_row(
            terminal.safe(job["job_id"][:id_length]),
            _status(job),
            terminal.safe(job["input"], limit=INPUT_LIMIT),
            # the only column that shrinks
            Text(terminal.sanitize(where), no_wrap=True, overflow="ellipsis"),
            terminal.safe(job["created_at"][:time_length]),
        )
    terminal.out.print(table)


@app.command("show")
def show(job_id: _JobId, *, as_json: JsonOption = False, api: ServiceOption = None) -> None:
    """Show a job and, once completed, its result."""
    whole_id = _whole_id(api, job_id)

    def read_here() -> Document:
        with _open_jobs() as jobs:
            return jobs.job(whole_id)

    job = call_service_or_stores(api, lambda client: client.job(whole_id), read_here)
    if as_json:
        terminal.print_json(job)
        return
    terminal.out.print(
        f"[bold]{terminal.safe(job['job_id'])}[/] {_status(job)} · {terminal.safe(job['input'])}"
    )
    terminal.out.print(
        f"[dim]{terminal.safe(describe_stage(job))}  {terminal.safe(format_counts(job))}[/]"
    )
    if job["error"]:
        terminal.show_document_error(job["error"])
    if job["result"]:
        print_result(terminal.out, job["result"], rows=SHOWN_ROWS)


@app.command("cancel")
def cancel(job_id: _JobId, *, as_json: JsonOption = False, api: ServiceOption = None) -> None:
    """Cancel a job at its next safe point. Everything read so far is kept."""
    whole_id = _whole_id(api, job_id)

    def cancel_here() -> Document:
        with _open_jobs() as jobs:
            return jobs.cancel(whole_id)

    job = call_service_or_stores(api, lambda client: client.cancel_job(whole_id), cancel_here)
    if job["status"] == "cancelled":
        outcome = "what it has read is kept"
    else:
        outcome = "cancellation requested" if job["cancel_requested"] else "already ended"
    line = f"[bold]{terminal.safe(job['job_id'])}[/] {_status(job)} · {outcome}"
    terminal.print_document({**job, "result": None}, line, as_json=as_json)


def _newest_at(api: str, limit: int) -> list[Document]:
    answer: Document = call_service_or_stores(api, lambda client: client.jobs(limit=limit), dict)
    return [dict(job) for job in answer["jobs"]]


def _whole_id(api: str | None, beginning: str) -> str:
    """Return the only id that begins so, or the text itself: the lookup then names it."""
    if api is not None:
        jobs = _newest_at(api, LISTED_BY_A_SERVICE)
        return expand_job_id(beginning, [job["job_id"] for job in jobs])
    # Only the newest jobs are searched: an older id must be given in full.
    with _open_jobs() as opened:
        return opened.expand_job_id(beginning)


@contextmanager
def _open_jobs() -> Iterator[LocalJobClient]:
    with open_local_job_client(stored_settings()) as jobs:
        yield jobs


def _status(job: Document) -> str:
    return f"[{STATUS_STYLES.get(job['status'], 'white')}]{terminal.safe(job['status'])}[/]"
