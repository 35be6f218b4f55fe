"""Download of one public sound to a file: capped, typed by its first bytes, named by its hash."""

import asyncio
import os
import tempfile
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

from pipelines.platform.call_trace import HttpResponse, open_call_trace
from pipelines.platform.http.body_sinks import FileSink
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.reading import SoundFile
from warehouse.records.errors import AudioUnavailableError, SubstitutionError, UnreachableError
from warehouse.records.videos import VideoDetail

SURFACE = "media"
MAX_ADDRESSES = 3
_HEAD = 16


async def download_sound(client: GuestClient, detail: VideoDetail, into: Path) -> SoundFile:
    """Download the sound of a video to the folder `into`, trying its URLs in order.

    Raises:
        AudioUnavailableError: There is no sound, it is the silent placeholder, its URLs have
            expired, or the response is no sound.
        UpstreamError: The last address could not be read.
    """
    if detail.is_silent_placeholder or not detail.play_urls:
        reason = "silent_placeholder" if detail.is_silent_placeholder else "no_sound_address"
        raise AudioUnavailableError(
            f"the video {detail.video.aweme_id} has no sound", surface=SURFACE, reason=reason
        )
    *earlier, last = detail.play_urls[:MAX_ADDRESSES]
    with open_call_trace() as call_trace:
        for url in earlier:
            try:
                return await _download(client, url, detail.video.aweme_id, into)
            except (AudioUnavailableError, SubstitutionError, UnreachableError):
                call_trace.last = None  # the next URL of the same sound may succeed
        return await _download(client, last, detail.video.aweme_id, into)


async def _download(client: GuestClient, url: str, aweme_id: str, into: Path) -> SoundFile:
    descriptor, name = await asyncio.to_thread(_new_file, into)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "w+b") as file, open_call_trace() as call_trace:
            sink = FileSink(file, surface=SURFACE, limit_bytes=client.limits.media_bytes)
            answer = await client.save(_ask(client, url), sink)
            suffix = _recognise_sound(answer, file)
        # The video's id keeps two videos with the same sound from removing each other's file.
        path = into / f"{sink.sha256}-{aweme_id}{suffix}"
        await asyncio.to_thread(part.replace, path)
    finally:
        part.unlink(missing_ok=True)  # noqa: ASYNC240  # a cancelled task cannot await any more
    return SoundFile(
        path=path,
        sha256=sink.sha256,
        size_bytes=sink.size_bytes,
        content_type=answer.content_type,
        request_count=call_trace.request_count,
    )


def _ask(client: GuestClient, url: str) -> HttpRequest:
    return HttpRequest(
        surface=SURFACE,
        url=url,
        allowed=client.profile.media.hosts,
        total_s=client.limits.media_total_s,
    )


def _new_file(into: Path) -> tuple[int, str]:
    into.mkdir(parents=True, exist_ok=True)
    return tempfile.mkstemp(prefix=".part-", dir=into)


def _recognise_sound(answer: HttpResponse, file: BinaryIO) -> str:
    """Return the file suffix if the response is a sound.

    Raises:
        AudioUnavailableError: It is none.
    """
    if answer.status != HTTPStatus.OK:
        raise AudioUnavailableError(
            "the URL of the sound has expired or was refused",
            surface=SURFACE,
            status=answer.status,
            reason=f"status {answer.status}",
        )
    file.seek(0)
    suffix = sound_suffix(file.read(_HEAD))
    if suffix is None:
        raise AudioUnavailableError(
            "the response is no known sound format", surface=SURFACE, reason="not_a_sound"
        )
    return suffix


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
