"""`sametrack catalog`: import tracks into the stores here, scan tracks that are due, report."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from time import sleep
from typing import Annotated, Any

import typer

from api.cli import terminal
from api.cli.interrupts import Interrupted
from api.cli.local_job_client import has_live_worker
from api.cli.options import LANGUAGES, JsonOption
from api.cli.rendering import catalogs as rendering
from api.cli.rendering.audio import audio_progress
from api.cli.stores import stored_settings
from api.params.catalogs import CatalogImportBody
from api.params.fields import field_parameter
from api.settings import ApiSettings
from pipelines.catalog import open_service
from pipelines.catalog.look_ups import LookUps, look_ups
from pipelines.catalog.rules import TRACK_STATES, TrackState
from pipelines.catalog.run import AT_ONCE, CatalogProgress, CatalogRun
from pipelines.catalog.service import CatalogService, to_import_document
from pipelines.catalog.sources.tables import link_lines, read_lines
from pipelines.documents.messages import counted

POLL_EVERY_S = 2.0
app = typer.Typer(
    help="Catalogues of up to 10,000 tracks: import, run, cancel, status, report, list, remove.",
    no_args_is_help=True,
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a catalogue.")]


def _setting_option(name: str) -> Any:  # as `typer.Option`, which it calls
    """Return the option of a setting, which stays as it is if the option is not given."""
    setting = field_parameter(CatalogImportBody, name)
    meaning = f"{setting.meaning[0].upper()}{setting.meaning[1:]}."
    return typer.Option(min=setting.minimum, max=setting.maximum, help=meaning)


@app.command("import")
def import_tracks(
    name: _Name,
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="CSV, XLSX or text files, ids, links, playlists."),
    ],
    *,
    fresh_days: Annotated[float | None, _setting_option("fresh_days")] = None,
    tracks_per_day: Annotated[int | None, _setting_option("tracks_per_day")] = None,
    requests_per_day: Annotated[int | None, _setting_option("requests_per_day")] = None,
    candidate_limit: Annotated[int | None, _setting_option("candidate_limit")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the outcome without storing anything.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Add tracks to a catalogue, or update them; every line that is not imported is named."""
    if fresh_days is not None and isnan(fresh_days):  # `nan` passes the limits of Typer
        terminal.exit_with_input_error("--fresh-days nan is no number of days")
    # Typer has checked the values, and the lines come from files, which the body does not know.
    changes = CatalogImportBody.model_construct(
        fresh_days=fresh_days,
        tracks_per_day=tracks_per_day,
        requests_per_day=requests_per_day,
        candidate_limit=candidate_limit,
    ).to_changes()
    with _open_catalogs() as catalogs:
        # Read all sources before anything is stored, so that an unreadable one stores nothing.
        # The lines of each file are counted from 1, and those of all other arguments together.
        tables = [read_lines(Path(source)) for source in sources if _is_file(source)]
        links = [source for source in sources if not _is_file(source)]
        if links:
            tables.append(link_lines(links))
        reports = [
            catalogs.import_lines(name, lines, changes=changes, dry_run=dry_run) for lines in tables
        ]
    if as_json:
        terminal.print_json([to_import_document(report) for report in reports])
    else:
        for report in reports:
            rendering.print_import(terminal.out, report)
    # The other lines are imported, but a script must notice that some are not.
    if any(report.outcome.problems for report in reports):
        raise typer.Exit(terminal.EXIT_INPUT)


@app.command("list")
def list_all(*, as_json: JsonOption = False) -> None:
    """List the catalogues with the states of their tracks."""
    with _open_catalogs(reads=True) as catalogs:
        statuses = list(catalogs.listed())
    if as_json:
        terminal.print_json(
            [rendering.to_status_document(status, tracks=()) for status in statuses]
        )
    elif statuses:
        rendering.print_catalogs(terminal.out, statuses)
    else:
        terminal.print_message(
            "no catalogues yet; [bold]sametrack catalog import NAME FILE[/] creates one"
        )


@app.command("status")
def show_status(
    name: _Name,
    *,
    tracks: Annotated[bool, typer.Option("--tracks", help="List the tracks, too.")] = False,
    state: Annotated[
        str | None, typer.Option(help=f"List tracks in this state: {', '.join(TRACK_STATES)}.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is due in a catalogue, what is under way and what the day has cost."""
    if state is not None and state not in TRACK_STATES:
        terminal.exit_with_input_error(f"--state {state} is none of {', '.join(TRACK_STATES)}")
    # --json lists the tracks in any case; --state alone lists those in one state.
    states: tuple[TrackState, ...] = TRACK_STATES if tracks else ()
    if state is not None:
        states = tuple(track_state for track_state in TRACK_STATES if track_state == state)
    with _open_catalogs(reads=True) as catalogs:
        status = catalogs.status(name)
    if as_json:
        terminal.print_json(rendering.to_status_document(status, tracks=states or TRACK_STATES))
    else:
        rendering.print_status(terminal.out, status, tracks=states)


@app.command("remove")
def remove(
    name: _Name,
    tracks: Annotated[
        list[str] | None, typer.Argument(metavar="[TRACK]...", help="Default: the catalogue.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Remove tracks, or the whole catalogue. Jobs go on; results and observations are kept."""
    with _open_catalogs() as catalogs:
        if tracks:
            count = catalogs.remove_tracks(name, tracks)
        else:
            count = len(catalogs.status(name).tracks)
            catalogs.remove(name)
    number = counted(count, "track")
    outcome = f"{number} removed" if tracks else f"removed with {number}"
    document = {"name": name, "removed_count": count, "is_removed": not tracks}
    terminal.print_document(document, f"[bold]{terminal.safe(name)}[/] {outcome}", as_json=as_json)


@app.command("match")
def match(name: _Name, *, as_json: JsonOption = False) -> None:
    """Compare the sounds that scans have fetched with the likeliest tracks of the catalogue.

    A run does this itself, and at its end. Nothing is read from the platform.
    """
    # Numbers are known when the sounds have been listed, so the bar begins without a total.
    with audio_progress() as progress:
        task = progress.add_task("looking up sounds", total=None)
        counts = open_service.look_up_sounds(
            ApiSettings(),
            name,
            on_done=lambda done, total: progress.update(task, completed=done, total=total),
        )
    if counts is None:
        terminal.print_message("another process looks them up: wait for it")
        raise typer.Exit(terminal.EXIT_FAILED)
    document = {
        "name": name,
        "sound_count": counts.sounds,
        "compared_count": counts.compared,
        "match_count": counts.matches,
    }
    line = (
        f"[bold]{terminal.safe(name)}[/] {counted(counts.sounds, 'sound')} looked up, "
        f"{counted(counts.compared, 'pair')} compared, {counted(counts.matches, 'match')}"
    )
    terminal.print_document(document, line, as_json=as_json)


@app.command("report")
def report(
    name: _Name,
    *,
    forms: Annotated[
        list[str] | None,
        typer.Option("--format", help="html, xlsx or parquet; repeatable. Default: all."),
    ] = None,
    language: Annotated[str, typer.Option(help="Language of the page: en or zh.")] = "en",
    folder: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Default: in the reports folder."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write tracks, music ids and videos of a catalogue as HTML, XLSX and Parquet."""
    from pipelines.catalog.report import REPORT_FORMATS  # noqa: PLC0415 -- loads DuckDB and Delta, 0.4 s

    if language not in LANGUAGES:
        terminal.exit_with_input_error(f"--language {language} is none of {', '.join(LANGUAGES)}")
    formats = [form for form in REPORT_FORMATS if forms is None or form in forms]
    unknown = [form for form in forms or () if form not in REPORT_FORMATS]
    if unknown:
        terminal.exit_with_input_error(
            f"--format {unknown[0]} is none of {', '.join(REPORT_FORMATS)}"
        )
    paths = open_service.write_report(
        stored_settings(), name, folder=folder, language=language, formats=formats
    )
    if as_json:
        terminal.print_json({"name": name, "paths": [str(path) for path in paths]})
        return
    for path in paths:
        terminal.print_written(path)


@app.command("run")
def run(
    name: _Name,
    *,
    at_once: Annotated[
        int, typer.Option(min=1, max=64, help="Scans that are queued or run at the same time.")
    ] = AT_ONCE,
    as_json: JsonOption = False,
) -> None:
    """Scan the tracks that are due, until none is left or the day's budget is spent.

    Its scans are jobs, so a worker must be running. Ctrl-C ends the run; call it again to continue.
    """
    settings = ApiSettings()
    with open_service.open_catalog_run(settings, name, at_once=at_once) as catalog_run:
        # One run at a time: a second process would queue the same tracks again.
        if not catalog_run.begin():
            terminal.print_message(
                "another process runs this catalogue: wait for it, or stop it with "
                f"[bold]sametrack catalog cancel {terminal.safe(name)}[/]"
            )
            raise typer.Exit(terminal.EXIT_FAILED)
        if not has_live_worker(settings):
            terminal.print_message("no worker is running: start [bold]sametrack up[/] or a worker")
        try:
            last = _follow(catalog_run, look_ups(settings, name))
        finally:
            # Jobs that are under way continue; only the run ends.
            catalog_run.end()
    if as_json:
        terminal.print_json(rendering.to_progress_document(name, last))


@app.command("cancel")
def cancel(name: _Name, *, as_json: JsonOption = False) -> None:
    """Stop the run of a catalogue and cancel its jobs. What was scanned is kept."""
    count = open_service.cancel_catalog_run(ApiSettings(), name)
    document = {"name": name, "cancelled_count": count}
    terminal.print_document(
        document,
        f"[bold]{terminal.safe(name)}[/] {counted(count, 'job')} cancelled",
        as_json=as_json,
    )


def _follow(catalog_run: CatalogRun, look_ups: LookUps) -> CatalogProgress:
    """Continue until the run is over; an interrupted run says which scans continue without it."""
    progress: CatalogProgress | None = None
    with rendering.CatalogRunDisplay() as display:
        try:
            while True:
                progress = catalog_run.step()
                display.update(progress)
                # Sounds of finished scans are looked up in another process, also after the last
                # scan: the run is over when both are.
                look_ups.note(progress)
                if not look_ups.advance() and progress.is_over:
                    break
                sleep(POLL_EVERY_S)
        except (KeyboardInterrupt, Interrupted):
            count = 0 if progress is None else len(progress.jobs)
            terminal.print_message(
                f"interrupted; the worker goes on with {counted(count, 'scan')} under way. "
                f"[bold]sametrack catalog run {terminal.safe(catalog_run.name)}[/] continues"
            )
            look_ups.stop()
            raise
    display.close(progress)
    return progress


def _is_file(text: str) -> bool:
    """Whether the argument names a file: it exists, or is written as a path."""
    if "://" in text:
        return False
    # A path that does not exist counts, too: the message should say that the file is missing.
    path = Path(text)
    has_table_suffix = path.suffix.lower() in {".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods"}
    if has_table_suffix or text == "-" or text.startswith(("./", "../", "/", "~")):
        return True
    try:
        return path.exists() or path.is_symlink()
    except (OSError, ValueError):  # longer than a name of a file can be
        return False


@contextmanager
def _open_catalogs(*, reads: bool = False) -> Iterator[CatalogService]:
    """Open the catalogues of the chosen profile; to read them, the only stored one is enough."""
    with open_service.open_catalog_service(
        stored_settings() if reads else ApiSettings()
    ) as catalogs:
        yield catalogs
