"""Sounds that one track's scan fetched, looked up in the references of the other tracks."""

from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import judging_version, pack_features
from pipelines.audio.index.identify import MOST_TRIED
from pipelines.catalog.sound_matches import CatalogReferenceSounds, MatchCounts, SoundMatches, held
from tests.catalog.test_catalog_reference_sounds import AFTER, BEFORE, TRACKS
from tests.data.audio.synthesis import RATE, track
from tests.warehouse.analysis.test_genealogy import filled, store
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.catalogs import read_catalog_matches, read_known_matches
from warehouse.records.catalogs import CatalogTrack
from warehouse.records.evidence import MatchThresholds

pytestmark = pytest.mark.full

SECONDS = 20.0
BOATS, OTHER = "11", "22"


def compared(
    music_id: str, candidate: str, *, reference: str, at: Any = AFTER, scan: str = "job"
) -> Any:
    """A pair that the scan of a track has compared. The hash of a sound is its video's id."""
    return "marts.audio_comparisons", filled(
        "marts.audio_comparisons", comparison_id=f"{music_id}-{candidate}",
        job_id=f"{scan}-{music_id}", track_music_id=music_id,
        reference_aweme_id=reference, candidate_aweme_id=candidate,
        reference_music_id=music_id, candidate_music_id=f"9{candidate}",
        reference_sha256=reference, candidate_sha256=candidate,
        verdict="rejected", reason="r", limits="{}", algorithm="a", feature_version="f",
        library_version="l", committed_at=at,
    )  # fmt: skip


@cache
def features(seed: int) -> bytes:
    return pack_features(measure_features(track(seed, seconds=SECONDS), RATE))


def sound(sha256: str, seed: int) -> Any:
    return "raw.sounds", filled(
        "raw.sounds", sound_sha256=sha256, feature_version=FEATURE_VERSION, aweme_id=sha256,
        features=features(seed),
        duration_s=SECONDS, sample_rate_hz=RATE, codec="aac", library_version="l", job_id="j",
        observed_at=AFTER,
    )  # fmt: skip


def two_tracks(small_store: Any) -> None:
    """A track whose scan fetched a copy of another track's reference."""
    store(
        small_store,
        [compared(BOATS, "copy", reference="boats"), compared(OTHER, "n", reference="other"),
         sound("boats", 1), sound("other", 2), sound("copy", 2)],
    )  # fmt: skip


def look_up(
    engine: Engine, folder: Path | None, tracks: list[CatalogTrack] | None = None
) -> MatchCounts:
    references = CatalogReferenceSounds(engine, TRACKS if tracks is None else tracks, folder)
    matches = SoundMatches(references, folder, limits=MatchThresholds())
    return matches.find(lambda *_: None)


def test_a_sound_that_one_scan_fetched_is_found_to_carry_another_track(
    small_store: Any, tmp_path: Path
) -> None:
    store(
        small_store,
        [
            compared(BOATS, "copy", reference="boats"),
            compared(OTHER, "noise", reference="other"),
            sound("boats", 1), sound("other", 2), sound("copy", 2), sound("noise", 3),
        ],
    )  # fmt: skip
    with closing(Engine(small_store.lake)) as engine:
        counts = look_up(engine, tmp_path)
        assert (counts.sounds, counts.matches) == (4, 1)
        engine.refresh()
        (known,) = read_known_matches(engine, OTHER)
        assert (known["candidate_aweme_id"], known["candidate_music_id"]) == ("copy", "9copy")
        assert (known["verdict"], known["job_id"]) == ("confirmed", "job-11")
        assert (known["reference_sha256"], known["candidate_sha256"]) == ("other", "copy")
        assert known["vote_count"] > 0
        assert "semitones" in known["searched"], "the evidence says what was searched"
        assert read_known_matches(engine, BOATS) == []


def test_a_sound_is_looked_up_again_only_when_the_index_has_grown(
    small_store: Any, tmp_path: Path
) -> None:
    store(
        small_store,
        [compared(BOATS, "copy", reference="boats", at=BEFORE), sound("boats", 1),
         sound("copy", 2)],
    )  # fmt: skip
    with closing(Engine(small_store.lake)) as engine:
        assert look_up(engine, tmp_path).sounds == 2
        assert look_up(engine, tmp_path) == MatchCounts()
        store(small_store, [compared(OTHER, "noise", reference="other"), sound("other", 2)])
        engine.refresh()
        grown = look_up(engine, tmp_path)
        assert (grown.sounds, grown.matches) == (4, 1)


def test_a_sound_carries_each_track_that_shares_the_reference(
    small_store: Any, tmp_path: Path
) -> None:
    two_tracks(small_store)
    with closing(Engine(small_store.lake)) as engine:
        assert look_up(engine, tmp_path).matches == 1
        store(small_store, [compared("33", "m", reference="other")])
        engine.refresh()
        assert look_up(engine, tmp_path).matches == 1, "another track has the reference now"
        engine.refresh()
        for music_id in (OTHER, "33"):
            (known,) = read_known_matches(engine, music_id)
            assert known["candidate_aweme_id"] == "copy"
        assert look_up(engine, tmp_path) == MatchCounts()


def test_a_track_that_comes_back_meets_the_sounds_of_meanwhile(
    small_store: Any, tmp_path: Path
) -> None:
    two_tracks(small_store)
    with closing(Engine(small_store.lake)) as engine:
        assert look_up(engine, tmp_path).matches == 1
        without = [one for one in TRACKS if one.music_id != OTHER]
        store(small_store, [compared(BOATS, "late", reference="boats"), sound("late", 2)])
        engine.refresh()
        assert look_up(engine, tmp_path, without).matches == 0
        assert look_up(engine, tmp_path).matches == 1
        engine.refresh()
        known = read_known_matches(engine, OTHER)
        assert {one["candidate_aweme_id"] for one in known} == {"copy", "late"}


def test_references_of_earlier_scans_do_not_hide_the_present_one(
    small_store: Any, tmp_path: Path
) -> None:
    earlier = [f"a{number:02}" for number in range(MOST_TRIED + 1)]
    store(
        small_store,
        [
            *(compared(OTHER, "n", reference=one, at=BEFORE, scan="first") for one in earlier),
            *(sound(one, 2) for one in earlier),
        ],
    )
    with closing(Engine(small_store.lake)) as engine:
        assert look_up(engine, tmp_path).matches == 0, "a scan has met its own references"
        two_tracks(small_store)
        engine.refresh()
        look_up(engine, tmp_path)
        engine.refresh()
        (known,) = read_known_matches(engine, OTHER)
        assert (known["candidate_aweme_id"], known["reference_sha256"]) == ("copy", "other")


def test_without_its_folder_a_look_up_compares_no_pair_twice(
    small_store: Any, tmp_path: Path
) -> None:
    two_tracks(small_store)
    with closing(Engine(small_store.lake)) as engine:
        assert look_up(engine, None).matches == 1
        engine.refresh()
        again = look_up(engine, None)
        assert (again.sounds, again.compared) == (4, 0)


def test_a_pair_is_judged_again_by_a_later_matcher_and_its_newest_verdict_counts(
    small_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_tracks(small_store)
    with closing(Engine(small_store.lake)) as engine:
        monkeypatch.setattr("pipelines.catalog.sound_matches.judging_version", lambda: "judging 0")
        assert look_up(engine, None).matches == 1
        engine.refresh()
        monkeypatch.undo()
        assert look_up(engine, None).compared == 1
        engine.refresh()
        (known,) = read_known_matches(engine, OTHER)
        assert known["library_version"] == judging_version()


def test_the_report_names_the_track_whose_scan_found_a_music_id(small_store: Any) -> None:
    two_tracks(small_store)
    with closing(Engine(small_store.lake)) as engine:
        look_up(engine, None)
        engine.refresh()
        (row,) = read_catalog_matches(engine, ["music:22"], ["Label"], [OTHER]).to_pylist()
        assert (row["music_id"], row["fetched_for_music_id"]) == ("9copy", BOATS)
        assert (row["label"], row["is_confirmed"]) == ("Label", False)


def test_sound_look_up_holds_a_lock_against_other_processes(tmp_path: Path) -> None:
    with held(tmp_path) as first, held(tmp_path) as second:
        assert (first, second) == (True, False)
    with held(tmp_path) as again:
        assert again


def test_a_common_sound_is_no_excerpt(small_store: Any) -> None:
    jingle = track(9, seconds=SECONDS)[RATE : 4 * RATE]

    def with_jingle(sha256: str, seed: int) -> Any:
        song = track(seed, seconds=SECONDS)
        samples = np.concatenate([song[: 6 * RATE], jingle, song[6 * RATE :]])
        name, row = sound(sha256, seed)
        return name, {**row, "features": pack_features(measure_features(samples, RATE))}

    store(
        small_store,
        [compared(BOATS, "video", reference="boats"), compared(OTHER, "n", reference="other"),
         with_jingle("boats", 1), with_jingle("other", 2), with_jingle("video", 5)],
    )  # fmt: skip

    def reasons(engine: Engine) -> set[str]:
        look_up(engine, None)
        engine.refresh()
        rows = engine.rows("select reason from marts.catalog_matches")
        return {str(row["reason"]) for row in rows}

    with closing(Engine(small_store.lake)) as engine:
        assert "excerpt_variant" in reasons(engine)
        common = filled(
            "marts.common_sounds", common_sound_id="c", status="learnt", learnt_at=AFTER,
            aweme_id="boats", sound_sha256="boats", start_s=6.0, duration_s=3.0,
            track_music_ids=[], comparison_ids=[], first_seen_at=AFTER,
            features=pack_features(measure_features(jingle, RATE)), feature_version=FEATURE_VERSION,
        )  # fmt: skip
        store(small_store, [("marts.common_sounds", common)])
        small_store.lake.delete("marts.catalog_matches", "track_music_id", [BOATS, OTHER])
        engine.refresh()
        again = reasons(engine)
        assert "common_sound" in again
        assert "excerpt_variant" not in again
