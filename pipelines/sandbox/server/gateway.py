"""Gateway of the sandbox: access log, latency and faults in front of the surfaces.

An ASGI middleware. It derives the surface of a request from its route.
"""

import asyncio
from urllib.parse import unquote, urlencode

from starlette.datastructures import Headers, QueryParams
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipelines.sandbox.server import faults
from pipelines.sandbox.server.addresses import OVERSEAS, WEB
from pipelines.sandbox.server.faults import Fault
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import host_of
from pipelines.sandbox.server.substitution import substitute
from pipelines.sandbox.server.surface_states import (
    CURSORS,
    StateNotApplicableError,
    reform,
    rewrite,
)

CONTROL = "/_world/"
_CONDITIONS = (b"if-none-match", b"if-modified-since")  # a 304 has no body to rewrite
_HUGE_CHUNKS = 1024
_CHUNK = b"\0" * 65_536


class SandboxGateway:
    """ASGI middleware around the surfaces.

    Args:
        surfaces: The application behind it.
        routes: Its routes, whose names are the surfaces.
        platform: Access log and faults.
        latency_s: Minimum response time.
    """

    def __init__(
        self,
        surfaces: ASGIApp,
        routes: list[BaseRoute],
        platform: SandboxPlatform,
        *,
        latency_s: float,
    ) -> None:
        self.surfaces = surfaces
        self.routes = routes
        self.platform = platform
        self.latency_s = latency_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["path"].startswith(CONTROL):
            await self.surfaces(scope, receive, send)
            return
        surface, host = self._surface(scope), host_of(scope)
        query = scope["query_string"].decode("latin-1")
        due = self.platform.faults.due(surface, host, f"{scope['path']}?{unquote(query)}")
        fault = due or self.platform.switches.state_of(surface)
        status = _StatusOf(send)
        target = f"{scope['path']}?{query}" if query else scope["path"]
        referer = Headers(scope=scope).get("referer", "")
        entry = self.platform.log.begin(surface, host, target=target, referer=referer)
        try:
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            await self._answer(fault, scope, receive, status)
        finally:
            kind = None if fault is None else fault.kind
            wait = fault.retry_after if fault is not None and fault.kind == "429" else None
            self.platform.log.end(entry, status=status.status, fault=kind, retry_after=wait)

    def _surface(self, scope: Scope) -> str:
        for route in self.routes:
            matched, _ = route.matches(scope)
            if matched is not Match.NONE and isinstance(route, Route):
                return route.name
        return "unknown"

    async def _answer(
        self, fault: Fault | None, scope: Scope, receive: Receive, send: "_StatusOf"
    ) -> None:
        surface = self._surface(scope)
        page = None if fault is None else self._page(fault, surface)
        if page is not None:
            await page(scope, receive, send)
            return
        acts = {
            "timeout": self._time_out, "reset": self._reset, "huge": self._huge,
            "slow": self._slow, "substitution": self._substituted,
        }  # fmt: skip
        if fault is not None and fault.kind in acts:
            await acts[fault.kind](fault, scope, receive, send)
        elif fault is not None or self.platform.switches.forms_of(surface):
            await self._rewritten(fault, scope, receive, send)
        else:
            await self.surfaces(scope, receive, send)

    def _page(self, fault: Fault, surface: str) -> Response | None:
        """Return the response of a fault that only replaces the response."""
        overseas = self.platform.addresses.on(OVERSEAS, "/")
        other = self.platform.world.works.aweme_id[0]
        verify = self.platform.addresses.on(WEB, "/verify_page?from=guard")
        gone = f"/jingxuan?previous_page=web_video_404_link&modal_id={other}"
        pages = {
            "empty": Response(b"", media_type="text/html"),
            "blocked": Response("blocked", media_type="text/plain"),
            "shell": HTMLResponse(faults.shell_page(surface)),
            "challenge": HTMLResponse(faults.CHALLENGE_PAGE),
            "captcha": HTMLResponse(faults.CAPTCHA_PAGE),
            "argus": HTMLResponse(faults.ARGUS_PAGE),
            "no_container": HTMLResponse(faults.NO_CONTAINER_PAGE),
            "403": HTMLResponse(faults.FORBIDDEN_PAGE, status_code=403),
            "404": HTMLResponse(faults.MISSING_PAGE, status_code=404),
            "429": Response("", status_code=429, headers={"retry-after": f"{fault.retry_after:g}"}),
            "500": Response("Internal Error", status_code=500),
            "text_body": HTMLResponse(faults.DENIED_TEXT),
            "wrong_id": HTMLResponse(faults.WRONG_ID_TEXT),
            "robots_deny": PlainTextResponse(faults.ROBOTS_DENY),
            "verify_redirect": RedirectResponse(verify, status_code=302),
            "region": RedirectResponse(overseas, status_code=302),
            "gone": RedirectResponse(self.platform.addresses.on(WEB, gone), status_code=302),
        }
        return pages.get(fault.kind)

    async def _time_out(
        self, fault: Fault, scope: Scope, receive: Receive, send: "_StatusOf"
    ) -> None:
        await _until_gone(receive, fault.seconds)
        await self._reset(fault, scope, receive, send)

    async def _reset(self, fault: Fault, scope: Scope, receive: Receive, send: "_StatusOf") -> None:
        del fault, scope, receive
        send.abort()

    async def _huge(self, fault: Fault, scope: Scope, receive: Receive, send: "_StatusOf") -> None:
        del fault, scope, receive
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(_HUGE_CHUNKS):
            await send({"type": "http.response.body", "body": _CHUNK, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _slow(self, fault: Fault, scope: Scope, receive: Receive, send: "_StatusOf") -> None:
        start, body = await self._collected(scope, receive)
        await send(start)
        step = max(1, len(body) // 20)
        for place in range(0, len(body), step):
            part = {"type": "http.response.body", "body": body[place : place + step]}
            await send({**part, "more_body": True})
            await asyncio.sleep(fault.seconds / 20)
        await send({"type": "http.response.body", "body": b""})

    async def _rewritten(
        self, fault: Fault | None, scope: Scope, receive: Receive, send: "_StatusOf"
    ) -> None:
        """Rewrite a good response into the state of a fault, and into the forms of switches."""
        surface, asked = self._surface(scope), QueryParams(scope["query_string"])
        if fault is not None and fault.kind == "no_new_items":
            first = {key: "0" if key in CURSORS else value for key, value in asked.items()}
            scope["query_string"] = urlencode(first).encode()
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] not in _CONDITIONS]
        start, body = await self._collected(scope, receive)
        try:
            body = body if fault is None else rewrite(fault.kind, surface, body, asked)
        except StateNotApplicableError as exc:
            start["status"], body = 500, str(exc).encode()
        else:
            for form in self.platform.switches.forms_of(surface):
                body = reform(form, body, self.platform.addresses)
        dropped = (b"content-length", b"etag", b"last-modified")
        kept = [pair for pair in start["headers"] if pair[0] not in dropped]
        start["headers"] = [*kept, (b"content-length", str(len(body)).encode())]
        await send(start)
        await send({"type": "http.response.body", "body": body})

    async def _substituted(
        self, fault: Fault, scope: Scope, receive: Receive, send: "_StatusOf"
    ) -> None:
        """Respond with another entity of the same kind."""
        del fault
        await substitute(scope, self._surface(scope), self.platform)
        await self.surfaces(scope, receive, send)

    async def _collected(self, scope: Scope, receive: Receive) -> tuple[Message, bytes]:
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self.surfaces(scope, receive, keep)
        return messages[0], b"".join(message.get("body", b"") for message in messages[1:])


class _StatusOf:
    """Forwards messages and records the status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
        await self._send(message)

    def abort(self) -> None:
        """Abort the connection through the server's transport; ASGI has no message for it."""
        cycle = getattr(self._send, "__self__", None)
        if cycle is None:
            raise ConnectionResetError("no connection to abort")
        cycle.transport.abort()
        cycle.disconnected = True


async def _until_gone(receive: Receive, seconds: float) -> None:
    """Wait, but at most until the client disconnects."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    try:
        await asyncio.wait_for(gone(), timeout=seconds)
    except TimeoutError:
        return
