"""Excerpts of compared sounds: read again what a scan did not keep, answer a part of a file.

The sound is read as a guest, within the rate and the budget of its hosts, and deleted once its
excerpt is cut. Only the file that was compared is cut: the excerpt is named by its hash. Players
that seek in a sound ask for parts (RFC 9110, 14); a `Range` that is not one satisfiable byte range
is ignored and the whole file is sent, as the standard allows.
"""

import asyncio
import hashlib
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from anyio.to_thread import run_sync
from starlette.responses import Response

from api.responses.errors import PARTIAL_CONTENT, NotFoundError
from api.services.evidence.service import EvidenceService, MissingExcerpt
from api.services.reads.deadline import Deadline
from api.services.reads.sources import Sources
from warehouse.records.evidence import Excerpt, ExcerptRole
from warehouse.records.videos import UnavailableVideo

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
        NotFoundError: There is no such comparison, its sound cannot be had again, or the platform
            serves another file by now.
        UpstreamError: The platform refused the video or its sound, or was not read in time.
    """
    missing = await run_sync(evidence.missing_excerpt, comparison_id, role)
    if missing is None:
        return
    async with deadline.guard(SURFACE):
        encoded = await _read_and_cut(sources, missing)
    await run_sync(evidence.store_excerpt, missing.excerpt, encoded)


async def _read_and_cut(sources: Sources, missing: MissingExcerpt) -> bytes:
    await run_sync(lambda: sources.sounds_dir.mkdir(parents=True, exist_ok=True))
    with TemporaryDirectory(dir=sources.sounds_dir, prefix=".kept-") as folder:
        async with sources.sounds(Path(folder)) as captures:
            detail = await captures.video(missing.aweme_id)
            if isinstance(detail, UnavailableVideo):
                raise NotFoundError(
                    f"The video {missing.aweme_id} is no longer available",
                    hint="Its measurements are still stored",
                )
            file = await captures.sound(detail)
        if file.sha256 != missing.excerpt.sha256:
            raise NotFoundError(
                f"The platform serves another sound for the video {missing.aweme_id} by now",
                hint="What was compared cannot be heard any more; a new scan compares what is "
                "there",
            )
        async with sources.one_decoder:
            encoded = await _cut(Path(file.path), missing.excerpt)
    if not encoded:
        raise NotFoundError(f"The sound of the video {missing.aweme_id} cannot be decoded")
    return encoded


async def _cut(path: Path, excerpt: Excerpt) -> bytes:
    """Return the MP3; empty if the file cannot be decoded."""
    times = (str(excerpt.start_s), str(excerpt.duration_s))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", _CUTTER, str(path), *times,
        stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL,
    )  # fmt: skip
    try:
        encoded, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        raise
    return encoded


def range_response(
    content: bytes, asked: Mapping[str, str], *, media_type: str, headers: Mapping[str, str]
) -> Response:
    """Build a response with the whole content, or with the range that the headers ask for."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    more = {**headers, "Accept-Ranges": "bytes", "ETag": tag}
    stretch = _parse_range(asked.get("range", ""), len(content))
    if stretch is None or asked.get("if-range", tag) != tag:
        return Response(content, media_type=media_type, headers=more)
    first, last = stretch
    more["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    part = content[first : last + 1]
    return Response(part, PARTIAL_CONTENT, media_type=media_type, headers=more)


def _parse_range(wanted: str, size: int) -> tuple[int, int] | None:
    """Return first and last byte of `first-last`, `first-` or `-count`, None if not satisfiable."""
    found = _SINGLE_RANGE.fullmatch(wanted.strip())
    if found is None or found[1] == found[2] == "":
        return None
    if found[1] == "":
        first, last = max(0, size - int(found[2])), size - 1
    else:
        first, last = int(found[1]), min(size - 1, int(found[2] or size))
    return (first, last) if first <= last else None
