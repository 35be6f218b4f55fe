"""Videos by id and the history of the chart, read from the stand-in platform and its faults."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.chart import ChartHistoryDocument
from api.schemas.lists import ManyVideos
from tests.scripted_reads import open_reads

pytestmark = pytest.mark.full

WEB = "/api/v1/vidplat/web/fetch_multi_video"
CHART = "/api/v1/music/chartsrc/top500/history"


@pytest.fixture
def platform(sandbox: Any) -> Iterator[httpx2.Client]:
    host = f"share.vidplat.localhost:{sandbox.port}"
    with httpx2.Client(
        base_url=f"http://127.0.0.1:{sandbox.port}", headers={"Host": host}, verify=False
    ) as platform:
        yield platform
        platform.delete("/_world/faults").raise_for_status()


@pytest.fixture
def client(sandbox: Any, tmp_path: Path) -> Iterator[TestClient]:
    chosen = {"data_provider": "vidplat-public", "profile": "sandbox", "sandbox_port": sandbox.port}
    with open_reads(tmp_path, **chosen) as reads:
        yield reads.client()


def break_surface(platform: httpx2.Client, surface: str, kind: str) -> None:
    fault = {"surface": surface, "kind": kind, "times": 0}
    platform.post("/_world/faults", json=fault).raise_for_status()


def history(client: TestClient, start: str, end: str) -> Any:
    return client.get(CHART, params={"start_date": start, "end_date": end})


def test_the_history_goes_back_to_the_first_day(client: TestClient) -> None:
    answer = history(client, "2021-01-01", "2021-03-31")
    found = Envelope[ChartHistoryDocument].model_validate(answer.json()).data
    assert found["snapshots"][0]["chart_date"] == "2021-01-01"
    assert found["node_count"] == found["collected_count"] == 9
    for snapshot in found["snapshots"]:  # the oldest issues say neither place before nor cover
        assert {song["previous_rank"] for song in snapshot["songs"]} == {None}
        assert {song["is_new"] for song in snapshot["songs"]} == {None}


def test_later_issues_say_where_a_song_came_from(client: TestClient) -> None:
    found = (
        Envelope[ChartHistoryDocument]
        .model_validate(history(client, "2024-05-01", "2024-05-21").json())
        .data
    )
    songs = [song for snapshot in found["snapshots"] for song in snapshot["songs"]]
    assert {song["is_new"] for song in songs} >= {False}
    for song in songs:
        before = song["previous_rank"]
        assert song["rank_change"] == (None if before is None else before - song["rank"])
    keys = [{song["song_key"] for song in snapshot["songs"]} for snapshot in found["snapshots"]]
    assert keys[0] & keys[1]


@pytest.mark.parametrize("kind", ["text_body", "chart_status", "timestamp_only", "empty", "403"])
def test_a_chart_that_says_no_is_502(
    client: TestClient, platform: httpx2.Client, kind: str
) -> None:
    break_surface(platform, "chart_issues", kind)
    answer = history(client, "2024-05-01", "2024-05-21")
    assert answer.status_code == 502
    assert answer.json()["data"]["error"]["upstream"]["surface"] == "chart_issues"


def test_songs_of_another_issue_are_never_shown(
    client: TestClient, platform: httpx2.Client
) -> None:
    history(client, "2024-05-01", "2024-05-01")
    break_surface(platform, "chart_songs", "substitution")
    break_surface(platform, "chart_html_old", "substitution")
    found = history(client, "2024-05-01", "2024-05-11").json()["data"]["snapshots"]
    assert [len(snapshot["songs"]) for snapshot in found] == [20, 0]
    assert found[1]["reason"] in {"upstream_substitution", "chart_unavailable"}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("empty", "upstream_empty"),
        ("captcha", "upstream_verification"),
        ("403", "upstream_forbidden"),
        ("gone", "unavailable"),
    ],
)
def test_a_refused_video_is_filtered_with_the_platforms_answer(
    client: TestClient, platform: httpx2.Client, kind: str, reason: str
) -> None:
    break_surface(platform, "*", kind)
    answer = client.post(WEB, json=["7300000000000000001"])
    found = Envelope[ManyVideos].model_validate(answer.json()).data
    assert (answer.status_code, found["aweme_list"]) == (200, [])
    assert [entry["reason"] for entry in found["filter_list"]] == [reason]


def test_videos_are_read_with_four_counts(client: TestClient, platform: httpx2.Client) -> None:
    works = platform.get("/_world/works", params={"state": "public", "limit": 12}).json()["works"]
    ids = [work["aweme_id"] for work in works]
    found = Envelope[ManyVideos].model_validate(client.post(WEB, json=ids).json()).data
    assert [video["aweme_id"] for video in found["aweme_list"]] == ids
    assert {video["statistics_source"] for video in found["aweme_list"]} == {
        "public_video_detail_page"
    }
    assert all(video["statistics_complete"] for video in found["aweme_list"])
