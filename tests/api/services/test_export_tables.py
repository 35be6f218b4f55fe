"""Tables of a response: charts and metrics as rows, and responses that have no such table."""

from datetime import UTC, datetime
from typing import Any

import pytest

from api.responses.errors import NotFoundError
from api.services.exports.tables import TableName, build_table

SONGS = [{"rank": 1, "title": "a", "is_new": True}, {"rank": 2, "title": "b", "duration": 181}]
CHART = {
    "is_demo_data": True,
    "snapshots": [
        {"target_date": "2022-03-01", "volid": "1", "chart_date": "2022-02-26", "songs": SONGS},
        {"target_date": "2022-03-11", "volid": None, "chart_date": None, "songs": [],
         "reason": "no_issue_within_10_days"},
        {"target_date": "2022-03-21", "volid": "2", "chart_date": "2022-03-19",
         "songs": SONGS[:1]},
    ],
}  # fmt: skip


def rows_of(name: TableName, data: dict[str, Any], *columns: str) -> list[tuple[object, ...]]:
    table = build_table(name, data)
    names = [column.name for column in table.columns]
    return [tuple(row[names.index(column)] for column in columns) for row in table.rows]


def test_a_chart_has_a_row_per_song_and_one_for_a_node_without_songs() -> None:
    found = rows_of("chart", CHART, "target_date", "volid", "rank", "title", "duration_s", "reason")
    assert found == [
        ("2022-03-01", "1", 1, "a", None, None),
        ("2022-03-01", "1", 2, "b", 181, None),
        ("2022-03-11", None, None, None, None, "no_issue_within_10_days"),
        ("2022-03-21", "2", 1, "a", None, None),
    ]
    assert rows_of("chart", CHART, "is_demo_data") == [(True,)] * 4


def test_metrics_are_one_row() -> None:
    data = {
        "sec_user_id": "MS4", "analyzed_count": 3, "average_digg_count": 5,
        "window_start": 1_700_000_000, "window_end": "2026-11-01T08:00:00+08:00",
        "top_video": {"aweme_id": 7}, "is_demo_data": False,
    }  # fmt: skip
    [row] = rows_of(
        "metrics", data, "analyzed_count", "average_digg_count", "top_aweme_id", "nickname"
    )
    assert row == (3, 5.0, "7", None)
    [times] = rows_of("metrics", data, "window_start", "window_end")
    assert times == (
        datetime.fromtimestamp(1_700_000_000, UTC),
        datetime(2026, 11, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("metrics", {"nickname": "a"}, id="metrics-of-a-profile"),
        pytest.param("chart", {"snapshots": None}, id="chart-without-issues"),
        pytest.param("videos", {"status": "running", "result": None}, id="running-job"),
    ],
)
def test_a_response_without_the_table_is_told_so(name: TableName, data: dict[str, Any]) -> None:
    with pytest.raises(NotFoundError, match=f"no table '{name}'") as caught:
        build_table(name, data)
    assert "until it is completed" in str(caught.value.hint)
