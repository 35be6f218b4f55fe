"""The outermost middleware: request id, log line, security headers and the last error handler.

It wraps the finished application, so that even a crash of another middleware gets an envelope with
the request id.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4
from zoneinfo import ZoneInfo

import structlog
from asgi_correlation_id import CorrelationIdMiddleware, correlation_id
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.responses.envelope import RequestInfo, error_response
from api.server.middleware.guard import RAW_SECURITY_HEADERS, SECURITY_HEADER_NAMES
from warehouse.records.errors import SametrackError

_log = structlog.get_logger("api")
_UTC = ZoneInfo("UTC")

type RequestLogger = Callable[[dict[str, object]], None]
"""Writes a log line of these fields."""
type RequestObserver = Callable[[Scope, int, float], None]
"""Called for each finished request with its scope, status and duration in seconds."""


def with_request_id(app: ASGIApp) -> ASGIApp:
    """Give each request an id of its own, and its response the header `X-Request-ID`."""
    return CorrelationIdMiddleware(
        app,
        validator=None,
        transformer=lambda _id: str(uuid4()),  # an id that the client sends is not taken over
        update_request_header=False,
    )


@dataclass(frozen=True, eq=False)
class RequestContext:
    """Creates the `RequestInfo` of each request and writes its log line.

    Attributes:
        app: The finished application.
        time_zone: Zone of `time` in responses.
        clock: Returns the current time in UTC.
        observe: Called for each finished request.
        note: Writes the log line of a request. Default: the structlog logger, which takes several
            times as long.
    """

    app: ASGIApp
    time_zone: ZoneInfo
    clock: Callable[[], datetime]
    observe: RequestObserver | None = None
    note: RequestLogger | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        call = new_request_info(scope, moment=self.clock(), time_zone=self.time_zone)
        scope.setdefault("state", {})["call"] = call
        await self._answer(scope, receive, send, call)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, call: RequestInfo) -> None:
        started, status = time.perf_counter(), 0

        async def stamped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_security_headers(message)
            await send(message)

        try:
            await self.app(scope, receive, stamped)
        except Exception:
            log = _log.bind(request_id=call.request_id, method=scope["method"], path=call.path)
            log.exception("request failed")
            if status == 0:  # once a response has begun, no other can be sent
                error = SametrackError("An unexpected error occurred while handling the request")
                await error_response(scope, error)(scope, receive, stamped)
        spent_s = time.perf_counter() - started
        if self.observe is not None:
            self.observe(scope, status, spent_s)
        note = self.note or _log_request
        note(
            {
                "request_id": call.request_id,
                "method": scope["method"],
                "path": call.path,
                "status": status,
                "ms": round(spent_s * 1000, 1),
                "event": "request",
            }
        )


def new_request_info(scope: Scope, *, moment: datetime, time_zone: ZoneInfo = _UTC) -> RequestInfo:
    """Return the info of the request that `with_request_id` passes on, which came at `moment`."""
    path: str = scope["path"]
    if not path.isascii():
        path = path.encode("utf-8", "replace").decode()
    return RequestInfo(correlation_id.get() or "", moment, time_zone, path)


def _log_request(line: dict[str, object]) -> None:
    _log.info(**line)


def _add_security_headers(message: Message) -> None:
    """Add the security headers that the response does not set itself."""
    headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
    own = {name for name, _ in headers}
    if not own >= SECURITY_HEADER_NAMES:
        headers += [header for header in RAW_SECURITY_HEADERS if header[0] not in own]
    message["headers"] = headers
