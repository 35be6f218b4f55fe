"""`sametrack scan`: submit a scan, follow it, print its result.

The job enters the shared queue: through the job API if a service runs, else through the control
store. If no worker is alive, one is started for this scan.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from api.cli.http_job_client import HttpJobClient
from api.cli.job_client import JobClient
from api.cli.processes.child_processes import WorkerSupervisor, is_listening, service_url
from api.cli.rendering.parameter_options import given_parameters, with_parameter_options
from api.cli.rendering.progress import ScanDisplay, follow_job
from api.cli.rendering.results import print_result
from api.cli.scan_estimate import estimate_scan
from api.cli.terminal import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    err,
    exit_with_input_error,
    out,
    print_json,
    print_message,
    safe,
    sanitize,
    show_document_error,
)
from api.settings import ApiSettings
from pipelines.parameters.scan import scan_parameters
from pipelines.platform.providers import choose_profile, has_chosen_world
from pipelines.settings import Settings
from warehouse.records.values import Document

SHOWN_ROWS = 30

_Input = Annotated[
    str, typer.Argument(metavar="INPUT", help="Link, text with a link in it, or music id.")
]
_Json = Annotated[bool, typer.Option("--json", help="Print the finished job as JSON on stdout.")]
_Api = Annotated[
    str | None,
    typer.Option("--api", help="Address of a running service. Default: the local one, if it runs."),
]


_ByName = Annotated[
    bool,
    typer.Option(
        "--search-only",
        help="INPUT is the name of a song: search for it by text. Confirms nothing.",
    ),
]


@with_parameter_options
def scan(
    text: _Input,
    *,
    search_only: _ByName = False,
    as_json: _Json = False,
    api: _Api = None,
    **given: object,
) -> None:
    """Find, verify and rank the videos that use a track."""
    parameters = given_parameters(given) | ({"search_only": True} if search_only else {})
    with _open_job_client(api) as (client, is_local):
        if is_local:
            _print_estimate(parameters)
        job = client.create(text, parameters)
        if job["status"] == "completed":
            print_message("[dim]a stored result serves this request (--refresh reads again)[/]")
        else:
            job = _follow(client, job, is_local=is_local)
    raise typer.Exit(_show(job, as_json=as_json, is_elsewhere=api is not None))


def _follow(client: JobClient, job: Document, *, is_local: bool) -> Document:
    print_message(f"job [bold]{safe(job['job_id'])}[/]")
    with WorkerSupervisor(is_wanted=is_local) as supervisor, ScanDisplay() as display:
        return follow_job(client, job, display, look=supervisor.look, held=supervisor.held)


def _show(job: Document, *, as_json: bool, is_elsewhere: bool) -> int:
    """Print an ended job; return the exit code. `is_elsewhere`: it is not in the stores here."""
    if as_json:
        print_json(job)
    if job["status"] == "failed":
        return show_document_error(job["error"])
    if job["status"] == "cancelled":
        print_message("[yellow]cancelled[/]; everything read so far is kept")
        return EXIT_INTERRUPTED
    if job["result"] is None:
        return EXIT_FAILED
    if not as_json:
        print_result(out, job["result"], rows=SHOWN_ROWS)
        if not is_elsewhere:  # reports are made from the stores of this machine
            print_message(f"[dim]report: sametrack report {sanitize(job['job_id'])}[/]")
    return 0


@contextmanager
def _open_job_client(api: str | None) -> Iterator[tuple[JobClient, bool]]:
    """Yield the job client, and whether this command must make sure that a worker runs."""
    settings = ApiSettings()
    token = settings.own_api_token.get_secret_value() if settings.own_api_token else None
    if api is not None or is_listening(settings.api_port, settings.api_host):
        here = service_url(settings.api_host, settings.api_port)
        try:
            opened = HttpJobClient(api or here, token=token)
        except ValueError as error:
            exit_with_input_error(f"--api: {error}")
        with opened as service:
            if api is not None or service.is_there():
                yield service, api is None and has_chosen_world(settings)
                return
    from api.cli.local_job_client import open_local_job_client  # noqa: PLC0415 -- loads SQLAlchemy, 0.4 s

    with open_local_job_client(settings) as client:
        yield client, True


def _print_estimate(given: dict[str, object]) -> None:
    settings = Settings()
    profile = choose_profile(settings)
    values = {**given, "search_keywords": ()}
    values.pop("search_only", None)
    estimate = estimate_scan(scan_parameters(values), requests_per_s=profile.rate.per_second)
    if estimate.is_large:
        err.print(f"[yellow]this is a large scan[/]: {estimate.sentence()}; Ctrl-C cancels it")
