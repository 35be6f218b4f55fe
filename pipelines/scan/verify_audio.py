"""Audio verification: download and measure the sounds of videos, decide a verdict per music id.

A sound is downloaded, measured by the decoder pool and soon deleted; its features stay in
`raw.sounds`, so the same video is never decoded twice. Every compared pair is stored as evidence.

The compiled loops of `pipelines.audio.matching.verify` are imported with the first comparison: a
code server only describes this step. The processes of a worker load them when they start.
"""

import asyncio
import shutil
import time
import uuid
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import structlog

from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import (
    MeasuredSound,
    NotComparable,
    SoundMeasurement,
    judging_version,
    library_version,
    pack_features,
    sound_from_row,
)
from pipelines.audio.matching.group_verdict import GroupVerdict
from pipelines.captures.journal import measured_key, sound_key
from pipelines.platform.sources.table import SoundFile
from pipelines.scan.collect import add_reads, run_all
from pipelines.scan.common_sounds import is_excerpt
from pipelines.scan.rules import expansion
from pipelines.scan.rules.expansion import pairs_with_excerpts
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import SONG_SURFACE, ReferenceSounds
from warehouse.queries.results import read_sound_features
from warehouse.records import evidence
from warehouse.records.errors import UpstreamError
from warehouse.records.values import Row
from warehouse.records.videos import Music, ServiceSong, Video

if TYPE_CHECKING:
    from pipelines.audio.matching.common_sounds import CommonSound

# Cut excerpts of sounds that users may want to judge, in the background of the scan.
#
# A downloaded file is kept under a temporary name until its group has a verdict, a reference until
# the end. A failure here loses an excerpt, never a scan.

_ABANDONED_S = 86_400.0
# Names of sounds that are kept, being downloaded, or downloaded: those are named by their hash.
_SOUND_FILES = (".kept-*", ".part-*", 64 * "[0-9a-f]" + "-*")
_log = structlog.get_logger("scan")


async def keep_sound(run: ScanRun, video: Video, path: Path) -> None:
    """Keep a measured file until the verdict decides whether to cut an excerpt from it."""
    kept = path.with_name(f".kept-{run.job.job_id}-{video.aweme_id}{path.suffix}")
    if run.runtime.excerpts.max_bytes == 0:
        await asyncio.to_thread(path.unlink, missing_ok=True)
        return
    try:
        await asyncio.to_thread(path.replace, kept)
    except OSError:  # an earlier run of this job has kept it, or another scan has removed it
        if not await asyncio.to_thread(kept.exists):
            return
    run.sounds.files[video.aweme_id] = kept


def cut_group_excerpts(
    run: ScanRun, aweme_ids: Sequence[str], comparisons: Sequence[evidence.Comparison]
) -> None:
    """Cut the excerpts of a group's pairs in the background, then delete its files.

    Args:
        run: The scan.
        aweme_ids: The measured videos of the group, whose files are deleted.
        comparisons: Its pairs; `pairs_with_excerpts` chooses those that get excerpts.
    """
    pairs = pairs_with_excerpts(comparisons)

    async def cut_and_delete() -> None:
        try:
            for pair in pairs:
                await _cut_pair(run, pair)
        except OSError as error:
            _log.warning("excerpt not kept", reason=error.strerror)
        finally:
            await _delete_files(run, aweme_ids)

    task = asyncio.get_running_loop().create_task(cut_and_delete())
    run.sounds.cutting.append(task)


async def finish_cutting(run: ScanRun) -> None:
    """Wait for running cuts (cancel them with the job), delete all files, trim the folder."""
    tasks, run.sounds.cutting = run.sounds.cutting, []
    if run.is_cancelled():
        for task in tasks:
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await _delete_files(run, list(run.sounds.files))
    try:
        await asyncio.to_thread(run.runtime.excerpts.delete_surplus)
        await asyncio.to_thread(remove_abandoned, run.runtime.home.sounds_dir)
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


async def _cut_pair(run: ScanRun, pair: evidence.Comparison) -> None:
    """Cut the excerpts of both sounds of a pair that are not stored yet."""
    hashes, folder = run.state.sound_hashes, run.runtime.excerpts
    videos = {"reference": pair.reference_aweme_id, "candidate": pair.candidate_aweme_id}
    excerpts = evidence.find_excerpts(
        pair.pair,
        reference_sha256=hashes.get(pair.reference_aweme_id),
        candidate_sha256=hashes.get(pair.candidate_aweme_id),
    )
    for role, excerpt in excerpts.items():
        # Stored features have no file: the sound was deleted by the scan that measured it.
        path = run.sounds.files.get(videos[role])
        if path is None or await asyncio.to_thread(folder.has, excerpt):
            continue
        with run.stopwatch.waiting("audio"):
            encoded = await run.runtime.decoders.cut(
                path, start_s=excerpt.start_s, duration_s=excerpt.duration_s
            )
        if encoded is not None:
            await asyncio.to_thread(folder.write, excerpt, encoded)


async def _delete_files(run: ScanRun, aweme_ids: Sequence[str]) -> None:
    for aweme_id in aweme_ids:
        path = run.sounds.files.pop(aweme_id, None)
        if path is not None:
            await asyncio.to_thread(path.unlink, missing_ok=True)


ALTERED = "altered_by_host"
"""Reason of a sound whose file the media host changed; see `pipelines.audio.file_heads`."""
_MISSING = "file_missing"
# Reasons that depend on the machine, not on the sound: it was busy, or a file or process was gone.
# They are not stored, so that the next scan measures the sound.
_TRANSIENT = frozenset({_MISSING, "file_unreadable", "decoder_crashed", "decoder_timed_out"})


async def load_known_sounds(run: ScanRun, videos: Sequence[Video]) -> None:
    """Load the stored features of these videos' sounds in one query."""
    run.sounds.stored = await _stored_features(run, [video.aweme_id for video in videos])


async def _stored_features(run: ScanRun, aweme_ids: Sequence[str]) -> dict[str, Row]:
    rows = await asyncio.to_thread(
        read_sound_features, run.runtime.engine, aweme_ids, FEATURE_VERSION
    )
    # Earlier releases have stored transient reasons, too.
    return {
        aweme_id: row
        for aweme_id, row in rows.items()
        if row["not_comparable_reason"] not in _TRANSIENT
    }


async def measure_videos(run: ScanRun, videos: Sequence[Video]) -> list[SoundMeasurement]:
    """Return the sounds of `videos`, in order; stored features are not measured again."""
    return await run_all(_measure_video(run, video) for video in videos)


async def _measure_video(run: ScanRun, video: Video) -> SoundMeasurement:
    run.check_cancelled()
    stored = run.sounds.stored.get(video.aweme_id)
    # A download of an earlier run of this job is taken from the journal, so that its cost counts.
    if stored is None or run.journal.has(sound_key(video.aweme_id)):
        sound: SoundMeasurement = await _download_and_measure(
            run, video, is_stored=stored is not None
        )
    else:
        sound = sound_from_row(stored)
    if sound.sha256 is not None:
        run.state.sound_hashes[video.aweme_id] = sound.sha256
    run.update_progress(audio_checked=1)
    return sound


async def _download_and_measure(
    run: ScanRun, video: Video, *, is_stored: bool
) -> MeasuredSound | NotComparable:
    """Download and measure a sound; its file is kept until the group has a verdict.

    `is_stored`: an earlier run of this job has read it, and written its row already.
    """
    try:
        file = await _download(run, video)
        run.state.sounds_read += 1
        # An earlier run of this job may have measured the sound; then the journal has its row.
        recorded = run.journal.take(measured_key(video.aweme_id))
        if recorded is None:
            row = await _measure_file(run, video, file)
        else:
            row = orjson.loads(recorded.document)
            row["features"] = recorded.body
            row["observed_at"] = datetime.fromisoformat(row["observed_at"])
        if row["not_comparable_reason"] == _MISSING:
            # Another scan reads this video, and has moved the file of the same name.
            file = await _download(run, video)
            row = await _measure_file(run, video, file)
    except UpstreamError as error:
        run.state.sound_refusals[error.stop_reason] += 1
        # An altered file is another reason than a missing one.
        reason = ALTERED if error.reason == ALTERED else error.type
        return NotComparable(sha256=None, reason=reason)
    await keep_sound(run, video, Path(file.path))
    # Rows are written at the end of the round, in one commit.
    if not is_stored and row["not_comparable_reason"] not in _TRANSIENT:
        run.sounds.rows.append(row)
    return sound_from_row(row)


async def _download(run: ScanRun, video: Video) -> SoundFile:
    # The song of the music service is not on the platform; see `_measure_song`.
    song = run.state.song
    with run.stopwatch.waiting("upstream"):
        if video.surface == SONG_SURFACE and song is not None:
            return await run.captures.song_sound(song)
        return await run.captures.sound(video)


async def _measure_file(run: ScanRun, video: Video, file: SoundFile) -> Row:
    """Measure a downloaded file; return its row of `raw.sounds`, which the journal records."""
    path = Path(file.path)
    try:
        with run.stopwatch.waiting("audio"):
            sound = await run.runtime.decoders.measure(path)
        measured = sound if isinstance(sound, MeasuredSound) else None
        row: Row = {
            "sound_sha256": file.sha256,
            "feature_version": FEATURE_VERSION,
            "aweme_id": video.aweme_id,
            "music_id": video.music.music_id if video.music else None,
            "features": pack_features(measured.features) if measured else None,
            "duration_s": measured.duration_s if measured else None,
            "sample_rate_hz": measured.sample_rate_hz if measured else None,
            "codec": measured.codec if measured else None,
            "not_comparable_reason": sound.reason if isinstance(sound, NotComparable) else None,
            "library_version": library_version(),
            "job_id": run.job.job_id,
            "observed_at": run.clock(),
        }
        if row["not_comparable_reason"] not in _TRANSIENT:
            document = {name: value for name, value in row.items() if name != "features"}
            await run.journal.record(
                measured_key(video.aweme_id), orjson.dumps(document), body=row["features"]
            )
    except BaseException:
        # Also after a cancellation: nothing else knows of the file.
        await asyncio.to_thread(path.unlink, missing_ok=True)
        raise
    return row


def write_sounds(run: ScanRun) -> None:
    """Append the sounds measured since the last call, in one background commit."""
    rows, run.sounds.rows = run.sounds.rows, []
    if rows:
        run.append_later("raw.sounds", rows)


async def load_references(run: ScanRun) -> ReferenceSounds | None:
    """Return the references that an earlier run has chosen, from their stored features.

    None if the features of any are no longer stored: then the references are chosen again.
    """
    chosen = run.state.references
    stored = await _stored_features(run, list(chosen))
    references = {
        aweme_id: sound_from_row(stored[aweme_id])
        for aweme_id, sha256 in chosen.items()
        if aweme_id in stored and stored[aweme_id]["sound_sha256"] == sha256
    }
    return references if len(references) == len(chosen) else None


async def choose_references(run: ScanRun, videos: Sequence[Video]) -> ReferenceSounds:
    """Return up to three comparable sounds of the track that agree, the preferred ones first.

    The song of the music service comes first if a video of the track plays the same recording, or
    if none of them can be compared; then the videos, the cleanest first.
    """
    # Videos first: whether the song is a reference depends on them.
    platform = await _choose_videos(run, videos)
    song = run.state.song
    if song is None:
        return platform
    sound = await _measure_song(run, song)
    if isinstance(sound, NotComparable):
        _report_song_sound(run, sound.reason)
        return platform
    agrees = not platform or await _agrees(run, song.track_id, sound, platform)
    _report_song_sound(run, "completed" if agrees else "disagrees_with_videos")
    if not agrees:
        return platform
    return dict(list({song.track_id: sound, **platform}.items())[: expansion.REFERENCES])


async def _measure_song(run: ScanRun, song: ServiceSong) -> SoundMeasurement:
    """Return the measured audio of the track's song."""
    # From here the song is a video like any other, under the id of the music service.
    video = Video(
        aweme_id=song.track_id,
        surface=SONG_SURFACE,
        observed_at=song.observed_at,
        desc=song.title,
        music=Music(music_id=run.music_id, title=song.title, author=song.artist),
    )
    await load_known_sounds(run, [video])
    return await _measure_video(run, video)


async def _agrees(
    run: ScanRun, track_id: str, song: MeasuredSound, platform: ReferenceSounds
) -> bool:
    """Return True if a video of the track plays the recording of the song; keep the evidence.

    A music id may be an edit of the song, and a preview may be another part of it: then the song
    proves nothing about the videos, and they are the references.
    """
    from pipelines.audio.matching.verify import compare_pair  # noqa: PLC0415 -- see the docstring

    limits = evidence.MatchThresholds(match_threshold=run.parameters.match_threshold)
    with run.stopwatch.waiting("audio"):
        pairs = [
            await asyncio.to_thread(compare_pair, song, sound, limits=limits, search=False)
            for sound in platform.values()
        ]
    comparisons = [
        to_comparison(run, pair, reference_id=track_id, candidate=run.state.details[aweme_id])
        for aweme_id, pair in zip(platform, pairs, strict=True)
    ]
    run.state.comparisons.extend(comparisons)
    best = max(comparisons, key=expansion.credibility)
    if best.pair.verdict != "confirmed":
        return False
    # No files are deleted, because these are the references.
    cut_group_excerpts(run, (), [best])
    return True


def _report_song_sound(run: ScanRun, stop: str) -> None:
    new = int(stop == "completed")
    add_reads(run, "service_audio", items=1, new=new, stop=stop)


async def _choose_videos(run: ScanRun, videos: Sequence[Video]) -> dict[str, MeasuredSound]:
    """Return up to three comparable videos of the track that agree, the cleanest first.

    Muted videos and videos that play something else are replaced by the next ones.
    """
    batches = expansion.verification_batches(videos, size=expansion.REFERENCE_TRIALS)
    await load_known_sounds(run, [video for batch in batches for video in batch])
    from pipelines.audio.matching.verify import agreeing_references  # noqa: PLC0415 -- see the docstring

    measured: list[tuple[str, MeasuredSound]] = []
    chosen: dict[str, MeasuredSound] = {}
    for batch in batches:
        batch_sounds = await measure_videos(run, batch)
        for video, sound in zip(batch, batch_sounds, strict=True):
            if isinstance(sound, MeasuredSound):
                measured.append((video.aweme_id, sound))
            elif sound.reason == ALTERED:
                run.state.has_altered_references = True
        # Judge the sounds of all batches: a new one may agree with one that was alone before.
        sounds = [sound for _, sound in measured]
        with run.stopwatch.waiting("audio"):
            kept = await asyncio.to_thread(
                agreeing_references, sounds, limits=evidence.MatchThresholds()
            )
        chosen = dict(measured[place] for place in kept[: expansion.REFERENCES])
        if len(chosen) == expansion.REFERENCES or not _any_downloaded(batch_sounds):
            break
    return chosen


def _any_downloaded(sounds: Sequence[SoundMeasurement]) -> bool:
    """Whether any file was downloaded; if not, the host is not asked for more."""
    return any(sound.sha256 is not None for sound in sounds)


async def verify_music(
    run: ScanRun, videos: Sequence[Video], references: ReferenceSounds
) -> tuple[GroupVerdict, list[evidence.Comparison]]:
    """Compare the representatives of one music id with the references; cut their excerpts.

    If none of them can be compared, the next ones replace them.

    Returns:
        The verdict and all compared pairs; without pairs, every video has the silent placeholder.
    """
    batch: Sequence[Video] = ()
    sounds: list[SoundMeasurement] = []
    batches = expansion.verification_batches(videos, size=expansion.REPRESENTATIVES)
    for number, batch in enumerate(batches):
        # The stored features of the first batches of all music ids were loaded in one query.
        if number > 0:
            ids = [video.aweme_id for video in batch]
            run.sounds.stored.update(await _stored_features(run, ids))
        sounds = await measure_videos(run, batch)
        # One comparable sound decides on the music id. Without any file the media host refuses.
        if not _any_downloaded(sounds) or any(isinstance(sound, MeasuredSound) for sound in sounds):
            break
    with run.stopwatch.waiting("audio"):
        verdict = await asyncio.to_thread(_judge_group, run, references, sounds)
    reference_ids = list(references)
    comparisons = [
        to_comparison(
            run,
            pair.evidence,
            reference_id=reference_ids[pair.reference_index],
            candidate=batch[pair.candidate_index],
        )
        for pair in verdict.pairs
    ]
    if comparisons:
        cut_group_excerpts(run, [video.aweme_id for video in batch], comparisons)
    return verdict, comparisons


def _judge_group(
    run: ScanRun, references: ReferenceSounds, sounds: Sequence[SoundMeasurement]
) -> GroupVerdict:
    """Compare sounds with the references; an excerpt that is a common sound does not count."""
    from pipelines.audio.matching.verify import verify_group  # noqa: PLC0415 -- see the docstring

    common: Sequence[CommonSound] = ()
    while True:
        verdict = verify_group(
            list(references.values()),
            sounds,
            limits=evidence.MatchThresholds(match_threshold=run.parameters.match_threshold),
            keeps_order=True,
            common_sounds=common,
        )
        best = verdict.best
        if best is None or not is_excerpt(best.evidence):
            return verdict
        reference_id, reference = list(references.items())[best.reference_index]
        candidate = sounds[best.candidate_index]
        assert isinstance(reference, MeasuredSound), "a match was measured"
        assert isinstance(candidate, MeasuredSound), "a match was measured"
        longer = run.sounds.common.after_excerpt(
            run, (reference_id, reference), candidate, best.evidence
        )
        if len(longer) == len(common):
            return verdict
        common = longer


def to_comparison(
    run: ScanRun, pair: evidence.PairEvidence, *, reference_id: str, candidate: Video
) -> evidence.Comparison:
    """Return the evidence of a pair with its ids, limits and versions."""
    return evidence.Comparison(
        comparison_id=str(uuid.uuid4()),
        reference_aweme_id=reference_id,
        candidate_aweme_id=candidate.aweme_id,
        reference_music_id=run.music_id,
        candidate_music_id=candidate.music.music_id if candidate.music else "",
        pair=pair,
        limits=evidence.MatchThresholds(match_threshold=run.parameters.match_threshold),
        algorithm=evidence.ALGORITHM,
        feature_version=FEATURE_VERSION,
        library_version=judging_version(),
        reference_source=run.state.reference_source(reference_id),
    )
