"""The tokens of an installation. Only digests are kept; a token is never stored or logged."""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Self

from api.server.access.roles import Role, role_named
from api.settings import ApiSettings
from warehouse.input_files import read_text
from warehouse.records.errors import InvalidParameterError, SametrackError

type RawHeaders = Iterable[tuple[bytes, bytes]]
"""ASGI headers: lower-case names, bytes."""

DIGEST_BYTES = 32
_FIELDS = 2


class TokenFileError(SametrackError):
    """The file of tokens cannot be used."""

    type = "token_file"


@dataclass(frozen=True, slots=True)
class Holder:
    """The digest of a token, and the role that the token has."""

    digest: bytes
    role: Role


class TokenBook:
    """All tokens that are accepted. Without any, no authentication is required."""

    def __init__(self, holders: Iterable[Holder] = ()) -> None:
        self.holders = tuple(holders)

    @classmethod
    def of_settings(cls, settings: ApiSettings) -> Self:
        """Read the tokens of `OWN_API_TOKEN`, which has all roles, and `OWN_API_TOKENS`.

        Raises:
            TokenFileError: The file is unreadable, or one of its lines is malformed.
        """
        own, file = settings.own_api_token, settings.own_api_tokens
        single = () if own is None else (holder_of(own.get_secret_value(), Role.OPERATE),)
        return cls((*single, *(() if file is None else read_token_file(file))))

    def find(self, token: bytes) -> Holder | None:
        """Return the holder of a token.

        Comparing digests keeps both content and length of a token out of the timing.
        """
        given, found = sha256(token).digest(), None
        for holder in self.holders:
            # No early return: the time must not show which token it was.
            if hmac.compare_digest(given, holder.digest):
                found = holder
        return found

    def find_in(self, headers: RawHeaders) -> Holder | None:
        """Return the holder of a bearer token or `x-api-key`; with several, the highest role."""
        given = [token for name, value in headers if (token := _token(name, value)) is not None]
        found = [holder for token in given if (holder := self.find(token)) is not None]
        return max(found, key=lambda holder: holder.role, default=None)


def holder_of(token: str, role: Role) -> Holder:
    """Return the holder of this token."""
    return Holder(sha256(token.encode()).digest(), role)


def read_token_file(file: Path) -> list[Holder]:
    """Read lines of role and SHA-256 of a token; `#` begins a comment.

    Raises:
        TokenFileError: The file is unreadable, has no token, or a line is malformed.
    """
    try:
        lines = read_text(file, what="the file of OWN_API_TOKENS").splitlines()
    except InvalidParameterError as exc:
        raise TokenFileError(exc.detail) from exc
    kept = [(number, line.partition("#")[0].split()) for number, line in enumerate(lines, start=1)]
    found = [_holder(number, words) for number, words in kept if words]
    if not found:
        raise TokenFileError("OWN_API_TOKENS has no token; no one could sign in")
    return found


def _holder(number: int, words: list[str]) -> Holder:
    """Read one line. The message never repeats it: somebody may have written a token."""
    role = role_named(words[0])
    digest = _digest(words[1]) if len(words) == _FIELDS else None
    if role is None or digest is None:
        raise TokenFileError(
            f"line {number} of OWN_API_TOKENS is not a role and a SHA-256 in hexadecimal",
            hint="write `read`, `scan` or `operate`, and the output of `sha256sum` for the token",
        )
    return Holder(digest, role)


def _digest(text: str) -> bytes | None:
    try:
        digest = bytes.fromhex(text)
    except ValueError:
        return None
    return digest if len(digest) == DIGEST_BYTES else None


def _token(name: bytes, value: bytes) -> bytes | None:
    """Return the token in a header as raw bytes: a token may hold any UTF-8."""
    if name == b"x-api-key":
        return value.strip()
    if name == b"authorization":
        scheme, _, token = value.partition(b" ")
        return token.strip() if scheme.lower() == b"bearer" else None
    return None
