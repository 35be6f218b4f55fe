"""Large tables are written in order, and what lacks its capture is known or gone."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from deltalake.table import TableOptimizer
from pyarrow import parquet

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import video_row
from warehouse.lake.store import Lake, open_lake
from warehouse.maintenance.compaction import (
    LakeMaintenance,
    has_grown,
    maintain_lake,
    sort_lake,
)
from warehouse.queries.videos import read_listed_videos
from warehouse.records.videos import Statistics, Video

pytestmark = pytest.mark.full

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=1)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setattr("warehouse.maintenance.compaction.MIN_NEW_ROWS", 1)
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
         "payload_sha256", "source_path", "job_id", "notice", "detail_msg")
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


def test_sorting_keeps_the_visible_rows_and_orders_them(lake: Lake, engine: Engine) -> None:
    for number in (3, 1, 2):
        observe(lake, f"1000{number}", f"c{number}")
    before = seen(engine)
    assert sort_lake(lake, now=NOW) == ["raw.captures", "raw.videos"]
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
    sort_lake(lake, now=NOW)
    assert sort_lake(lake, now=NOW) == []
    monkeypatch.setattr("warehouse.maintenance.compaction.GROWTH", 0.1)
    observe(lake, "20001", "late")
    assert sort_lake(lake, now=NOW) == ["raw.captures", "raw.videos"]


def test_sorting_deletes_old_rows_without_their_capture(lake: Lake, engine: Engine) -> None:
    observe(lake, "10001", "c1")
    observe(lake, "10002", "c2", is_written=False)
    observe(lake, "10003", "c3", at=NOW - timedelta(minutes=5), is_written=False)
    sort_lake(lake, now=NOW)
    assert seen(engine) == ["10001"]
    left = engine.rows("select aweme_id from raw.videos order by aweme_id")
    assert [row["aweme_id"] for row in left] == ["10001", "10003"]


def test_complete_before_advances_even_if_no_table_is_sorted(
    lake: Lake, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe(lake, "10001", "c1")
    sort_lake(lake, now=NOW)
    monkeypatch.setattr("warehouse.maintenance.compaction.MIN_NEW_ROWS", 1000)
    observe(lake, "10002", "c2", at=NOW)
    observe(lake, "10003", "c3", at=NOW, is_written=False)
    tomorrow = NOW + timedelta(days=1)
    assert sort_lake(lake, now=tomorrow) == []
    engine.refresh()
    assert engine.complete_before("raw.videos") == tomorrow - timedelta(hours=1)
    left = engine.rows("select aweme_id from raw.videos order by aweme_id")
    assert [row["aweme_id"] for row in left] == ["10001", "10002"]


def test_young_rows_still_need_their_capture(lake: Lake, engine: Engine) -> None:
    observe(lake, "10001", "c1")
    sort_lake(lake, now=NOW)
    observe(lake, "10001", "c2", at=NOW, is_written=False)
    observe(lake, "10002", "c3", at=NOW, is_written=False)
    observe(lake, "10003", "c4", at=NOW)
    assert seen(engine) == ["10001", "10003"]
    listed = read_listed_videos(engine, ["10001", "10002", "10003"])
    assert {name: one.observed_at for name, one in listed.items()} == {
        "10001": OLD, "10003": NOW,
    }  # fmt: skip


def test_a_moment_of_the_past_is_read_by_captures_alone(lake: Lake, engine: Engine) -> None:
    observe(lake, "10001", "c1")
    sort_lake(lake, now=NOW)
    with closing(Engine(lake, as_of=NOW)) as past:
        assert past.complete_before("raw.videos") is None
        assert seen(past) == ["10001"]
    engine.refresh()
    assert engine.complete_before("raw.videos") == NOW - timedelta(hours=1)


@pytest.mark.parametrize(
    ("rows", "arranged", "is_due"),
    [
        (29_999, 0, False), (30_000, 0, True), (129_999, 100_000, False), (130_000, 100_000, True),
        (249_999, 200_000, False), (250_000, 200_000, True), (100_000, 200_000, False),
    ],
)  # fmt: skip
def test_a_quarter_more_and_two_row_groups_are_worth_arranging(
    rows: int, arranged: int, is_due: bool
) -> None:
    assert has_grown(rows, sorted_rows=arranged) is is_due


def test_rows_without_their_capture_are_deleted_after_an_hour(lake: Lake, engine: Engine) -> None:
    hour = timedelta(hours=1)
    observe(lake, "10001", "c1", at=NOW - hour - timedelta(seconds=1), is_written=False)
    observe(lake, "10002", "c2", at=NOW - hour, is_written=False)
    observe(lake, "10003", "c3", at=OLD)
    sort_lake(lake, now=NOW)
    engine.refresh()
    left = engine.rows("select aweme_id from raw.videos order by aweme_id")
    assert [row["aweme_id"] for row in left] == ["10002", "10003"]
    assert engine.complete_before("raw.videos") == NOW - hour


def test_rows_before_complete_before_are_not_checked_again(lake: Lake, engine: Engine) -> None:
    observe(lake, "10001", "c1")
    sort_lake(lake, now=NOW)
    version = lake.version("raw.accounts")
    observe(lake, "10002", "c2", is_written=False)  # as old as what is proved already
    sort_lake(lake, now=NOW)
    sort_lake(lake, now=NOW - timedelta(hours=3))
    engine.refresh()
    assert engine.complete_before("raw.videos") == NOW - timedelta(hours=1)
    assert engine.rows("select count(*) as n from raw.videos") == [{"n": 2}]
    assert lake.version("raw.accounts") == version
    sort_lake(lake, now=NOW + timedelta(hours=3))
    assert engine.rows("select count(*) as n from raw.videos") == [{"n": 2}]


def test_many_rows_left_behind_go_a_part_at_a_time(
    lake: Lake, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warehouse.maintenance.compaction._IDS_PER_CONDITION", 2)
    observe(lake, "10009", "kept")
    for number in range(5):
        observe(lake, f"1000{number}", f"c{number}", is_written=False)
    before = lake.version("raw.videos")
    sort_lake(lake, now=NOW)
    deletions = [
        entry for entry in lake.log_since("raw.videos", before) if entry["operation"] == "DELETE"
    ]
    assert len(deletions) == 3
    engine.refresh()
    assert engine.rows("select aweme_id from raw.videos") == [{"aweme_id": "10009"}]


@pytest.mark.parametrize(("left_behind", "deletions"), [(1000, 1), (1001, 2)])
def test_a_thousand_captures_are_the_most_that_one_deletion_names(
    lake: Lake, left_behind: int, deletions: int
) -> None:
    observe(lake, "10009", "kept")
    rows = [row for number in range(left_behind) for row in items(f"c{number}")]
    lake.append("raw.capture_items", rows)
    before = lake.version("raw.capture_items")
    sort_lake(lake, now=NOW + timedelta(days=1))
    log = lake.log_since("raw.capture_items", before)
    assert [entry["operation"] for entry in log].count("DELETE") == deletions
    assert lake.row_count("raw.capture_items") == 0


def test_table_unchecked_after_a_crash_is_checked_by_the_next_sorting(
    lake: Lake, engine: Engine
) -> None:
    observe(lake, "10001", "c1")
    observe(lake, "10002", "c2", is_written=False)
    proved = DeltaTable(lake.path("raw.capture_items"))
    proved.alter.set_table_properties(
        {"sametrack.whole_before": NOW.isoformat()}, raise_if_not_exists=False
    )
    sort_lake(lake, now=NOW)
    engine.refresh()
    assert engine.rows("select aweme_id from raw.videos") == [{"aweme_id": "10001"}]
    assert engine.complete_before("raw.videos") == NOW - timedelta(hours=1)


def test_a_table_tells_later_releases_how_many_rows_were_arranged(lake: Lake) -> None:
    for number in range(3):
        observe(lake, f"1000{number}", f"c{number}")
    sort_lake(lake, now=NOW)
    marks = DeltaTable(lake.path("raw.videos")).metadata().configuration
    assert marks["sametrack.arranged_rows"] == "3"


def test_sorted_tables_have_small_row_groups(lake: Lake) -> None:
    rows = [{**row, "entity_id": str(n)} for n in range(20_000) for row in items("c1")]
    lake.append("raw.capture_items", rows)
    assert sort_lake(lake, now=NOW) == ["raw.capture_items"]
    [file] = lake.files("raw.capture_items")
    found = parquet.ParquetFile(file).metadata
    groups = [found.row_group(number).num_rows for number in range(found.num_row_groups)]
    assert groups == [16_384, 3_616]


def test_arranging_takes_a_gigabyte_of_temporary_files_and_one_task_at_a_time(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    arrange = TableOptimizer.z_order

    def listen(table: TableOptimizer, columns: list[str], **options: Any) -> dict[str, Any]:
        asked.append(options)
        return arrange(table, columns, **options)

    monkeypatch.setattr(TableOptimizer, "z_order", listen)
    observe(lake, "10001", "c1")
    assert sort_lake(lake, now=NOW) == ["raw.captures", "raw.videos"]
    limits = [(one["max_spill_size"], one["max_concurrent_tasks"]) for one in asked]
    assert limits == [(1_000_000_000, 1)] * 2


def test_upkeep_tells_what_it_did_and_leaves_small_tables_alone(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warehouse.maintenance.compaction.MIN_NEW_ROWS", 1000)
    observe(lake, "10001", "c1")
    for number in range(9):
        lake.append("raw.capture_items", items(f"nine-{number}"))
    for number in range(7):
        observe(lake, f"2000{number}", f"n{number}")
    tidied = maintain_lake(lake, now=NOW)
    assert tidied == LakeMaintenance(
        tables_arranged=0, files_merged=9, files_deleted=0, works_indexed=8
    )
    assert len(lake.files("raw.capture_items")) == 1
    assert len(lake.files("raw.videos")) == 8
    assert maintain_lake(lake, now=NOW) == LakeMaintenance(0, 0, 0, 0)


def test_upkeep_arranges_before_it_merges_and_indexes_anew_what_it_arranged(lake: Lake) -> None:
    for number in range(9):
        observe(lake, f"2000{number}", f"n{number}")
    tidied = maintain_lake(lake, now=NOW)
    assert tidied == LakeMaintenance(
        tables_arranged=2, files_merged=0, files_deleted=0, works_indexed=9
    )
    assert len(lake.files("raw.videos")) == 1
    for number in range(4):
        observe(lake, f"3000{number}", f"later-{number}", at=NOW)
    again = maintain_lake(lake, now=NOW + timedelta(days=1))
    assert (again.tables_arranged, again.works_indexed) == (2, 13), "of all rows, not of the new"


def items(capture_id: str) -> list[dict[str, object]]:
    return [
        {
            "capture_id": capture_id, "position": 0, "surface": "music_list", "entity_id": "1",
            "sequence": 1, "aweme_id": "1", "committed_at": NOW,
        }
    ]  # fmt: skip


def test_an_empty_lake_is_left_alone(lake: Lake) -> None:
    assert sort_lake(lake, now=NOW) == []
