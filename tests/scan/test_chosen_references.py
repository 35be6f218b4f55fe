"""Whose sound speaks for a track and for a music id: muted videos are replaced by the next ones."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipelines.audio.features.sounds import MeasuredSound, NotComparable, pack_features
from pipelines.parameters.scan import ScanParameters
from pipelines.platform.sources.table import SoundFile
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ScanState, SoundWorkspace
from pipelines.scan.verify_audio import (
    choose_references,
    load_known_sounds,
    measure_videos,
    verify_music,
)
from tests.audio.clips import Band, ClipMeasurer
from tests.shared_files import SharedFolder
from warehouse.records.errors import AudioUnavailableError
from warehouse.records.videos import Music, Statistics, Video

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SILENT = "silent"
type Row = dict[str, Any]


class KnownSounds:
    """A warehouse that knows sounds by the id of the video."""

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self._rows = rows

    def rows(self, sql: str, **params: Any) -> list[Row]:
        del sql
        return [self._rows[name] for name in params["ids"] if name in self._rows]


class DeadMediaHost:
    """Gives no sound to anybody, and counts who asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.reason = "unreachable"

    async def sound(self, video: Video) -> Path:
        self.asked.append(video.aweme_id)
        raise AudioUnavailableError("nobody answers", surface="media", reason=self.reason)


class MediaHost:
    """Gives a file for each video, and counts who asked."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        self._folder = folder

    async def sound(self, video: Video) -> SoundFile:
        self.asked.append(video.aweme_id)
        path = self._folder / video.aweme_id
        path.touch()
        return SoundFile(
            path=path, sha256="0" * 64, size_bytes=0, content_type=None, request_count=1
        )


class Decoder:
    """Refuses one file after the other for these reasons."""

    def __init__(self, *reasons: str) -> None:
        self._reasons = iter(reasons)

    async def measure(self, path: Path) -> NotComparable:
        del path
        return NotComparable(sha256=None, reason=next(self._reasons))


class EmptyJournal:
    """Of a job that was never run before."""

    def __init__(self) -> None:
        self.recorded: list[str] = []

    def has(self, key: str) -> bool:
        del key
        return False

    def take(self, key: str) -> None:
        """Nothing was recorded."""

    async def record(self, key: str, document: bytes, *, body: bytes | None) -> None:
        del document, body
        self.recorded.append(key)


class ListeningSession:
    """The part of a scan's session that audio verification needs."""

    music_id = "1"
    parameters = ScanParameters()
    job = SimpleNamespace(job_id="job")
    excerpts = SimpleNamespace(max_bytes=0)

    def __init__(self, videos: Sequence[Video], sounds: Mapping[str, Row]) -> None:
        self.state = ScanState(details={one.aweme_id: one for one in videos})
        self.sounds = SoundWorkspace()
        self.journal = EmptyJournal()
        self.captures: Any = DeadMediaHost()
        self.decoders = Decoder()
        self.runtime = self
        self.engine = KnownSounds(sounds)
        self.stopwatch = self

    def clock(self) -> datetime:
        return NOW

    def waiting(self, what: str) -> AbstractContextManager[None]:
        del what
        return nullcontext()

    def check_cancelled(self) -> None:
        """Nobody cancels."""

    def update_progress(self, *, audio_checked: int = 0) -> None:
        """Nobody looks."""


@pytest.fixture(scope="session")
def recordings(shared_folder: SharedFolder) -> dict[str, Row]:
    """Rows of the warehouse: two songs, and a video that was read and is silent."""
    band, measure_clip = Band(shared_folder), ClipMeasurer(shared_folder)
    songs = {"song": measure_clip(band.track(1)), "other song": measure_clip(band.track(2))}
    rows = {name: _row(sound) for name, sound in songs.items()}
    return {**rows, SILENT: {"not_comparable_reason": SILENT, "sound_sha256": "0" * 64}}


def _row(sound: MeasuredSound) -> Row:
    return {
        "not_comparable_reason": None,
        "sound_sha256": sound.sha256,
        "features": pack_features(sound.features),
        "duration_s": sound.duration_s,
        "sample_rate_hz": sound.sample_rate_hz,
        "codec": sound.codec,
        "feature_version": sound.feature_version,
        "library_version": sound.library_version,
    }


def session_of(
    recordings: Mapping[str, Row], sounds: Sequence[str]
) -> tuple[ScanRun, list[Video], ListeningSession]:
    """Videos of one music id with these sounds, the most liked first."""
    videos = [
        Video(
            aweme_id=str(place), surface="video_detail", observed_at=NOW,
            music=Music(music_id="1"), statistics=Statistics(digg_count=-place),
        )
        for place in range(len(sounds))
    ]  # fmt: skip
    rows = {
        str(place): recordings[name] | {"aweme_id": str(place)}
        for place, name in enumerate(sounds)
        if name in recordings
    }
    fake = ListeningSession(videos, rows)
    return cast("ScanRun", fake), videos, fake


def chosen(recordings: Mapping[str, Row], *sounds: str) -> list[str]:
    session, videos, _ = session_of(recordings, sounds)
    return list(asyncio.run(choose_references(session, videos)))


def test_silent_references_are_replaced_by_the_next_videos(recordings: Mapping[str, Row]) -> None:
    assert chosen(recordings, *[SILENT] * 5, "song", "song", "song") == ["5", "6", "7"]


def test_a_reference_that_plays_another_song_is_replaced(recordings: Mapping[str, Row]) -> None:
    sounds = ["other song", "song", "song", SILENT, SILENT, "song"]
    assert chosen(recordings, *sounds) == ["1", "2", "5"]


def test_no_more_is_heard_than_three_references_need(recordings: Mapping[str, Row]) -> None:
    session, videos, fake = session_of(recordings, ["song"] * 5 + ["unknown"])
    assert len(asyncio.run(choose_references(session, videos))) == 3
    assert fake.captures.asked == []


def test_a_media_host_that_gives_nothing_is_asked_for_one_batch_only() -> None:
    session, videos, fake = session_of({}, ["unknown"] * 12)
    assert asyncio.run(choose_references(session, videos)) == {}
    assert fake.captures.asked == ["0", "1", "2", "3", "4"]


def test_muted_representatives_of_a_music_id_are_replaced_by_the_next_ones(
    recordings: Mapping[str, Row],
) -> None:
    session, videos, _ = session_of(recordings, [SILENT, SILENT, "song", "song", "song"])

    async def verify() -> tuple[str, list[str]]:
        references = await choose_references(session, videos)
        await load_known_sounds(session, videos)
        verdict, heard = await verify_music(session, videos, references)
        return verdict.verdict, list(dict.fromkeys(one.candidate_aweme_id for one in heard))

    assert asyncio.run(verify()) == ("confirmed", ["2"])  # so surely that 3 is not compared


def test_a_music_id_of_muted_videos_alone_cannot_be_compared(recordings: Mapping[str, Row]) -> None:
    session, videos, _ = session_of(recordings, ["song", "song", "song"])
    references = asyncio.run(choose_references(session, videos))
    muted, works, _ = session_of(recordings, [SILENT, SILENT, SILENT])

    async def verify() -> str:
        await load_known_sounds(muted, works)
        verdict, _ = await verify_music(muted, works, references)
        return verdict.verdict

    assert asyncio.run(verify()) == "not_comparable"


def test_one_muted_representative_leaves_the_other_to_decide(recordings: Mapping[str, Row]) -> None:
    session, videos, _ = session_of(recordings, [SILENT, "other song", "song", "song", "song"])

    async def verify() -> tuple[str, list[str]]:
        references = await choose_references(session, videos)
        await load_known_sounds(session, videos)
        verdict, heard = await verify_music(session, videos, references)
        return verdict.verdict, list(dict.fromkeys(one.candidate_aweme_id for one in heard))

    assert asyncio.run(verify()) == ("rejected", ["0", "1"])


def test_stored_features_of_a_replacement_are_not_downloaded_again(
    recordings: Mapping[str, Row],
) -> None:
    session, videos, fake = session_of(recordings, [SILENT, SILENT, "song", "song", "song"])

    async def verify() -> str:
        references = await choose_references(session, videos)
        await load_known_sounds(session, videos[:2])  # the representatives alone
        verdict, _ = await verify_music(session, videos, references)
        return verdict.verdict

    assert asyncio.run(verify()) == "confirmed"
    assert fake.captures.asked == []


def refused(folder: Path, *reasons: str) -> tuple[str, ListeningSession]:
    """A video whose sound is refused for these reasons, and the session afterwards."""
    session, videos, fake = session_of({}, ["unknown"])
    fake.captures, fake.decoders = MediaHost(folder), Decoder(*reasons)
    (measured,) = asyncio.run(measure_videos(session, videos))
    assert isinstance(measured, NotComparable)
    assert list(folder.iterdir()) == []
    return measured.reason, fake


def test_why_a_sound_cannot_be_compared_is_stored(tmp_path: Path) -> None:
    reason, session = refused(tmp_path, "undecodable")
    assert reason == "undecodable"
    assert [row["not_comparable_reason"] for row in session.sounds.rows] == ["undecodable"]
    assert len(session.journal.recorded) == 1


@pytest.mark.parametrize("reason", ["decoder_crashed", "decoder_timed_out", "file_unreadable"])
def test_decoder_failure_is_not_stored_for_the_sound(tmp_path: Path, reason: str) -> None:
    reported, session = refused(tmp_path, reason)
    assert reported == reason
    assert (session.sounds.rows, session.journal.recorded) == ([], [])


def test_a_sound_that_an_earlier_release_gave_up_for_such_a_reason_is_measured() -> None:
    crashed = {"crashed": {"not_comparable_reason": "decoder_crashed", "sound_sha256": "0" * 64}}
    session, videos, fake = session_of(crashed, ["crashed"])
    assert asyncio.run(choose_references(session, videos)) == {}
    assert fake.captures.asked == ["0"]


def test_a_file_that_another_scan_has_taken_is_downloaded_once_more(tmp_path: Path) -> None:
    reason, session = refused(tmp_path, "file_missing", SILENT)
    assert (reason, session.captures.asked) == (SILENT, ["0", "0"])
    assert [row["not_comparable_reason"] for row in session.sounds.rows] == [SILENT]
    reason, session = refused(tmp_path, "file_missing", "file_missing")
    assert (reason, session.captures.asked) == ("file_missing", ["0", "0"])
    assert session.sounds.rows == []


def test_references_that_the_host_altered_are_told_from_missing_ones() -> None:
    session, videos, fake = session_of({}, ["unknown"] * 3)
    fake.captures.reason = "altered_by_host"
    assert asyncio.run(choose_references(session, videos)) == {}
    assert session.state.has_altered_references


def test_a_candidate_that_the_host_altered_is_not_comparable_by_that_name(
    recordings: Mapping[str, Row],
) -> None:
    session, videos, fake = session_of(recordings, ["song", "unknown"])
    fake.captures.reason = "altered_by_host"
    references = asyncio.run(choose_references(session, videos[:1]))
    verdict, _ = asyncio.run(verify_music(session, videos[1:], references))
    evidence = verdict.pairs[0].evidence
    assert (evidence.verdict, evidence.reason) == ("not_comparable", "candidate_altered_by_host")
