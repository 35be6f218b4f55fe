"""The Dagster UI behind the request guard of the API.

Without the guard, any web page can make the UI run mutations: by `GET /graphql?query=`, by a form
without a body, or under another Host name. It is in `api.cli` because only `api.cli` may load
Dagster. Import it only in the process that serves the UI.
"""

from pathlib import Path

import uvicorn
from dagster import DagsterInstance
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import GrpcServerTarget
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses.errors import (
    CrossSiteRequestError,
    MethodNotAllowedError,
    UnsupportedMediaTypeError,
    error_spec,
)
from api.server.middleware.guard import Guard, add_security_headers
from warehouse.records.errors import SametrackError

LOCATION = "sametrack"
GRAPHQL = "/graphql"
JSON = "application/json"
STOP_GRACE_S = 2
PRIVATE = (GRAPHQL, "/logs", "/notebook", "/dagit", "/download_debug", "/report_", "/server_info")


class GraphqlByPost:
    """Accepts GraphQL only as the JSON body of a POST, which other sites cannot send.

    Dagster itself also runs a query from the URL of a GET, or of a POST without a JSON body.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].rstrip("/") == GRAPHQL:
            error = _check(scope)
            if error is not None:
                await reject_request(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def guarded(app: ASGIApp, *, allowed_hosts: frozenset[str]) -> ASGIApp:
    """Wrap Dagster's application in host, origin and GraphQL checks."""
    inside = GraphqlByPost(app)
    return Guard(inside, allowed_hosts=allowed_hosts, reject=reject_request, is_private=_is_private)


def reject_request(_scope: Scope, error: SametrackError) -> Response:
    """Return the plain-text response to a rejected request."""
    response = PlainTextResponse(
        f"{error.type}: {error.detail}\n", status_code=error_spec(error.type).status
    )
    add_security_headers(response.headers)
    return response


def serve_dagster_ui(*, port: int, socket: Path, allowed_hosts: frozenset[str]) -> None:
    """Serve the UI until SIGTERM. `socket` belongs to the code server."""
    target = GrpcServerTarget(
        host="localhost", port=None, socket=str(socket), location_name=LOCATION
    )
    with (
        DagsterInstance.get() as instance,
        WorkspaceProcessContext(instance, target) as workspace,
    ):
        app = create_app_from_workspace_process_context(workspace)
        uvicorn.run(
            guarded(app, allowed_hosts=allowed_hosts),
            host="127.0.0.1",
            port=port,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=STOP_GRACE_S,
        )


def prepare_instance() -> None:
    """Create the files of the instance, so that processes that share it do not race to do so."""
    with DagsterInstance.get() as instance:
        instance.get_runs_count()
        instance.all_asset_keys()


def _check(scope: Scope) -> SametrackError | None:
    if scope["method"] in {"GET", "HEAD"}:
        # Without a query string this is Dagster's query page, which runs nothing.
        refusal = CrossSiteRequestError(
            "GraphQL is answered to a JSON body only, not to an address"
        )
        return refusal if scope["query_string"] else None
    if scope["method"] != "POST":
        return MethodNotAllowedError("GraphQL is answered to POST only")
    # With a JSON body Dagster ignores the query string, where its own page adds `?op=`.
    media_type = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON:
        return UnsupportedMediaTypeError("GraphQL is answered to application/json only")
    return None


def _is_private(path: str) -> bool:
    return path.startswith(PRIVATE)
