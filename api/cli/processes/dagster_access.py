"""The access policy in front of Dagster's web application, without Dagster itself.

`read` sees everything, `operate` may change something. A GraphQL document is parsed: a document
with a mutation anywhere counts as a change, whichever operation a request selects.
"""

import json
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

import orjson
from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.responses.envelope import error_response
from api.responses.errors import (
    CrossSiteRequestError,
    MalformedJsonError,
    MethodNotAllowedError,
    UnsupportedMediaTypeError,
)
from api.server.access.policy import AccessMiddleware, AccessPolicy, caller_role, check_caller
from api.server.access.roles import READING, Role
from api.server.access.sessions import SessionStore
from api.server.access.sign_in import SignIn, login_redirect, read_body
from api.server.middleware.guard import Guard, add_security_headers
from api.server.middleware.rate_limit import RateLimit
from api.server.request_context import new_request_info, with_request_id
from api.settings import ApiSettings
from warehouse.records.errors import SametrackError

GRAPHQL = "/graphql"
JSON = "application/json"
MAX_BODY_BYTES = 4 * 1024 * 1024  # configurations of runs are written into the launchpad
MAX_TOKENS = 20_000  # the largest document of the UI has about two thousand
PRIVATE = (GRAPHQL, "/logs", "/notebook", "/dagit", "/download_debug", "/report_", "/server_info")
FRAMES = {"X-Frame-Options": "SAMEORIGIN", "X-Content-Type-Options": "nosniff"}
_SENT = ("query", "variables", "operationName")


def protect_dagster(app: ASGIApp, settings: ApiSettings, *, sessions: SessionStore) -> ASGIApp:
    """Wrap Dagster's application in the policy of the service: same tokens, sessions and hosts.

    Raises:
        TokenFileError: The file of tokens cannot be used.
    """
    policy = AccessPolicy.of_settings(settings, store=sessions, clock=time.time)
    app = GraphqlAccess(app)
    app = AccessMiddleware(app, policy=policy, reject=reject_request, required=ui_role)
    app = SignIn(app, policy=policy, reject=reject_request, dagster_url=settings.dagster_url)
    if settings.rate_limit_per_s > 0:
        per_s, burst = settings.rate_limit_per_s, settings.rate_limit_burst
        app = RateLimit(app, per_s=per_s, burst=burst, reject=reject_request)
    allowed = settings.served_hosts
    app = Guard(app, allowed_hosts=allowed, reject=reject_request, is_private=_is_private)
    return with_request_id(UiContext(app))


def ui_role(scope: Scope) -> Role:
    """Return the role that a request to the UI requires before its body is read."""
    is_graphql = _is_graphql(scope)
    is_reading = scope["type"] == "websocket" or scope["method"] in READING or is_graphql
    return Role.READ if is_reading else Role.OPERATE


def reject_request(scope: Scope, error: SametrackError) -> Response:
    """Return the response to a refused request: people sign in, programs get the envelope."""
    redirect = login_redirect(scope) if error.type == "unauthorized" else None
    answer = error_response(scope, error) if redirect is None else redirect
    add_security_headers(answer.headers)
    return answer


class UiContext:
    """Gives each request a time for the envelope, and forbids foreign frames.

    Dagster's pages have their own policy for scripts, so the service's strict one is not added.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})["call"] = new_request_info(scope, moment=datetime.now(UTC))

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in FRAMES.items():
                    headers.setdefault(name, value)
            await send(message)

        with suppress(ClientDisconnect):  # nobody is left to answer; Dagster's routes raise it
            await self._app(scope, receive, stamped)


class GraphqlAccess:
    """Checks the documents of GraphQL requests, by HTTP and by websocket.

    Over HTTP only the JSON body of a POST is accepted, which other sites cannot send. Dagster
    itself also runs a query from the address, or from a body of another type.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._app(scope, partial(_checked_message, scope, receive, send), send)
            return
        if scope["type"] != "http" or not _is_graphql(scope):
            await self._app(scope, receive, send)
            return
        try:
            replayed = await _checked_request(scope, receive)
        except SametrackError as error:
            answer = reject_request(scope, error)
            if isinstance(error, MethodNotAllowedError):
                answer.headers["Allow"] = "GET, HEAD, POST"
            await answer(scope, receive, send)
            return
        await self._app(scope, replayed, send)


@lru_cache(maxsize=256)
def document_role(query: str) -> Role:
    """Return the role that a GraphQL document requires.

    Raises:
        MalformedJsonError: It cannot be parsed.
    """
    try:
        document = parse(query, no_location=True, max_tokens=MAX_TOKENS)
    except (GraphQLError, RecursionError) as exc:
        raise MalformedJsonError("The GraphQL document cannot be parsed") from exc
    operations = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
    changes = any(one.operation is OperationType.MUTATION for one in operations)
    return Role.OPERATE if changes else Role.READ


async def _checked_request(scope: Scope, receive: Receive) -> Receive:
    """Check an HTTP request to GraphQL, and return its body for Dagster.

    Raises:
        SametrackError: The request is refused.
    """
    if scope["method"] in {"GET", "HEAD"}:
        if scope["query_string"]:
            raise CrossSiteRequestError("GraphQL is answered to a JSON body, not to an address")
        return receive  # Dagster's query page, which runs nothing
    if scope["method"] != "POST":
        raise MethodNotAllowedError("GraphQL is answered to POST only")
    # With a JSON body Dagster ignores the query string, where its own page adds `?op=`.
    media_type = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON:
        raise UnsupportedMediaTypeError("GraphQL is answered to application/json only")
    request = _request_of(await read_body(receive, limit=MAX_BODY_BYTES))
    _check_role(scope, request["query"])
    return _replay(json.dumps(request).encode(), receive)


def _request_of(body: bytes) -> dict[str, Any]:
    """Return the one request of a body. Dagster gets what was checked, not the original bytes.

    Raises:
        MalformedJsonError: It is a batch, names a stored query, or is no request.
    """
    try:
        found = orjson.loads(body)
    except ValueError as exc:
        raise MalformedJsonError("The body is not valid JSON") from exc
    if not isinstance(found, dict) or not isinstance(found.get("query"), str):
        raise MalformedJsonError("The body must be one GraphQL request with its `query`")
    return {name: found[name] for name in _SENT if name in found}


def _check_role(scope: Scope, query: str) -> None:
    """Refuse a document that the caller may not run.

    Raises:
        SametrackError: The role is too low, or the document cannot be parsed.
    """
    policy_error = check_caller(scope["state"]["caller"], document_role(query), scope)
    if policy_error is not None:
        raise policy_error


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed


async def _checked_message(scope: Scope, receive: Receive, send: Send) -> Message:
    """Pass a message of a websocket on, or close it."""
    message = await receive()
    if message["type"] == "websocket.receive" and not _may_send(scope, message):
        await send({"type": "websocket.close", "code": 1008})
        return {"type": "websocket.disconnect", "code": 1008}
    return message


def _may_send(scope: Scope, message: Message) -> bool:
    try:
        document = orjson.loads(message.get("text") or message.get("bytes") or b"")
        payload = document.get("payload") or {}
        query = payload.get("query") if isinstance(payload, dict) else payload
        return query is None or document_role(query) <= caller_role(scope)
    except (ValueError, AttributeError, TypeError, SametrackError):
        return False


def _is_graphql(scope: Scope) -> bool:
    path: str = scope["path"]
    return path.rstrip("/") == GRAPHQL


def _is_private(path: str) -> bool:
    return path.startswith(PRIVATE)
