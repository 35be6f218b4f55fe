"""Endpoint 16 over HTTP: which ranges are taken, what the answer holds."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.chart import ChartHistoryDocument
from tests.scripted_reads import ReadService, open_reads
from warehouse.records.errors import ChartUnavailableError

PATH = "/api/v1/music/chartsrc/top500/history"


@pytest.fixture(scope="module")
def open_client(stored_reads: ReadService) -> TestClient:
    return stored_reads.client()


@pytest.fixture
def client(open_client: TestClient, reads: ReadService) -> TestClient:
    return open_client


def ask(client: TestClient, start: str = "2022-03-01", end: str = "2022-03-21", **more: Any) -> Any:
    return client.get(PATH, params={"start_date": start, "end_date": end, **more})


def test_every_node_has_its_issue_and_twenty_songs(client: TestClient) -> None:
    answer = ask(client)
    found = Envelope[ChartHistoryDocument].model_validate(answer.json())
    assert answer.status_code == 200
    assert found.params == {
        "start_date": "2022-03-01", "end_date": "2022-03-21", "interval_days": 10, "limit": 20,
    }  # fmt: skip
    snapshots = found.data["snapshots"]
    assert [one["target_date"] for one in snapshots] == ["2022-03-01", "2022-03-11", "2022-03-21"]
    for one in snapshots:
        assert [song["rank"] for song in one["songs"]] == list(range(1, 21))
        assert one["chart_date"] is not None
        assert one["chart_date"] <= one["target_date"]
        assert one["reason"] is None
    assert not found.data["end_date_cut"]


def test_an_end_beyond_the_latest_issue_is_cut_and_says_so(client: TestClient) -> None:
    latest = ask(client).json()["data"]["latest_chart_date"]
    found = ask(client, latest, "2040-01-01").json()["data"]
    assert (found["end_date"], found["requested_end_date"]) == (latest, "2040-01-01")
    assert found["end_date_cut"] is True
    assert found["snapshots"][0]["chart_date"] == latest


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ({}, "missing_parameter"),
        ({"start_date": "2022-03-01"}, "missing_parameter"),
        ({"start_date": "2022-03-21", "end_date": "2022-03-01"}, "invalid_date_range"),
        ({"start_date": "2020-12-31", "end_date": "2022-03-01"}, "invalid_date_range"),
        ({"start_date": "2039-12-31", "end_date": "2040-03-01"}, "invalid_date_range"),
        ({"start_date": "01.03.2022", "end_date": "2022-03-01"}, "invalid_date_range"),
        ({"start_date": "", "end_date": "2022-03-01"}, "invalid_date_range"),
        ({"interval_days": "9"}, "invalid_parameter"),
        ({"interval_days": "ten"}, "invalid_parameter"),
        ({"limit": "21"}, "invalid_parameter"),
        ({"limit": "020"}, "invalid_parameter"),
        ({"lmit": "20"}, "unknown_parameter"),
    ],
)
def test_bad_queries_are_400(client: TestClient, query: dict[str, str], kind: str) -> None:
    whole = {"start_date": "2022-03-01", "end_date": "2022-03-01"}
    given = query if "date" in str(query) or not query else whole | query
    answer = client.get(PATH, params=given)
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (400, kind)


def test_a_chart_that_gives_nothing_is_502(tmp_path: Path) -> None:
    with open_reads(tmp_path) as read_service:
        read_service.script.errors = {
            "*": ChartUnavailableError("no chart", surface="chart_issues")
        }
        answer = ask(read_service.client())
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (
        502,
        "chart_unavailable",
    )


def test_nodes_that_time_does_not_allow_follow_later(tmp_path: Path) -> None:
    with open_reads(tmp_path) as read_service:
        ask(read_service.client())
        read_service.script.stalled = {"fetch_songs"}
        hurried = read_service.sources.settings.model_copy(update={"sync_request_timeout": 0.3})
        read_service.sources.settings = hurried
        answer = ask(read_service.client(), end="2022-03-31")
    found = answer.json()["data"]
    assert [one["reason"] for one in found["snapshots"]] == [None] * 3 + ["not_collected_yet"]
    assert found["not_collected_count"] == 1
    assert int(answer.headers["retry-after"]) >= 1
    assert len(read_service.left) == 1


def test_the_example_runs_as_it_stands(client: TestClient) -> None:
    query = client.get("/openapi.json").json()["paths"][PATH]["get"]["parameters"]
    given = {entry["name"]: entry["example"] for entry in query if "example" in entry}
    assert client.get(PATH, params=given).status_code == 200
