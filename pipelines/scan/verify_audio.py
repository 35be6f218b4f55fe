"""Audio verification: download and measure the sounds of videos, decide a verdict per music id.

A sound is downloaded, measured by the decoder pool and soon deleted; its features stay in
`raw.sounds`, so the same video is never decoded twice. Every compared pair is stored as evidence.
"""

import asyncio
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import (
    NotComparable,
    Sound,
    judging_version,
    library_version,
    pack_features,
    unpack_features,
)
from pipelines.audio.matching.verify import GroupVerdict, agreeing_references, verify_group
from pipelines.scan.excerpts import keep_sound
from pipelines.scan.rules.expansion import (
    REFERENCE_TRIALS,
    REFERENCES,
    REPRESENTATIVES,
    batches_to_hear,
    works_to_hear,
)
from pipelines.scan.scan_run import HeardWork, ScanSession
from warehouse.queries.results import read_sound_features
from warehouse.records.errors import UpstreamError
from warehouse.records.evidence import ALGORITHM, Comparison, Limits, PairEvidence
from warehouse.records.videos import Video


async def recall_sounds(session: ScanSession, works: Sequence[Video]) -> None:
    """Load the stored features of these videos' sounds in one query."""
    session.findings.known_sounds = await asyncio.to_thread(
        read_sound_features,
        session.runtime.engine,
        [work.aweme_id for work in works],
        FEATURE_VERSION,
    )


async def hear(session: ScanSession, works: Sequence[Video]) -> list[HeardWork]:
    """Return the sounds of `works`, in order; stored features are not measured again."""
    return list(await asyncio.gather(*(_hear_one(session, work) for work in works)))


async def _hear_one(session: ScanSession, work: Video) -> HeardWork:
    session.check_cancelled()
    known = session.findings.known_sounds.get(work.aweme_id)
    sound = await _measured(session, work) if known is None else _recalled(known)
    if sound.sha256 is not None:
        session.findings.sound_hashes[work.aweme_id] = sound.sha256
    session.count(audio_checked=1)
    return HeardWork(work, sound)


def _recalled(row: dict[str, Any]) -> Sound | NotComparable:
    reason = row["not_comparable_reason"]
    if reason is not None:
        return NotComparable(sha256=str(row["sound_sha256"]), reason=str(reason))
    return Sound(
        sha256=str(row["sound_sha256"]),
        features=unpack_features(row["features"]),
        duration_s=row["duration_s"],
        sample_rate_hz=row["sample_rate_hz"],
        codec=str(row["codec"]),
        feature_version=str(row["feature_version"]),
        library_version=str(row["library_version"]),
    )


async def _measured(session: ScanSession, work: Video) -> Sound | NotComparable:
    """Download and measure a sound; its file is kept until the group has a verdict."""
    try:
        with session.stopwatch.waiting("upstream"):
            file = await session.captures.sound(session.findings.details[work.aweme_id])
    except UpstreamError as error:
        return NotComparable(sha256=None, reason=error.type)
    session.findings.sounds_read += 1
    path = Path(file.path)
    try:
        with session.stopwatch.waiting("listening"):
            sound = await session.runtime.listening.measure(path)
    except BaseException:
        await asyncio.to_thread(path.unlink, missing_ok=True)
        raise
    await keep_sound(session, work, path)
    session.findings.sound_rows.append(_sound_row(session, work, file.sha256, sound))
    return sound


def _sound_row(
    session: ScanSession, work: Video, sha256: str, sound: Sound | NotComparable
) -> dict[str, object]:
    heard = sound if isinstance(sound, Sound) else None
    return {
        "sound_sha256": sha256,
        "feature_version": FEATURE_VERSION,
        "aweme_id": work.aweme_id,
        "music_id": work.music.music_id if work.music else None,
        "features": pack_features(heard.features) if heard else None,
        "duration_s": heard.duration_s if heard else None,
        "sample_rate_hz": heard.sample_rate_hz if heard else None,
        "codec": heard.codec if heard else None,
        "not_comparable_reason": sound.reason if isinstance(sound, NotComparable) else None,
        "library_version": library_version(),
        "job_id": session.job.job_id,
        "observed_at": session.clock(),
    }


def write_sounds(session: ScanSession) -> None:
    """Append the sounds measured since the last call, in one background commit."""
    rows, session.findings.sound_rows = session.findings.sound_rows, []
    if rows:
        session.append_later("raw.sounds", rows)


def representatives(session: ScanSession, works: Sequence[Video]) -> tuple[Video, ...]:
    """Return the videos that represent a music id in the audio verification."""
    return works_to_hear(works, silent=session.findings.silent_works(), limit=REPRESENTATIVES)


async def choose_references(session: ScanSession, works: Sequence[Video]) -> list[HeardWork]:
    """Return up to three comparable videos of the track that agree, the cleanest first.

    Muted videos and videos that play something else are replaced by the next ones.
    """
    batches = batches_to_hear(works, silent=session.findings.silent_works(), size=REFERENCE_TRIALS)
    await recall_sounds(session, [work for batch in batches for work in batch])
    entries: list[HeardWork] = []
    chosen: list[HeardWork] = []
    for batch in batches:
        heard = await hear(session, batch)
        entries.extend(entry for entry in heard if isinstance(entry.sound, Sound))
        sounds = [entry.sound for entry in entries if isinstance(entry.sound, Sound)]
        with session.stopwatch.waiting("listening"):
            kept = await asyncio.to_thread(agreeing_references, sounds, limits=Limits())
        chosen = [entries[place] for place in kept[:REFERENCES]]
        if len(chosen) == REFERENCES or not _could_be_read(heard):
            break
    return chosen


def _could_be_read(heard: Sequence[HeardWork]) -> bool:
    """Whether any file was downloaded; if not, the host is not asked for more."""
    return any(entry.sound.sha256 is not None for entry in heard)


async def verify_music(
    session: ScanSession, works: Sequence[Video], references: Sequence[HeardWork]
) -> tuple[GroupVerdict, list[HeardWork]]:
    """Compare the representatives of one music id with the references.

    If none of them can be compared, the next ones replace them.

    Returns:
        The verdict with all compared pairs, and the representatives in the pairs' order.
    """
    heard: list[HeardWork] = []
    for batch in batches_to_hear(
        works, silent=session.findings.silent_works(), size=REPRESENTATIVES
    ):
        heard = await hear(session, batch)
        if not _could_be_read(heard) or any(isinstance(entry.sound, Sound) for entry in heard):
            break
    with session.stopwatch.waiting("listening"):
        verdict = await asyncio.to_thread(
            verify_group,
            [entry.sound for entry in references],
            [entry.sound for entry in heard],
            limits=Limits(match_threshold=session.parameters.match_threshold),
        )
    return verdict, heard


def to_comparison(
    session: ScanSession, reference: HeardWork, candidate: HeardWork, pair: PairEvidence
) -> Comparison:
    """Return the evidence of a pair with its ids, limits and versions."""
    return Comparison(
        comparison_id=str(uuid.uuid4()),
        reference_aweme_id=reference.video.aweme_id,
        candidate_aweme_id=candidate.video.aweme_id,
        reference_music_id=session.music_id,
        candidate_music_id=candidate.video.music.music_id if candidate.video.music else "",
        pair=pair,
        limits=Limits(match_threshold=session.parameters.match_threshold),
        algorithm=ALGORITHM,
        feature_version=FEATURE_VERSION,
        library_version=judging_version(),
    )
