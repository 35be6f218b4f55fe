"""Cut excerpts of sounds that users may want to judge, in the background of the scan.

A downloaded file is kept under a temporary name until its group has a verdict, a reference until
the end. A failure here loses an excerpt, never a scan. Not here: choosing and encoding an excerpt.
"""

import asyncio
import shutil
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import structlog

from pipelines.scan.rules.expansion import pairs_with_excerpts
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import MeasuredVideo
from warehouse.records.evidence import Comparison, find_excerpts
from warehouse.records.videos import Video

_ABANDONED_S = 86_400.0
# Names of sounds that are kept, being downloaded, or downloaded: those are named by their hash.
_SOUND_FILES = (".kept-*", ".part-*", 64 * "[0-9a-f]" + "-*")
_log = structlog.get_logger("scan")


async def keep_sound(session: ScanRun, video: Video, path: Path) -> None:
    """Keep a measured file until the verdict decides whether to cut an excerpt from it."""
    kept = path.with_name(f".kept-{session.job.job_id}-{video.aweme_id}{path.suffix}")
    if session.runtime.excerpts.max_bytes == 0:
        await asyncio.to_thread(path.unlink, missing_ok=True)
        return
    try:
        await asyncio.to_thread(path.replace, kept)
    except OSError:  # an earlier run of this job has kept it, or another scan has removed it
        if not await asyncio.to_thread(kept.exists):
            return
    session.sounds.files[video.aweme_id] = kept


def cut_group_excerpts(
    session: ScanRun, measured: Sequence[MeasuredVideo], comparisons: Sequence[Comparison]
) -> None:
    """Cut the excerpts of a group's pairs in the background, then delete its files.

    Args:
        session: The scan.
        measured: The measured videos of the group.
        comparisons: Its pairs; `pairs_with_excerpts` chooses those that get excerpts.
    """
    pairs = pairs_with_excerpts(comparisons)
    videos = [entry.video.aweme_id for entry in measured]

    async def cut_and_delete() -> None:
        try:
            for pair in pairs:
                await _cut_pair(session, pair)
        except OSError as error:
            _log.warning("excerpt not kept", reason=error.strerror)
        finally:
            await _delete_files(session, videos)

    task = asyncio.get_running_loop().create_task(cut_and_delete())
    session.sounds.cutting.append(task)


async def finish_cutting(session: ScanRun) -> None:
    """Wait for running cuts (cancel them with the job), delete all files, trim the folder."""
    tasks, session.sounds.cutting = session.sounds.cutting, []
    if session.is_cancelled():
        for task in tasks:
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await _delete_files(session, list(session.sounds.files))
    try:
        await asyncio.to_thread(session.runtime.excerpts.delete_surplus)
        await asyncio.to_thread(remove_abandoned, session.runtime.home.sounds_dir)
    except OSError as error:
        _log.warning("excerpts not trimmed", reason=error.strerror)


def remove_abandoned(folder: Path) -> None:
    """Delete files that are older than a day: a killed process left them, as no scan takes so long.

    It was downloading them, waiting for a decoder, or keeping them for excerpts. The service keeps
    the files that it reads in a folder.
    """
    for path in chain.from_iterable(map(folder.glob, _SOUND_FILES)):
        if time.time() - path.stat().st_mtime > _ABANDONED_S:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


async def _cut_pair(session: ScanRun, pair: Comparison) -> None:
    """Cut the excerpts of both sounds of a pair that are not stored yet."""
    hashes, folder = session.state.sound_hashes, session.runtime.excerpts
    videos = {"reference": pair.reference_aweme_id, "candidate": pair.candidate_aweme_id}
    excerpts = find_excerpts(
        pair.pair,
        reference_sha256=hashes.get(pair.reference_aweme_id),
        candidate_sha256=hashes.get(pair.candidate_aweme_id),
    )
    for role, excerpt in excerpts.items():
        # Stored features have no file: the sound was deleted by the scan that measured it.
        path = session.sounds.files.get(videos[role])
        if path is None or await asyncio.to_thread(folder.has, excerpt):
            continue
        with session.stopwatch.waiting("audio"):
            encoded = await session.runtime.decoders.cut(
                path, start_s=excerpt.start_s, duration_s=excerpt.duration_s
            )
        if encoded is not None:
            await asyncio.to_thread(folder.write, excerpt, encoded)


async def _delete_files(session: ScanRun, videos: Sequence[str]) -> None:
    for aweme_id in videos:
        path = session.sounds.files.pop(aweme_id, None)
        if path is not None:
            await asyncio.to_thread(path.unlink, missing_ok=True)
