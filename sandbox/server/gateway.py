"""Gateway of the sandbox: access log, latency and faults in front of the surfaces.

An ASGI middleware. It derives the surface of a request from its route.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import unquote, urlencode

from starlette.datastructures import Headers, QueryParams
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox.server import faults
from sandbox.server.addresses import OVERSEAS, WEB
from sandbox.server.faults import Fault
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import host_of
from sandbox.server.surface_states import (
    CURSORS,
    StateNotApplicableError,
    reform,
    rewrite,
    substitute,
    with_empty_pages,
    without_empty_pages,
)
from sandbox.server.switches import PAGED

CONTROL = "/_world/"
_CONDITIONS = (b"if-none-match", b"if-modified-since")  # a 304 has no body to rewrite
_VALIDATORS = (b"content-length", b"etag", b"last-modified")
_HUGE_CHUNKS = 1024
_CHUNK = b"\0" * 65_536
_SLOW_STEPS = 20


class SandboxGateway:
    """ASGI middleware around the surfaces.

    Args:
        surfaces: The application behind it.
        routes: Its routes, whose names are the surfaces.
        platform: Access log and faults.
        latency_s: Minimum response time.
    """

    def __init__(
        self, surfaces: ASGIApp, routes: list[BaseRoute], platform: SandboxPlatform, *,
        latency_s: float,
    ) -> None:  # fmt: skip
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
        exchange = _Exchange(self.surfaces, self.platform, surface, scope, receive, status)
        try:
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            await exchange.answer(fault)
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


@dataclass(frozen=True, slots=True)
class _Exchange:
    """One request to a surface, and where the response goes."""

    surfaces: ASGIApp
    platform: SandboxPlatform
    surface: str
    scope: Scope
    receive: Receive
    send: "_StatusOf"

    async def answer(self, fault: Fault | None) -> None:
        """Respond as the fault has it."""
        page = None if fault is None else _page_of(fault, self.surface, self.platform)
        acts: Mapping[str, Callable[[Fault], Awaitable[None]]] = {
            "timeout": self._time_out, "reset": self._reset, "huge": self._huge,
            "slow": self._slow, "substitution": self._substituted,
        }  # fmt: skip
        if page is not None:
            await page(self.scope, self.receive, self.send)
        elif fault is not None and fault.kind in acts:
            await acts[fault.kind](fault)
        elif (
            fault is not None or self._empty_pages or self.platform.switches.forms_of(self.surface)
        ):
            await self._rewritten(fault)
        else:
            await self.surfaces(self.scope, self.receive, self.send)

    @property
    def _empty_pages(self) -> int:
        """Number of empty pages that the list of this surface has after its first one."""
        return self.platform.switches.count("empty_pages") if self.surface in PAGED else 0

    async def _time_out(self, fault: Fault) -> None:
        """Wait, but at most until the client disconnects."""

        async def gone() -> None:
            while (await self.receive())["type"] != "http.disconnect":
                pass

        with suppress(TimeoutError):
            await asyncio.wait_for(gone(), timeout=fault.seconds)
        self.send.abort()

    async def _reset(self, _: Fault) -> None:
        self.send.abort()

    async def _huge(self, _fault: Fault) -> None:
        await self.send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(_HUGE_CHUNKS):
            await self._send_part(_CHUNK, more=True)
        await self._send_part(b"")

    async def _slow(self, fault: Fault) -> None:
        start, body = await self._collected()
        await self.send(start)
        step = max(1, len(body) // _SLOW_STEPS)
        for place in range(0, len(body), step):
            await self._send_part(body[place : place + step], more=True)
            await asyncio.sleep(fault.seconds / _SLOW_STEPS)
        await self._send_part(b"")

    async def _substituted(self, _: Fault) -> None:
        """Respond with another entity of the same kind."""
        await substitute(self.scope, self.surface, self.platform)
        await self.surfaces(self.scope, self.receive, self.send)

    async def _rewritten(self, fault: Fault | None) -> None:
        """Rewrite a good response into the state of a fault, and into the forms of switches."""
        scope, asked = self.scope, QueryParams(self.scope["query_string"])
        empty_pages = self._empty_pages
        if empty_pages:
            scope["query_string"] = urlencode(without_empty_pages(asked)).encode()
        if fault is not None and fault.kind == "no_new_items":
            first = {key: "0" if key in CURSORS else value for key, value in asked.items()}
            scope["query_string"] = urlencode(first).encode()
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] not in _CONDITIONS]
        start, body = await self._collected()
        try:
            body = body if fault is None else rewrite(fault.kind, self.surface, body, asked)
        except StateNotApplicableError as exc:
            start["status"], body = 500, str(exc).encode()
        else:
            if empty_pages and fault is None:
                body = with_empty_pages(self.surface, body, asked, count=empty_pages)
            for form in self.platform.switches.forms_of(self.surface):
                body = reform(form, body, self.platform.addresses)
        kept = [pair for pair in start["headers"] if pair[0] not in _VALIDATORS]
        start["headers"] = [*kept, (b"content-length", str(len(body)).encode())]
        await self.send(start)
        await self._send_part(body)

    async def _collected(self) -> tuple[Message, bytes]:
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self.surfaces(self.scope, self.receive, keep)
        return messages[0], b"".join(message.get("body", b"") for message in messages[1:])

    async def _send_part(self, body: bytes, *, more: bool = False) -> None:
        await self.send({"type": "http.response.body", "body": body, "more_body": more})


def _page_of(fault: Fault, surface: str, platform: SandboxPlatform) -> Response | None:
    """Return the response of a fault that only replaces the response."""
    on, other = platform.addresses.on, platform.world.works.aweme_id[0]
    wait = {"retry-after": f"{fault.retry_after:g}"}
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
        "429": Response("", status_code=429, headers=wait),
        "500": Response("Internal Error", status_code=500),
        "text_body": HTMLResponse(faults.DENIED_TEXT),
        "wrong_id": HTMLResponse(faults.WRONG_ID_TEXT),
        "robots_deny": PlainTextResponse(faults.ROBOTS_DENY),
        "verify_redirect": RedirectResponse(on(WEB, "/verify_page?from=guard"), status_code=302),
        "region": RedirectResponse(on(OVERSEAS, "/"), status_code=302),
        "gone": RedirectResponse(platform.addresses.gone(other), status_code=302),
    }
    return pages.get(fault.kind)


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
