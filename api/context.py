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
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.envelope import Call, failure
from api.guard import harden
from pipelines.domain.errors import SametrackError

_log = structlog.get_logger("api")


class RequestContext:
    """Opens a `Call` for each request and closes it with a log line.

    Args:
        app: The finished application.
        time_zone: Zone of `time` in answers.
        clock: Now, in UTC.
    """

    def __init__(self, app: ASGIApp, *, time_zone: ZoneInfo, clock: Callable[[], datetime]) -> None:
        self._app = app
        self._time_zone = time_zone
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        call = Call(
            request_id=str(uuid4()),
            moment=self._clock(),
            time_zone=self._time_zone,
            path=scope["path"].encode("utf-8", "replace").decode(),
        )
        scope.setdefault("state", {})["call"] = call
        await self._answer(scope, receive, send, call)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, call: Call) -> None:
        started, status = time.perf_counter(), 0

        async def stamped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(raw=message["headers"])
                headers["X-Request-ID"] = call.request_id
                harden(headers)
            await send(message)

        log = _log.bind(request_id=call.request_id, method=scope["method"], path=call.path)
        try:
            await self._app(scope, receive, stamped)
        except Exception:
            log.exception("request failed")
            if status == 0:
                error = SametrackError("The service met an error that it did not foresee")
                await failure(scope, error)(scope, receive, stamped)
        log.info("request", status=status, ms=round((time.perf_counter() - started) * 1000, 1))
