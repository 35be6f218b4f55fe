"""Sessions of browsers: a signed cookie, and a row that says whether its session is still open.

The cookie holds the id of the session, the name of the token that signed in, without showing it,
and when it ends. It is signed with a key in the data home, not with anything derived from the
digests of tokens: who reads a file of digests cannot make a session. The rows are in the control
store, so that signing out at one listener ends the session at all of them, copies of the cookie
included. A token that is removed ends its sessions.

Starlette's `SessionMiddleware` fixes `Secure` and `Max-Age` when it is built. Here both depend on
the request, so its signing library is used without it.
"""

import hmac
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Protocol

from anyio.to_thread import run_sync
from itsdangerous import BadData, URLSafeSerializer
from starlette.requests import HTTPConnection
from starlette.types import Scope

from api.server.access.tokens import Holder, TokenStore

COOKIE = "sametrack_session"
KEY_FILE = "session.key"
KEY_BYTES = 32
HOUR_S = 3600
_NAME_BYTES = 16


class SessionStore(Protocol):
    """The ids of open sessions. A call may wait for a disk or a server."""

    def add_session(self, session_id: str, *, ends_at: float, now: float) -> None:
        """Add a session that ends at a Unix time; delete those that have ended by `now`."""

    def has_session(self, session_id: str) -> bool:
        """Return True until the session is ended or deleted."""

    def end_session(self, session_id: str) -> None:
        """End a session. Does nothing if it has ended before."""


class SessionsInMemory:
    """Sessions of one process, for a service without a profile, which has no control store."""

    def __init__(self) -> None:
        self._ends: dict[str, float] = {}

    def add_session(self, session_id: str, *, ends_at: float, now: float) -> None:
        """Add a session; delete those that have ended."""
        self._ends = {name: ends for name, ends in self._ends.items() if ends > now}
        self._ends[session_id] = ends_at

    def has_session(self, session_id: str) -> bool:
        """Return True until the session is ended or deleted."""
        return session_id in self._ends

    def end_session(self, session_id: str) -> None:
        """End a session."""
        self._ends.pop(session_id, None)


@dataclass(frozen=True, eq=False)
class Sessions:
    """Begins, checks and ends sessions.

    Attributes:
        tokens: Accepted tokens.
        store: The ids of open sessions.
        folder: The data home, which holds the key.
        clock: Returns the current time in seconds.
        hours: How long a session lasts.
    """

    tokens: TokenStore
    store: SessionStore
    folder: Path
    clock: Callable[[], float]
    hours: float

    @property
    def lasts_s(self) -> int:
        """Seconds that a session lasts."""
        return int(self.hours * HOUR_S)

    async def begin(self, holder: Holder) -> str:
        """Begin a session for the holder of a token; return the value of its cookie."""
        now, session_id = self.clock(), secrets.token_hex(16)
        ends = int(now) + self.lasts_s
        await run_sync(partial(self.store.add_session, session_id, ends_at=ends, now=now))
        return self._cookies.dumps([session_id, self._name_of(holder), ends])

    async def find_in(self, scope: Scope) -> Holder | None:
        """Return the holder whose open session a request carries."""
        session_id, holder = self._signed_in(scope)
        is_open = holder is not None and await run_sync(self.store.has_session, session_id)
        return holder if is_open else None

    async def end(self, scope: Scope) -> None:
        """End the session that a request carries, for every copy of its cookie."""
        session_id, holder = self._signed_in(scope)
        if holder is not None:
            await run_sync(self.store.end_session, session_id)

    def _signed_in(self, scope: Scope) -> tuple[str, Holder | None]:
        """Return session id and holder of a genuine cookie that has not expired."""
        cookie = HTTPConnection(scope).cookies.get(COOKIE)
        if cookie is None:
            return "", None
        try:
            session_id, name, ends = self._cookies.loads(cookie)
        except BadData:
            return "", None
        # A token that was removed ends its sessions: no holder has the name any more.
        holders = (holder for holder in self.tokens.holders if self._name_of(holder) == name)
        return session_id, next(holders, None) if ends > self.clock() else None

    def _name_of(self, holder: Holder) -> str:
        # Keyed, so that a cookie does not show the digest of the token.
        return hmac.digest(self._key, b"token" + holder.digest, "sha256")[:_NAME_BYTES].hex()

    @cached_property
    def _cookies(self) -> URLSafeSerializer:
        return signer_of(self._key, COOKIE)

    @cached_property
    def _key(self) -> bytes:
        """The key, created when a first session is begun or checked."""
        return open_session_key(self.folder)


def signer_of(key: bytes, purpose: str) -> URLSafeSerializer:
    """Return what signs values for one purpose: those of another are not genuine."""
    return URLSafeSerializer(key, salt=purpose, signer_kwargs={"digest_method": sha256})


def open_session_key(folder: Path) -> bytes:
    """Return the key of a data home. Of several processes that create it, one wins.

    A file of another length is damaged and replaced, since an empty key would sign for anybody.
    """
    path = folder / KEY_FILE
    if path.exists() and path.stat().st_size != KEY_BYTES:
        path.unlink(missing_ok=True)
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder, prefix=KEY_FILE) as draft:  # mode 600
            draft.write(secrets.token_bytes(KEY_BYTES))
            draft.flush()
            # Before the link, which could reach the disk before the content.
            os.fsync(draft.fileno())
            # A link appears with all of its content, and fails if another process was first.
            with suppress(FileExistsError):
                os.link(draft.name, path)
    return path.read_bytes()
