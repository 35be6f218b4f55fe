"""Sessions of browsers: a signed cookie, so that every listener of an installation accepts it.

The cookie names the token that signed in, without showing it, and when it ends. It is signed with
a key in the data home, not with anything derived from the digests of tokens: who reads a file of
digests cannot make a session. A token that is removed ends its sessions.
"""

import hmac
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile

from api.server.access.tokens import Holder, RawHeaders, TokenBook

COOKIE = "sametrack_session"
KEY_FILE = "session.key"
KEY_BYTES = 32
HOUR_S = 3600
_VALUE = re.compile(r"v1\.(?P<token>[0-9a-f]{32})\.(?P<ends>[0-9]{1,12})\.(?P<sign>[0-9a-f]{64})")
_SHORTENED = 16


@dataclass(frozen=True, eq=False)
class Sessions:
    """Issues and checks sessions.

    Attributes:
        book: Accepted tokens.
        folder: The data home, which holds the key.
        clock: Returns the current time in seconds.
        hours: How long a session lasts.
    """

    book: TokenBook
    folder: Path
    clock: Callable[[], float]
    hours: float

    @property
    def lasts_s(self) -> int:
        """Seconds that a session lasts."""
        return int(self.hours * HOUR_S)

    def issue(self, holder: Holder) -> str:
        """Return the value of a cookie for the holder of a token."""
        ends = int(self.clock()) + self.lasts_s
        return self._signed(f"v1.{self._name_of(holder)}.{ends}")

    def find_in(self, headers: RawHeaders) -> Holder | None:
        """Return the holder whose session a request carries."""
        values = [value for name, value in headers if name == b"cookie"]
        return next(filter(None, map(self._holder, _cookies(values))), None)

    def _holder(self, value: str) -> Holder | None:
        found = _VALUE.fullmatch(value)
        if found is None or int(found["ends"]) <= self.clock():
            return None
        if not hmac.compare_digest(self._signed(value.rpartition(".")[0]), value):
            return None
        named = (one for one in self.book.holders if self._name_of(one) == found["token"])
        return next(named, None)

    def _signed(self, text: str) -> str:
        return f"{text}.{hmac.digest(self._key, text.encode(), 'sha256').hex()}"

    def _name_of(self, holder: Holder) -> str:
        return hmac.digest(self._key, b"token" + holder.digest, "sha256")[:_SHORTENED].hex()

    @cached_property
    def _key(self) -> bytes:
        """The key, created when a first session is issued or checked."""
        return open_session_key(self.folder)


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
            os.fsync(draft.fileno())  # before the link, which may reach the disk first
            with suppress(FileExistsError):
                # A link appears with all of its content, and fails if another process was first.
                os.link(draft.name, path)
    return path.read_bytes()


def _cookies(headers: list[bytes]) -> list[str]:
    pairs = (pair for header in headers for pair in header.decode("latin-1").split(";"))
    split = (pair.strip().partition("=") for pair in pairs)
    return [value for name, _, value in split if name == COOKIE]
