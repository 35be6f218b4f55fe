"""`sametrack scan`: submit a scan, follow it, print its result.

The job enters the shared queue: through the job API if a service runs, else through the control
store. If no worker is alive, one is started for this scan.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from api.cli import terminal
from api.cli.http_job_client import HttpJobClient
from api.cli.job_client import JobClient
from api.cli.options import given_parameters, with_parameter_options
from api.cli.processes.child_processes import WorkerSupervisor, is_listening, service_url
from api.cli.rendering.progress import ScanDisplay, follow_job
from api.cli.rendering.results import print_result
from api.settings import ApiSettings
from pipelines.documents.messages import counted
from pipelines.parameters.scan import PARAMETERS, ScanParameters, scan_parameters
from pipelines.platform.providers import choose_profile, has_chosen_world
from pipelines.scan.rules.expansion import REFERENCE_TRIALS, REPRESENTATIVES
from pipelines.settings import Settings

SHOWN_ROWS = 30
VIDEOS_PER_PAGE = 20  # maximum of a list page
CANDIDATES_PER_AUTHOR = 3  # the page of one author is read for so many candidates
CANDIDATES_PER_MUSIC_ID = 4  # observed average
REQUESTS_PER_SOUND = 1
LARGE_SCAN_S = 60.0

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


@with_parameter_options(PARAMETERS, has_keywords=True)
def scan(
    text: _Input,
    *,
    search_only: _ByName = False,
    as_json: _Json = False,
    api: _Api = None,
    **options: object,
) -> None:
    """Find, verify and rank the videos that use a track."""
    parameters = given_parameters(options)
    if search_only:
        parameters["search_only"] = True
    with _open_job_client(api) as (client, is_local):
        if is_local:
            # The pace of a service is its own, so only a scan of this machine is estimated.
            pace = choose_profile(Settings()).rate.per_second
            limits = {name: value for name, value in parameters.items() if name != "search_only"}
            effective = scan_parameters({**limits, "search_keywords": ()})
            estimate = estimate_scan(effective, requests_per_s=pace)
            if estimate.is_large:
                terminal.err.print(
                    f"[yellow]this is a large scan[/]: {estimate.sentence()}; Ctrl-C cancels it"
                )
        job = client.create(text, parameters)
        if job["status"] == "completed":
            terminal.print_message(
                "[dim]a stored result serves this request (--refresh reads again)[/]"
            )
        else:
            terminal.print_message(f"job [bold]{terminal.safe(job['job_id'])}[/]")
            with WorkerSupervisor(is_wanted=is_local) as supervisor, ScanDisplay() as display:
                job = follow_job(client, job, display, look=supervisor.look, held=supervisor.held)
    # The outcome; with --json the document is on stdout and messages are on stderr.
    if as_json:
        terminal.print_json(job)
    if job["status"] == "failed":
        raise typer.Exit(terminal.show_document_error(job["error"]))
    if job["status"] == "cancelled":
        terminal.print_message("[yellow]cancelled[/]; everything read so far is kept")
        raise typer.Exit(terminal.EXIT_INTERRUPTED)
    if job["result"] is None:
        raise typer.Exit(terminal.EXIT_FAILED)
    if not as_json:
        print_result(terminal.out, job["result"], rows=SHOWN_ROWS)
        if api is None:  # a report is made from the stores of this machine
            terminal.print_message(
                f"[dim]report: sametrack report {terminal.sanitize(job['job_id'])}[/]"
            )


@contextmanager
def _open_job_client(api: str | None) -> Iterator[tuple[JobClient, bool]]:
    """Yield the job client, and whether this command must make sure that a worker runs."""
    settings = ApiSettings()
    token = settings.own_api_token.get_secret_value() if settings.own_api_token else None
    # Prefer a service: it shares its caches, and its worker may be running.
    if api is not None or is_listening(settings.api_port, settings.api_host):
        here = service_url(settings.api_host, settings.api_port)
        try:
            opened = HttpJobClient(api or here, token=token)
        except ValueError as error:
            terminal.exit_with_input_error(f"--api: {error}")
        with opened as service:
            if api is not None or service.is_there():
                yield service, api is None and has_chosen_world(settings)
                return
    from api.cli.local_job_client import open_local_job_client  # noqa: PLC0415 -- loads SQLAlchemy, 0.4 s

    with open_local_job_client(settings) as client:
        yield client, True


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests, and the seconds they take at the rate limit of the profile."""

    requests: int
    seconds: float

    @property
    def is_large(self) -> bool:
        """True if the user should see the estimate before the scan starts."""
        return self.seconds >= LARGE_SCAN_S

    def sentence(self) -> str:
        """Return the estimate as a sentence for the terminal."""
        minutes = max(1, round(self.seconds / 60))
        return (
            f"about {counted(self.requests, 'request')}, {counted(minutes, 'minute')} at the rate "
            "limit of this profile"
        )


def estimate_scan(parameters: ScanParameters, *, requests_per_s: float) -> Estimate:
    """Estimate a scan that fills its candidate pool, as a guide before it starts.

    The real number depends on what the platform shows.

    Args:
        parameters: Parameters of the scan.
        requests_per_s: Rate limit of the profile for one host.
    """
    # The track, list pages, one author page for some candidates, and a page for each candidate
    pool = parameters.candidate_limit
    pages = math.ceil(pool / VIDEOS_PER_PAGE)
    sounds = 0
    if parameters.verify_audio:
        sounds = REFERENCE_TRIALS + REPRESENTATIVES * math.ceil(pool / CANDIDATES_PER_MUSIC_ID)
    requests = 1 + pages + pool // CANDIDATES_PER_AUTHOR + pool + sounds * REQUESTS_PER_SOUND
    return Estimate(requests, requests / requests_per_s)
