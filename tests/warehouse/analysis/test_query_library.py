"""Every query of the library answers on the store of a real scan, by command and in Python."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pipelines.catalog.sources.tables import read_first_sheet
from warehouse import open_warehouse
from warehouse.analysis.query_library import find_query, named_queries
from warehouse.analysis.warehouse import Warehouse
from warehouse.records.errors import InvalidParameterError

pytestmark = pytest.mark.full

ROW_COUNTS = {
    "account-history": 4, "shared-accounts": 0, "top-accounts": 4, "chart-climbers": 20,
    "chart-song": 300, "refusals": 0, "requests-per-day": 12, "stop-reasons": 9, "link-types": 3,
    "compare-accounts": 0, "compare-published": 10, "compare-tracks": 1,
    "genealogy": 3, "list-shares": 3, "music-ids": 3, "popularity": 11, "scanned-tracks": 1,
    "close-rejections": 20, "growth": 15, "new-videos": 8, "top-videos": 11, "viral-videos": 1,
}  # fmt: skip
TRACK = "7410369778457395648"
JOB = "4189ad23-1314-50fd-bdbb-584e501040b3"


@pytest.fixture(scope="module")
def wh(first_release_home: Path) -> Iterator[Warehouse]:
    with open_warehouse(first_release_home) as opened:
        yield opened


@pytest.fixture
def ask(
    first_release_home: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """A command over that store."""
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(first_release_home))
    return command


def test_every_query_has_the_rows_that_it_has_today(wh: Warehouse) -> None:
    assert {name: len(wh.query(name)) for name in wh.queries()} == ROW_COUNTS


def test_rows_have_one_order(wh: Warehouse) -> None:
    for query in named_queries():
        assert "order by" in query.sql, query.name
        assert wh.query(query.name).rows() == wh.query(query.name).rows(), query.name


def test_every_query_explains_itself_and_uses_its_parameters() -> None:
    for query in named_queries():
        assert min(len(query.title), len(query.description)) > 10, query.name
        for parameter in query.parameters:
            assert f"${parameter.name}" in query.sql
            assert len(parameter.meaning) > 5
    assert len(named_queries()) >= 15


@pytest.mark.parametrize(
    ("name", "given", "rows"),
    [
        ("top-videos", {"top": 2}, 2),
        ("top-videos", {"music_id": "1"}, 0),
        ("viral-videos", {"least": 1000}, 4),
        ("shared-accounts", {"least": 1}, 4),
        ("stop-reasons", {"job_id": "nothing"}, 0),
        ("new-videos", {"since": "2025-09-01"}, 3),
        ("chart-song", {"title": "no song has this title"}, 0),
        ("compare-tracks", {"music_ids": ""}, 1),
        ("compare-tracks", {"music_ids": f"1, {TRACK}"}, 1),
        ("compare-tracks", {"music_ids": "1"}, 0),
        ("compare-published", {"music_ids": " "}, 10),
        ("compare-published", {"music_ids": f"1, {TRACK}"}, 10),
        ("compare-accounts", {"music_ids": ""}, 0),
    ],
)
def test_parameters_narrow_the_answer(
    wh: Warehouse, name: str, given: dict[str, Any], rows: int
) -> None:
    assert len(wh.query(name, **given)) == rows


def test_the_growth_of_a_video_that_was_observed_once_is_unknown(wh: Warehouse) -> None:
    times = [datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2, 1)]
    observed = pa.table({
        "aweme_id": ["twice", "twice", "once"], "observed_at": times, "digg_count": [10, 10, 90],
        "statistics_complete": [True, True, True], "capture_id": pa.nulls(3, pa.string()),
    })  # fmt: skip
    sql = find_query("growth").sql.replace("seen.videos", "observed")
    rows = wh.sql(sql, {"top": 5}, tables={"observed": observed}).rows()
    assert {row["aweme_id"]: row["new_likes"] for row in rows} == {"twice": 0, "once": None}


def observations(*rows: tuple[str, int, int | None, bool]) -> pa.Table:
    """Observations of videos: id, day of June, likes, and whether all counts are complete."""
    ids, days, likes, complete = zip(*rows, strict=True)
    count = len(rows)
    published = {"a": 1_780_000_000, "b": 1_770_000_000, "c": None}
    return pa.table({
        "aweme_id": ids, "observed_at": [datetime(2026, 6, day, tzinfo=UTC) for day in days],
        "digg_count": pa.array(likes, pa.int64()), "statistics_complete": complete,
        "create_time": pa.array([published[name] for name in ids], pa.int64()),
        "created_at": pa.nulls(count, pa.timestamp("us", tz="UTC")),
        "desc": pa.nulls(count, pa.string()), "share_url": pa.nulls(count, pa.string()),
        "nickname": [f"@{name}" for name in ids],
    })  # fmt: skip


def test_who_made_a_track_popular_is_told_by_what_the_scan_saw(wh: Warehouse) -> None:
    committed = [datetime(2026, 6, 10, tzinfo=UTC)] * 3
    tables = {
        "confirmed_videos": pa.table({
            "job_id": ["j"] * 3, "music_id": ["1"] * 3, "aweme_id": ["a", "b", "c"],
            "sec_uid": ["A", "B", None], "committed_at": committed,
        }),
        "account_summaries": pa.table({
            "job_id": ["j"], "sec_uid": ["A"], "nickname": ["Ann"], "follower_count": [7],
        }),
        "videos": observations(
            ("a", 9, 25, True), ("a", 8, 90, False), ("a", 12, 999, True), ("b", 9, 75, True),
            ("c", 9, None, False),
        ),
        "job_results": pa.table({
            "job_id": ["j"], "music_id": ["1"], "committed_at": committed[:1],
        }),
        "coverage": pa.table({"job_id": ["j"]}),
    }  # fmt: skip
    query = find_query("popularity")
    sql = re.sub(r"(?:marts|seen)\.(\w+)", r"\1", query.sql)
    rows = wh.sql(sql, query.values({"job_id": "j"}), tables=tables).rows()
    names = (
        "aweme_id", "nickname", "follower_count", "likes", "likes_rank", "likes_share",
        "likes_until_then", "share_until_then", "published_at_source",
    )  # fmt: skip
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("b", "@b", None, 75, 1, 0.75, 75, 0.75, "stated"),
        ("a", "Ann", 7, 25, 2, 0.25, 100, 1.0, "stated"),
        ("c", "@c", None, None, 3, None, 100, 1.0, None),
    ]
    assert {row["all_likes"] for row in rows} == {100}
    assert wh.sql(sql, query.values({}), tables=tables).rows() == rows  # the newest scan
    assert wh.sql(sql, query.values({"job_id": "other"}), tables=tables).rows() == []


@pytest.mark.parametrize(
    ("name", "table"), [("new-videos", "marts.rankings"), ("link-types", "marts.confirmed_videos")]
)
def test_a_video_is_counted_once_by_its_newest_link(wh: Warehouse, name: str, table: str) -> None:
    confirmed = pa.table({
        "music_id": ["1", "1"], "aweme_id": ["73", "73"], "create_time": [1_780_000_000] * 2,
        "link_type": ["verified_music_id_graph", "audio_fingerprint_match"],
        "committed_at": [datetime(2026, 6, day, tzinfo=UTC) for day in (1, 2)],
        "job_id": ["a", "b"],
    })  # fmt: skip
    query = find_query(name)
    sql = query.sql.replace(table, "confirmed")
    [row] = wh.sql(sql, query.values({}), tables={"confirmed": confirmed}).rows()
    assert row["link_type"] == "audio_fingerprint_match"


def test_wrong_names_and_values_are_refused_with_the_nearest(wh: Warehouse) -> None:
    with pytest.raises(InvalidParameterError) as refused:
        wh.query("top-video")
    assert "top-videos" in str(refused.value.hint)
    with pytest.raises(InvalidParameterError, match="no parameter 'tip'"):
        wh.query("top-videos", tip=3)
    with pytest.raises(InvalidParameterError, match="whole number"):
        wh.query("top-videos", top="many")
    with pytest.raises(InvalidParameterError, match="a date"):
        find_query("new-videos").values({"since": "soon"})


def test_the_command_lists_shows_and_runs(ask: Callable[..., Any], tmp_path: Path) -> None:
    assert [one["name"] for one in ask("query", "--list", "--json").document] == [
        query.name for query in named_queries()
    ]
    assert b"growth" in ask("query").body
    assert ask("query", "growth", "--show").body.decode().strip() == find_query("growth").sql
    found = ask("query", "top-videos", "-s", "top=1", "--json").document
    assert [row["rank"] for row in found["rows"]] == [1]
    assert b"7410370038153682757" in ask("query", "top-videos", "--set", "top=1").body
    path = tmp_path / "answer.csv"
    assert ask("query", "link-types", "--out", str(path)).status == 0
    assert path.read_text().startswith("music_id,link_type,videos")
    book = tmp_path / "answer.xlsx"
    assert ask("query", "link-types", "--out", str(book)).status == 0
    assert "link_type" in dict(read_first_sheet(book.read_bytes(), name=book.name))[1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("query", "nothing"), "no query"),
        (("query", "growth", "--set", "top"), "a value is missing"),
        (("query", "growth", "--set", "top=many"), "not a whole number"),
        (("query", "growth", "--format", "parquet"), "needs a file"),
        (("sql",), "a statement is missing"),
        (("trace", "nothing", "1"), "no stored row is of the job"),
    ],
)
def test_a_wrong_command_is_one_line_and_status_two(
    ask: Callable[..., Any], arguments: tuple[str, ...], expected: str
) -> None:
    answer = ask(*arguments)
    assert answer.status == 2
    assert expected in answer.remarks


def test_a_figure_is_traced_to_its_bodies_and_sounds(ask: Callable[..., Any]) -> None:
    text = ask("trace", JOB, "6").body.decode()
    assert "confirmed by audio_fingerprint_match" in text
    assert "sound 67c9d6d682e6bc4e2ade28ef087b46370a5be9a2053813c6dddc2dfec5ea988e" in text
    document = ask("trace", JOB, "6", "--json").document
    assert set(document) == {
        "prefix", "entity", "activity", "wasGeneratedBy", "used", "wasDerivedFrom",
    }  # fmt: skip
