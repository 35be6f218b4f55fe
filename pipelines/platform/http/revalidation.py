"""Asking again only for what has changed: an answer that a server offered to be asked about.

Only what carried `ETag` or `Last-Modified`, and did not say `no-store`, is asked about again. The
body is the one that the archive keeps; where it is gone, the question is an ordinary one.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from warehouse.control.records import Remembered

NOT_MODIFIED = 304
_LONGEST_WORD = 1000  # a validator is a short text; a long one is not worth its place


class VisitBook(Protocol):
    """The part of the control store that keeps validators."""

    def remember_answer(self, address: str, answer: Remembered) -> None:
        """Keep a validator."""

    def recall_answer(self, address: str) -> Remembered | None:
        """The validator of an address."""


class Bodies(Protocol):
    """Where bodies are kept."""

    def read_body(self, sha256: str) -> bytes | None:
        """A body by its hash; None when it is not kept."""


@dataclass(frozen=True, slots=True)
class Known:
    """A body, and what to send so that the server may say that it has not changed."""

    body: bytes
    headers: Mapping[str, str]


class Memory:
    """What was answered before, by address."""

    def __init__(self, book: VisitBook, bodies: Bodies) -> None:
        self._book = book
        self._bodies = bodies

    async def recall(self, address: str) -> Known | None:
        """What is known of an address, where its server offered to be asked about it."""
        return await asyncio.to_thread(self._recall, address)

    async def keep(self, address: str, headers: Mapping[str, str], body: bytes) -> None:
        """Keep what a server offers with an answer; nothing offered, nothing kept."""
        etag, modified = headers.get("ETag"), headers.get("Last-Modified")
        is_private = "no-store" in headers.get("Cache-Control", "").lower()
        if is_private or not body or not (etag or modified):
            return
        if len(etag or "") > _LONGEST_WORD or len(modified or "") > _LONGEST_WORD:
            return
        answer = Remembered(etag, modified, hashlib.sha256(body).hexdigest())
        await asyncio.to_thread(self._book.remember_answer, _key(address), answer)

    def _recall(self, address: str) -> Known | None:
        answer = self._book.recall_answer(_key(address))
        body = None if answer is None else self._bodies.read_body(answer.payload_sha256)
        if answer is None or body is None:
            return None
        words = {"If-None-Match": answer.etag, "If-Modified-Since": answer.last_modified}
        return Known(body, {name: word for name, word in words.items() if word})


def _key(address: str) -> str:
    return hashlib.sha256(address.encode()).hexdigest()
