"""The outermost layer: gives each request its id, its log line, strict headers and a last answer.

It stands around the finished application, so that even a crash of a layer is answered in the
envelope and carries the request id.
"""

import time
from collections.abc import Callable
from datetime import datetime
from uuid import uuid4
from zoneinfo import ZoneInfo

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.envelope import Call, failure
from api.guard import STRICT
from pipelines.domain.errors import SametrackError

_log = structlog.get_logger("api")

type Observe = Callable[[Scope, int, float], None]
"""Hears of each answered request: its scope, the status, the seconds it took."""


class RequestContext:
    """Opens a `Call` for each request and closes it with a log line.

    Args:
        app: The finished application.
        time_zone: Zone of `time` in answers.
        clock: Now, in UTC.
        observe: Hears of each request that has been answered.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        time_zone: ZoneInfo,
        clock: Callable[[], datetime],
        observe: Observe = lambda _scope, _status, _seconds: None,
    ) -> None:
        self._app = app
        self._time_zone = time_zone
        self._clock = clock
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        if not path.isascii():
            path = path.encode("utf-8", "replace").decode()
        call = Call(str(uuid4()), self._clock(), self._time_zone, path)
        scope.setdefault("state", {})["call"] = call
        await self._answer(scope, receive, send, call)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, call: Call) -> None:
        started, status = time.perf_counter(), 0

        async def stamped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _stamp(message, call.request_id)
            await send(message)

        try:
            await self._app(scope, receive, stamped)
        except Exception:
            log = _log.bind(request_id=call.request_id, method=scope["method"], path=call.path)
            log.exception("request failed")
            if status == 0:
                error = SametrackError("The service met an error that it did not foresee")
                await failure(scope, error)(scope, receive, stamped)
        spent_s = time.perf_counter() - started
        self._observe(scope, status, spent_s)
        _log.info(
            "request",
            request_id=call.request_id,
            method=scope["method"],
            path=call.path,
            status=status,
            ms=round(spent_s * 1000, 1),
        )


def _stamp(message: Message, request_id: str) -> None:
    """The id, and the strict headers that the answer does not bring itself."""
    headers: list[tuple[bytes, bytes]] = message["headers"]
    own = {name for name, _ in headers}
    headers += [header for header in STRICT if header[0] not in own]
    headers.append((b"x-request-id", request_id.encode()))
