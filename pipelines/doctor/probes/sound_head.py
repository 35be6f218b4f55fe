"""Reads the first bytes of a public sound, enough to recognise its format; the rest is skipped."""

from http import HTTPStatus

from pipelines.platform.http.client import GuestClient
from pipelines.platform.http.download import (
    SURFACE,
    refuse_altered,
    sound_request,
    sound_suffix,
)
from warehouse.records.errors import AudioUnavailableError

HEAD_BYTES = 16_384


class _HeadCompleteError(Exception):
    """Enough bytes have arrived."""


class _HeadSink:
    """Sink that keeps the first bytes of a body, then ends the download."""

    def __init__(self, body: bytearray) -> None:
        self.body = body

    def begin(self) -> None:
        """Discard the bytes of an earlier attempt."""
        self.body.clear()

    def take(self, chunk: bytes) -> None:
        """Receive the next bytes."""
        self.body += chunk
        if len(self.body) >= HEAD_BYTES:
            raise _HeadCompleteError


async def read_sound_head(
    client: GuestClient, url: str, *, into: bytearray | None = None, referer: str | None = None
) -> str:
    """Read the first bytes at a URL, into a buffer if one is given; return the sound's file suffix.

    `referer` is the page or document that named the URL.

    Raises:
        AudioUnavailableError: The response is no sound, or one that the host altered; its first
            bytes are in the buffer.
        UpstreamError: The host refused or could not be reached.
    """
    head, status = _HeadSink(bytearray() if into is None else into), None
    ask = sound_request(client, url, referer=referer)
    try:
        async with client.circuit(ask):
            status = (await client.save(ask, head)).status
    except _HeadCompleteError:
        status = None  # the download was ended early, so no status was recorded
    refuse_altered(bytes(head.body))
    suffix, is_fine = sound_suffix(bytes(head.body)), status in {None, HTTPStatus.OK}
    if suffix is None or not is_fine:
        raise AudioUnavailableError(
            "the response is no known sound format",
            surface=SURFACE,
            status=status,
            reason="not_a_sound" if is_fine else f"status {status}",
        )
    return suffix
