"""Optional token authentication: constant-time comparison, tokens are never stored or logged."""

import hmac
from collections.abc import Callable, Iterable
from hashlib import sha256

from starlette.types import ASGIApp, Receive, Scope, Send

from api.responses.errors import UnauthorizedError
from api.server.middleware.guard import Reject

type RawHeaders = Iterable[tuple[bytes, bytes]]
"""ASGI headers: lower-case names, bytes."""


class TokenCheck:
    """Checks tokens against the configured one, of which only the digest is stored."""

    def __init__(self, token: str) -> None:
        self._digest = sha256(token.encode()).digest()

    def accepts(self, headers: RawHeaders) -> bool:
        """Return True if a bearer token or `x-api-key` equals the configured token.

        Comparing digests keeps both content and length of the token out of the timing.
        """
        is_accepted = False
        for name, value in headers:
            token = _token(name, value)
            if token is not None:
                is_accepted |= hmac.compare_digest(sha256(token).digest(), self._digest)
        return is_accepted


class TokenMiddleware:
    """Answers 401 to requests on private paths without a valid token."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        check: TokenCheck,
        reject: Reject,
        is_private: Callable[[str], bool],
    ) -> None:
        self._app = app
        self._check = check
        self._reject = reject
        self._is_private = is_private

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_open = scope["type"] != "http" or not self._is_private(scope["path"])
        if is_open or self._check.accepts(scope["headers"]):
            await self._app(scope, receive, send)
            return
        error = UnauthorizedError("The request carries no valid token")
        await self._reject(scope, error)(scope, receive, send)


def _token(name: bytes, value: bytes) -> bytes | None:
    """Return the token in a header as raw bytes: a token may hold any UTF-8."""
    if name == b"x-api-key":
        return value.strip()
    if name == b"authorization":
        scheme, _, token = value.partition(b" ")
        return token.strip() if scheme.lower() == b"bearer" else None
    return None
