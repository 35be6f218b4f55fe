"""The commands with the parameters of a scan: `sametrack scan`, `music hot` and `music batch`.

`scan` submits a scan, follows it and prints its result. The job enters the shared queue: through
the job API if a service runs, else through the control store. If no worker is alive, one is started
for this scan. The others call one operation.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from api.cli import options, terminal
from api.cli.api_access import call_and_print
from api.cli.http_job_client import HttpJobClient
from api.cli.job_client import JobClient
from api.cli.processes.child_processes import WorkerSupervisor, is_listening, service_url
from api.cli.rendering import reads
from api.cli.rendering.progress import ScanDisplay, follow_job
from api.cli.rendering.results import print_result
from api.settings import ApiSettings
from pipelines.documents.messages import counted
from pipelines.parameters.scan import (
    BY_NAME,
    MAX_SEARCH_KEYWORDS,
    ScanParameters,
    SortBy,
    scan_parameters,
)
from pipelines.platform.providers import choose_profile, has_chosen_world
from pipelines.scan.rules.expansion import REFERENCE_TRIALS, REPRESENTATIVES
from pipelines.settings import Settings

SHOWN_ROWS = 30
VIDEOS_PER_PAGE = 20  # maximum of a list page
CANDIDATES_PER_AUTHOR = 3  # the page of one author is read for so many candidates
CANDIDATES_PER_MUSIC_ID = 4  # observed average
REQUESTS_PER_SOUND = 1
LARGE_SCAN_S = 60.0

Track = Annotated[
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
_CandidateLimit = Annotated[int | None, options.parameter_option(BY_NAME["candidate_limit"])]
_Count = Annotated[int | None, options.parameter_option(BY_NAME["count"])]
_SortBy = Annotated[SortBy | None, options.parameter_option(BY_NAME["sort_by"])]
_ViralThreshold = Annotated[int | None, options.parameter_option(BY_NAME["viral_threshold"])]
_ViralOnly = Annotated[bool | None, options.parameter_option(BY_NAME["viral_only"])]
_SearchEnabled = Annotated[bool | None, options.parameter_option(BY_NAME["search_enabled"])]
_SearchCandidateLimit = Annotated[
    int | None, options.parameter_option(BY_NAME["search_candidate_limit"])
]
_SearchBatchTarget = Annotated[int | None, options.parameter_option(BY_NAME["search_batch_target"])]
_SearchPageLimit = Annotated[int | None, options.parameter_option(BY_NAME["search_page_limit"])]
_SearchRequestBudget = Annotated[
    int | None, options.parameter_option(BY_NAME["search_request_budget"])
]
_VerifyAudio = Annotated[bool | None, options.parameter_option(BY_NAME["verify_audio"])]
_MatchThreshold = Annotated[float | None, options.parameter_option(BY_NAME["match_threshold"])]
_AccountProfileLimit = Annotated[
    int | None, options.parameter_option(BY_NAME["account_profile_limit"])
]
_Refresh = Annotated[bool | None, options.parameter_option(BY_NAME["refresh"])]
_SearchKeywords = Annotated[
    str | None,
    typer.Option(
        help=f"Comma-separated song titles to search for, at most {MAX_SEARCH_KEYWORDS}. "
        "Default: the music title.",
        rich_help_panel=options.PARAMETERS_PANEL,
        show_default=False,
    ),
]


def scan(
    text: Track,
    *,
    search_only: _ByName = False,
    as_json: _Json = False,
    api: _Api = None,
    candidate_limit: _CandidateLimit = None,
    count: _Count = None,
    sort_by: _SortBy = None,
    viral_threshold: _ViralThreshold = None,
    viral_only: _ViralOnly = None,
    search_enabled: _SearchEnabled = None,
    search_candidate_limit: _SearchCandidateLimit = None,
    search_batch_target: _SearchBatchTarget = None,
    search_page_limit: _SearchPageLimit = None,
    search_request_budget: _SearchRequestBudget = None,
    verify_audio: _VerifyAudio = None,
    match_threshold: _MatchThreshold = None,
    account_profile_limit: _AccountProfileLimit = None,
    refresh: _Refresh = None,
    search_keywords: _SearchKeywords = None,
) -> None:
    """Find, verify and rank the videos that use a track."""
    parameters = options.given_parameters(
        candidate_limit=candidate_limit,
        count=count,
        sort_by=sort_by,
        viral_threshold=viral_threshold,
        viral_only=viral_only,
        search_enabled=search_enabled,
        search_candidate_limit=search_candidate_limit,
        search_batch_target=search_batch_target,
        search_page_limit=search_page_limit,
        search_request_budget=search_request_budget,
        verify_audio=verify_audio,
        match_threshold=match_threshold,
        account_profile_limit=account_profile_limit,
        refresh=refresh,
        search_keywords=_split_keywords(search_keywords),
        search_only=search_only or None,
    )
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


def hot(
    track: Track,
    *,
    as_json: options.JsonDataOption = False,
    api: options.ApiOption = None,
    candidate_limit: _CandidateLimit = None,
    count: _Count = None,
    sort_by: _SortBy = None,
    viral_threshold: _ViralThreshold = None,
    viral_only: _ViralOnly = None,
    search_enabled: _SearchEnabled = None,
    search_candidate_limit: _SearchCandidateLimit = None,
    search_batch_target: _SearchBatchTarget = None,
    search_page_limit: _SearchPageLimit = None,
    search_request_budget: _SearchRequestBudget = None,
    verify_audio: _VerifyAudio = None,
    match_threshold: _MatchThreshold = None,
    account_profile_limit: _AccountProfileLimit = None,
    refresh: _Refresh = None,
    search_keywords: _SearchKeywords = None,
) -> None:
    """Show the stored ranking of a track, or start a job that creates it."""
    parameters = options.given_parameters(
        candidate_limit=candidate_limit,
        count=count,
        sort_by=sort_by,
        viral_threshold=viral_threshold,
        viral_only=viral_only,
        search_enabled=search_enabled,
        search_candidate_limit=search_candidate_limit,
        search_batch_target=search_batch_target,
        search_page_limit=search_page_limit,
        search_request_budget=search_request_budget,
        verify_audio=verify_audio,
        match_threshold=match_threshold,
        account_profile_limit=account_profile_limit,
        refresh=refresh,
        keywords=_split_keywords(search_keywords),
    )
    call_and_print(
        lambda client: client.hot_videos(track, **parameters),
        reads.print_hot_videos,
        api=api,
        as_json=as_json,
    )


def batch(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Up to ten tracks.")],
    *,
    as_json: options.JsonDataOption = False,
    api: options.ApiOption = None,
    candidate_limit: _CandidateLimit = None,
    count: _Count = None,
    sort_by: _SortBy = None,
    viral_threshold: _ViralThreshold = None,
    viral_only: _ViralOnly = None,
    search_enabled: _SearchEnabled = None,
    search_candidate_limit: _SearchCandidateLimit = None,
    search_batch_target: _SearchBatchTarget = None,
    search_page_limit: _SearchPageLimit = None,
    search_request_budget: _SearchRequestBudget = None,
    verify_audio: _VerifyAudio = None,
    match_threshold: _MatchThreshold = None,
    account_profile_limit: _AccountProfileLimit = None,
    refresh: _Refresh = None,
    search_keywords: _SearchKeywords = None,
) -> None:
    """Show or start the rankings of up to ten tracks, or of the songs of a list."""
    parameters = options.given_parameters(
        candidate_limit=candidate_limit,
        count=count,
        sort_by=sort_by,
        viral_threshold=viral_threshold,
        viral_only=viral_only,
        search_enabled=search_enabled,
        search_candidate_limit=search_candidate_limit,
        search_batch_target=search_batch_target,
        search_page_limit=search_page_limit,
        search_request_budget=search_request_budget,
        verify_audio=verify_audio,
        match_threshold=match_threshold,
        account_profile_limit=account_profile_limit,
        refresh=refresh,
        keywords=_split_keywords(search_keywords),
    )
    call_and_print(
        lambda client: client.hot_videos_batch(inputs, **parameters),
        reads.print_batch,
        api=api,
        as_json=as_json,
    )


def _split_keywords(text: str | None) -> list[str] | None:
    """Return the titles between commas of both scripts.

    Raises:
        typer.BadParameter: There are too many.
    """
    if text is None:
        return None
    keywords = [title.strip() for title in text.replace("\uff0c", ",").split(",") if title.strip()]
    if len(keywords) > MAX_SEARCH_KEYWORDS:
        raise typer.BadParameter(
            f"at most {MAX_SEARCH_KEYWORDS} keywords", param_hint="search_keywords"
        )
    return keywords


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
