"""Who sends a request, and whether that caller's role suffices.

The same policy stands in front of the service and of the orchestrator's UI.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses.errors import CrossSiteRequestError, RoleRequiredError, UnauthorizedError
from api.server.access.roles import READING, Role
from api.server.access.sessions import Sessions, SessionStore
from api.server.access.tokens import Holder, TokenStore
from api.server.middleware import Reject
from api.settings import ApiSettings
from warehouse.records.errors import SametrackError

type RequiredRole = Callable[[Scope], Role | None]
"""The role that a request requires; None: it is open to everybody."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request: role and name of the token; whether a session of a browser sent it."""

    role: Role
    is_session: bool = False
    name: str | None = None


ANYBODY = Caller(Role.OPERATE)
"""The caller of an installation without tokens."""


@dataclass(frozen=True, eq=False)
class AccessPolicy:
    """Finds out who sends a request: by a token in a header, or by a session."""

    tokens: TokenStore
    sessions: Sessions

    @classmethod
    def of_settings(
        cls,
        settings: ApiSettings,
        *,
        store: SessionStore,
        clock: Callable[[], float],
        internal_tokens: tuple[Holder, ...] = (),
    ) -> Self:
        """Build the policy of an installation.

        Args:
            settings: Settings of the HTTP service.
            store: Keeps the open sessions.
            clock: Returns the current time in seconds.
            internal_tokens: Further tokens, of this process alone.

        Raises:
            TokenFileError: The file of tokens cannot be used.
        """
        tokens = TokenStore.of_settings(settings)
        # Internal tokens alone would close an installation that is open to everybody.
        if tokens.holders:
            tokens = TokenStore((*tokens.holders, *internal_tokens))
        sessions = Sessions(
            tokens, store, folder=settings.data_home, clock=clock, hours=settings.session_hours
        )
        return cls(tokens, sessions)

    @property
    def is_open(self) -> bool:
        """True while no token is configured: every caller may do everything."""
        return not self.tokens.holders

    async def caller_of(self, scope: Scope) -> Caller | None:
        """Return the caller of a request. A token in a header comes before a session.

        Raises:
            WarehouseUnavailableError: The store of sessions cannot be read.
        """
        if self.is_open:
            return ANYBODY
        holder = self.tokens.find_in(scope["headers"])
        if holder is not None:
            return Caller(holder.role, name=holder.name)
        holder = await self.sessions.find_in(scope)
        return None if holder is None else Caller(holder.role, is_session=True, name=holder.name)


def _is_read(scope: Scope, role: Role) -> bool:
    """Return True for a read that starts nothing: one that starts work needs a higher role."""
    return scope.get("method", "GET") in READING and role is Role.READ


@dataclass(frozen=True, eq=False)
class AccessMiddleware:
    """Refuses requests whose caller is unknown (401) or has too low a role (403).

    Attributes:
        app: The application to protect.
        policy: Tokens and sessions.
        reject: Builds the response to a refused request.
        required: Returns the role that a request requires.
        is_read: Whether a request changes nothing, so that a session may send it from anywhere.
    """

    app: ASGIApp
    policy: AccessPolicy
    reject: Reject
    required: RequiredRole
    is_read: Callable[[Scope, Role], bool] = _is_read

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        role = self.required(scope) if scope["type"] in {"http", "websocket"} else None
        if role is None:
            await self.app(scope, receive, send)
            return
        try:
            caller = await self.policy.caller_of(scope)
            error = check_caller(caller, role, scope, is_read=self.is_read(scope, role))
        except SametrackError as store_error:
            error = store_error
        if error is None:
            scope.setdefault("state", {})["caller"] = caller
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self.reject(scope, error)(scope, receive, send)


def check_caller(
    caller: Caller | None, role: Role, scope: Scope, *, is_read: bool
) -> SametrackError | None:
    """Return why the caller may not send this request, or None."""
    if caller is None:
        return UnauthorizedError("The request carries neither a valid token nor an open session")
    if caller.role < role:
        return RoleRequiredError(
            f"This requires the role `{role.word}`; the token has `{caller.role.word}`"
        )
    if caller.is_session and not is_read:
        # The guard has refused foreign values of both headers, but lets programs pass, which send
        # neither. A program has no session: without these headers, a page of another site may have
        # made the browser send the cookie.
        headers = Headers(scope=scope)
        if headers.get("sec-fetch-site") != "same-origin" and "origin" not in headers:
            return CrossSiteRequestError(
                "A session changes something only from the pages of its site"
            )
    return None
