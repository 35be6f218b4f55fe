"""A read as of a moment shows what was committed until then, whatever came or was tidied since."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.reading import parse_as_of
from warehouse.lake.store import Lake, open_lake
from warehouse.queries.results import read_latest_track
from warehouse.records.errors import InvalidParameterError
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

OPTIONAL = [column.name for column in BY_NAME["raw.tracks"].columns if not column.required]
START = datetime(2026, 11, 1, 12, tzinfo=UTC)
NOW = datetime(2026, 11, 21, 12, 0, 30, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = open_lake(str(tmp_path / "lake"), world="sandbox")
    for hour in range(4):
        lake.append("raw.tracks", [track(hour)])
        lake.append("raw.captures", [capture(hour)])
    return lake


def track(hour: int) -> dict[str, object]:
    return {
        **dict.fromkeys(OPTIONAL),
        "music_id": "1", "surface": "music_info", "observed_at": START + timedelta(hours=hour),
        "capture_id": f"c-{hour}", "title": f"title {hour}", "data_provider": "mock",
        "committed_at": START + timedelta(hours=hour, minutes=1),
    }  # fmt: skip


def capture(hour: int) -> dict[str, object]:
    return {
        "capture_id": f"c-{hour}", "surface": "music_info", "entity_id": "1", "sequence": hour + 1,
        "outcome": "ok", "reason": None, "notice": None, "detail_msg": None,
        "http_status": 200, "request_count": 1,
        "item_count": None, "cursor_in": None, "cursor_out": None, "has_more": None,
        "payload_sha256": None, "source_path": "/", "parser_version": "1",
        "data_provider": "mock", "job_id": None, "observed_at": START + timedelta(hours=hour),
        "committed_at": START + timedelta(hours=hour, minutes=2),
    }  # fmt: skip


def titles(lake: Lake, as_of: datetime, *, view: str = "raw") -> list[object]:
    engine = Engine(lake, as_of=as_of)
    try:
        found = engine.rows(f"select title from {view}.tracks order by observed_at")
    finally:
        engine.close()
    return [row["title"] for row in found]


def test_rows_of_later_commits_do_not_exist(lake: Lake) -> None:
    assert titles(lake, START) == []
    assert titles(lake, START + timedelta(hours=1, minutes=1)) == ["title 0", "title 1"]


def test_an_observation_counts_once_its_captures_row_existed(lake: Lake) -> None:
    between = START + timedelta(hours=1, minutes=1, seconds=30)
    assert titles(lake, between, view="seen") == ["title 0"]
    assert titles(lake, between + timedelta(minutes=1), view="seen") == ["title 0", "title 1"]


def test_typed_reads_answer_as_of_then(lake: Lake) -> None:
    engine = Engine(lake, as_of=START + timedelta(hours=2))
    found = read_latest_track(engine, "1")
    engine.close()
    assert found is not None
    assert found.title == "title 1"


def test_the_answer_is_the_same_after_later_rows_and_a_compaction(lake: Lake) -> None:
    moment = START + timedelta(hours=2, minutes=30)
    before = titles(lake, moment)
    lake.append("raw.tracks", [track(9)])
    lake.compact("raw.tracks")
    lake.vacuum("raw.tracks")
    assert titles(lake, moment) == before == ["title 0", "title 1", "title 2"]


def test_new_commits_stay_out_of_an_open_reading(lake: Lake) -> None:
    engine = Engine(lake, as_of=START + timedelta(hours=1))
    lake.append("raw.tracks", [{**track(5), "committed_at": START}, track(6)])
    engine.refresh()
    found = engine.rows("select count(*) as n from raw.tracks")
    engine.close()
    assert found == [{"n": 2}]


def test_a_table_without_rows_is_still_there(lake: Lake) -> None:
    engine = Engine(lake, as_of=START)
    found = engine.rows("select * from marts.rankings")
    engine.close()
    assert found == []


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-01", datetime(2026, 11, 1, 23, 59, 59, 999999, tzinfo=UTC)),
        (" 2026-11-01T18:00:00Z ", datetime(2026, 11, 1, 18, tzinfo=UTC)),
        ("2026-11-01 18:00", datetime(2026, 11, 1, 18, tzinfo=UTC)),
        ("2026-11-01T18:00:00+08:00", datetime(2026, 11, 1, 10, tzinfo=UTC)),
        ("2026-11-21T11:59:30Z", NOW - timedelta(minutes=1)),
    ],
)
def test_a_date_means_its_end_and_a_time_itself(text: str, moment: datetime) -> None:
    assert parse_as_of(text, now=NOW) == moment


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-01", "2026-11-21", "2026-11-21T12:00:00Z", "9999-12-31"]
)
def test_invalid_or_future_as_of_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameterError):
        parse_as_of(text, now=NOW)
