"""Live progress as a stream of events, beside polling and with the same documents."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from api.schemas.result import JobDocument
from warehouse.control import ControlStore, jobs
from warehouse.records.jobs import ProgressRecord

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
OWN = "/api/v1/sametrack/jobs"
MUSIC_ID = "7300000000000000001"


def events_of(text: str) -> list[dict[str, str]]:
    """The named events of a stream, comments and the retry line left out."""
    blocks = [block.splitlines() for block in text.split("\n\n") if "data: " in block]
    return [dict(line.split(": ", 1) for line in block) for block in blocks]


def test_a_job_that_has_ended_is_one_event_with_the_polling_document(
    service: Any, client: TestClient
) -> None:
    job = service.stored()
    answer = client.get(f"{OWN}/{job.job_id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    (event,) = events_of(answer.text)
    polled = client.get(f"{JOBS}/{job.job_id}")
    assert event["event"] == "ended"
    assert json.loads(event["data"]) == polled.json()["data"]
    assert polled.headers["etag"] == f'W/"{event["id"]}"'
    TypeAdapter(JobDocument).validate_python(json.loads(event["data"]))


def test_event_stream_answers_204_after_the_last_event(service: Any, client: TestClient) -> None:
    path = f"{OWN}/{service.stored().job_id}/events"
    (event,) = events_of(client.get(path).text)
    again = client.get(path, headers={"Last-Event-ID": event["id"]})
    assert (again.status_code, again.content) == (204, b"")
    other = client.get(path, headers={"Last-Event-ID": "an older state"})
    assert len(events_of(other.text)) == 1


def test_each_change_is_an_event_and_the_final_document_the_last(
    service: Any, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = client.post(JOBS, json={"input": MUSIC_ID}).json()["data"]["job_id"]
    progress = ProgressRecord(candidate_pool_count=7)
    steps = iter(
        (
            lambda: jobs.claim(service.control, "worker"),
            lambda: jobs.save_progress(service.control, job_id, progress),
            lambda: jobs.finish(service.control, job_id, "cancelled"),
        )
    )
    read = jobs.get

    def read_and_go_on(control: ControlStore, asked: str) -> Any:
        found = read(control, asked)
        next(steps, lambda: None)()
        return found

    monkeypatch.setattr(jobs, "get", read_and_go_on)
    found = events_of(client.get(f"{OWN}/{job_id}/events").text)
    documents = [json.loads(event["data"]) for event in found]
    assert [event["event"] for event in found] == ["progress"] * 3 + ["ended"]
    assert [one["status"] for one in documents] == ["queued", "running", "running", "cancelled"]
    assert documents[2]["progress"]["candidate_pool_count"] == 7
    assert len({event["id"] for event in found}) == 4


def test_a_fault_while_a_job_is_read_ends_its_stream(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = client.post(JOBS, json={"input": MUSIC_ID}).json()["data"]["job_id"]
    answers = iter((jobs.get,))

    def read_once(control: ControlStore, asked: str) -> Any:
        if (answer := next(answers, None)) is None:
            raise RuntimeError("a fault")
        return answer(control, asked)

    monkeypatch.setattr(jobs, "get", read_once)
    found = events_of(client.get(f"{OWN}/{job_id}/events").text)
    assert [event["event"] for event in found] == ["progress"]


def test_event_stream_checks_token_and_parameters(service: Any) -> None:
    path = f"{OWN}/{service.stored().job_id}/events"
    client = service.client(own_api_token="secret")
    assert client.get(path).status_code == 401
    assert client.get(path, params={"token": "secret"}).status_code == 401
    assert client.get(path, headers={"x-api-key": "secret"}).status_code == 200
    refused = client.get(path, params={"a": "b"}, headers={"x-api-key": "secret"})
    assert refused.json()["data"]["error"]["type"] == "unknown_parameter"


def test_no_more_streams_than_allowed_and_the_answer_says_to_poll(service: Any) -> None:
    client = service.client(event_streams_max=0)
    answer = client.get(f"{OWN}/{service.stored().job_id}/events")
    error = answer.json()["data"]["error"]
    assert (answer.status_code, error["type"]) == (503, "capacity_exhausted")
    assert "Poll" in error["hint"]
    assert int(answer.headers["retry-after"]) >= 1


def test_a_job_that_is_not_there_has_no_events(client: TestClient) -> None:
    assert client.get(f"{OWN}/none/events").status_code == 404
