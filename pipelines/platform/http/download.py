"""Download of one public sound to a file: capped, typed by its first bytes, named by its hash."""

import asyncio
import hashlib
import os
import tempfile
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from pipelines.audio.file_heads import HEAD_BYTES, is_altered
from pipelines.platform.call_trace import HttpResponse, open_call_trace
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.reading import SoundFile
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy, refusal_error
from warehouse.records.errors import AudioUnavailableError, UpstreamError
from warehouse.records.videos import VideoDetail

SURFACE = "media"
MAX_ADDRESSES = 3
_NEW_ADDRESS = timedelta(minutes=5)


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


async def download_sound(client: GuestClient, detail: VideoDetail, into: Path) -> SoundFile:
    """Download the sound of a video to the folder `into`, trying its URLs in order.

    After a pause or a spent budget only URLs at other hosts are tried.

    Raises:
        AudioUnavailableError: There is no sound, it is the silent placeholder, its URLs have
            expired, the response is no sound, or the host altered it.
        UpstreamError: The last URL that was tried could not be read.
    """
    if detail.is_silent_placeholder or not detail.play_urls:
        reason = "silent_placeholder" if detail.is_silent_placeholder else "no_sound_address"
        raise AudioUnavailableError(
            f"the video {detail.video.aweme_id} has no sound", surface=SURFACE, reason=reason
        )
    # The same sound is at several hosts, whose tokens expire after hours.
    waiting = list(detail.play_urls[:MAX_ADDRESSES])
    with open_call_trace() as call_trace:
        while True:
            url = waiting.pop(0)
            try:
                return await _download(client, url, detail, into)
            except UpstreamError as error:
                if allows_policy(error, RefusalPolicy.OTHER_HOST):
                    host = urlsplit(url).hostname
                    waiting = [other for other in waiting if urlsplit(other).hostname != host]
                if not waiting:
                    raise
            call_trace.last = None  # the next URL of the same sound may succeed


async def _download(client: GuestClient, url: str, detail: VideoDetail, into: Path) -> SoundFile:
    # Written under a temporary name: the final one needs the hash, and names a complete file.
    await asyncio.to_thread(into.mkdir, parents=True, exist_ok=True)
    descriptor, name = await asyncio.to_thread(tempfile.mkstemp, prefix=".part-", dir=into)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "w+b") as file, open_call_trace() as call_trace:
            sink = FileSink(file, surface=SURFACE, limit_bytes=client.limits.media_bytes)
            request = sound_request(client, url, referer=detail.read_from)
            async with client.circuit(request):
                response = await client.save(request, sink)
                suffix = _recognise_sound(response, file, named_at=detail.video.observed_at)
        # The video's id keeps two videos with the same sound from removing each other's file.
        path = into / f"{sink.sha256}-{detail.video.aweme_id}{suffix}"
        await asyncio.to_thread(part.replace, path)
    finally:
        part.unlink(missing_ok=True)  # noqa: ASYNC240  # a cancelled task cannot await any more
    return SoundFile(
        path=path,
        sha256=sink.sha256,
        size_bytes=sink.size_bytes,
        content_type=response.content_type,
        request_count=call_trace.request_count,
    )


def sound_request(client: GuestClient, url: str, *, referer: str | None) -> HttpRequest:
    """Build the request for a sound; `referer` is the page or document that named its URL.

    Media hosts refuse requests without one.
    """
    return HttpRequest(
        surface=SURFACE,
        url=url,
        allowed=client.profile.media.hosts,
        total_s=client.limits.media_total_s,
        referer=referer,
    )


def _recognise_sound(response: HttpResponse, file: BinaryIO, *, named_at: datetime) -> str:
    """Return the file suffix if the response is a sound; its URL was read at `named_at`.

    Raises:
        AudioUnavailableError: It is not.
    """
    # URLs of sounds expire after hours, so 403 for a new one is a refusal by the host.
    is_new = abs(response.fetched_at - named_at) < _NEW_ADDRESS
    if response.status == HTTPStatus.FORBIDDEN and is_new:
        raise refusal_error(
            "sound_refused", "the host refuses the sound", surface=SURFACE, status=response.status
        )
    if response.status != HTTPStatus.OK:
        raise AudioUnavailableError(
            "the URL of the sound has expired or was refused",
            surface=SURFACE,
            status=response.status,
            reason=f"status {response.status}",
        )
    file.seek(0)
    head = file.read(HEAD_BYTES)
    refuse_altered(head)
    suffix = sound_suffix(head)
    if suffix is None:
        raise AudioUnavailableError(
            "the response is no known sound format", surface=SURFACE, reason="not_a_sound"
        )
    return suffix


def refuse_altered(head: bytes) -> None:
    """Raise for a file whose type box has another first byte, as some media hosts send it.

    The byte is not put back: a host that alters its files does not want them read.

    Raises:
        AudioUnavailableError: The host altered the file.
    """
    if is_altered(head):
        raise refusal_error(
            "altered_by_host", "the host altered the file type of the sound", surface=SURFACE
        )


def sound_suffix(head: bytes) -> str | None:
    """Return the suffix for the first bytes of a sound or video file; None for anything else."""
    if head[4:8] == b"ftyp":
        return ".mp4"
    if head[:3] == b"ID3" or (len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0):  # noqa: PLR2004  # MPEG sync word
        return ".mp3"
    for start, suffix in _STARTS.items():
        if head.startswith(start):
            return suffix
    return None


_STARTS = {b"OggS": ".ogg", b"fLaC": ".flac", b"RIFF": ".wav", b"\x1a\x45\xdf\xa3": ".webm"}
