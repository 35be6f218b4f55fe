"""API access of the commands, through the typed client.

Uses the service at `--api` or the one running on this machine. If there is none, the routes of the
service run in this process over the same stores, so that the responses are the same either way.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import httpx2
import typer
from rich.console import Console

from api.cli import terminal
from api.cli.processes.child_processes import is_listening, service_url
from api.cli.rendering.results import print_banner
from api.client import ApiResponse, AsyncClient, Connection
from api.client.errors import ConnectionFailedError, ServiceError
from api.settings import ApiSettings
from pipelines.documents.messages import EXPERIMENTAL_BANNER
from pipelines.logs import configure_logging

LOCALHOST_URL = "http://127.0.0.1"
ALIVE_WITHIN_S = 1.0
"""How long a service on this machine may take for an answer that needs no platform."""

type ApiCall[Result] = Callable[[AsyncClient], Awaitable[Result]]
"""Calls operations of a client, for example `lambda client: client.job(job_id)`."""
type ResponsePrinter[Data] = Callable[[Console, Data], None]


def call_api[Result](call: ApiCall[Result], *, api: str | None) -> Result:
    """Call the API; end the command with a message if it returns an error.

    Raises:
        typer.Exit: The service or the platform failed (1), or the input is invalid (2).
    """

    async def run() -> Result:
        async with open_client(ApiSettings(), api) as client:
            return await call(client)

    try:
        return anyio.run(run)
    except ServiceError as error:
        terminal.show_error(error.type, error.detail, error.hint)
        is_input = error.type in terminal.INPUT_ERROR_TYPES
        raise typer.Exit(terminal.EXIT_INPUT if is_input else terminal.EXIT_FAILED) from error
    except ConnectionFailedError as error:
        hint = "start it with `sametrack up`, or omit --api: no service is needed"
        terminal.show_error("service_unreachable", error, hint)
        raise typer.Exit(terminal.EXIT_FAILED) from error


def call_and_print[Data](
    call: ApiCall[ApiResponse[Data]],
    view: ResponsePrinter[Data],
    *,
    api: str | None,
    as_json: bool,
) -> None:
    """Call the API and print the response: as tables, or its data as JSON.

    Raises:
        typer.Exit: See `call_api`.
    """
    data = call_api(call, api=api).data
    if as_json:
        terminal.print_json(data)
        return
    if isinstance(data, dict) and data.get("is_demo_data"):
        print_banner(terminal.err)  # to stderr, so that stdout can be piped
    if isinstance(data, dict) and data.get("is_experimental"):
        print_banner(terminal.err, EXPERIMENTAL_BANNER)
    view(terminal.out, data)


@asynccontextmanager
async def open_client(settings: ApiSettings, api: str | None) -> AsyncIterator[AsyncClient]:
    """Open a client of the service at `api`, of the local service, or of an in-process one.

    Raises:
        typer.Exit: `api` is not an address (2).
    """
    # A service at --api, else one that runs on this machine
    secret = settings.own_api_token
    token = secret.get_secret_value() if secret else None
    here = service_url(settings.api_host, settings.api_port)
    if api is not None or is_listening(settings.api_port, settings.api_host):
        try:
            connection = Connection(
                base_url=api or here, token=token, timeout_s=settings.sync_request_timeout
            )
        except ValueError as error:
            terminal.exit_with_input_error(f"--api: {error}")
        # The port may belong to another program; an address given with --api is used anyway.
        if api is not None or await _is_sametrack(connection):
            async with AsyncClient(connection) as client:
                yield client
            return
    from api.process import build_app_from_settings  # noqa: PLC0415 -- loads the service, 1.6 s
    from api.services.job_feed import JobBroadcaster  # noqa: PLC0415 -- as above

    # The routes run in this process, without the log lines of a service.
    configure_logging(quiet=terminal.TRACE not in os.environ)
    with build_app_from_settings(settings, feed=JobBroadcaster(limit=0)) as app:
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        connection = Connection(
            base_url=LOCALHOST_URL, token=token, timeout_s=settings.sync_request_timeout
        )
        async with AsyncClient(connection, transport=transport) as client:
            yield client


async def _is_sametrack(connection: Connection) -> bool:
    """Return False if another program listens on the port of the service, or it hangs."""
    impatient = replace(connection, timeout_s=ALIVE_WITHIN_S, retries=0)
    async with AsyncClient(impatient) as client:
        try:
            await client.job("none")
        except ServiceError:
            return True
        except ConnectionFailedError:
            return False
    return True
