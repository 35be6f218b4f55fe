"""Where the bytes of an answer go while they arrive: capped memory, or a capped file.

A cap counts what was decompressed, and ends the reading at once.
"""

import hashlib
from typing import BinaryIO, Protocol

from warehouse.records.errors import AudioUnavailableError, StructureChangedError


class Sink(Protocol):
    """Takes the decompressed body of one attempt."""

    def begin(self) -> None:
        """Forget what an earlier attempt brought."""

    def take(self, chunk: bytes) -> None:
        """Take the next bytes.

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
        """What has arrived."""
        return bytes(self._body)

    def begin(self) -> None:
        """Forget what an earlier attempt brought."""
        self._body.clear()

    def take(self, chunk: bytes) -> None:
        """Take the next bytes."""
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
        """Hash of what has arrived."""
        return self._hash.hexdigest()

    def begin(self) -> None:
        """Forget what an earlier attempt brought."""
        self._file.seek(0)
        self._file.truncate()
        self._hash = hashlib.sha256()
        self.size_bytes = 0

    def take(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self.size_bytes += len(chunk)
        if self.size_bytes > self._limit_bytes:
            raise AudioUnavailableError(
                f"the sound is larger than {self._limit_bytes} bytes",
                surface=self._surface,
                reason="body_too_large",
            )
        self._hash.update(chunk)
        self._file.write(chunk)
