"""Excerpts of compared sounds: read again those that a scan did not keep, send a part of a file.

The sound is read as a guest, within the rate and the budget of its hosts, and deleted once its
excerpt is cut. Only the file that was compared is cut: the excerpt is named by its hash.
"""

import asyncio
import hashlib
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync
from starlette.responses import Response

from api.responses.errors import PARTIAL_CONTENT, NotFoundError
from api.services.evidence.service import EvidenceService
from api.services.reads.sources import Deadline, Sources
from warehouse.records.evidence import MAX_EXCERPT_S, ExcerptRole
from warehouse.records.videos import Unavailability

if TYPE_CHECKING:
    from pipelines.captures.session import Captures
    from pipelines.platform.sources.table import SoundFile


SURFACE = "media"
_CUTTER = "pipelines.audio.decode.excerpt_process"
_SINGLE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


async def read_missing_excerpt(
    evidence: EvidenceService,
    sources: Sources,
    comparison_id: str,
    role: ExcerptRole,
    *,
    deadline: Deadline,
) -> None:
    """Store the excerpt of a compared sound, unless it is stored already.

    Raises:
        NotFoundError: There is no such comparison, its sound cannot be read again, or the platform
            serves another file by now.
        UpstreamError: The platform refused the video or its sound, or was not read in time.
    """
    missing = await run_sync(evidence.missing_excerpt, comparison_id, role)
    if missing is None:
        return
    excerpt = missing.excerpt
    async with deadline.guard(SURFACE):
        encoded = await _read_and_cut(
            sources,
            missing.entity_id,
            is_song=missing.is_song,
            start_s=excerpt.start_s,
            duration_s=excerpt.duration_s,
            sha256=excerpt.sha256,
        )
    await run_sync(evidence.store_excerpt, excerpt, encoded)


async def read_beginning(sources: Sources, aweme_id: str, *, deadline: Deadline) -> bytes:
    """Return the first seconds of a video's sound as MP3. Nothing of it is kept.

    Raises:
        NotFoundError: The video is not available, or its sound cannot be decoded.
        UpstreamError: The platform refused the video or its sound, or was not read in time.
    """
    async with deadline.guard(SURFACE):
        return await _read_and_cut(sources, aweme_id, start_s=0.0, duration_s=MAX_EXCERPT_S)


async def _read_and_cut(
    sources: Sources,
    entity_id: str,
    *,
    is_song: bool = False,
    start_s: float,
    duration_s: float,
    sha256: str | None = None,
) -> bytes:
    """Return a stretch of a sound as MP3, read from the platform into a temporary folder.

    With `is_song`, the sound is that of a song of the music service, else that of a video. With
    `sha256`, only of that file.
    """
    await run_sync(lambda: sources.sounds_dir.mkdir(parents=True, exist_ok=True))
    with TemporaryDirectory(dir=sources.sounds_dir, prefix=".kept-") as folder:
        async with sources.open(
            "music", for_user=False, has_songs=is_song, sounds_dir=Path(folder)
        ) as captures:
            if is_song:
                file = await captures.song_sound(await captures.song(entity_id))
            else:
                file = await _video_sound(captures, entity_id)
        if sha256 is not None and file.sha256 != sha256:
            raise NotFoundError(
                f"The platform serves another sound under the id {entity_id} by now",
                hint="What was compared cannot be heard any more; a new scan compares what is "
                "there",
            )
        # Decoding runs in a process of its own, so that a damaged file cannot harm the service;
        # one at a time, because it takes a whole processor.
        async with sources.one_decoder:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                _CUTTER,
                file.path,
                str(start_s),
                str(duration_s),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=DEVNULL,
            )
            try:
                encoded, _ = await process.communicate()
            except asyncio.CancelledError:
                process.kill()
                raise
    if not encoded:
        raise NotFoundError(
            f"The sound with the id {entity_id} cannot be decoded",
            hint="Open the video itself to hear what it plays",
        )
    return encoded


async def _video_sound(captures: "Captures", aweme_id: str) -> "SoundFile":
    detail = await captures.video(aweme_id)
    if isinstance(detail, Unavailability):
        raise NotFoundError(
            f"The video {aweme_id} is no longer available",
            hint="What scans observed of it is still stored",
        )
    return await captures.sound(detail)


def range_response(
    content: bytes,
    request_headers: Mapping[str, str],
    *,
    media_type: str,
    headers: Mapping[str, str],
) -> Response:
    """Build a response with the whole content, or with the bytes that a `Range` header names.

    Players that seek in a sound request parts (RFC 9110, 14). A `Range` that is not one satisfiable
    byte range is ignored and the whole file is sent, as the standard allows.
    """
    size, tag = len(content), f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    all_headers = {**headers, "Accept-Ranges": "bytes", "ETag": tag}
    whole = Response(content, media_type=media_type, headers=all_headers)
    byte_range = _SINGLE_RANGE.fullmatch(request_headers.get("range", "").strip())
    if byte_range is None or request_headers.get("if-range", tag) != tag:
        return whole
    # One of three forms: `first-last`, `first-` or `-count` for the last bytes.
    start, end = byte_range.groups()
    if start:
        first, last = int(start), min(size - 1, int(end or size))
    elif end:
        first, last = max(0, size - int(end)), size - 1
    else:
        return whole
    if first > last:
        return whole
    all_headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    part = content[first : last + 1]
    return Response(part, PARTIAL_CONTENT, media_type=media_type, headers=all_headers)
