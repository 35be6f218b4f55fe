"""`sametrack mcp`: serve the MCP tools over stdin and stdout.

Only the protocol may write to stdout.
"""

from typing import Annotated

import anyio
import typer

from api.cli.api_access import open_client
from api.cli.options import ApiOption
from api.mcp.tools import build_server
from api.settings import ApiSettings

_MayStart = Annotated[
    bool | None,
    typer.Option(
        "--may-start-jobs/--read-only",
        help="Allow the assistant to start scans. Default: MCP_MAY_START_JOBS.",
        show_default=False,
    ),
]


def mcp(*, may_start_jobs: _MayStart = None, api: ApiOption = None) -> None:
    """Serve Model Context Protocol tools over stdin and stdout."""

    async def serve() -> None:
        settings = ApiSettings()
        may = settings.mcp_may_start_jobs if may_start_jobs is None else may_start_jobs
        async with open_client(settings, api) as client:
            await build_server(client, may_start_jobs=may).run_stdio_async()

    anyio.run(serve)
