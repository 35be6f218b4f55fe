"""Watchlists over HTTP: kept, changed, run and told of; wrong ones refused with advice."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from api.params.watchlists import WatchlistBody
from api.responses.documents import Envelope, ErrorData
from api.schemas.extensions.watchlists import (
    WatchDigestList,
    WatchlistDeleted,
    WatchlistDocument,
    WatchlistList,
    WatchRunDetail,
    WatchRunList,
)
from tests.scripted_reads import ReadService
from warehouse.control import ControlStore, watchlists
from warehouse.records.watchlists import DueRun, Watchlist

PATH = "/api/v1/sametrack/watchlists"
TRACK = {"kind": "track", "input": "7300000000000000001"}
BODY: dict[str, Any] = {
    "name": "five-songs",
    "every": "every 6 hours",
    "entries": [TRACK, {"kind": "account", "input": "MS4wLjABAAAAx"}],
    "parameters": {"count": 10, "search_keywords": "纸船, Paper Boats"},
}
THRESHOLDS = {
    "velocity": 1000.0, "rank_change": 3, "new_music_id": True, "likes": 10_000,
    "creator_followers": 100_000, "disappeared": True, "usage_growth": 20.0,
}  # fmt: skip
DIGEST: dict[str, Any] = {
    "kind": "watch_digest", "change_count": 2, "files": {"json": "a.json", "html": "a.html"},
    "entries": [{**TRACK, "subject": TRACK["input"], "title": "Paper Boats"}],
}  # fmt: skip


@pytest.fixture
def client(reads: ReadService) -> Iterator[TestClient]:
    yield reads.client()
    for kept in watchlists.read_all(reads.control):
        watchlists.delete_with_runs(reads.control, kept.plan.name)


def data(answer: Any, shape: Any) -> Any:
    assert answer.status_code == 200, answer.text
    Envelope[shape].model_validate(answer.json())
    return answer.json()["data"]


def refusal(answer: Any, status: int) -> Any:
    assert answer.status_code == status, answer.text
    Envelope[ErrorData].model_validate(answer.json())
    return answer.json()["data"]["error"]


def test_a_watchlist_is_made_read_changed_and_deleted(client: TestClient) -> None:
    made = data(client.post(PATH, json=BODY), WatchlistDocument)
    assert (made["cron"], made["enabled"], made["last_run"]) == ("0 */6 * * *", True, None)
    assert made["parameters"] == {"count": 10, "search_keywords": ["纸船", "Paper Boats"]}
    assert made["thresholds"] == THRESHOLDS
    assert [entry["title"] for entry in made["entries"]] == [None, None]  # no run has checked them
    assert datetime.fromisoformat(made["next_due_at"]) > datetime.fromisoformat(made["created_at"])
    assert made["is_demo_data"] is True

    listed = data(client.get(PATH), WatchlistList)
    assert (listed["watchlists"], listed["returned_count"]) == ([made], 1)
    again = client.get(f"{PATH}/five-songs")
    assert data(again, WatchlistDocument) == made
    tag = {"If-None-Match": again.headers["ETag"]}
    assert client.get(f"{PATH}/five-songs", headers=tag).status_code == 304

    change = {"every": "daily at 07:30", "enabled": False, "thresholds": {"velocity": None}}
    changed = data(client.patch(f"{PATH}/five-songs", json=change), WatchlistDocument)
    assert (changed["cron"], changed["next_due_at"]) == ("30 7 * * *", None)
    assert changed["thresholds"] == THRESHOLDS | {"velocity": None}
    assert changed["entries"] == made["entries"]

    gone = data(client.delete(f"{PATH}/five-songs"), WatchlistDeleted)
    assert gone["deleted"] is True
    for answer in (client.get(f"{PATH}/five-songs"), client.delete(f"{PATH}/five-songs")):
        assert refusal(answer, 404)["type"] == "not_found"


def test_a_threshold_is_changed_without_the_others(client: TestClient) -> None:
    off = {"velocity": None, "rank_change": None, "new_music_id": False}
    data(client.post(PATH, json={**BODY, "thresholds": off}), WatchlistDocument)
    change = {"thresholds": {"velocity": 5000.0}}
    changed = data(client.patch(f"{PATH}/five-songs", json=change), WatchlistDocument)
    assert changed["thresholds"] == {**THRESHOLDS, **off, "velocity": 5000.0}
    changed = data(client.patch(f"{PATH}/five-songs", json={"every": "daily"}), WatchlistDocument)
    assert changed["thresholds"] == {**THRESHOLDS, **off, "velocity": 5000.0}


@pytest.mark.parametrize(
    ("change", "kind", "word"),
    [
        ({"name": "Five Songs"}, "invalid_parameter", "name"),
        ({"every": "often"}, "invalid_parameter", "every"),
        ({"every": "every 7 minutes"}, "invalid_parameter", "7 minutes"),
        ({"entries": []}, "invalid_parameter", "entries"),
        ({"entries": [TRACK, TRACK]}, "invalid_parameter", "twice"),
        ({"entries": [TRACK] * 51}, "invalid_parameter", "entries"),
        ({"entries": [{"kind": "song", "input": "1"}]}, "invalid_parameter", "kind"),
        ({"entries": [{"kind": "track", "input": "my song"}]}, "invalid_music_input", ""),
        ({"entries": [{"kind": "track"}]}, "missing_parameter", "input"),
        ({"entries": [{"kind": "account", "input": "  "}]}, "invalid_parameter", "input"),
        ({"entries": [{"kind": "hashtag", "input": "\u3000"}]}, "invalid_parameter", "input"),
        ({"thresholds": {"velocity": -1}}, "invalid_parameter", "velocity"),
        ({"thresholds": {"rank_change": 0}}, "invalid_parameter", "rank_change"),
        ({"thresholds": {"speed": 1}}, "unknown_parameter", "speed"),
        ({"parameters": {"count": 501}}, "invalid_parameter", "count"),
        ({"parameters": {"cuont": 5}}, "unknown_parameter", "cuont"),
        ({"enabled": "yes"}, "invalid_parameter", "enabled"),
        ({"evry": "daily"}, "unknown_parameter", "evry"),
    ],
)
def test_invalid_watchlist_is_refused_with_a_hint(
    client: TestClient, change: dict[str, Any], kind: str, word: str
) -> None:
    error = refusal(client.post(PATH, json={**BODY, **change}), 400)
    assert error["type"] == kind
    assert word in error["detail"]
    assert error["hint"]
    assert data(client.get(PATH), WatchlistList)["returned_count"] == 0


def test_an_entry_is_kept_without_the_blanks_around_it(client: TestClient) -> None:
    entries = [{"kind": "account", "input": "\u3000MS4wLjABAAAAx\n"}]
    made = data(client.post(PATH, json={**BODY, "entries": entries}), WatchlistDocument)
    assert [entry["input"] for entry in made["entries"]] == ["MS4wLjABAAAAx"]
    assert refusal(
        client.patch(f"{PATH}/five-songs", json={"entries": [{**TRACK, "input": " "}]}), 400
    )


def test_a_name_is_taken_once(client: TestClient) -> None:
    client.post(PATH, json=BODY)
    error = refusal(client.post(PATH, json=BODY), 400)
    assert (error["type"], "five-songs" in error["detail"]) == ("invalid_parameter", True)


def test_invalid_watchlist_change_changes_nothing(client: TestClient) -> None:
    made = data(client.post(PATH, json=BODY), WatchlistDocument)
    error = refusal(client.patch(f"{PATH}/five-songs", json={"every": "never"}), 400)
    assert "never" in error["detail"]
    assert refusal(client.patch(f"{PATH}/nobody", json={"enabled": True}), 404)["hint"]
    assert data(client.get(f"{PATH}/five-songs"), WatchlistDocument) == made


def test_a_change_that_another_one_overtakes_keeps_what_that_one_changed(
    client: TestClient, reads: ReadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    data(client.post(PATH, json=BODY), WatchlistDocument)
    read, others = watchlists.get, [{"enabled": False}]

    def read_and_let_another_change(control: ControlStore, name: str) -> Watchlist | None:
        found = read(control, name)
        if others:
            reads.client().patch(f"{PATH}/five-songs", json=others.pop())
        return found

    monkeypatch.setattr(watchlists, "get", read_and_let_another_change)
    data(client.patch(f"{PATH}/five-songs", json={"every": "hourly"}), WatchlistDocument)
    found = data(client.get(f"{PATH}/five-songs"), WatchlistDocument)
    assert (found["every"], found["enabled"]) == ("hourly", False)


def test_changed_parameters_replace_all_stored_ones_and_only_given_ones_are_kept(
    client: TestClient,
) -> None:
    made = data(client.post(PATH, json=BODY), WatchlistDocument)
    change = {"parameters": {"sort_by": "oldest"}, "enabled": None}
    changed = data(client.patch(f"{PATH}/five-songs", json=change), WatchlistDocument)
    assert changed["parameters"] == {"sort_by": "oldest"}
    assert (changed["enabled"], changed["entries"]) == (True, made["entries"])


def test_a_run_is_asked_for_once_and_told_with_its_digest(
    client: TestClient, reads: ReadService
) -> None:
    client.post(PATH, json=BODY)
    run = data(client.post(f"{PATH}/five-songs/runs"), WatchRunDetail)
    assert (run["status"], run["origin"], run["digest"]) == ("due", "api", None)
    assert [entry["status"] for entry in run["entries"]] == ["due", "due"]
    again = data(client.post(f"{PATH}/five-songs/runs"), WatchRunDetail)
    assert again["run_id"] == run["run_id"]

    watchlists.hold_run(reads.control, run["run_id"], "somebody", ttl_s=60)
    watchlists.end_run(
        reads.control,
        run["run_id"],
        "somebody",
        status="completed",
        outcome="2 of 2",
        digest=DIGEST,
    )
    watchlists.save_notification(
        reads.control, run["run_id"], {"host": "a.example", "status": 200, "error": None}
    )
    watchlists.take_due(
        reads.control, "five-songs", DueRun(due_at=datetime(2100, 1, 1, tzinfo=UTC))
    )
    runs = data(client.get(f"{PATH}/five-songs/runs"), WatchRunList)["runs"]
    assert [one["status"] for one in runs] == ["due", "completed"]
    assert runs[1]["change_count"] == 2
    newest = client.get(f"{PATH}/five-songs/runs", params={"limit": 1})
    assert data(newest, WatchRunList)["runs"] == runs[:1]
    digests = data(client.get(f"{PATH}/five-songs/digests"), WatchDigestList)
    assert digests["digests"] == [DIGEST]
    whole = data(client.get(f"{PATH}/five-songs/runs/{run['run_id']}"), WatchRunDetail)
    assert (whole["digest"], whole["told"]["status"]) == (DIGEST, 200)
    watched = data(client.get(f"{PATH}/five-songs"), WatchlistDocument)["entries"]
    assert [(entry["subject"], entry["title"]) for entry in watched] == [
        (TRACK["input"], "Paper Boats"), (None, None),
    ]  # fmt: skip


def test_runs_of_nobody_are_not_found(client: TestClient, reads: ReadService) -> None:
    client.post(PATH, json=BODY)
    client.post(PATH, json={**BODY, "name": "other"})
    run = data(client.post(f"{PATH}/other/runs"), WatchRunDetail)
    for path in (
        "/nobody/runs", "/nobody/digests", "/nobody/runs/x", "/five-songs/runs/x",
        f"/five-songs/runs/{uuid4()}", f"/five-songs/runs/{run['run_id']}",
    ):  # fmt: skip
        assert refusal(client.get(f"{PATH}{path}"), 404)["type"] == "not_found"
    assert refusal(client.post(f"{PATH}/nobody/runs"), 404)["type"] == "not_found"


@pytest.mark.parametrize(
    ("query", "kind"),
    [("limit=0", "invalid_parameter"), ("limit=201", "invalid_parameter"),
     ("limit=1&limit=2", "invalid_parameter"), ("size=1", "unknown_parameter")],
)  # fmt: skip
def test_invalid_query_of_watchlist_runs_is_400(client: TestClient, query: str, kind: str) -> None:
    client.post(PATH, json=BODY)
    assert refusal(client.get(f"{PATH}/five-songs/runs?{query}"), 400)["type"] == kind


def test_the_example_of_the_description_can_be_kept(client: TestClient) -> None:
    operation = client.get("/openapi.json").json()["paths"][PATH]["post"]
    example = operation["requestBody"]["content"]["application/json"]["example"]
    assert WatchlistBody.model_validate(example).to_plan().name == example["name"]
    data(client.post(PATH, json=example), WatchlistDocument)
