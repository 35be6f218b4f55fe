"""The star: what its views declare holds on a store of real scans and over the days of a week."""

import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from warehouse import open_warehouse
from warehouse.analysis.warehouse import Warehouse
from warehouse.lake.record_rows import observation_row, video_row
from warehouse.models import FOLDER
from warehouse.records.videos import Account, Author, Music, Statistics, Track, Video
from warehouse.tables import RELATIONS, STAR
from warehouse.tables.column import read_examples

pytestmark = pytest.mark.full

MONDAY = datetime(2026, 11, 2, 9, tzinfo=UTC)
TRACK = "7348759830572834348"
OLD, NEW = "7400000000000000001", "7400000000000000002"
PUBLISHED = (int(OLD) >> 32) + 7200
"""Of the first video, scheduled two hours ahead; only its first observation states it."""
ORIGIN: dict[str, Any] = {"capture_id": None, "job_id": "j", "data_provider": "mock"}
EXAMPLES = [(table.name, example) for table in RELATIONS for example in table.examples]
REFERENCES = [(table.name, reference) for table in RELATIONS for reference in table.references]


@pytest.fixture(scope="module")
def wh(first_release_home: Path) -> Iterator[Warehouse]:
    with open_warehouse(first_release_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def tables(wh: Warehouse) -> dict[str, pa.Table]:
    """Every table and view, read once."""
    return {table.name: wh.table(table.name).arrow() for table in RELATIONS}


def types_of(table: pa.Table) -> dict[str, str]:
    kinds = {field.name: str(field.type) for field in table.schema}
    return {name: re.sub(r"list<\w+:", "list<item:", kind) for name, kind in kinds.items()}


def values_of(table: pa.Table, column: str) -> set[object]:
    return set(table[column].to_pylist()) - {None}


def test_a_view_has_the_columns_and_types_that_it_declares(tables: dict[str, pa.Table]) -> None:
    for view in STAR:
        declared = {column.name: str(column.type) for column in view.columns}
        assert types_of(tables[view.name]) == declared, view.name


def test_a_key_identifies_one_row_and_required_columns_are_filled(
    tables: dict[str, pa.Table],
) -> None:
    for table in RELATIONS:
        rows = tables[table.name]
        keys = rows.group_by(list(table.key)).aggregate([])
        assert len(keys) == len(rows), table.name
        if table.is_view:
            # The first release stored no usage counts.
            assert (len(rows) > 0) == (table.name != "marts.music_id_days"), table.name
            required = [column.name for column in table.columns if column.required]
            assert [name for name in required if rows[name].null_count] == [], table.name


def test_references_of_the_star_exist_in_their_tables(tables: dict[str, pa.Table]) -> None:
    for name, reference in REFERENCES:
        targets = values_of(tables[reference.table], reference.key)
        lost = values_of(tables[name], reference.column) - targets
        assert not lost or reference.exception, (name, reference.column)


def test_an_example_reads_its_table_and_is_answered_in_one_order(wh: Warehouse) -> None:
    for name, example in EXAMPLES:
        assert f".{name.partition('.')[2]}" in example.sql
        assert wh.sql(example.sql).rows() == wh.sql(example.sql).rows(), example.sql
        assert "order by" in example.sql
        assert example.question.endswith("?")


def test_every_table_has_an_example_that_its_description_shows(wh: Warehouse) -> None:
    assert read_examples().keys() == {table.name for table in RELATIONS}
    for name, example in EXAMPLES:
        assert example.question in str(wh.describe(name))
        assert example.sql in wh.describe(name)._repr_markdown_()
    assert wh.describe("marts.videos").examples[0].question in str(wh.describe("marts.videos"))
    assert "sec_uid is sec_uid of marts.accounts" in str(wh.describe("marts.videos"))


def test_each_model_is_a_file_of_its_name_that_says_what_a_row_is() -> None:
    files = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.sql")}
    assert sorted(files) == sorted(view.name.removeprefix("marts.") for view in STAR)
    for view in STAR:
        text = files[view.name.removeprefix("marts.")]
        assert text.splitlines()[0] == f"-- One row per {view.row}."
        assert "\nwith\n" in text


def test_the_star_of_an_empty_lake_is_empty(small_store: Any) -> None:
    with open_warehouse(small_store.home.root) as opened:
        assert [len(opened.table(view.name)) for view in STAR] == [0] * len(STAR)
        assert types_of(opened.table("marts.tracks").arrow())["track_music_id"] == "string"


def observed(aweme_id: str, day: int, likes: int, **changes: Any) -> dict[str, object]:
    """A video as its page showed it on a day of the week, 0 is Monday."""
    moment = MONDAY + timedelta(days=day)
    video: dict[str, Any] = {
        "surface": "video_page",
        "statistics": Statistics(
            digg_count=likes, comment_count=likes // 10, collect_count=5, share_count=1
        ),
        "music": Music(music_id=TRACK, title=f"title of day {day}"),
        "author": Author(sec_uid="MS4wLjABAAAAstar_account", nickname=f"name of day {day}"),
    } | changes
    row = video_row(Video(aweme_id=aweme_id, observed_at=moment, **video), **ORIGIN)
    return {**row, "committed_at": moment}


def counted(day: int, hour: int, count: int, *, step: int | None = None) -> dict[str, object]:
    """A music id as its page showed it, with the platform's own count of its videos."""
    moment = MONDAY + timedelta(days=day, hours=hour)
    track = Track(
        music_id=TRACK, surface="music_info", observed_at=moment, use_count=count,
        use_count_exact=step is None, use_count_step=step,
    )  # fmt: skip
    return {**observation_row(track, **ORIGIN), "committed_at": moment}


def confirmed(aweme_id: str, job: str, hour: int) -> dict[str, object]:
    return {
        "music_id": TRACK, "aweme_id": aweme_id, "job_id": job, "link_type": "exact_music_id",
        "source_music_id": TRACK, "source_music_title": None, "sec_uid": None,
        "comparison_id": None, "reference_aweme_id": None, "expansion_round": 0,
        "algorithm": "a", "committed_at": MONDAY + timedelta(hours=hour),
    }  # fmt: skip


def result(job: str, hour: int, count: int) -> dict[str, object]:
    return {
        "job_id": job, "music_id": TRACK, "document": b"x", "confirmed_count": count,
        "algorithm": "a", "committed_at": MONDAY + timedelta(hours=hour),
    }  # fmt: skip


def coverage(job: str, hour: int) -> dict[str, object]:
    return {
        "job_id": job, "surface": "music_list", "requests": 1, "pages": 1, "items": 20,
        "new_items": 20, "stop_reason": "exhausted", "foreign_rows": 0,
        "committed_at": MONDAY + timedelta(hours=hour),
    }  # fmt: skip


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory, small_store_at: Callable[[Path], Any]) -> Any:
    """Two videos of a track: one is observed on Monday, Tuesday and Thursday, one from then on."""
    root = tmp_path_factory.mktemp("week") / "data"
    small_store = small_store_at(root)
    trimmed = Statistics(digg_count=999_999)
    small_store.lake.append(
        "raw.videos",
        [
            observed(OLD, 0, 100, desc="as published", create_time=PUBLISHED),
            observed(OLD, 1, 90),
            {**observed(OLD, 1, 130), "observed_at": MONDAY + timedelta(days=1, hours=5)},
            observed(OLD, 3, 150, desc="as last read", author=None),
            observed(OLD, 4, 0, surface="music_list", statistics=trimmed),
            observed(OLD, 5, 12_000, is_exact=False),
            observed(NEW, 3, 5000),
            observed(NEW, 6, 5500),
        ],
    )
    small_store.lake.append(
        "raw.accounts",
        [
            {
                **observation_row(
                    Account(
                        sec_uid="MS4wLjABAAAAstar_account", surface="user_info",
                        observed_at=MONDAY + timedelta(days=day), follower_count=followers,
                    ),
                    **ORIGIN,
                ),
                "committed_at": MONDAY + timedelta(days=day),
            }
            for day, followers in ((0, 10), (2, 25))
        ],
    )  # fmt: skip
    small_store.lake.append(
        "raw.tracks",
        [
            counted(0, 0, 998_400),
            counted(3, 0, 1_001_000, step=1000),
            counted(3, 6, 1_002_000, step=1000),
        ],
    )
    small_store.lake.append(
        "marts.confirmed_videos",
        [confirmed(OLD, "first", 1), confirmed(OLD, "second", 90), confirmed(NEW, "second", 90)],
    )
    small_store.lake.append("marts.coverage", [coverage("first", 1), coverage("second", 90)])
    small_store.lake.append("marts.job_results", [result("first", 1, 1), result("second", 90, 2)])
    return small_store


@pytest.fixture(scope="module")
def week_wh(week: Any) -> Iterator[Warehouse]:
    with open_warehouse(week.home.root) as opened:
        yield opened


def test_days_of_a_video_have_its_last_complete_counts_and_what_was_gained(
    week_wh: Warehouse,
) -> None:
    rows = week_wh.sql(
        "select day, digg_count, likes_gained, previous_date, observation_count "
        f"from marts.video_days where aweme_id = '{OLD}' order by day"
    ).rows()
    assert [tuple(row.values()) for row in rows] == [
        (date(2026, 11, 2), 100, None, None, 1),
        (date(2026, 11, 3), 130, 30, date(2026, 11, 2), 2),
        (date(2026, 11, 5), 150, 20, date(2026, 11, 3), 1),
        (date(2026, 11, 6), None, None, None, 1),
        (date(2026, 11, 7), None, None, None, 1),
    ]


def test_a_track_does_not_grow_by_a_video_found_late(week_wh: Warehouse) -> None:
    rows = week_wh.sql(
        "select day, observed_video_count, compared_video_count, previous_digg_count, "
        "compared_digg_count, likes_gained from marts.track_days "
        "where likes_gained is not null order by day"
    ).rows()
    assert [tuple(row.values()) for row in rows] == [
        (date(2026, 11, 3), 1, 1, 100, 130, 30),
        (date(2026, 11, 5), 2, 1, 130, 150, 20),
        (date(2026, 11, 8), 1, 1, 5000, 5500, 500),
    ]


def test_a_music_id_has_the_last_count_of_each_day_and_none_between(week_wh: Warehouse) -> None:
    thursday = MONDAY + timedelta(days=3, hours=6)
    rows = week_wh.marts.music_id_days.order("day").rows()
    assert [row["day"] for row in rows] == [MONDAY.date(), thursday.date()]
    assert rows[1] == {
        "music_id": TRACK, "day": thursday.date(), "use_count": 1_002_000,
        "use_count_exact": False, "use_count_step": 1000, "uses_gained": 3600,
        "previous_use_count": 998_400, "previous_date": MONDAY.date(), "observation_count": 2,
        "use_count_observed_at": thursday,
    }  # fmt: skip
    for view in (week_wh.marts.tracks, week_wh.marts.music_ids):
        newest = view.select("use_count, use_count_exact, use_count_observed_at").rows()
        assert [tuple(row.values()) for row in newest] == [(1_002_000, False, thursday)]


def test_a_day_of_a_track_has_the_counts_of_all_its_music_ids_only_if_each_was_observed(
    week: Any, tmp_path: Path, small_store_at: Callable[[Path], Any]
) -> None:
    shutil.copytree(week.home.root.parent, tmp_path / "data")
    store = small_store_at(tmp_path / "data")
    other = "7400000000000000009"
    again = {**confirmed(NEW, "third", 100), "source_music_id": other}
    store.lake.append("marts.confirmed_videos", [again])
    store.lake.append("raw.tracks", [{**counted(0, 1, 1600), "music_id": other}])
    with open_warehouse(store.home.root) as opened:
        rows = opened.sql(
            "select day, use_count, confirmed_use_count, confirmed_use_count_exact, "
            "counted_music_id_count, confirmed_music_id_count from marts.track_days order by day"
        ).rows()
    assert [tuple(row.values()) for row in rows if row["use_count"] is not None] == [
        (date(2026, 11, 2), 998_400, 1_000_000, True, 2, 2),
        (date(2026, 11, 5), 1_002_000, None, None, 1, 2),
    ]
    assert {row["counted_music_id_count"] for row in rows if row["use_count"] is None} == {0}


def test_days_without_an_observation_are_in_the_calendar(week_wh: Warehouse) -> None:
    days = week_wh.marts.days.order("day").rows()
    assert [row["day"].day for row in days] == list(range(2, 9))
    assert [row["weekday"] for row in days] == list(range(1, 8))
    assert {row["week_start_date"] for row in days} == {MONDAY.date()}
    assert sum(row["is_weekend"] for row in days) == 2


def test_a_video_has_the_counts_of_its_best_observation_and_its_newest_ids(
    week_wh: Warehouse,
) -> None:
    video = week_wh.marts.videos.filter(f"aweme_id = '{OLD}'").rows()[0]
    assert (video["digg_count"], video["desc"]) == (150, "as last read")
    assert video["counts_observed_at"] == MONDAY + timedelta(days=3)
    assert video["last_observed_at"] == MONDAY + timedelta(days=5)
    assert (video["sec_uid"], video["music_id"]) == ("MS4wLjABAAAAstar_account", TRACK)
    assert video["observation_count"] == 6


def test_a_stated_time_of_publication_is_never_replaced_by_that_of_the_id(
    week_wh: Warehouse,
) -> None:
    found = week_wh.marts.videos.order("aweme_id").select("created_at").rows()
    made = int(NEW) >> 32
    assert [row["created_at"].timestamp() for row in found] == [PUBLISHED, made]


def test_names_are_the_newest_known(week_wh: Warehouse) -> None:
    assert week_wh.marts.accounts.select("nickname, observed_video_count").rows() == [
        {"nickname": "name of day 6", "observed_video_count": 2}
    ]
    assert week_wh.marts.music_ids.select("music_id, title, observed_video_count").rows() == [
        {"music_id": TRACK, "title": "title of day 6", "observed_video_count": 2}
    ]
    assert week_wh.marts.account_days.order("day").select("followers_gained").rows() == [
        {"followers_gained": None},
        {"followers_gained": 15},
    ]


def test_a_track_knows_its_newest_result_and_each_video_the_scan_that_confirmed_it(
    week_wh: Warehouse,
) -> None:
    track = week_wh.marts.tracks.rows()[0]
    assert (track["newest_job_id"], track["result_count"]) == ("second", 2)
    assert (track["confirmed_video_count"], track["ever_confirmed_video_count"]) == (2, 2)
    rows = week_wh.marts.track_videos.order("aweme_id").rows()
    assert [(row["aweme_id"], row["job_id"], row["confirmation_count"]) for row in rows] == [
        (OLD, "second", 2),
        (NEW, "second", 1),
    ]
    assert all(row["is_in_newest_result"] for row in rows)


def test_the_star_is_that_of_a_past_time(week: Any) -> None:
    with open_warehouse(week.home.root, as_of="2026-11-03") as opened:
        assert opened.marts.videos.select("aweme_id, digg_count").rows() == [
            {"aweme_id": OLD, "digg_count": 130}
        ]
        assert opened.marts.tracks.select("newest_job_id").rows() == [{"newest_job_id": "first"}]
        assert len(opened.marts.days) == 2


def test_commands_query_export_and_publish_the_star(
    week: Any, command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(week.home.root.parent, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "data"))
    found = command("sql", "select count(*) as n from marts.video_days", "--json").document
    assert found["rows"] == [{"n": 7}]
    whole = command("export", "all", "--track", TRACK, "--out", "star.zip", "--json").document
    counts = {view.name: whole["row_counts"][view.name] for view in STAR}
    assert counts == {
        "marts.tracks": 1, "marts.music_ids": 1, "marts.videos": 2, "marts.accounts": 1,
        "marts.days": 7, "marts.track_videos": 2, "marts.video_days": 7, "marts.account_days": 2,
        "marts.track_days": 6, "marts.music_id_days": 2, "marts.genealogy": 1,
        "marts.list_shares": 0,
    }  # fmt: skip
    written = command("export", "marts.videos", "--format", "csv", "--out", "videos.csv")
    assert written.status == 0
    assert (tmp_path / "videos.csv").read_text().count("\n") == 3
    assert command("database", "--out", "week.duckdb").status == 0
    with duckdb.connect(str(tmp_path / "week.duckdb"), read_only=True) as database:
        assert database.execute(
            "select sum(likes_gained) from marts.track_days join marts.days using (day)"
        ).fetchall() == [(550,)]
