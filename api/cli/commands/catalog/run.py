"""`sametrack catalog run` and `cancel`: scan what is due, or stop doing so."""

from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.commands.catalog.catalog import AsJson, Name, app
from api.cli.interrupts import Interrupted
from api.cli.rendering.catalog_runs import CatalogRunDisplay, to_progress_document
from api.cli.terminal import EXIT_FAILED, out, print_json, print_message, safe
from pipelines.catalog.run import AT_ONCE, CatalogProgress, CatalogRun

if TYPE_CHECKING:
    from pipelines.catalog.look_ups import LookUps

POLL_EVERY_S = 2.0


@app.command("run")
def run(
    name: Name,
    *,
    at_once: Annotated[
        int, typer.Option(min=1, max=64, help="Scans that are queued or run at the same time.")
    ] = AT_ONCE,
    as_json: AsJson = False,
) -> None:
    """Scan the tracks that are due, until none is left or the day's budget is spent.

    Its scans are jobs, so a worker must be running. Ctrl-C ends the run; call it again to continue.
    """
    from api.cli.local_job_client import has_live_worker  # noqa: PLC0415 -- loads SQLAlchemy
    from api.settings import ApiSettings  # noqa: PLC0415 -- loads pydantic
    from pipelines.catalog.look_ups import look_ups  # noqa: PLC0415 -- loads SQLAlchemy
    from pipelines.catalog.open_service import open_catalog_run  # noqa: PLC0415 -- loads SQLAlchemy

    settings = ApiSettings()
    with open_catalog_run(settings, name, at_once=at_once) as catalog_run:
        if not catalog_run.begin():
            print_message(
                "another process runs this catalogue: wait for it, or stop it with "
                f"[bold]sametrack catalog cancel {safe(name)}[/]"
            )
            raise typer.Exit(EXIT_FAILED)
        if not has_live_worker(settings):
            print_message("no worker is running: start [bold]sametrack up[/] or a worker")
        try:
            last = _follow(catalog_run, look_ups(settings, name))
        finally:
            catalog_run.end()
    if as_json:
        print_json(to_progress_document(name, last))


@app.command("cancel")
def cancel(name: Name, *, as_json: AsJson = False) -> None:
    """Stop the run of a catalogue and cancel its jobs. What was scanned is kept."""
    from api.settings import ApiSettings  # noqa: PLC0415 -- loads pydantic
    from pipelines.catalog.open_service import cancel_catalog_run  # noqa: PLC0415 -- loads SQLAlchemy

    count = cancel_catalog_run(ApiSettings(), name)
    if as_json:
        print_json({"name": name, "cancelled_count": count})
        return
    out.print(f"[bold]{safe(name)}[/] {count} jobs cancelled")


def _follow(catalog_run: CatalogRun, look_ups: "LookUps") -> CatalogProgress:
    """Go on until the run is over; an interrupted run names what goes on without it."""
    progress: CatalogProgress | None = None
    with CatalogRunDisplay() as display:
        try:
            while True:
                progress = catalog_run.step()
                display.update(progress)
                look_ups.note(progress)
                if not look_ups.advance() and progress.is_over:
                    break
                sleep(POLL_EVERY_S)
        except (KeyboardInterrupt, Interrupted):
            count = 0 if progress is None else len(progress.jobs)
            print_message(
                f"interrupted; {count} scans under way go on with the worker. "
                f"[bold]sametrack catalog run {safe(catalog_run.name)}[/] continues"
            )
            look_ups.stop()
            raise
    display.close(progress)
    return progress
