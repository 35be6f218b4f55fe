"""Large tables are written in order, and what lacks its capture is known or gone."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.domain.records import Statistics, Video
from warehouse.arranging import arrange_lake
from warehouse.engine import Engine
from warehouse.lake import Lake, open_lake
from warehouse.queries_works import read_listed
from warehouse.rows import video_row

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=1)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setattr("warehouse.arranging.FEW_ROWS", 1)
    return open_lake(str(tmp_path / "lake"), world="sandbox")


@pytest.fixture
def engine(lake: Lake) -> Iterator[Engine]:
    with closing(Engine(lake)) as engine:
        yield engine


def observe(
    lake: Lake, aweme_id: str, capture_id: str, *, at: datetime = OLD, is_written: bool = True
) -> None:
    """One observation; its capture is written, or its writer died before."""
    counts = Statistics(digg_count=1, comment_count=1, collect_count=1, share_count=1)
    video = Video(aweme_id=aweme_id, surface="video_page", observed_at=at, statistics=counts)
    row = video_row(video, capture_id=capture_id, job_id=None, data_provider="test")
    lake.append("raw.videos", [{**row, "committed_at": at}])
    capture: dict[str, Any] = dict.fromkeys(
        ("reason", "http_status", "item_count", "cursor_in", "cursor_out", "has_more",
         "payload_sha256", "source_path", "job_id")
    ) | {
        "capture_id": capture_id, "surface": "video_page", "entity_id": aweme_id, "sequence": 1,
        "outcome": "ok", "request_count": 1, "parser_version": "1", "data_provider": "test",
        "observed_at": at, "committed_at": at,
    }  # fmt: skip
    if is_written:
        lake.append("raw.captures", [capture])


def seen(engine: Engine) -> list[Any]:
    engine.refresh()
    found = engine.rows("select aweme_id from seen.videos order by aweme_id")
    return [row["aweme_id"] for row in found]


def test_what_is_seen_stays_and_lies_side_by_side(lake: Lake, engine: Engine) -> None:
    for number in (3, 1, 2):
        observe(lake, f"1000{number}", f"c{number}")
    before = seen(engine)
    assert arrange_lake(lake, now=NOW) == ["raw.captures", "raw.videos"]
    assert seen(engine) == before == ["10001", "10002", "10003"]
    assert len(lake.files("raw.videos")) == 1
    engine.refresh()
    stored = engine.rows("select aweme_id from raw.videos")
    assert [row["aweme_id"] for row in stored] == before


def test_a_table_is_arranged_again_only_when_it_has_grown(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        observe(lake, f"1000{number}", f"c{number}")
    arrange_lake(lake, now=NOW)
    assert arrange_lake(lake, now=NOW) == []
    monkeypatch.setattr("warehouse.arranging.GROWTH", 0.1)
    observe(lake, "20001", "late")
    assert arrange_lake(lake, now=NOW) == ["raw.captures", "raw.videos"]


def test_what_a_writer_died_over_goes_when_it_is_old(lake: Lake, engine: Engine) -> None:
    observe(lake, "10001", "c1")
    observe(lake, "10002", "c2", is_written=False)
    observe(lake, "10003", "c3", at=NOW - timedelta(minutes=5), is_written=False)
    arrange_lake(lake, now=NOW)
    assert seen(engine) == ["10001"]
    left = engine.rows("select aweme_id from raw.videos order by aweme_id")
    assert [row["aweme_id"] for row in left] == ["10001", "10003"]


def test_what_has_settled_is_known_to_be_whole_although_nothing_is_arranged(
    lake: Lake, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe(lake, "10001", "c1")
    arrange_lake(lake, now=NOW)
    monkeypatch.setattr("warehouse.arranging.FEW_ROWS", 1000)
    observe(lake, "10002", "c2", at=NOW)
    observe(lake, "10003", "c3", at=NOW, is_written=False)
    tomorrow = NOW + timedelta(days=1)
    assert arrange_lake(lake, now=tomorrow) == []
    engine.refresh()
    assert engine.whole_before("raw.videos") == tomorrow - timedelta(hours=1)
    left = engine.rows("select aweme_id from raw.videos order by aweme_id")
    assert [row["aweme_id"] for row in left] == ["10001", "10002"]


def test_young_rows_still_need_their_capture(lake: Lake, engine: Engine) -> None:
    observe(lake, "10001", "c1")
    arrange_lake(lake, now=NOW)
    observe(lake, "10001", "c2", at=NOW, is_written=False)
    observe(lake, "10002", "c3", at=NOW, is_written=False)
    observe(lake, "10003", "c4", at=NOW)
    assert seen(engine) == ["10001", "10003"]
    listed = read_listed(engine, ["10001", "10002", "10003"])
    assert {name: one.video.observed_at for name, one in listed.items()} == {
        "10001": OLD, "10003": NOW,
    }  # fmt: skip


def test_a_moment_of_the_past_is_read_by_captures_alone(lake: Lake, engine: Engine) -> None:
    observe(lake, "10001", "c1")
    arrange_lake(lake, now=NOW)
    with closing(Engine(lake, as_of=NOW)) as past:
        assert past.whole_before("raw.videos") is None
        assert seen(past) == ["10001"]
    engine.refresh()
    assert engine.whole_before("raw.videos") == NOW - timedelta(hours=1)


def test_an_empty_lake_is_left_alone(lake: Lake) -> None:
    assert arrange_lake(lake, now=NOW) == []
