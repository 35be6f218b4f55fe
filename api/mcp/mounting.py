"""Serves the tools at `/mcp` of the running service: streamable HTTP, behind its own middleware.

The tools call the complete service inside this process. Sessions are stateless, so any number of
processes can serve them.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from fastapi import FastAPI
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from api.client import AsyncClient, Connection
from api.mcp.tools import build_server
from api.settings import MCP_PATH

INTERNAL_BASE_URL = "http://127.0.0.1"


class InternalApp:
    """Forwards to the finished service, which is set only after the tools were mounted into it."""

    def __init__(self) -> None:
        self.app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.app is not None, "requests arrive after the service is built"
        await self.app(scope, receive, send)


def mount_tools(app: FastAPI, *, token: str | None, may_start_jobs: bool) -> InternalApp:
    """Add the route and its background task. The caller sets `.app` of the returned object.

    Args:
        app: The service that gets the route `/mcp`.
        token: Token that the tools send, if the service requires one.
        may_start_jobs: Offer the tool that starts scans.
    """
    # The tools call the whole service with its middleware, so guard and limits hold for them, too.
    inside = InternalApp()
    transport = httpx2.ASGITransport(inside, raise_app_exceptions=False)
    client = AsyncClient(Connection(base_url=INTERNAL_BASE_URL, token=token), transport=transport)
    server = build_server(client, may_start_jobs=may_start_jobs)
    tools = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        stateless_http=True,
        # The guard of the service checks hosts and origins for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.router.routes.extend(tools.routes)

    # Sessions and the client live as long as the service.
    @asynccontextmanager
    async def running(_app: FastAPI) -> AsyncIterator[None]:
        async with client, server.session_manager.run():
            yield

    app.router.lifespan_context = running
    return inside
