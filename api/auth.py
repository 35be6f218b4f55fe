"""The optional token: read from the request, compared in constant time, never kept or told."""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator

from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import UnauthorizedError
from api.guard import Reject

type RawHeaders = Iterable[tuple[bytes, bytes]]
"""Headers as ASGI gives them: lower-case names, bytes."""


class TokenCheck:
    """Knows the configured token only as its digest."""

    def __init__(self, token: str) -> None:
        self._digest = _digest(token.encode())

    def accepts(self, headers: RawHeaders) -> bool:
        """True when a bearer token or `x-api-key` is the configured one.

        Digests are compared, so that neither content nor length of the token shows in the time.
        """
        found = [hmac.compare_digest(_digest(token), self._digest) for token in _tokens(headers)]
        return any(found)


class TokenDoor:
    """Answer 401 on private paths to requests without a valid token."""

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


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def _tokens(headers: RawHeaders) -> Iterator[bytes]:
    """Header bytes as sent: a token may hold any UTF-8."""
    for name, value in headers:
        if name == b"x-api-key":
            yield value.strip()
        elif name == b"authorization":
            scheme, _, token = value.partition(b" ")
            if scheme.lower() == b"bearer":
                yield token.strip()
