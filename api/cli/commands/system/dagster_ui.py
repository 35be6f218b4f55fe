"""`sametrack dagster-ui`: the Dagster UI behind the access policy."""

import os
from pathlib import Path
from typing import Annotated

import typer

from api.cli.processes import dagster_ui as ui
from api.cli.processes.child_processes import DAGSTER_PORT
from api.cli.terminal import exit_with_input_error, print_message, safe
from api.settings import ApiSettings, is_loopback
from pipelines.open_stores import open_chosen_home
from pipelines.orchestration.instance import dagster_environment


def dagster_ui(
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Anything but loopback requires a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = DAGSTER_PORT,
    socket: Annotated[Path | None, typer.Option(help="Socket of the code server.")] = None,
    code_server: Annotated[
        str | None, typer.Option(help="HOST:PORT of the code server, instead of a socket.")
    ] = None,
) -> None:
    """Serve the Dagster UI behind the access policy (started by `sametrack up`)."""
    if socket is None and code_server is None:
        exit_with_input_error(
            "dagster-ui shows what a code server serves, and none was named",
            hint="`sametrack up` starts all of Dagster; else name one: --code-server HOST:PORT, or "
            "--socket FILE",
        )
    settings = ApiSettings()
    # `sametrack up` sets the variables; a user who calls this command has none of them.
    if "DAGSTER_HOME" not in os.environ:
        home = open_chosen_home(settings)
        os.environ.update(dagster_environment(settings, home))
    if not settings.has_tokens and not is_loopback(host):
        raise typer.BadParameter(f"OWN_API_TOKEN is required to listen on {host}")
    try:
        server = (
            ui.CodeServer(socket) if code_server is None else ui.CodeServer.of_address(code_server)
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if not server.is_listening():
        print_message(
            f"no code server listens at {safe(server)} yet; until one does, the UI shows none of "
            "its assets ([bold]sametrack up[/] starts everything)"
        )
    print_message(f"Dagster UI on http://{host}:{port}")
    ui.serve_dagster_ui(code_server=server, settings=settings, port=port, host=host)
