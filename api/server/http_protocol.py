"""HTTP/1.1 with limits that the server itself lacks, and its errors in the envelope.

A connection that sends nothing ends after the idle time; a request that takes too long, or has too
large headers, is refused before anything handles it.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, cast, override

from starlette.datastructures import MutableHeaders
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from api.responses.envelope import error_response
from api.responses.errors import MalformedRequestError, RequestTimeoutError, error_spec
from api.server.middleware.guard import add_security_headers
from api.server.request_context import REFUSAL, new_request_info
from api.settings import ApiSettings
from warehouse.records.errors import SametrackError

MAX_HEADER_BYTES = 64 * 1024


class LimitedHttpProtocol(HttpToolsProtocol):
    """One connection with time limits.

    Args:
        request_timeout_s: Time for a whole request, headers and body.
        idle_timeout_s: Time for the first byte.
        server: What the server passes to every protocol.
    """

    def __init__(self, *, request_timeout_s: float, idle_timeout_s: float, **server: Any) -> None:
        super().__init__(**server)
        self._request_timeout_s = request_timeout_s
        self._idle_timeout_s = idle_timeout_s
        self._timer: asyncio.TimerHandle | None = None
        self._header_bytes = self._sum_bytes = 0
        self._is_in_headers = True
        self._has_begun = False

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the server's own
        super().connection_made(transport)
        self._timer = self.loop.call_later(self._idle_timeout_s, self.transport.close)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if not self._is_answering:
            self._start_timer(is_first=not self._has_begun)
            self._has_begun = True
        self._header_bytes += len(data) if self._is_in_headers else 0
        super().data_received(data)
        # only what is still incomplete: a chunk may hold headers and much of the body
        if self._is_in_headers and self._header_bytes > MAX_HEADER_BYTES:
            self._refuse(MalformedRequestError("The headers of the request are too large"))

    @override
    def handle_websocket_upgrade(self) -> None:
        self._stop_timer()
        super().handle_websocket_upgrade()

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_headers, self._sum_bytes = True, 0
        self._start_timer()

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._sum_bytes += len(name) + len(value)
        if self._sum_bytes > MAX_HEADER_BYTES:
            raise ValueError("too large headers")  # the parser turns it into a malformed request

    @override
    def on_headers_complete(self) -> None:
        self._is_in_headers, self._header_bytes = False, 0
        super().on_headers_complete()

    @override
    def on_message_complete(self) -> None:
        self._is_in_headers = True
        self._stop_timer()
        super().on_message_complete()

    @override
    def send_400_response(self, msg: str) -> None:
        self._refuse(MalformedRequestError("The request is not valid HTTP"))

    @property
    def _is_answering(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)  # the server declares it too late
        return cycle is not None and not cycle.response_complete

    @property
    def _begun_cycle(self) -> RequestResponseCycle | None:
        """The application's work on the request whose body is arriving."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        is_of_this = cycle is not None and cycle.scope is self.scope
        return cycle if is_of_this and not self._is_in_headers else None

    def _start_timer(self, *, is_first: bool = False) -> None:
        if is_first:
            self._stop_timer()  # the first byte ends the idle time
        if self._timer is None:
            self._timer = self.loop.call_later(self._request_timeout_s, self._end_slow_request)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_slow_request(self) -> None:
        detail = f"The request did not arrive within {self._request_timeout_s:g} seconds"
        self._refuse(RequestTimeoutError(detail))

    def _refuse(self, error: SametrackError) -> None:
        """Send the error, unless an answer is under way, and close the connection."""
        self._stop_timer()
        if self.transport.is_closing():
            return
        begun = self._begun_cycle
        if begun is None:
            may_answer = not self._is_answering
        else:
            may_answer = not begun.response_started and not self.pipeline
        if may_answer:
            self.transport.write(raw_error(error, getattr(self, "url", b"")))
        if may_answer and begun is not None:
            begun.disconnected = True  # the application waits for the body, and answers no more
            begun.scope["state"][REFUSAL] = error
        self.transport.close()


def raw_error(error: SametrackError, url: bytes) -> bytes:
    """Return a complete HTTP response with the error in its envelope."""
    path = url.partition(b"?")[0].decode("latin-1")
    scope: Scope = {"type": "http", "path": path if path.startswith("/") else "/"}
    call = new_request_info(scope, moment=datetime.now(UTC))
    scope["state"] = {"call": call}
    answer = error_response(scope, error)
    headers = MutableHeaders(raw=answer.raw_headers)
    add_security_headers(headers)
    headers["X-Request-ID"], headers["Connection"] = call.request_id, "close"
    status = error_spec(error.type).status
    lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
    lines += [name + b": " + value for name, value in headers.raw]
    return b"\r\n".join((*lines, b"", bytes(answer.body)))


def server_options(settings: ApiSettings) -> Mapping[str, Any]:
    """Return the options that every listener passes to the server."""
    protocol = partial(
        LimitedHttpProtocol,
        request_timeout_s=settings.request_timeout_s,
        idle_timeout_s=settings.idle_timeout_s,
    )
    return {
        "http": cast("type[asyncio.Protocol]", protocol),
        "timeout_keep_alive": settings.idle_timeout_s,
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
    }
