"""Sinks for a response body as it arrives: capped memory, or a capped file.

The cap counts decompressed bytes, and stops the download at once.
"""

import hashlib
from codecs import BOM_UTF8
from typing import BinaryIO, Protocol

from warehouse.records.errors import AudioUnavailableError, StructureChangedError


class Sink(Protocol):
    """Receives the decompressed body of one attempt."""

    def begin(self) -> None:
        """Discard the bytes of an earlier attempt."""

    def take(self, chunk: bytes) -> None:
        """Receive the next bytes.

        Raises:
            UpstreamError: The cap is exceeded.
        """


class BodySink:
    """Keeps the body in memory."""

    def __init__(self, *, surface: str, limit_bytes: int) -> None:
        self._surface = surface
        self._limit_bytes = limit_bytes
        self._body = bytearray()

    @property
    def body(self) -> bytes:
        """The bytes received so far, without the mark of their encoding."""
        return bytes(self._body).removeprefix(BOM_UTF8)

    def begin(self) -> None:
        """Discard the bytes of an earlier attempt."""
        self._body.clear()

    def take(self, chunk: bytes) -> None:
        """Receive the next bytes."""
        if len(self._body) + len(chunk) > self._limit_bytes:
            raise StructureChangedError(
                f"the body is larger than {self._limit_bytes} bytes",
                surface=self._surface,
                reason="body_too_large",
            )
        self._body += chunk


class FileSink:
    """Writes a sound to an open file and hashes it on the way."""

    def __init__(self, file: BinaryIO, *, surface: str, limit_bytes: int) -> None:
        self._file = file
        self._surface = surface
        self._limit_bytes = limit_bytes
        self._hash = hashlib.sha256()
        self.size_bytes = 0

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes received so far."""
        return self._hash.hexdigest()

    def begin(self) -> None:
        """Discard the bytes of an earlier attempt."""
        self._file.seek(0)
        self._file.truncate()
        self._hash = hashlib.sha256()
        self.size_bytes = 0

    def take(self, chunk: bytes) -> None:
        """Receive the next bytes."""
        self.size_bytes += len(chunk)
        if self.size_bytes > self._limit_bytes:
            raise AudioUnavailableError(
                f"the sound is larger than {self._limit_bytes} bytes",
                surface=self._surface,
                reason="body_too_large",
            )
        self._hash.update(chunk)
        self._file.write(chunk)
