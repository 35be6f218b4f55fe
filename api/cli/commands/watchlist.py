"""`sametrack watchlist`: manage watchlists in the stores of this machine, or of a service."""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from api.cli import terminal
from api.cli.options import JsonOption, ServiceOption, parameter_option
from api.cli.rendering.watchlists import print_digest, print_lists, print_runs
from api.cli.stores import call_service_or_stores, stored_settings
from api.client import ApiResponse, AsyncClient
from api.params.fields import field_parameter
from api.params.watchlists import ThresholdsBody, WatchlistBody, WatchlistRunsQuery
from api.server.validation_errors import to_service_error
from api.services.watchlists.files import apply_file
from api.services.watchlists.service import WatchlistService, open_watchlist_service
from api.settings import ApiSettings
from pipelines.documents.messages import counted
from pipelines.parameters.scan import BY_NAME
from warehouse.files import read_text
from warehouse.records import watchlists
from warehouse.records.values import ReadOnlyDocument

POLL_INTERVAL_S = 1.0
app = typer.Typer(
    help="Watchlists: list, add, remove, enable, disable, run, apply, runs, digest.",
    no_args_is_help=True,
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a watchlist.")]
_RUNS = field_parameter(WatchlistRunsQuery, "limit")
_Limit = Annotated[int, typer.Option(min=_RUNS.minimum, max=_RUNS.maximum, help="Number of runs.")]
_File = Annotated[Path, typer.Argument(metavar="FILE", help="YAML file; see docs/watchlists.md.")]
_Inputs = list[str]


def _threshold_option(name: str) -> Any:  # as `parameter_option`, which it calls
    return parameter_option(field_parameter(ThresholdsBody, name))


@app.command("list")
def list_all(*, as_json: JsonOption = False, api: ServiceOption = None) -> None:
    """List all watchlists with their last and next run."""
    document = _call(
        api, lambda client: client.watchlists(), lambda lists: lists.listed(), reads=True
    )
    if as_json:
        terminal.print_json(document)
        return
    if not document["watchlists"]:
        terminal.print_message(
            "no watchlists yet; [bold]sametrack watchlist add NAME --track LINK[/] creates one"
        )
        return
    print_lists(terminal.out, document)


@app.command("add")
def add(
    name: _Name,
    *,
    every: Annotated[
        str, typer.Option(help="daily, every 6 hours, every monday at 08:00, or cron; UTC.")
    ] = "daily",
    track: Annotated[
        _Inputs | None, typer.Option(help="Id or link of a track; repeatable.")
    ] = None,
    account: Annotated[
        _Inputs | None, typer.Option(help="Id or link of an account; repeatable.")
    ] = None,
    hashtag: Annotated[
        _Inputs | None, typer.Option(help="Id or link of a hashtag; repeatable.")
    ] = None,
    velocity: Annotated[float | None, _threshold_option("velocity")] = None,
    rank_change: Annotated[int | None, _threshold_option("rank_change")] = None,
    new_music_id: Annotated[bool | None, _threshold_option("new_music_id")] = None,
    likes: Annotated[int | None, _threshold_option("likes")] = None,
    creator_followers: Annotated[int | None, _threshold_option("creator_followers")] = None,
    disappeared: Annotated[bool | None, _threshold_option("disappeared")] = None,
    usage_growth: Annotated[float | None, _threshold_option("usage_growth")] = None,
    candidate_limit: Annotated[int | None, parameter_option(BY_NAME["candidate_limit"])] = None,
    count: Annotated[int | None, parameter_option(BY_NAME["count"])] = None,
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """Create a watchlist. More settings are possible in a file; see `watchlist apply`."""
    if velocity is not None and not isfinite(velocity):  # `nan` and `inf` pass the limits of Typer
        terminal.exit_with_input_error(f"--velocity {velocity} is no hot score a day")
    groups = {"track": track, "account": account, "hashtag": hashtag}
    entries = [
        {"kind": kind, "input": text} for kind, texts in groups.items() for text in texts or ()
    ]
    if not entries:
        terminal.exit_with_input_error(
            "a watchlist needs an entry: give --track, --account or --hashtag"
        )
    thresholds = {
        "velocity": velocity,
        "rank_change": rank_change,
        "new_music_id": new_music_id,
        "likes": likes,
        "creator_followers": creator_followers,
        "disappeared": disappeared,
        "usage_growth": usage_growth,
    }
    parameters = {"candidate_limit": candidate_limit, "count": count}
    # What was not given is left out, so that its default is that of the record.
    fields: dict[str, Any] = {
        "name": name,
        "every": every,
        "entries": entries,
        "thresholds": {key: value for key, value in thresholds.items() if value is not None},
        "parameters": {key: value for key, value in parameters.items() if value is not None},
    }
    watchlist = _call(
        api,
        lambda client: client.create_watchlist(**fields),
        lambda lists: _create_here(lists, fields),
    )
    _show_watchlist(watchlist, "created", as_json=as_json)


def _create_here(lists: WatchlistService, fields: ReadOnlyDocument) -> ReadOnlyDocument:
    """Create a watchlist in the stores of this machine, by the rules of the HTTP API."""
    # The service first: of a name, a schedule or a number of entries it says more than the model.
    lists.check(watchlists.parse_plan(fields))
    try:
        plan = WatchlistBody.model_validate(fields).to_plan()
    except ValidationError as error:
        raise to_service_error(error.errors(), names=WatchlistBody.model_fields) from error
    return lists.create(plan)


@app.command("remove")
def remove(name: _Name, *, as_json: JsonOption = False, api: ServiceOption = None) -> None:
    """Delete a watchlist and its runs. Observations and digests are kept."""
    document = _call(
        api, lambda client: client.delete_watchlist(name), lambda lists: lists.delete(name)
    )
    terminal.print_document(document, f"[bold]{terminal.safe(name)}[/] removed", as_json=as_json)


@app.command("enable")
def enable(name: _Name, *, as_json: JsonOption = False, api: ServiceOption = None) -> None:
    """Resume the schedule of a watchlist."""
    watchlist = _call(
        api,
        lambda client: client.change_watchlist(name, enabled=True),
        lambda lists: lists.change(name, {"enabled": True}),
    )
    _show_watchlist(watchlist, "enabled", as_json=as_json)


@app.command("disable")
def disable(name: _Name, *, as_json: JsonOption = False, api: ServiceOption = None) -> None:
    """Pause the schedule of a watchlist."""
    watchlist = _call(
        api,
        lambda client: client.change_watchlist(name, enabled=False),
        lambda lists: lists.change(name, {"enabled": False}),
    )
    _show_watchlist(watchlist, "disabled", as_json=as_json)


@app.command("run")
def run_now(
    name: _Name,
    *,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the digest.")] = False,
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """Run a watchlist now. Its scans are jobs, so a worker must be running.

    The exit status is 1 if the run has failed: none of its entries could be checked.
    """
    run = _run_here(name, wait=wait) if api is None else _run_there(api, name, wait=wait)
    if as_json:
        terminal.print_json(run)
    elif run["digest"] is not None:
        print_digest(terminal.out, run["digest"])
    else:
        jobs = [entry["job_id"] for entry in run["entries"] if entry["job_id"]]
        terminal.out.print(
            f"run [bold]{terminal.safe(run['run_id'])}[/] {terminal.safe(run['status'])}"
        )
        terminal.print_message(
            f"{counted(len(jobs), 'scan')} submitted; the digest follows when all have ended"
        )
    if run["status"] == "failed":
        raise typer.Exit(terminal.EXIT_FAILED)


def _run_here(name: str, *, wait: bool) -> ReadOnlyDocument:
    """Run a watchlist in this process: no service needs to run, only a worker."""
    from pipelines.watchlists.open_service import open_watchlist_runner  # noqa: PLC0415 -- loads DuckDB and Delta, 0.5 s

    with _open_watchlists() as lists, open_watchlist_runner(ApiSettings()) as runner:
        run_id = lists.run(name, origin="cli")["run_id"]
        # `conclude` does nothing until all scans have ended.
        while True:
            runner.begin(run_id)  # again, in case the process that began it died
            runner.conclude(run_id)
            run = lists.run_of(name, run_id)
            if not wait or run["status"] in watchlists.ENDED_RUN_STATUSES:
                return run
            time.sleep(POLL_INTERVAL_S)


def _run_there(api: str, name: str, *, wait: bool) -> ReadOnlyDocument:
    """Have a service run a watchlist; its own process concludes the run."""
    run: ReadOnlyDocument = call_service_or_stores(
        api, lambda client: client.run_watchlist(name), dict
    )
    run_id = run["run_id"]
    while wait and run["status"] not in watchlists.ENDED_RUN_STATUSES:
        time.sleep(POLL_INTERVAL_S)
        run = call_service_or_stores(api, lambda client: client.watchlist_run(name, run_id), dict)
    return run


@app.command("runs")
def runs(
    name: _Name,
    *,
    limit: _Limit = _RUNS.default,
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """List the newest runs of a watchlist."""
    document = _call(
        api,
        lambda client: client.watchlist_runs(name, limit=limit),
        lambda lists: lists.runs(name, limit=limit),
        reads=True,
    )
    terminal.print_document(document, lambda: print_runs(terminal.out, document), as_json=as_json)


@app.command("digest")
def show_digest(
    name: _Name,
    run_id: Annotated[str | None, typer.Argument(help="Id of a run. Default: the newest.")] = None,
    *,
    as_json: JsonOption = False,
    api: ServiceOption = None,
) -> None:
    """Show the digest of a run."""
    # The digest of a run, or the newest of the list
    if run_id is not None:
        digest = _call(
            api,
            lambda client: client.watchlist_run(name, run_id),
            lambda lists: lists.run_of(name, run_id),
            reads=True,
        )["digest"]
    else:
        newest = _call(
            api,
            lambda client: client.watchlist_digests(name, limit=1),
            lambda lists: lists.digests(name, limit=1),
            reads=True,
        )
        digest = next(iter(newest["digests"]), None)
    if digest is None:
        terminal.print_message(
            f"no digest yet; [bold]sametrack watchlist runs {terminal.safe(name)}[/] lists the runs"
        )
        raise typer.Exit(terminal.EXIT_FAILED)
    terminal.print_document(digest, lambda: print_digest(terminal.out, digest), as_json=as_json)


@app.command("apply")
def apply(
    path: _File,
    *,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete watchlists that are not in the file.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the changes without making them.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Create and change watchlists to match a YAML file. Idempotent."""
    text = read_text(path, hint="give a YAML file; see docs/watchlists.md")
    with _open_watchlists() as lists:
        document = apply_file(lists, text, prune=prune, dry_run=dry_run)
    if as_json:
        terminal.print_json(document)
        return
    for change in document["changes"]:
        fields = f" ({', '.join(change['fields'])})" if change["fields"] else ""
        terminal.out.print(
            f"{change['what']:<9} [bold]{terminal.safe(change['name'])}[/]{terminal.safe(fields)}"
        )
    if dry_run:
        terminal.print_message("dry run: nothing was changed")


def _show_watchlist(watchlist: ReadOnlyDocument, what: str, *, as_json: bool) -> None:
    due = f"next {watchlist['next_due_at']}" if watchlist["next_due_at"] else "paused"
    name, every = terminal.safe(watchlist["name"]), terminal.safe(watchlist["every"])
    line = f"[bold]{name}[/] {what} · {every} · {terminal.safe(due)}"
    terminal.print_document(watchlist, line, as_json=as_json)


def _call(
    api: str | None,
    remote: Callable[[AsyncClient], Awaitable[ApiResponse[Any]]],
    local: Callable[[WatchlistService], ReadOnlyDocument],
    *,
    reads: bool = False,
) -> ReadOnlyDocument:
    """Call the service at `api`, or the stores of this machine; `reads`: it changes nothing."""

    def call_here() -> ReadOnlyDocument:
        with _open_watchlists(reads=reads) as lists:
            return local(lists)

    document: ReadOnlyDocument = call_service_or_stores(api, remote, call_here)
    return document


@contextmanager
def _open_watchlists(*, reads: bool = False) -> Iterator[WatchlistService]:
    with open_watchlist_service(stored_settings() if reads else ApiSettings()) as lists:
        yield lists
