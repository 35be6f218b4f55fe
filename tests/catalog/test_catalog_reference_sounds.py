"""The reference sounds of a catalogue's tracks, read from the lake and kept as an index."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import pack_features
from pipelines.catalog.sound_matches import CatalogReferenceSounds
from tests.data.audio.synthesis import RATE, track
from tests.warehouse.analysis.test_genealogy import filled, store
from warehouse.engine.duckdb_engine import Engine
from warehouse.records.catalogs import CatalogTrack, ImportedTrack

pytestmark = pytest.mark.full

BEFORE, AFTER = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 8, tzinfo=UTC)
TRACKS = [
    CatalogTrack(
        given=ImportedTrack(key=f"music:{music_id}", input=music_id, label=label),
        position=place, music_id=music_id,
    )
    for place, (music_id, label) in enumerate([("11", "Paper Boats"), ("22", None), ("33", None)])
]  # fmt: skip


def compared(music_id: str, sha256: str, job_id: str, at: datetime) -> tuple[str, dict[str, Any]]:
    return "marts.audio_comparisons", filled(
        "marts.audio_comparisons", comparison_id=f"{job_id}-{sha256}", job_id=job_id,
        track_music_id=music_id, reference_aweme_id="1", candidate_aweme_id="2",
        reference_music_id=music_id, candidate_music_id="9", reference_sha256=sha256,
        verdict="rejected", reason="r", limits="{}", algorithm="a", feature_version="f",
        library_version="l", committed_at=at,
    )  # fmt: skip


def sound(sha256: str, seed: int) -> tuple[str, dict[str, Any]]:
    return "raw.sounds", filled(
        "raw.sounds", sound_sha256=sha256, feature_version=FEATURE_VERSION, aweme_id="1",
        features=pack_features(measure_features(track(seed, seconds=9.0), RATE)), duration_s=9.0,
        sample_rate_hz=RATE, codec="aac", library_version="l", job_id="j", observed_at=AFTER,
    )  # fmt: skip


def test_references_are_those_of_the_newest_scan_of_each_track(
    small_store: Any, tmp_path: Path
) -> None:
    store(
        small_store,
        [
            compared("11", "old", "first", BEFORE),
            compared("11", "boats", "second", AFTER),
            compared("22", "shared", "third", AFTER),
            compared("22", "gone", "third", AFTER),
            compared("99", "foreign", "fourth", AFTER),
            sound("boats", 1),
            sound("shared", 2),
            sound("foreign", 3),
        ],
    )
    reported: list[tuple[int, int]] = []
    with closing(Engine(small_store.lake)) as engine:
        references = CatalogReferenceSounds(engine, TRACKS, tmp_path / "index")
        references.add_missing(lambda done, total: reported.append((done, total)))
        assert reported == [(1, 3), (2, 3), (3, 3)]
        assert references.count == 2
        assert [reason for _, reason in references.unusable] == ["not_stored"]
        boats = references.read_sound(0)
        assert boats is not None
        assert (references.name(0), boats.duration_s) == ("Paper Boats", 9.0)
        assert references.name(1) == "22"
        hits = references.index.search(boats.features.peaks, most=1)
        assert [hit.reference for hit in hits] == [0]


def test_a_track_that_left_the_catalogue_is_no_reference_any_more(
    small_store: Any, tmp_path: Path
) -> None:
    store(
        small_store,
        [compared("11", "boats", "a", AFTER), compared("22", "b", "b", AFTER),
         sound("boats", 1), sound("b", 2)],
    )  # fmt: skip
    with closing(Engine(small_store.lake)) as engine:
        both = CatalogReferenceSounds(engine, TRACKS, tmp_path)
        both.add_missing(lambda done, total: None)
        one = CatalogReferenceSounds(engine, TRACKS[1:], tmp_path)
        assert (both.count, one.count) == (2, 1)
        assert one.read_sound(0) is not None
        assert one.read_sound(1) is None
