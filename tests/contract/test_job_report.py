"""The report of a job: one page that needs no service and runs nothing."""

import html
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.extensions.exports import JobPlots
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


def test_a_report_has_the_view_that_is_shown(service: Any) -> None:
    job = service.stored()
    view = {"sort_by": "share", "viral_threshold": "7", "columns": "rank,desc,share_count"}
    page = service.client().get(place_of(job.job_id), params=view).text
    assert "Order: shares; viral from 7 likes." in page
    assert "排序：分享；爆款点赞 ≥ 7。" in page
    table = page.partition('<table class="ranking">')[2].partition("</table>")[0]
    assert "Shares" in table
    assert "Comments" not in table
    nobody = service.client().get(place_of(job.job_id), params={"account": "nobody-at-all"}).text
    rows = nobody.partition('<table class="ranking">')[2].partition("</table>")[0]
    assert "<tr>\n      <td" not in rows
    assert "only accounts with “nobody-at-all”" in nobody


def test_a_report_is_named_after_its_track(service: Any) -> None:
    job = service.stored()
    header = service.client().get(place_of(job.job_id)).headers["content-disposition"]
    assert unquote(header).endswith(" – report – 2026-01-31 – demo data.html")


def test_the_plots_of_a_job_say_what_its_report_says(service: Any) -> None:
    job = service.stored()
    client = service.client()
    answer = client.get(f"/api/v1/sametrack/jobs/{job.job_id}/plots?viral_threshold=7").json()
    Envelope[JobPlots].model_validate(answer)
    page = client.get(place_of(job.job_id), params={"viral_threshold": "7"}).text
    for name in ("publication", "likes", "creators"):
        assert html.escape(answer["data"][name]["title"], quote=False) in page
        assert html.escape(answer["data"][name]["alternative_zh"], quote=False) in page
    missing = client.get("/api/v1/sametrack/jobs/nowhere/plots").json()
    assert missing["data"]["error"]["type"] == "job_not_found"


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
