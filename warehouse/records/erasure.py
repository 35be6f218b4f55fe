"""Salted marks of erased accounts.

A mark recognises an erased id, or the title of a sound with an erased name, when it appears again,
but cannot be turned back into it. Erasing is in `warehouse.maintenance.erasure`.
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

ERASED_REASON = "erased"
"""Reason of a video that was erased here and is not read again.

Otherwise the field holds the platform's own reason.
"""


_TOKEN = re.compile(rb"[0-9A-Za-z_-]{6,200}")
"""Pattern of a platform id, whatever surrounds it."""
_SOUND_TITLE = re.compile(r"@(.+?)\s*(?:创作的原声|original sound)", re.DOTALL | re.IGNORECASE)


def sound_title(name: str) -> str:
    """Return the beginning of the title that the platform gives a sound of the user `name`."""
    return f"@{name}创作的原声"


def readable_forms(body: bytes) -> tuple[bytes, ...]:
    """Return a body, and decoded as well if it contains percent-encoded JSON, as pages do."""
    return (body, unquote_to_bytes(body)) if b"%22" in body else (body,)


def erasure_mark(salt: str, name: str) -> str:
    """Return the mark of an id under a salt."""
    return hmac.new(salt.encode(), name.encode(), "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class ErasureMarks:
    """All marks of a profile, by salt. Ids of accounts and of videos are marked the same way."""

    by_salt: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def hold(self, *names: str | None) -> bool:
        """Return True if any of these ids was erased."""
        return any(
            erasure_mark(salt, name) in marks
            for salt, marks in self.by_salt.items()
            for name in names
            if name
        )

    def hold_title(self, title: str | None) -> bool:
        """Return True if the title of a sound begins with the name of an erased account."""
        named = _SOUND_TITLE.match(title) if title else None
        return named is not None and self.hold(sound_title(named[1]))

    def occur_in(self, body: bytes) -> bool:
        """Return True if a body names anything that was erased.

        Costs about 2 µs per token and salt.
        """
        if not self.by_salt:
            return False
        words = {word for form in readable_forms(body) for word in _TOKEN.findall(form)}
        return self.hold(*(word.decode() for word in words))
