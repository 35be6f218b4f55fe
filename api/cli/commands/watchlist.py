"""`sametrack watchlist`: what is looked at again and again, on this machine's own stores."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.rendering.watchlists import print_digest, print_lists, print_runs
from api.cli.terminal import EXIT_FAILED, out, refuse, safe, say
from pipelines.documents.videos import Document
from warehouse.records.watchlists import RUN_ENDED, Entry, Plan, Thresholds

if TYPE_CHECKING:
    from api.services.watchlists.service import WatchBook

LOOK_EVERY_S = 1.0
app = typer.Typer(
    help="Watchlists: list, add, remove, enable, disable, run, apply, runs, digest.",
    no_args_is_help=True,
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a watchlist.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
_Limit = Annotated[int, typer.Option(min=1, max=200, help="How many of the newest.")]
_File = Annotated[Path, typer.Argument(metavar="FILE", help="YAML file; see docs/watchlists.md.")]
_Inputs = list[str]


@app.command("list")
def list_all(*, as_json: _Json = False) -> None:
    """List all watchlists with their last run and the next due time."""
    with _open_book() as book:
        found = book.listed()
    if as_json:
        _print_json(found)
        return
    if not found["watchlists"]:
        say("no watchlists yet; [bold]sametrack watchlist add NAME --track LINK[/] makes one")
        return
    print_lists(out, found)


@app.command("add")
def add(
    name: _Name,
    *,
    every: Annotated[
        str, typer.Option(help="daily, every 6 hours, every monday at 08:00, or cron; UTC.")
    ] = "daily",
    track: Annotated[_Inputs | None, typer.Option(help="Id or link of a track; repeat.")] = None,
    account: Annotated[_Inputs | None, typer.Option(help="Id or link of an account.")] = None,
    hashtag: Annotated[_Inputs | None, typer.Option(help="Id or link of a hashtag.")] = None,
    velocity: Annotated[
        float, typer.Option(min=0, help="Name works that gain so much hot score a day.")
    ] = 1000.0,
    rank_change: Annotated[
        int, typer.Option(min=1, help="Name works that move so many places.")
    ] = 3,
    new_music_id: Annotated[
        bool, typer.Option(help="Name other music ids that turn out to carry the recording.")
    ] = True,
    candidate_limit: Annotated[
        int | None, typer.Option(min=15, max=2000, help="Candidates of each scan.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, max=500, help="Top N in which places count.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Make a watchlist. What this does not offer can be written into a file and applied."""
    groups = {"track": track, "account": account, "hashtag": hashtag}
    parameters = {"candidate_limit": candidate_limit, "count": count}
    plan = Plan(
        name=name,
        every=every,
        entries=tuple(
            Entry(kind=kind, input=text)  # type: ignore[arg-type]  # the three kinds, above
            for kind, texts in groups.items()
            for text in texts or ()
        ),
        thresholds=Thresholds(
            velocity=velocity, rank_change=rank_change, new_music_id=new_music_id
        ),
        parameters={key: value for key, value in parameters.items() if value is not None},
    )
    if not plan.entries:
        refuse("nothing to look at: give --track, --account or --hashtag")
    with _open_book() as book:
        made = book.create(plan)
    _show_one(made, "made", as_json=as_json)


@app.command("remove")
def remove(name: _Name, *, as_json: _Json = False) -> None:
    """Forget a watchlist and its runs; what was observed stays, digests too."""
    with _open_book() as book:
        gone = book.delete(name)
    if as_json:
        _print_json(gone)
        return
    out.print(f"[bold]{safe(name)}[/] removed")


@app.command("enable")
def enable(name: _Name, *, as_json: _Json = False) -> None:
    """Let a watchlist run by itself again, from now on."""
    _switch(name, is_on=True, as_json=as_json)


@app.command("disable")
def disable(name: _Name, *, as_json: _Json = False) -> None:
    """Let a watchlist rest."""
    _switch(name, is_on=False, as_json=as_json)


@app.command("run")
def run(
    name: _Name,
    *,
    wait: Annotated[bool, typer.Option("--wait", help="Until the digest is there.")] = False,
    as_json: _Json = False,
) -> None:
    """Run a watchlist now. Its scans are jobs: a worker must be there to do them."""
    from api.settings import ApiSettings  # noqa: PLC0415 -- loads pydantic
    from pipelines.watchlists.open_service import open_watcher  # noqa: PLC0415 -- loads DuckDB and Delta

    with _open_book() as book, open_watcher(ApiSettings()) as watcher:
        run_id = book.run(name, origin="cli")["run_id"]
        watcher.begin(run_id)
        watcher.conclude(run_id)
        found = book.run_of(name, run_id)
        while wait and found["status"] not in RUN_ENDED:
            time.sleep(LOOK_EVERY_S)
            watcher.begin(run_id)  # if who had begun it died
            watcher.conclude(run_id)
            found = book.run_of(name, run_id)
    _show_run(found, as_json=as_json)


@app.command("runs")
def runs(name: _Name, *, limit: _Limit = 20, as_json: _Json = False) -> None:
    """List the newest runs of a watchlist."""
    with _open_book() as book:
        found = book.runs(name, limit=limit)
    if as_json:
        _print_json(found)
        return
    print_runs(out, found)


@app.command("digest")
def digest(
    name: _Name,
    run_id: Annotated[str | None, typer.Argument(help="Of a run; default: the newest.")] = None,
    *,
    as_json: _Json = False,
) -> None:
    """Show what changed."""
    with _open_book() as book:
        if run_id is not None:
            found = book.run_of(name, run_id)["digest"]
        else:
            found = next(iter(book.digests(name, limit=200)["digests"]), None)
    if found is None:
        say("no digest yet; [bold]sametrack watchlist runs NAME[/] lists the runs")
        raise typer.Exit(EXIT_FAILED)
    if as_json:
        _print_json(found)
        return
    print_digest(out, found)


@app.command("apply")
def apply(
    path: _File,
    *,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove watchlists that the file does not name.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change; change nothing.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Make the kept watchlists what a YAML file says; doing it twice changes nothing."""
    from api.services.watchlists.apply_file import apply_file  # noqa: PLC0415 -- loads pydantic and YAML

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        refuse(f"{path.name} cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8'}")
    with _open_book() as book:
        done = apply_file(book, text, prune=prune, dry_run=dry_run)
    if as_json:
        _print_json(done)
        return
    for line in done["changes"]:
        fields = f" ({', '.join(line['fields'])})" if line["fields"] else ""
        out.print(f"{line['what']:<9} [bold]{safe(line['name'])}[/]{safe(fields)}")
    if dry_run:
        say("nothing was changed: this was a dry run")


def _switch(name: str, *, is_on: bool, as_json: bool) -> None:
    with _open_book() as book:
        changed = book.change(name, {"enabled": is_on})
    _show_one(changed, "enabled" if is_on else "disabled", as_json=as_json)


def _show_one(kept: Document, what: str, *, as_json: bool) -> None:
    if as_json:
        _print_json(kept)
        return
    due = f"next {kept['next_due_at']}" if kept["next_due_at"] else "it rests"
    out.print(f"[bold]{safe(kept['name'])}[/] {what} · {safe(kept['every'])} · {safe(due)}")


def _show_run(found: Document, *, as_json: bool) -> None:
    if as_json:
        _print_json(found)
    elif found["digest"] is not None:
        print_digest(out, found["digest"])
    else:
        jobs = [entry["job_id"] for entry in found["entries"] if entry["job_id"]]
        out.print(f"run [bold]{safe(found['run_id'])}[/] {safe(found['status'])}")
        say(f"{len(jobs)} scans handed in; the digest follows when they have ended")


@contextmanager
def _open_book() -> Iterator["WatchBook"]:
    from api.services.watchlists.service import open_book  # noqa: PLC0415 -- loads SQLAlchemy
    from api.settings import ApiSettings  # noqa: PLC0415 -- loads pydantic

    with open_book(ApiSettings()) as book:
        yield book


def _print_json(document: Mapping[str, Any]) -> None:
    out.out(json.dumps(document, ensure_ascii=False, indent=2))
