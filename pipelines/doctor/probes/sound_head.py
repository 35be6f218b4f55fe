"""The beginning of a public sound: enough to know that it is one. The rest is left where it is."""

from http import HTTPStatus

from pipelines.platform.http.client import Ask, GuestClient
from pipelines.platform.http.download import SURFACE, sound_suffix
from warehouse.records.errors import AudioUnavailableError

HEAD_BYTES = 16_384


class _EnoughError(Exception):
    """The beginning is here."""


class _Head:
    """Keeps the first bytes of a body, then ends the reading."""

    def __init__(self) -> None:
        self.body = bytearray()

    def begin(self) -> None:
        """Forget what an earlier attempt brought."""
        self.body.clear()

    def take(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self.body += chunk
        if len(self.body) >= HEAD_BYTES:
            raise _EnoughError


async def read_sound_head(client: GuestClient, url: str) -> str:
    """The suffix of the sound at an address.

    Raises:
        AudioUnavailableError: What came is no sound.
        UpstreamError: By name, what came instead.
    """
    head, status = _Head(), None
    ask = Ask(surface=SURFACE, url=url, allowed=client.profile.media.hosts)
    try:
        status = (await client.save(ask, head)).status
    except _EnoughError:
        status = None  # the answer was left before its end, so nobody has noted its status
    suffix = sound_suffix(bytes(head.body))
    if suffix is None or status not in {None, HTTPStatus.OK}:
        is_fine = status in {None, HTTPStatus.OK}
        raise AudioUnavailableError(
            "what came is no sound that we know",
            surface=SURFACE,
            status=status,
            reason="not_a_sound" if is_fine else f"status {status}",
        )
    return suffix
