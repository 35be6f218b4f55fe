"""Signing in and out, on every listener: a page for users, `/session` for the console.

`/login` is a form without scripts. Cookies ignore ports: signing in at one listener of a host signs
in at all of them.
"""

import html
import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from string import Template
from urllib.parse import parse_qs, quote

import orjson
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses import errors
from api.responses.envelope import JsonResponse
from api.server.access.policy import ANYBODY, AccessPolicy
from api.server.access.roles import Role
from api.server.access.sessions import COOKIE
from api.server.access.tokens import Holder
from api.server.middleware import SAFE_METHODS, Reject, add_security_headers
from warehouse.records.errors import SametrackError

LOGIN, LOGOUT, SESSION = "/login", "/logout", "/session"
OPEN = frozenset({LOGIN, LOGOUT, SESSION})
"""Paths of signing in and out, which every listener serves without a token."""
MAX_BODY_BYTES = 4096
_ALLOWED = {LOGIN: "GET, HEAD, POST", LOGOUT: "POST", SESSION: "DELETE, GET, HEAD, POST"}
# Browsers read what follows // or /\ as a host.
_LOCAL = re.compile(r"/(?![/\\])[!-\[\]-~]*")
_PAGE = Path(__file__).parents[2] / "console" / "sign_in.html"


@dataclass(frozen=True, eq=False)
class SignIn:
    """Answers the paths of signing in and out, and passes everything else on.

    Attributes:
        app: The application whose callers sign in.
        policy: Tokens and sessions.
        reject: Builds the response to a refused request.
        dagster_url: Address of the orchestrator's UI, for the console's link.
        shows_pictures: Whether the console may ask for covers and avatars.
    """

    app: ASGIApp
    policy: AccessPolicy
    reject: Reject
    dagster_url: str | None = None
    shows_pictures: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in OPEN:
            await self.app(scope, receive, send)
            return
        path, method = scope["path"], scope["method"]
        try:
            if method not in _ALLOWED[path].split(", "):
                raise errors.MethodNotAllowedError("This path does not support this method")
            if path == LOGOUT:
                response: Response = RedirectResponse(LOGIN, status_code=errors.SEE_OTHER)
                await self._end_session(scope, response)
            elif path == LOGIN:
                response = await self._serve_form(scope, receive)
            else:
                response = await self._serve_session(scope, receive)
        except SametrackError as error:
            response = self.reject(scope, error)
            if isinstance(error, errors.MethodNotAllowedError):
                response.headers["Allow"] = _ALLOWED[path]
        add_security_headers(response.headers)
        await response(scope, receive, send)

    async def _serve_form(self, scope: Scope, receive: Receive) -> Response:
        """Serve `/login`: show the form, or begin a session with the token in it."""
        is_read = scope["method"] in SAFE_METHODS
        query = parse_qs(scope["query_string"].decode("latin-1"))
        target = local_target(query.get("next", [""])[0])
        # Nothing to sign in to: everybody may come in, or the caller is signed in already.
        if self.policy.is_open or (is_read and await self.policy.caller_of(scope) is not None):
            return RedirectResponse(target, status_code=errors.SEE_OTHER)
        if is_read:
            return self._page(target)
        form = parse_qs((await _read_body(receive)).decode("utf-8", "replace"))
        target = local_target(form.get("next", [""])[0])
        holder = self.policy.tokens.find(form.get("token", [""])[0].strip().encode())
        if holder is None:
            return self._page(target, is_refused=True)
        response = RedirectResponse(target, status_code=errors.SEE_OTHER)
        await self._begin_session(scope, response, holder, is_persistent="keep" in form)
        return response

    async def _serve_session(self, scope: Scope, receive: Receive) -> Response:
        """Serve `/session`: return the caller's role, begin a session or end it."""
        if scope["method"] == "DELETE":
            response = self._state(None)
            await self._end_session(scope, response)
            return response
        if scope["method"] in SAFE_METHODS:
            caller = await self.policy.caller_of(scope)
            return self._state(None if caller is None else caller.role)
        try:
            body = orjson.loads(await _read_body(receive))
            token, is_persistent = body["token"], body.get("keep") is True
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise errors.MalformedJsonError("The body must be a JSON object with `token`") from exc
        if self.policy.is_open:
            return self._state(ANYBODY.role)
        holder = self.policy.tokens.find(str(token).strip().encode("utf-8", "replace"))
        if holder is None:
            raise errors.UnauthorizedError("The token is not valid")
        response = self._state(holder.role)
        await self._begin_session(scope, response, holder, is_persistent=is_persistent)
        return response

    def _state(self, role: Role | None) -> Response:
        """Return whether a token is required, and the role of the caller."""
        return JsonResponse(
            {
                "required": not self.policy.is_open,
                "role": None if role is None else role.word,
                # All of Dagster's UI needs this role.
                "dagster_url": self.dagster_url if (role or 0) >= Role.OPERATE else None,
                "shows_pictures": self.shows_pictures,
            }
        )

    async def _begin_session(
        self, scope: Scope, response: Response, holder: Holder, *, is_persistent: bool
    ) -> None:
        """Begin a session in place of the one that the browser has, if any."""
        sessions = self.policy.sessions
        await sessions.end(scope)
        response.set_cookie(
            COOKIE,
            await sessions.begin(holder),
            # Without an age, the browser forgets the cookie when it is closed.
            max_age=sessions.lasts_s if is_persistent else None,
            httponly=True,
            samesite="strict",
            secure=is_encrypted(scope),
        )

    async def _end_session(self, scope: Scope, response: Response) -> None:
        """End the session for every copy of its cookie, and delete the cookie."""
        await self.policy.sessions.end(scope)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=is_encrypted(scope))

    def _page(self, target: str, *, is_refused: bool = False) -> Response:
        # The policy allows the style sheet of the page, inline, by its hash.
        style = self._template.template.partition("<style>")[2].partition("</style>")[0]
        digest = b64encode(sha256(style.encode()).digest()).decode()
        page = self._template.substitute(
            next=html.escape(target, quote=True), refused="" if is_refused else "hidden"
        )
        status = errors.error_spec("unauthorized").status if is_refused else errors.OK
        return Response(
            page,
            status_code=status,
            media_type="text/html; charset=utf-8",
            headers={
                "Content-Security-Policy": (
                    f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; "
                    "base-uri 'none'; frame-ancestors 'none'"
                ),
                # Under `no-referrer` a browser sends the form with `Origin: null`.
                "Referrer-Policy": "same-origin",
            },
        )

    @cached_property
    def _template(self) -> Template:
        return Template(_PAGE.read_text(encoding="utf-8"))


def login_redirect(scope: Scope) -> Response | None:
    """Return a redirect to the sign-in page for a browser; None for a program."""
    headers = Headers(scope=scope)
    if scope["method"] not in SAFE_METHODS or "text/html" not in headers.get("accept", ""):
        return None
    query = scope["query_string"].decode("latin-1")
    target = quote(scope["path"]) + (f"?{query}" if query else "")
    response = RedirectResponse(
        f"{LOGIN}?next={quote(target, safe='')}", status_code=errors.SEE_OTHER
    )
    add_security_headers(response.headers)
    return response


def local_target(target: str) -> str:
    """Return a path of this listener: "/" in place of anything that leads to another host."""
    return target if _LOCAL.fullmatch(target) else "/"


def is_encrypted(scope: Scope) -> bool:
    """Return True if the browser speaks TLS, with this listener or with a proxy before it."""
    # Behind a proxy the scheme is that of the last step; the browser's own origin shows the first.
    origin = Headers(scope=scope).get("origin", "")
    return scope.get("scheme") == "https" or origin.lower().startswith("https://")


async def _read_body(receive: Receive) -> bytes:
    """Read a small body.

    Raises:
        BodyTooLargeError: It is larger than `MAX_BODY_BYTES`.
    """
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise errors.BodyTooLargeError(
                f"The request body is larger than {MAX_BODY_BYTES} bytes"
            )
        if not message.get("more_body"):
            return bytes(body)
