"""Read the sound of a compared video again, when somebody wants to hear what a scan did not keep.

The sound is read as a guest, within the rate and the budget of its hosts, and deleted once its
excerpt is cut. Only the file that was compared is cut: the excerpt is named by its hash.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path
from tempfile import TemporaryDirectory

from anyio.to_thread import run_sync

from api.responses.errors import NotFoundError
from api.services.evidence.service import EvidenceService, MissingExcerpt
from api.services.reads.deadline import Deadline
from api.services.reads.sources import Sources
from warehouse.records.evidence import Excerpt, ExcerptRole
from warehouse.records.videos import UnavailableVideo

SURFACE = "media"
_CUTTER = "pipelines.audio.decode.excerpt_process"


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
