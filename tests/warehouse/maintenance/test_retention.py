"""What is kept for a limited time goes when it is old and nothing young needs it."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import Lake, open_lake
from warehouse.maintenance.retention import PAYLOADS, SOUNDS, delete_expired

pytestmark = pytest.mark.full

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
BEFORE = NOW - timedelta(days=90)
OLD, YOUNG = BEFORE - timedelta(days=1), BEFORE + timedelta(days=1)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return open_lake(str(tmp_path / "lake"), world="sandbox")


@pytest.fixture
def engine(lake: Lake) -> Iterator[Engine]:
    with closing(Engine(lake)) as engine:
        yield engine


def body(sha256: str, at: datetime) -> dict[str, object]:
    return {
        "sha256": sha256, "body": b"1", "size_bytes": 1, "content_type": None, "committed_at": at,
    }  # fmt: skip


def capture(sha256: str, at: datetime) -> dict[str, Any]:
    unknown = ("reason", "http_status", "item_count", "cursor_in", "cursor_out", "has_more",
               "source_path", "job_id", "notice", "detail_msg")  # fmt: skip
    return dict.fromkeys(unknown) | {
        "capture_id": f"{sha256}-{at:%j}", "surface": "user_posts", "entity_id": "a",
        "sequence": 1, "outcome": "ok", "request_count": 1, "payload_sha256": sha256,
        "parser_version": "1", "data_provider": "test", "observed_at": at, "committed_at": at,
    }  # fmt: skip


def kept(engine: Engine, table: str, column: str) -> list[object]:
    engine.refresh()
    return [row["it"] for row in engine.rows(f"select {column} as it from {table} order by it")]


def test_an_old_body_goes_unless_something_young_names_it(lake: Lake, engine: Engine) -> None:
    lake.append("raw.payloads", [body("gone", OLD), body("named", OLD), body("young", YOUNG)])
    captures = [capture(name, at) for name in ("gone", "named") for at in (OLD,)]
    lake.append("raw.captures", [*captures, capture("named", YOUNG)])
    assert delete_expired(lake, engine, PAYLOADS, BEFORE) == 1
    assert kept(engine, "raw.payloads", "sha256") == ["named", "young"]
    assert len(kept(engine, "raw.captures", "capture_id")) == 3


def test_a_replay_keeps_no_body_longer(lake: Lake, engine: Engine) -> None:
    lake.append("raw.payloads", [body("replayed", OLD)])
    replayed = capture("replayed", OLD)
    again = capture("replayed", YOUNG) | {"reason": f"replay of {replayed['capture_id']}"}
    lake.append("raw.captures", [replayed, again])
    assert delete_expired(lake, engine, PAYLOADS, BEFORE) == 1


def test_retention_without_expired_rows_makes_no_commit(lake: Lake, engine: Engine) -> None:
    lake.append("raw.payloads", [body("named", OLD)])
    lake.append("raw.captures", [capture("named", YOUNG)])
    version = lake.version("raw.payloads")
    assert delete_expired(lake, engine, PAYLOADS, BEFORE) == 0
    assert delete_expired(lake, engine, SOUNDS, BEFORE) == 0
    assert lake.version("raw.payloads") == version


def test_an_old_body_that_nothing_names_goes_too(lake: Lake, engine: Engine) -> None:
    lake.append("raw.payloads", [body("lost", OLD)])
    assert delete_expired(lake, engine, PAYLOADS, BEFORE) == 1
    assert kept(engine, "raw.payloads", "sha256") == []


def test_an_old_sound_goes_unless_a_young_comparison_used_it(lake: Lake, engine: Engine) -> None:
    sounds = [
        {
            "sound_sha256": name, "feature_version": "2", "aweme_id": name, "music_id": None,
            "features": b"1", "duration_s": 1.0, "sample_rate_hz": 44100, "codec": "mp3",
            "not_comparable_reason": None, "library_version": "1", "job_id": None,
            "observed_at": at, "committed_at": at,
        }
        for name, at in (("gone", OLD), ("used", OLD), ("young", YOUNG))
    ]  # fmt: skip
    lake.append("raw.sounds", sounds)
    required = ("comparison_id", "job_id", "track_music_id", "reference_aweme_id",
                "candidate_aweme_id", "reference_music_id", "candidate_music_id", "verdict",
                "reason", "limits", "algorithm", "feature_version", "library_version",
                "reference_source")  # fmt: skip
    unknown = ("segment", "chroma_distance", "mfcc_distance", "overlap_s", "reference_start_s",
               "candidate_start_s", "peak_agreement", "score", "speed", "semitones",
               "observation", "searched", "shared_part", "version_score")  # fmt: skip
    row = dict.fromkeys(required, "a") | dict.fromkeys(unknown)
    hashes = {"reference_sha256": "used", "candidate_sha256": "young", "committed_at": YOUNG}
    lake.append("marts.audio_comparisons", [row | hashes])
    assert delete_expired(lake, engine, SOUNDS, BEFORE) == 1
    assert kept(engine, "raw.sounds", "sound_sha256") == ["used", "young"]


def test_a_reader_that_began_before_ends_as_it_began(lake: Lake, engine: Engine) -> None:
    for number in range(12):
        lake.append("raw.payloads", [body(str(number), OLD)])
    engine.refresh()
    with engine.reading("select sha256 from raw.payloads") as reader:
        assert delete_expired(lake, engine, PAYLOADS, BEFORE) == 12
        lake.compact("raw.payloads")
        lake.vacuum("raw.payloads")
        assert sum(batch.num_rows for batch in reader) == 12
