"""The report of a job: one page that needs no service and runs nothing."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.stored_results import MUSIC_ID


def place_of(job_id: str) -> str:
    return f"/api/v1/sametrack/jobs/{job_id}/report"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_result_is_one_page_without_script(service: Any, language: str) -> None:
    job = service.stored()
    answer = service.client().get(place_of(job.job_id), params={"language": language})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    assert f'lang="{language}' in answer.text


def test_a_job_without_a_result_has_no_report(client: TestClient) -> None:
    asked = client.post(
        "/api/v1/vidplat/app/v3/music_collection_jobs", json={"input": MUSIC_ID}
    ).json()
    answer = client.get(place_of(asked["data"]["job_id"]))
    assert answer.json()["data"]["error"]["type"] == "not_found"


def test_an_unknown_job_or_language_is_refused(client: TestClient) -> None:
    unknown = client.get(place_of("3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61"))
    assert unknown.json()["data"]["error"]["type"] == "job_not_found"
    assert client.get(place_of("1"), params={"language": "fr"}).status_code == 400
