"""`sametrack catalog`: import, list, show and remove catalogues in the store of this machine."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.rendering.catalogs import (
    print_catalogs,
    print_import,
    print_status,
    to_status_document,
)
from api.cli.terminal import (
    EXIT_FAILED,
    exit_with_input_error,
    out,
    print_json,
    print_message,
    safe,
)
from pipelines.catalog.documents import to_import_document
from pipelines.catalog.rules.planning import TRACK_STATES, TrackState

if TYPE_CHECKING:
    from pipelines.catalog.rules.importing import ImportLine
    from pipelines.catalog.service import CatalogService

MAX_BUDGET = 10_000_000
app = typer.Typer(
    help="Catalogues of up to 10,000 tracks: import, run, cancel, status, report, list, remove.",
    no_args_is_help=True,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a catalogue.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]


@app.command("import")
def import_tracks(
    name: Name,
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="CSV, XLSX or text files, ids, links, playlists."),
    ],
    *,
    fresh_days: Annotated[
        float | None,
        typer.Option(min=0.01, max=3650, help="Days after which a result is due again."),
    ] = None,
    tracks_per_day: Annotated[
        int | None, typer.Option(min=0, max=MAX_BUDGET, help="Scans a day (UTC); 0: no limit.")
    ] = None,
    requests_per_day: Annotated[
        int | None, typer.Option(min=0, max=MAX_BUDGET, help="Requests a day (UTC); 0: no limit.")
    ] = None,
    candidate_limit: Annotated[
        int | None, typer.Option(min=15, max=2000, help="Candidates of each scan.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the outcome without storing anything.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add tracks to a catalogue, or update them; every line that is not imported is named."""
    changes: dict[str, object] = {
        key: value or None
        for key, value in {
            "tracks_per_day": tracks_per_day, "requests_per_day": requests_per_day,
        }.items()
        if value is not None
    }  # fmt: skip
    if fresh_days is not None:
        if isnan(fresh_days):  # neither too small nor too large for Typer
            exit_with_input_error("--fresh-days nan is no number of days")
        changes["fresh_days"] = fresh_days
    if candidate_limit is not None:
        changes["parameters"] = {"candidate_limit": candidate_limit}
    with open_catalogs() as catalogs:
        reports = [
            catalogs.import_lines(name, lines, changes=changes, dry_run=dry_run)
            for lines in _read_sources(sources)
        ]
    if as_json:
        print_json([to_import_document(report) for report in reports])
    else:
        for report in reports:
            print_import(out, report)
    if any(report.outcome.problems for report in reports):
        raise typer.Exit(EXIT_FAILED)


@app.command("list")
def list_all(*, as_json: AsJson = False) -> None:
    """List the catalogues with the states of their tracks."""
    with open_catalogs() as catalogs:
        found = list(catalogs.listed())
    if as_json:
        print_json([to_status_document(one, tracks=()) for one in found])
    elif found:
        print_catalogs(out, found)
    else:
        print_message("no catalogues yet; [bold]sametrack catalog import NAME FILE[/] creates one")


@app.command("status")
def status(
    name: Name,
    *,
    tracks: Annotated[bool, typer.Option("--tracks", help="List the tracks, too.")] = False,
    state: Annotated[
        str | None, typer.Option(help=f"List tracks in this state: {', '.join(TRACK_STATES)}.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what is due in a catalogue, what is under way and what the day has cost."""
    if state is not None and state not in TRACK_STATES:
        exit_with_input_error(f"--state {state} is none of {', '.join(TRACK_STATES)}")
    shown: tuple[TrackState, ...] = TRACK_STATES if tracks else ()
    if state is not None:
        shown = tuple(one for one in TRACK_STATES if one == state)
    with open_catalogs() as catalogs:
        found = catalogs.status(name)
    if as_json:
        print_json(to_status_document(found, tracks=shown or TRACK_STATES))
        return
    print_status(out, found, tracks=shown)


@app.command("remove")
def remove(
    name: Name,
    tracks: Annotated[
        list[str] | None, typer.Argument(metavar="[TRACK]...", help="Default: the catalogue.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Remove tracks, or the whole catalogue. Jobs go on; results and observations are kept."""
    with open_catalogs() as catalogs:
        if tracks:
            count = catalogs.remove_tracks(name, tracks)
        else:
            count = len(catalogs.status(name).tracks)
            catalogs.remove(name)
    if as_json:
        print_json({"name": name, "removed_count": count, "is_removed": not tracks})
        return
    what = f"{count} tracks removed" if tracks else f"removed with {count} tracks"
    out.print(f"[bold]{safe(name)}[/] {what}")


def _read_sources(sources: Sequence[str]) -> list[list["ImportLine"]]:
    """Return the lines of each file, and those of the other arguments together, numbered from 1."""
    from pipelines.catalog.sources.tables import link_lines, read_lines  # noqa: PLC0415 -- loads XML

    files = [text for text in sources if _is_file(text)]
    texts = [text for text in sources if not _is_file(text)]
    found = [read_lines(Path(text)) for text in files]
    return [*found, link_lines(texts)] if texts else found


def _is_file(text: str) -> bool:
    """Whether the argument names a file: it exists, or ends as the files of an import do."""
    if "://" in text:
        return False
    path = Path(text)
    return path.suffix.lower() in {".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods"} or (
        len(text) <= 255 and path.is_file()  # noqa: PLR2004 -- the longest file name
    )


@contextmanager
def open_catalogs() -> Iterator["CatalogService"]:
    """Open the catalogues of the chosen profile."""
    from api.settings import ApiSettings  # noqa: PLC0415 -- loads pydantic
    from pipelines.catalog.open_service import open_catalog_service  # noqa: PLC0415 -- loads SQLAlchemy

    with open_catalog_service(ApiSettings()) as catalogs:
        yield catalogs
