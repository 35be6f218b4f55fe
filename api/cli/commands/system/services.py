"""The long-running processes, one command each: service and worker."""

from typing import Annotated

import typer

from api.settings import ApiSettings
from pipelines.settings import Settings


def serve(
    *,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port. Default: API_PORT.")
    ] = None,
) -> None:
    """Serve the HTTP API and the console."""
    from api.process import run_server  # noqa: PLC0415 -- loads FastAPI and DuckDB, 2 s

    settings = ApiSettings() if port is None else ApiSettings(api_port=port)
    run_server(settings)


def worker() -> None:
    """Run queued jobs until stopped."""
    from pipelines.orchestration.worker.worker import run_worker  # noqa: PLC0415 -- loads Dagster, 2 s

    raise typer.Exit(run_worker(Settings()))
