"""The orchestrator's UI behind our door. Imported only by the process that serves it.

It lives in `api.cli` because it needs the guard of `api`, and because `cli` is the one part of
`api` that may load Dagster. Unguarded, that UI runs mutations that any web page can send: by
`GET /graphql?query=`, by a form without a body, under a foreign Host name.
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
    answer_of,
)
from api.server.middleware.guard import Guard, harden
from warehouse.records.errors import SametrackError

LOCATION = "sametrack"
GRAPHQL = "/graphql"
JSON = "application/json"
STOP_GRACE_S = 2
PRIVATE = (GRAPHQL, "/logs", "/notebook", "/dagit", "/download_debug", "/report_", "/server_info")


class GraphqlByPost:
    """GraphQL only as a JSON body of a POST: what no page of another site can send unasked.

    Dagster itself would run a query in the address of a GET, or of a POST without a JSON body.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].rstrip("/") == GRAPHQL:
            error = _check(scope)
            if error is not None:
                await refuse(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def guarded(app: ASGIApp, *, allowed_hosts: frozenset[str]) -> ASGIApp:
    """Dagster's application behind host, origin and GraphQL checks."""
    inside = GraphqlByPost(app)
    return Guard(inside, allowed_hosts=allowed_hosts, reject=refuse, is_private=_is_private)


def refuse(_scope: Scope, error: SametrackError) -> Response:
    """The answer to a refused request: the stable word and why, in plain text."""
    response = PlainTextResponse(
        f"{error.type}: {error.detail}\n", status_code=answer_of(error.type).status
    )
    harden(response.headers)
    return response


def serve_dagster_ui(*, port: int, socket: Path, allowed_hosts: frozenset[str]) -> None:
    """Serve until SIGTERM. `socket` is the code server's."""
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
    """Make the instance's files, so that the processes that share it do not race for that."""
    with DagsterInstance.get() as instance:
        instance.get_runs_count()
        instance.all_asset_keys()


def _check(scope: Scope) -> SametrackError | None:
    if scope["method"] in {"GET", "HEAD"}:
        # Without an address query this is Dagster's own query page, and nothing is run.
        refusal = CrossSiteRequestError(
            "GraphQL is answered to a JSON body only, not to an address"
        )
        return refusal if scope["query_string"] else None
    if scope["method"] != "POST":
        return MethodNotAllowedError("GraphQL is answered to POST only")
    # With a JSON body Dagster does not look at the address, where its own page notes `?op=`.
    media_type = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON:
        return UnsupportedMediaTypeError("GraphQL is answered to application/json only")
    return None


def _is_private(path: str) -> bool:
    return path.startswith(PRIVATE)
