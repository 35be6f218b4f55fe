"""Each typed read answers its question from what is in the lake."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import (
    comparison_from_row,
    observation_row,
    pack_document,
    video_row,
)
from warehouse.lake.store import Lake, open_lake
from warehouse.queries import charts
from warehouse.queries import results as queries
from warehouse.records.evidence import MatchThresholds, PairEvidence, SearchedRange
from warehouse.records.videos import Account, Author, Music, Statistics, Track, Video

pytestmark = pytest.mark.full

START = datetime(2026, 11, 1, tzinfo=UTC)
COMPLETE = Statistics(digg_count=9, comment_count=8, collect_count=7, share_count=6)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return open_lake(str(tmp_path), world="sandbox")


@pytest.fixture
def engine(lake: Lake) -> Iterator[Engine]:
    engine = Engine(lake)
    yield engine
    engine.close()


def video(hour: int, *, aweme_id: str = "1", statistics: Statistics = COMPLETE) -> Video:
    return Video(
        aweme_id=aweme_id,
        surface="video_detail",
        observed_at=START + timedelta(hours=hour),
        desc=f"seen at {hour}",
        author=Author(sec_uid="a"),
        music=Music(music_id="7"),
        statistics=statistics,
    )


def store(lake: Lake, engine: Engine, *videos: Video, capture_id: str | None = None) -> None:
    rows = [
        video_row(item, capture_id=capture_id, job_id="j", data_provider="mock") for item in videos
    ]
    lake.append("raw.videos", rows)
    engine.refresh()


def test_newest_complete_observation_wins_over_a_newer_incomplete_one(
    lake: Lake, engine: Engine
) -> None:
    complete = [video(1), video(3)]
    incomplete = video(5, statistics=Statistics(digg_count=10))
    store(lake, engine, *complete, incomplete)
    assert queries.read_latest_videos(engine, ["1", "2"]) == {
        "1": replace(complete[1], local_source="mock")
    }


def test_known_likes_win_over_a_newer_observation_without_any(lake: Lake, engine: Engine) -> None:
    liked = [video(hour, statistics=Statistics(digg_count=10 * hour)) for hour in (1, 2)]
    store(lake, engine, *liked, video(5, statistics=Statistics()))
    assert queries.read_latest_videos(engine, ["1"]) == {
        "1": replace(liked[1], local_source="mock")
    }


def test_newest_observation_wins_where_none_is_complete(lake: Lake, engine: Engine) -> None:
    store(lake, engine, video(1, statistics=Statistics()), video(2, statistics=Statistics()))
    assert queries.read_latest_videos(engine, ["1"])["1"].desc == "seen at 2"


def test_videos_of_an_unfinished_capture_are_not_seen(lake: Lake, engine: Engine) -> None:
    store(lake, engine, video(1), capture_id="unfinished")
    assert queries.read_latest_videos(engine, ["1"]) == {}
    assert queries.read_first_observed(engine, ["1"]) == {}


def test_first_observation_is_the_earliest_of_any_kind(lake: Lake, engine: Engine) -> None:
    store(lake, engine, video(4), video(2, statistics=Statistics()), video(9, aweme_id="2"))
    assert queries.read_first_observed(engine, ["1", "2", "3"]) == {
        "1": START + timedelta(hours=2),
        "2": START + timedelta(hours=9),
    }


def test_queries_without_ids_return_nothing(engine: Engine) -> None:
    assert queries.read_latest_videos(engine, []) == {}
    assert queries.read_first_observed(engine, []) == {}
    assert queries.read_latest_accounts(engine, []) == {}
    assert queries.read_sound_features(engine, [], "v1") == {}


def test_a_series_of_a_track_ends_with_its_newest_observations(
    lake: Lake, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "MOST_OBSERVATIONS", 2)
    store(lake, engine, *(video(hour) for hour in (3, 1, 2)))
    row = {
        "music_id": "7", "aweme_id": "1", "job_id": "j", "link_type": "exact_music_id",
        "source_music_id": "7", "source_music_title": None, "sec_uid": None,
        "comparison_id": None, "reference_aweme_id": None, "expansion_round": 0, "algorithm": "a",
    }  # fmt: skip
    lake.append("marts.confirmed_videos", [row])
    engine.refresh()
    found = charts.read_track_series(engine, "7")
    assert [row["observed_at"] - START for row in found] == [timedelta(hours=2), timedelta(hours=3)]


def test_latest_track_and_account_win(lake: Lake, engine: Engine) -> None:
    for hour, name in ((1, "before"), (2, "now")):
        at = START + timedelta(hours=hour)
        track = Track(music_id="7", surface="music_info", observed_at=at, title=name)
        account = Account(sec_uid="a", surface="profile", observed_at=at, nickname=name)
        origin = {"capture_id": None, "job_id": None}
        lake.append("raw.tracks", [observation_row(track, data_provider="mock", **origin)])
        lake.append("raw.accounts", [observation_row(account, data_provider="mock", **origin)])
    engine.refresh()
    found = queries.read_latest_track(engine, "7")
    assert found is not None
    assert found.title == "now"
    assert queries.read_latest_track(engine, "8") is None
    accounts = queries.read_latest_accounts(engine, ["a", "b"])
    assert {sec_uid: account.nickname for sec_uid, account in accounts.items()} == {"a": "now"}


def sound(aweme_id: str, version: str, features: bytes) -> dict[str, object]:
    return {
        "sound_sha256": "00",
        "feature_version": version,
        "aweme_id": aweme_id,
        "music_id": "7",
        "features": features,
        "duration_s": 30.0,
        "sample_rate_hz": 44_100,
        "codec": "aac",
        "not_comparable_reason": None,
        "library_version": "x",
        "job_id": None,
        "observed_at": START,
    }


def test_sounds_are_read_at_one_feature_version(lake: Lake, engine: Engine) -> None:
    lake.append("raw.sounds", [sound("1", "v1", b"old"), sound("2", "v1", b"two")])
    lake.append("raw.sounds", [sound("1", "v1", b"new"), sound("1", "v2", b"other")])
    engine.refresh()
    found = queries.read_sound_features(engine, ["1", "2", "3"], "v1")
    assert {aweme_id: row["features"] for aweme_id, row in found.items()} == {
        "1": b"new",
        "2": b"two",
    }


def test_result_document_comes_back_whole(lake: Lake, engine: Engine) -> None:
    document = {"aweme_list": [{"aweme_id": "1", "desc": "热门 ✓", "hot_score": None}]}
    row = {
        "job_id": "j",
        "music_id": "7",
        "document": pack_document(document),
        "confirmed_count": 1,
        "algorithm": "v3",
    }
    lake.append("marts.job_results", [row])
    engine.refresh()
    assert queries.read_result_document(engine, "j") == document
    assert queries.read_result_document(engine, "k") is None


def candidate(aweme_id: str, outcome: str, priority: float) -> dict[str, object]:
    return {
        "job_id": "j",
        "aweme_id": aweme_id,
        "source_surface": "music_list",
        "source_entity_id": "7",
        "priority": priority,
        "music_id": None,
        "outcome": outcome,
        "reason": None,
    }


def test_candidates_show_what_became_of_them(lake: Lake, engine: Engine) -> None:
    lake.append("marts.candidates", [candidate("1", "pooled", 1), candidate("2", "pooled", 2)])
    lake.append("marts.candidates", [candidate("1", "rejected", 1)])
    engine.refresh()
    rows = queries.read_candidates(engine, "j")
    assert [(row["aweme_id"], row["outcome"]) for row in rows] == [
        ("2", "pooled"),
        ("1", "rejected"),
    ]
    assert queries.read_candidates(engine, "k") == []


def comparison(name: str, candidate_id: str, score: float | None) -> dict[str, object]:
    measured = ("segment", "chroma_distance", "mfcc_distance", "overlap_s", "reference_start_s")
    more = ("candidate_start_s", "peak_agreement", "speed", "semitones", "observation", "searched",
            "shared_part", "version_score")  # fmt: skip
    hashes = ("reference_sha256", "candidate_sha256")
    return {
        **dict.fromkeys((*measured, *more, *hashes)),
        "comparison_id": name,
        "job_id": "j",
        "track_music_id": "7",
        "reference_aweme_id": "1",
        "candidate_aweme_id": candidate_id,
        "reference_source": "platform",
        "reference_music_id": "7",
        "candidate_music_id": "8",
        "verdict": "rejected",
        "reason": "score",
        "score": score,
        "limits": "{}",
        "algorithm": "v3",
        "feature_version": "v1",
        "library_version": "x",
    }


def test_comparisons_are_grouped_by_candidate_and_best_first(lake: Lake, engine: Engine) -> None:
    pairs = [("a", "2", 0.1), ("b", "2", 0.9), ("c", "1", None), ("d", "1", 0.4)]
    lake.append("marts.audio_comparisons", [comparison(*pair) for pair in pairs])
    engine.refresh()
    rows = queries.read_comparisons(engine, "j")
    assert [row["comparison_id"] for row in rows] == ["d", "c", "b", "a"]


def test_captions_are_the_newest_and_unknown_videos_are_left_out(
    lake: Lake, engine: Engine
) -> None:
    store(lake, engine, replace(video(2), desc="new"), replace(video(1), desc="old"))
    found = queries.read_captions(engine, ["1", "2"])
    assert {aweme_id: row["desc"] for aweme_id, row in found.items()} == {"1": "new"}


def test_a_comparison_comes_back_as_it_was_measured(lake: Lake, engine: Engine) -> None:
    searched = SearchedRange(
        speed=(0.5, 2.0), tempo=(0.5, 2.0), semitones=(-9.0, 12.0),
        tempo_with_pitch=(0.66, 1.5), min_overlap_s=5.5,
        reference_s=60.0, candidate_s=9.1,
    )  # fmt: skip
    pair = PairEvidence(
        verdict="rejected", reason="score_below_threshold", score=0.5, speed=1.0, searched=searched
    )
    row = {
        "reference_sha256": None, "candidate_sha256": None, "reference_source": "music_service",
        "comparison_id": "c", "job_id": "j", "track_music_id": "7", "reference_aweme_id": "1",
        "candidate_aweme_id": "2", "reference_music_id": "7", "candidate_music_id": "8",
        **asdict(pair), "searched": json.dumps(asdict(searched)),
        "limits": json.dumps(asdict(MatchThresholds(match_threshold=0.7))),
        "algorithm": "a", "feature_version": "2", "library_version": "numpy 2",
    }  # fmt: skip
    lake.append("marts.audio_comparisons", [row])
    engine.refresh()
    found = queries.read_comparison(engine, "c")
    assert found is not None
    assert comparison_from_row(found).pair == pair
    assert comparison_from_row(found).reference_source == "music_service"
    assert comparison_from_row(found).limits.match_threshold == 0.7
    assert queries.read_comparison(engine, "d") is None
