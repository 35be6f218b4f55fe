"""Endpoint 9: a discovery is a job that the request waits for."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.result import DiscoveryResponse
from api.services import job_document
from pipelines.scan.rules.discovery import DiscoveryParameters
from tests.contract.operations import BusyWorker
from tests.stored_results import discovery_result
from warehouse.control import jobs

PATH = "/api/v1/vidplat/app/v3/discover_music_related_videos"
MUSIC_ID = "7300000000000000001"


def test_the_answer_is_awaited_and_has_the_described_shape(service: Any) -> None:
    client = service.client()
    with BusyWorker(service, result=discovery_result()):
        answer = client.get(PATH, params={"url": MUSIC_ID, "author_limit": 3})
    assert answer.status_code == 200
    found = Envelope[DiscoveryResponse].model_validate(answer.json()).data
    assert found["coverage_complete"] is False
    assert {entry["association_type"] for entry in found["aweme_list"]} <= {
        "audio_fingerprint_match",
        "exact_music_id_discovered",
    }
    wanted = DiscoveryParameters(author_limit=3).to_document()
    assert answer.json()["params"] == {"music_id": MUSIC_ID, **wanted}
    polled = client.get(answer.json()["data"]["poll_url"]).json()["data"]
    assert polled["result"]["candidates"] == answer.json()["data"]["candidates"]


def test_a_young_result_of_an_equal_discovery_serves(service: Any) -> None:
    client = service.client()
    with BusyWorker(service, result=discovery_result()):
        first = client.get(PATH, params={"music_id": MUSIC_ID})
    again = client.get(PATH, params={"music_id": MUSIC_ID})
    assert again.json()["data"]["job_id"] == first.json()["data"]["job_id"]


def test_discovery_that_times_out_can_be_joined(service: Any) -> None:
    client: TestClient = service.client(sync_job_timeout=0.2)
    answers = [client.get(PATH, params={"music_id": MUSIC_ID}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [503, 503]
    hints = {answer.json()["data"]["error"]["hint"] for answer in answers}
    assert len(hints) == 1
    assert answers[0].json()["data"]["error"]["type"] == "worker_unavailable"


@pytest.mark.parametrize("is_running", [False, True])
def test_discovery_without_a_worker_is_503(
    service: Any, monkeypatch: pytest.MonkeyPatch, is_running: bool
) -> None:
    monkeypatch.setattr(job_document, "NO_WORKER_S", 0.0)
    monkeypatch.setattr(jobs, "live_workers", lambda *_: ["w"] * is_running)
    client: TestClient = service.client(sync_job_timeout=0.3 if is_running else 300)
    answer = client.get(PATH, params={"music_id": MUSIC_ID})
    error = answer.json()["data"]["error"]
    assert (answer.status_code, error["type"]) == (503, "worker_unavailable")
    assert ("No worker is running" in error["detail"]) is not is_running
    assert "sametrack worker" in error["hint"]


def test_a_failed_job_answers_with_its_own_error_and_its_id(service: Any) -> None:
    error = {
        "type": "upstream_forbidden", "detail": "the platform forbids this", "hint": None,
        "retry_after": None,
        "upstream": {"surface": "music_list", "reason": "blocked", "status": 403},
    }  # fmt: skip
    with BusyWorker(service, error=error):
        answer = service.client().get(PATH, params={"music_id": MUSIC_ID})
    assert answer.status_code == 502
    reported = answer.json()["data"]["error"]
    assert (reported["type"], reported["upstream"]) == ("upstream_forbidden", error["upstream"])
    assert "job " in reported["hint"]


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("", "missing_parameter"),
        ("music_id=1&author_limit=11", "invalid_parameter"),
        ("music_id=1&candidate_limit=31", "invalid_parameter"),
        ("music_id=1&match_threshold=1.1", "invalid_parameter"),
        ("music_id=1&count=3", "unknown_parameter"),
        ("music_id=words", "invalid_music_input"),
    ],
)
def test_bad_parameters_are_named(service: Any, query: str, kind: str) -> None:
    answer = service.client().get(f"{PATH}?{query}")
    assert answer.status_code == 400
    assert answer.json()["data"]["error"]["type"] == kind
