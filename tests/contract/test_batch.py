"""Endpoint 6: up to ten inputs, each judged by itself."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.result import BatchResult
from api.services.batch import BatchInput, BatchInputs, to_batch
from pipelines.parameters.scan import ScanParameters
from warehouse.control import jobs
from warehouse.records.errors import UnreachableError

BATCH = "/api/v1/vidplat/app/v3/fetch_music_hot_videos_batch"
JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
MUSIC_ID = "7300000000000000001"


def ask(client: TestClient, *inputs: Any, **body: Any) -> Any:
    return client.post(BATCH, json={"inputs": list(inputs), **body})


def test_a_wrong_item_says_so_and_the_others_go_on(client: TestClient) -> None:
    answer = ask(client, "11111", "no song here", "https://vidplat.example/video/22222", "")
    assert answer.status_code == 200
    batch = Envelope[BatchResult].model_validate(answer.json()).data
    assert [item["ok"] for item in batch["items"]] == [True, False, True, False]
    assert (batch["ok_count"], batch["error_count"]) == (2, 2)
    for item in batch["items"]:
        assert (item["job_id"] is not None) == (item["status"] == "queued") == item["ok"]
        assert (item["error"] is None) == item["ok"]
    error = batch["items"][1]["error"]
    assert error is not None
    assert (error["type"], bool(error["hint"])) == ("invalid_music_input", True)


def test_each_item_has_a_job_of_its_own_that_can_be_polled(
    service: Any, client: TestClient
) -> None:
    items = ask(client, *[str(10_000 + number) for number in range(10)]).json()["data"]["items"]
    assert len({item["job_id"] for item in items}) == 10
    assert [client.get(item["poll_url"]).status_code for item in items] == [200] * 10
    assert {job.job_id for job in jobs.newest(service.control, limit=20)} == {
        item["job_id"] for item in items
    }


def test_equal_items_and_an_equal_single_request_share_one_job(client: TestClient) -> None:
    items = ask(client, "11111", " 11111 ", count=7).json()["data"]["items"]
    single = client.post(JOBS, json={"input": "11111", "count": 7}).json()["data"]
    assert {item["job_id"] for item in items} == {single["job_id"]}


def test_a_stored_result_is_given_at_once_as_this_batch_asks_for_it(
    service: Any, client: TestClient
) -> None:
    job = service.stored()
    done, new = ask(client, MUSIC_ID, "11111", count=3).json()["data"]["items"]
    assert (done["status"], done["job_id"]) == ("completed", job.job_id)
    assert (done["result"]["returned_count"], done["result"]["requested_count"]) == (3, 3)
    assert (new["status"], new["result"]) == ("queued", None)


def test_params_are_what_the_service_understood(client: TestClient) -> None:
    params = ask(client, "11111", search_keywords="a,b", candidate_limit=20).json()["params"]
    assert params["inputs"] == ["11111"]
    assert params["search_keywords"] == ["a", "b"]
    assert params["search_candidate_limit"] == 20


def test_defaults_are_those_of_the_other_operations(client: TestClient) -> None:
    params = ask(client, "11111").json()["params"]
    assert {**ScanParameters().to_document(), "inputs": ["11111"]} == params


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({}, "invalid_inputs"),
        ({"inputs": []}, "invalid_inputs"),
        ({"inputs": ["11111"] * 11}, "invalid_inputs"),
        ({"inputs": "11111"}, "invalid_inputs"),
        ({"inputs": None}, "invalid_inputs"),
        ({"inputs": ["11111", 22222]}, "invalid_inputs"),
        ({"inputs": ["\ud800"]}, "invalid_inputs"),
        ({"inputs": ["11111"], "count": 0}, "invalid_parameter"),
        ({"inputs": ["11111"], "candidat_limit": 15}, "unknown_parameter"),
        ({"inputs": ["11111"], "input": "11111"}, "unknown_parameter"),
        ([], "invalid_parameter"),
    ],
)
def test_a_bad_list_is_400_and_starts_nothing(
    service: Any, client: TestClient, body: object, kind: str
) -> None:
    content = json.dumps(body).encode()
    answer = client.post(BATCH, content=content, headers={"content-type": "application/json"})
    error = answer.json()["data"]["error"]
    assert (answer.status_code, error["type"]) == (400, kind)
    assert error["hint"]
    assert jobs.newest(service.control, limit=1) == []


@pytest.mark.parametrize("text", ["1" * 3000, "a\x00b", "\x7f"])
def test_text_that_no_store_could_keep_is_that_items_error(client: TestClient, text: str) -> None:
    wrong, right = ask(client, text, "11111").json()["data"]["items"]
    assert (wrong["ok"], wrong["error"]["type"], wrong["input"]) == (
        False,
        "invalid_music_input",
        text,
    )
    assert right["ok"]


def test_a_full_disk_refuses_new_scans_and_still_serves_stored_results(
    service: Any, client: TestClient
) -> None:
    service.stored()
    service.has_free_space = False
    stored, new = ask(client, MUSIC_ID, "11111").json()["data"]["items"]
    assert (stored["ok"], new["ok"]) == (True, False)
    assert new["error"]["type"] == "capacity_exhausted"


def test_a_list_that_could_not_be_read_is_that_items_error(service: Any) -> None:
    refused = UnreachableError("no answer", surface="service_playlist")
    inputs = BatchInputs((BatchInput("a list", "a list", error=refused), BatchInput("1", "11111")))
    batch = to_batch(service.scan_service(), inputs, ScanParameters())
    wrong, right = batch["items"]
    assert (wrong["input"], wrong["ok"], wrong["job_id"]) == ("a list", False, None)
    assert wrong["error"] is not None
    assert (wrong["error"]["type"], wrong["error"]["detail"]) == (refused.type, "no answer")
    assert (right["input"], right["status"]) == ("1", "queued")
    assert [job.input for job in jobs.newest(service.control, limit=5)] == ["11111"]


def test_a_source_without_scans_refuses_the_whole_batch(service: Any) -> None:
    service.provider = "browser-public"
    answer = ask(service.client(), "11111")
    assert answer.status_code == 501
