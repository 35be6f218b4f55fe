"""The outermost middleware: request id, log line, security headers and the last error handler.

It wraps the finished application, so that even a crash of another middleware gets an envelope with
the request id.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
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
        transformer=lambda _id: str(uuid4()),  # an id that the client sends is ignored
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
        """Run the application for one request, then count and log it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        call = new_request_info(scope, moment=self.clock(), time_zone=self.time_zone)
        scope.setdefault("state", {})["call"] = call
        started, status = time.perf_counter(), 0

        async def stamped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                # Bytes instead of Starlette's headers: this runs for every cached response.
                headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
                names = {name for name, _ in headers}
                if not names >= SECURITY_HEADER_NAMES:
                    headers += [pair for pair in RAW_SECURITY_HEADERS if pair[0] not in names]
                message["headers"] = headers
            await send(message)

        try:
            await self.app(scope, receive, stamped)
        except Exception:
            log = _log.bind(request_id=call.request_id, method=scope["method"], path=call.path)
            log.exception("request failed")
            # Once a response has begun, no other can be sent.
            if status == 0:
                error = SametrackError("An unexpected error occurred while handling the request")
                await error_response(scope, error)(scope, receive, stamped)
        spent_s = time.perf_counter() - started
        if self.observe is not None:
            self.observe(scope, status, spent_s)
        line: dict[str, Any] = {
            "request_id": call.request_id,
            "method": scope["method"],
            "path": call.path,
            "status": status,
            "ms": round(spent_s * 1000, 1),
            "event": "request",
        }
        if self.note is None:
            _log.info(**line)
        else:
            self.note(line)


def new_request_info(scope: Scope, *, moment: datetime, time_zone: ZoneInfo = _UTC) -> RequestInfo:
    """Return the info of a request that arrived at `moment`, with the id of `with_request_id`."""
    path: str = scope["path"]
    # The path is in the response, and JSON cannot hold half of a surrogate pair.
    if not path.isascii():
        path = path.encode("utf-8", "replace").decode()
    return RequestInfo(correlation_id.get() or "", moment, time_zone, path)
