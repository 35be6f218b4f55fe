"""The tokens of an installation. Only digests are kept; a token is never stored or logged."""

import hmac
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Self

from api.server.access.roles import Role, role_named
from api.settings import ApiSettings
from warehouse.files import read_text
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
    """The digest of a token, the role that it has, and what the file of tokens calls it."""

    digest: bytes
    role: Role
    name: str | None = field(default=None, compare=False)


class TokenStore:
    """The tokens that are accepted. If there are none, no authentication is required."""

    def __init__(self, holders: Iterable[Holder] = ()) -> None:
        self.holders = tuple(holders)

    @classmethod
    def of_settings(cls, settings: ApiSettings) -> Self:
        """Read the tokens of `OWN_API_TOKEN`, which has all roles, and `OWN_API_TOKENS`.

        Raises:
            TokenFileError: The file is unreadable, or one of its lines is malformed.
        """
        token, file = settings.own_api_token, settings.own_api_tokens
        single = () if token is None else (holder_of(token.get_secret_value(), Role.OPERATE),)
        return cls((*single, *(() if file is None else read_token_file(file))))

    def find(self, token: bytes) -> Holder | None:
        """Return the holder of a token, None if it is not accepted."""
        # Comparing digests keeps both content and length of a token out of the timing.
        digest, match = sha256(token).digest(), None
        for holder in self.holders:
            # No early return: the time must not show which token it was.
            if hmac.compare_digest(digest, holder.digest):
                match = holder
        return match

    def find_in(self, headers: RawHeaders) -> Holder | None:
        """Return the holder of a bearer token or `x-api-key`; with several, the highest role."""
        # Tokens stay bytes: one may hold any UTF-8.
        tokens: list[bytes] = []
        for name, value in headers:
            scheme, _, credentials = value.partition(b" ")
            if name == b"x-api-key":
                tokens.append(value.strip())
            elif name == b"authorization" and scheme.lower() == b"bearer":
                tokens.append(credentials.strip())
        holders = [holder for token in tokens if (holder := self.find(token)) is not None]
        return max(holders, key=lambda holder: holder.role, default=None)


def holder_of(token: str, role: Role) -> Holder:
    """Return the holder of this token."""
    return Holder(sha256(token.encode()).digest(), role)


def read_token_file(file: Path) -> list[Holder]:
    """Read lines of role and SHA-256 of a token; what follows `#` is the name of the token.

    Raises:
        TokenFileError: The file is unreadable, has no token, or a line is malformed.
    """
    try:
        lines = read_text(file, what="the file of OWN_API_TOKENS").splitlines()
    except InvalidParameterError as exc:
        raise TokenFileError(exc.detail) from exc
    holders: list[Holder] = []
    for number, line in enumerate(lines, start=1):
        entry, _, comment = line.partition("#")
        fields = entry.split()
        if not fields:
            continue
        role, digest = role_named(fields[0]), b""
        if len(fields) == _FIELDS:
            with suppress(ValueError):
                digest = bytes.fromhex(fields[1])
        if role is None or len(digest) != DIGEST_BYTES:
            # The message never repeats the line: somebody may have written a token.
            raise TokenFileError(
                f"line {number} of OWN_API_TOKENS is not a role and a SHA-256 in hexadecimal",
                hint="write `read`, `scan` or `operate`, and the output of `sha256sum` for the "
                "token",
            )
        holders.append(Holder(digest, role, comment.strip() or None))
    if not holders:
        raise TokenFileError("OWN_API_TOKENS has no token; no one could sign in")
    return holders
