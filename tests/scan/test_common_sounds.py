"""A scan learns a sound that unrelated tracks share, and stores it for all later scans."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import MeasuredSound, pack_features
from pipelines.audio.matching.verify import compare_pair
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.common_sounds import TABLE, CommonSoundUnknownError, dismiss
from pipelines.scan.marts import comparison_row
from pipelines.scan.scan_run import ScanRun
from pipelines.scan.state.scan_state import ScanState, SoundWorkspace
from pipelines.scan.verify_audio import load_known_sounds, verify_music
from tests.audio.clips import Band, ClipMeasurer
from tests.data.audio.synthesis import RATE, Samples
from tests.shared_files import SharedFolder
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import Lake
from warehouse.queries.results import read_common_sounds
from warehouse.records.evidence import ALGORITHM, Comparison, MatchThresholds
from warehouse.records.values import Row
from warehouse.records.videos import Music, Video

NOW = datetime(2026, 1, 5, tzinfo=UTC)
TRACKS = (1, 2, 3, 4)
"""Seeds of four songs, each the reference of a track of its own; the fourth is scanned last."""
LIMITS = MatchThresholds()
type Stores = tuple[ControlStore, Lake, Engine]


class LastScan:
    """The part of a scan that the verification of one music id needs."""

    parameters = ScanParameters()
    job = SimpleNamespace(job_id="job-4")
    excerpts = SimpleNamespace(max_bytes=0)
    journal = SimpleNamespace(has=lambda _key: False)
    music_id = "track-4"

    def __init__(self, lake: Lake, engine: Engine) -> None:
        self.lake = lake
        self.engine = engine
        self.state = ScanState()
        self.sounds = SoundWorkspace()
        self.runtime = self.stopwatch = self

    def clock(self) -> datetime:
        return NOW

    def waiting(self, what: str) -> AbstractContextManager[None]:
        assert what == "audio"
        return nullcontext()

    def check_cancelled(self) -> None:
        """Nobody cancels."""

    def update_progress(self, *, audio_checked: int = 0) -> None:
        """Nobody watches."""

    def append_later(self, name: str, rows: list[dict[str, object]]) -> None:
        self.lake.append(name, rows)


@pytest.fixture(scope="session")
def videos(shared_folder: SharedFolder) -> dict[str, MeasuredSound]:
    """Songs with one jingle inside: `reference-N` of each track, and `video-N` of another song."""
    band, measure_clip = Band(shared_folder), ClipMeasurer(shared_folder)
    jingle = _part(band.track(9), 1, 3)

    def with_jingle(seed: int, at_s: float) -> MeasuredSound:
        song = band.track(seed)
        return measure_clip(
            np.concatenate([song[: _samples(at_s)], jingle, song[_samples(at_s) :]])
        )

    sounds = {f"reference-{seed}": with_jingle(seed, 6) for seed in TRACKS}
    sounds |= {f"video-{seed}": with_jingle(seed + 4, 6) for seed in TRACKS}
    song = band.track(4)
    sounds["excerpt"] = measure_clip(
        np.concatenate(
            [band.track(6)[: _samples(5)], _part(song, 1, 4), _part(band.track(7), 0, 4)]
        )
    )
    sounds["other"] = measure_clip(band.track(8))
    return {name: replace(sound, sha256=name) for name, sound in sounds.items()}


def _samples(seconds: float) -> int:
    return round(seconds * RATE)


def _part(song: Samples, start_s: float, seconds: float) -> Samples:
    return song[_samples(start_s) : _samples(start_s + seconds)]


def stored(name: str, sound: MeasuredSound) -> Row:
    return {
        "sound_sha256": name, "feature_version": FEATURE_VERSION, "aweme_id": name,
        "music_id": f"music-of-{name}", "features": pack_features(sound.features),
        "duration_s": sound.duration_s, "sample_rate_hz": sound.sample_rate_hz,
        "codec": sound.codec, "not_comparable_reason": None, "library_version": "test",
        "job_id": None, "observed_at": NOW - timedelta(days=5),
    }  # fmt: skip


def accepted(seed: int, videos: dict[str, MeasuredSound]) -> Row:
    """The pair that an earlier scan of a track has accepted by its excerpt."""
    reference, candidate = f"reference-{seed}", f"video-{seed}"
    pair = compare_pair(videos[reference], videos[candidate], limits=LIMITS)
    assert (pair.verdict, pair.reason) == ("variant", "excerpt_variant")
    comparison = Comparison(
        comparison_id=f"pair-{seed}", reference_aweme_id=reference, candidate_aweme_id=candidate,
        reference_music_id=f"track-{seed}", candidate_music_id=f"music-of-{candidate}", pair=pair,
        limits=LIMITS, algorithm=ALGORITHM, feature_version=FEATURE_VERSION, library_version="test",
    )  # fmt: skip
    row = comparison_row(comparison, track_music_id=f"track-{seed}", hashes=(reference, candidate))
    return {**row, "job_id": f"job-{seed}", "committed_at": NOW - timedelta(days=5 - seed)}


def fill(
    opened: Stores, videos: dict[str, MeasuredSound], *, scanned: tuple[int, ...] = TRACKS[:-1]
) -> None:
    """Store all sounds, and the excerpts of these tracks that were accepted.

    The scans of the tracks have accepted them, the last one the look-up of a catalogue.
    """
    _, lake, engine = opened
    lake.append("raw.sounds", [stored(name, sound) for name, sound in videos.items()])
    *pairs, matched = [accepted(seed, videos) for seed in scanned]
    lake.append("marts.audio_comparisons", pairs)
    lake.append("marts.catalog_matches", [{**matched, "vote_count": 50}])
    engine.refresh()


def scan(opened: Stores, videos: dict[str, MeasuredSound], name: str = "video-4") -> Any:
    """Judge a video by the reference of the last track, in a scan of its own."""
    _, lake, engine = opened
    run = cast("ScanRun", LastScan(lake, engine))
    video = Video(
        aweme_id=name, surface="video_detail", observed_at=NOW, music=Music(music_id=f"of-{name}")
    )

    async def verify() -> Any:
        await load_known_sounds(run, [video])
        _, [comparison] = await verify_music(run, [video], {"reference-4": videos["reference-4"]})
        return comparison.pair

    pair = asyncio.run(verify())
    engine.refresh()
    return pair


def test_the_scan_of_a_fourth_track_learns_the_sound_and_rejects_its_own_pair(
    opened_stores: Stores, videos: dict[str, MeasuredSound]
) -> None:
    fill(opened_stores, videos)
    pair = scan(opened_stores, videos)
    assert (pair.verdict, pair.reason) == ("rejected", "common_sound")
    assert pair.shared_part == "common_sound"

    [row] = read_common_sounds(opened_stores[2])
    assert (row["status"], row["learnt_at"]) == ("learnt", NOW)
    assert (row["aweme_id"], row["sound_sha256"]) == ("reference-4", "reference-4")
    assert row["start_s"] == pytest.approx(6, abs=0.3)
    assert row["duration_s"] == pytest.approx(3, abs=0.4)
    assert sorted(row["track_music_ids"]) == [f"track-{seed}" for seed in TRACKS]
    assert sorted(row["comparison_ids"]) == ["pair-1", "pair-2", "pair-3"]
    assert row["first_seen_at"] == NOW - timedelta(days=4)


def test_a_later_scan_knows_the_sound_and_does_not_learn_it_again(
    opened_stores: Stores, videos: dict[str, MeasuredSound]
) -> None:
    fill(opened_stores, videos)
    scan(opened_stores, videos)
    assert scan(opened_stores, videos, "video-2").reason == "common_sound"
    assert len(read_common_sounds(opened_stores[2])) == 1


def test_an_excerpt_of_the_song_still_counts(
    opened_stores: Stores, videos: dict[str, MeasuredSound]
) -> None:
    fill(opened_stores, videos)
    scan(opened_stores, videos)
    pair = scan(opened_stores, videos, "excerpt")
    assert (pair.verdict, pair.reason) == ("variant", "excerpt_variant")


def test_three_tracks_teach_nothing(
    opened_stores: Stores, videos: dict[str, MeasuredSound]
) -> None:
    fill(opened_stores, videos, scanned=TRACKS[:2])
    assert scan(opened_stores, videos).verdict == "variant"
    assert read_common_sounds(opened_stores[2]) == []


def test_a_dismissed_sound_counts_as_an_excerpt_and_is_not_learnt_again(
    opened_stores: Stores, videos: dict[str, MeasuredSound]
) -> None:
    _, lake, engine = opened_stores
    fill(opened_stores, videos)
    scan(opened_stores, videos)
    [row] = read_common_sounds(engine)
    dismiss(lake, engine, row["common_sound_id"])
    engine.refresh()
    assert scan(opened_stores, videos).verdict == "variant"
    [now] = read_common_sounds(engine)
    assert (now["common_sound_id"], now["status"]) == (row["common_sound_id"], "dismissed")
    assert lake.row_count(TABLE) == 2


def test_an_unknown_sound_cannot_be_dismissed(opened_stores: Stores) -> None:
    _, lake, engine = opened_stores
    with pytest.raises(CommonSoundUnknownError, match="0a"):
        dismiss(lake, engine, "0a")


def test_nothing_is_read_unless_a_pair_was_accepted_by_an_excerpt(
    opened_stores: Stores, videos: dict[str, MeasuredSound], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(opened_stores, videos)

    def fail(_engine: Engine) -> None:
        raise AssertionError("the list was read")

    monkeypatch.setattr("pipelines.scan.common_sounds.load_common_sounds", fail)
    assert scan(opened_stores, videos, "other").verdict == "rejected"
