"""Endpoints 5, 7 and 8 in the strict same-track mode, and our list of jobs."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.result import HotVideosResponse, JobDocument, JobList, JobPreview, JobRanking
from pipelines.parameters.scan import ScanParameters
from tests.contract.operations import BusyWorker
from tests.stored_results import result, variant, version, with_variants, with_versions
from warehouse.control import jobs, links, scan_journal
from warehouse.lake.record_rows import pack_document
from warehouse.records.jobs import ProgressRecord
from warehouse.records.values import Document

ROOT = "/api/v1/vidplat/app/v3"
HOT = f"{ROOT}/fetch_music_hot_videos"
JOBS = f"{ROOT}/music_collection_jobs"
MUSIC_ID = "7300000000000000001"


def ask(client: TestClient, **body: Any) -> Any:
    return client.post(JOBS, json={"input": MUSIC_ID, **body})


def test_a_new_scan_is_accepted_with_where_to_poll(client: TestClient) -> None:
    answer = ask(client)
    data = answer.json()["data"]
    assert answer.status_code == 202
    assert data["status"] == "queued"
    assert data["poll_url"] == answer.headers["location"] == f"{JOBS}/{data['job_id']}"
    assert int(answer.headers["retry-after"]) >= 1
    assert data["is_demo_data"] is True
    TypeAdapter(JobDocument).validate_python(data)


def test_the_get_form_starts_the_same_job(client: TestClient) -> None:
    first = ask(client, count=10)
    second = client.get(HOT, params={"url": MUSIC_ID, "count": 10})
    assert second.status_code == 202
    assert second.json()["data"]["job_id"] == first.json()["data"]["job_id"]


@pytest.mark.parametrize("name", ["input", "music_id", "url"])
def test_the_input_has_three_names(client: TestClient, name: str) -> None:
    answer = client.post(JOBS, json={name: f" look: https://vidplat.example/music/{MUSIC_ID} 🎵"})
    assert answer.status_code == 202
    assert answer.json()["data"]["music_id"] == MUSIC_ID
    assert answer.json()["params"]["input"].endswith("🎵")


def test_an_equal_request_joins_and_another_one_does_not(client: TestClient) -> None:
    first, twin, other = ask(client), ask(client, refresh=True), ask(client, match_threshold=0.7)
    assert first.json()["data"]["job_id"] == twin.json()["data"]["job_id"]
    assert first.json()["data"]["job_id"] != other.json()["data"]["job_id"]


def test_params_are_what_the_service_understood(client: TestClient) -> None:
    params = client.get(HOT, params={"url": MUSIC_ID, "candidate_limit": "200"}).json()["params"]
    assert params["music_id"] == MUSIC_ID
    assert params["candidate_limit"] == params["search_candidate_limit"] == 200
    assert "url" not in params


def test_a_small_pool_is_remarked_on_where_it_was_asked_for(
    service: Any, client: TestClient
) -> None:
    service.stored()
    for limit, types in ((99, ["low_candidate_limit"]), (100, [])):
        body = ask(client, candidate_limit=limit).json()["data"]
        query = client.get(HOT, params={"music_id": MUSIC_ID, "candidate_limit": limit}).json()
        assert body["status"] == "completed"
        assert [note["type"] for note in body["notes"]] == types
        assert query["data"]["notes"] == body["notes"]


def test_a_stored_result_is_the_completed_job_of_the_run_that_made_it(
    service: Any, client: TestClient
) -> None:
    job = service.stored()
    answer = ask(client, count=5, sort_by="oldest")
    data = answer.json()["data"]
    assert (answer.status_code, data["status"], data["job_id"]) == (200, "completed", job.job_id)
    assert [video["rank"] for video in data["result"]["aweme_list"]] == [1, 2, 3, 4, 5]
    assert data["result"]["aweme_list"][0]["create_time"] == 1_700_000_000
    TypeAdapter(JobDocument).validate_python(data)


def test_a_stored_ranking_is_shown_in_another_order_without_a_new_job(
    service: Any, client: TestClient
) -> None:
    job = service.stored()
    place = f"/api/v1/sametrack/jobs/{job.job_id}/ranking"
    whole = client.get(f"{JOBS}/{job.job_id}").json()["data"]
    assert client.get(place).json()["data"] == whole
    data = client.get(place, params={"sort_by": "oldest", "count": 500}).json()["data"]
    published = [video["create_time"] for video in data["result"]["aweme_list"]]
    assert published == sorted(published)
    assert len(published) == whole["result"]["confirmed_count"] == 40
    assert [
        one["job_id"] for one in client.get("/api/v1/sametrack/jobs").json()["data"]["jobs"]
    ] == [job.job_id]
    TypeAdapter(JobDocument).validate_python(data)


def test_a_ranking_that_does_not_exist_yet_is_null_and_a_wrong_view_is_refused(
    client: TestClient,
) -> None:
    job_id = ask(client).json()["data"]["job_id"]
    place = f"/api/v1/sametrack/jobs/{job_id}/ranking"
    waiting = client.get(place, params={"sort_by": "share"})
    assert (waiting.status_code, waiting.json()["data"]["result"]) == (200, None)
    for wrong in ({"sort_by": "beauty"}, {"count": "0"}, {"depth": "3"}):
        assert client.get(place, params=wrong).status_code == 400
    assert client.get(place.replace(job_id, "nobody")).status_code == 404


def test_versions_stand_apart_from_ranking_and_totals(service: Any, client: TestClient) -> None:
    versions = [version(number, score=1 - number / 10) for number in range(1, 4)]
    plain = service.stored(result(5))
    job = service.stored(with_versions(result(5), *versions))
    answer = client.get(f"{JOBS}/{job.job_id}").json()
    found = Envelope[JobDocument].model_validate(answer).data["result"]
    assert found is not None
    assert "kind" not in found
    assert found["versions"] is not None
    assert [video["version_score"] for video in found["versions"]["aweme_list"]] == [0.9, 0.8, 0.7]
    assert {video["evidence"]["relation"] for video in found["versions"]["aweme_list"]} == {
        "version"
    }
    # Nothing else changes: a version is never confirmed, ranked or counted.
    other = client.get(f"{JOBS}/{plain.job_id}").json()["data"]["result"]
    same = {name: value for name, value in found.items() if name != "versions"}
    assert same == {name: value for name, value in other.items() if name != "versions"}
    place = f"/api/v1/sametrack/jobs/{job.job_id}/ranking"
    few = client.get(place, params={"count": "2", "include_variants": "true"}).json()["data"]
    limited = few["result"]["versions"]
    assert (limited["count"], len(limited["aweme_list"])) == (3, 2)


def test_a_result_of_an_earlier_release_has_unknown_versions(
    service: Any, client: TestClient
) -> None:
    older = result(2)
    older.pop("versions", None)
    job = service.stored(older)
    assert client.get(f"{JOBS}/{job.job_id}").json()["data"]["result"]["versions"] is None


def test_variants_are_ranked_only_where_they_are_asked_for(
    service: Any, client: TestClient
) -> None:
    job = service.stored(with_variants(result(5), variant(1, likes=3500)))
    place = f"/api/v1/sametrack/jobs/{job.job_id}/ranking"
    strict = client.get(f"{JOBS}/{job.job_id}").json()["data"]
    assert client.get(place, params={"include_variants": "false"}).json()["data"] == strict
    answer = client.get(place, params={"include_variants": "true", "sort_by": "digg"}).json()
    mixed = Envelope[JobRanking].model_validate(answer).data["result"]
    assert mixed is not None
    assert "kind" not in mixed
    kinds = [row.get("variant_kind") for row in mixed["aweme_list"]]
    assert kinds == [None, "speed", None, None, None, None]
    assert (mixed["confirmed_count"], mixed["totals"]["video_count"]) == (5, 6)
    assert answer["params"]["include_variants"] is True
    assert strict["result"]["totals"]["video_count"] == strict["result"]["confirmed_count"] == 5


def test_the_get_form_answers_the_stored_ranking_itself(service: Any, client: TestClient) -> None:
    job = service.stored()
    answer = client.get(HOT, params={"music_id": MUSIC_ID, "count": 3})
    assert answer.status_code == 200
    found = Envelope[HotVideosResponse].model_validate(answer.json()).data
    assert (found["job_id"], found["returned_count"], found["count_satisfied"]) == (
        job.job_id,
        3,
        True,
    )
    assert found["aweme_list"][0]["hot_score"] == 39_000 + 4 * 39 + 3 * 39 + 8
    assert found["aweme_list"][0]["evidence"] is not None
    assert found["coverage_complete"] is False


def test_a_link_that_was_followed_before_finds_the_stored_result(
    service: Any, client: TestClient
) -> None:
    service.stored()
    links.save(service.control, "https://s.example/abc", "music", MUSIC_ID, ttl_s=60)
    assert ask(client, input="https://s.example/abc").status_code == 200
    assert ask(client, input="https://s.example/other").status_code == 202


@pytest.mark.parametrize(
    "body", [{"refresh": True}, {"candidate_limit": 500}, {"count": 41}, {"verify_audio": False}]
)
def test_a_request_for_more_starts_a_scan(
    service: Any, client: TestClient, body: dict[str, Any]
) -> None:
    service.stored()
    assert ask(client, **body).status_code == 202


def test_an_old_result_starts_a_scan(service: Any, client: TestClient) -> None:
    service.stored()
    service.now += timedelta(hours=6, seconds=1)
    assert ask(client).status_code == 202


def test_a_shortfall_is_a_success_that_says_so(
    service: Any, client: TestClient, make_result: Callable[..., Document]
) -> None:
    service.stored(make_result(4, ended=True))
    found = ask(client).json()["data"]["result"]
    assert (found["count_satisfied"], found["returned_count"]) == (False, 4)
    assert "4" in found["count_note_zh"]


def test_a_job_shows_its_progress_then_its_result(
    service: Any, client: TestClient, make_result: Callable[..., Document]
) -> None:
    job_id = ask(client).json()["data"]["job_id"]
    jobs.claim(service.control, "worker")
    jobs.save_progress(service.control, job_id, ProgressRecord(candidate_pool_count=7))
    running = client.get(f"{JOBS}/{job_id}")
    assert running.json()["data"]["status"] == "running"
    assert running.json()["data"]["progress"]["candidate_pool_count"] == 7
    assert "retry-after" in running.headers
    service.complete(job_id, make_result(40))
    done = client.get(f"{JOBS}/{job_id}")
    assert done.json()["data"]["result"]["returned_count"] == 30
    assert "retry-after" not in done.headers
    TypeAdapter(JobDocument).validate_python(done.json()["data"])


def test_a_failed_job_names_its_error(service: Any, client: TestClient) -> None:
    job_id = ask(client).json()["data"]["job_id"]
    error: dict[str, object] = {
        "type": "upstream_verification", "detail": "asked", "hint": None, "retry_after": None,
        "upstream": {"surface": "music_list", "reason": "captcha", "status": 200},
    }  # fmt: skip
    jobs.claim(service.control, "worker")
    jobs.finish(service.control, job_id, "failed", error=error)
    answer = client.get(f"{JOBS}/{job_id}")
    assert answer.status_code == 200
    found = TypeAdapter(JobDocument).validate_python(answer.json()["data"])
    assert found["error"] is not None
    assert (found["error"]["type"], found["result"]) == ("upstream_verification", None)
    assert found["error"]["hint"]


def test_a_job_whose_worker_is_silent_waits_for_another_and_is_not_changed_by_a_look(
    service: Any, client: TestClient
) -> None:
    job_id = ask(client).json()["data"]["job_id"]
    jobs.claim(service.control, "worker")
    service.now += timedelta(seconds=19)
    progress = client.get(f"{JOBS}/{job_id}").json()["data"]["progress"]
    assert (progress["waiting_for"], progress["attempt"]) == ("processor", 1)
    before = jobs.get(service.control, job_id)
    service.now += timedelta(seconds=2)
    data = client.get(f"{JOBS}/{job_id}").json()["data"]
    assert (data["status"], data["progress"]["waiting_for"]) == ("running", "worker")
    assert jobs.get(service.control, job_id) == before


def test_a_job_whose_worker_is_silent_is_cancelled_at_once(
    service: Any, client: TestClient
) -> None:
    job_id = ask(client).json()["data"]["job_id"]
    jobs.claim(service.control, "worker")
    service.now += timedelta(seconds=21)
    assert client.delete(f"{JOBS}/{job_id}").json()["data"]["status"] == "cancelled"


def test_a_job_that_goes_on_says_from_where(service: Any, client: TestClient) -> None:
    job_id = ask(client).json()["data"]["job_id"]
    jobs.claim(service.control, "worker")
    assert jobs.requeue(service.control, job_id, run_number=1, costs_attempt=True)
    jobs.claim(service.control, "another")
    progress = ProgressRecord(
        continued_from="confirmed_videos", continued_round=2, eta_range_s=(3.0, 9.5)
    )
    jobs.save_progress(service.control, job_id, progress, run_number=2)
    shown = client.get(f"{JOBS}/{job_id}").json()["data"]["progress"]
    assert (shown["attempt"], shown["attempt_count"]) == (2, 3)
    assert shown["continued_from"] == {"stage": "confirmed_videos", "round": 2}
    assert shown["eta_range_s"] == [3.0, 9.5]
    assert shown["waiting_for"] is None


def test_a_completed_job_whose_result_is_lost_says_so(service: Any, client: TestClient) -> None:
    job = service.stored()
    service.results.clear()
    answer = client.get(f"{JOBS}/{job.job_id}")
    assert answer.status_code == 503
    assert answer.json()["data"]["error"]["type"] == "warehouse_unavailable"


def test_a_queued_job_is_cancelled_at_once_and_a_running_one_is_asked(
    service: Any, client: TestClient
) -> None:
    queued = ask(client).json()["data"]["job_id"]
    assert client.delete(f"{JOBS}/{queued}").json()["data"]["status"] == "cancelled"
    running = ask(client).json()["data"]["job_id"]
    jobs.claim(service.control, "worker")
    data = client.delete(f"{JOBS}/{running}").json()["data"]
    assert (data["status"], data["cancel_requested"]) == ("running", True)


def test_cancelling_what_has_ended_says_so_and_changes_nothing(
    service: Any, client: TestClient
) -> None:
    job = service.stored()
    answer = client.delete(f"{JOBS}/{job.job_id}")
    assert answer.status_code == 200
    assert answer.json()["data"]["notes"][0]["type"] == "already_finished"
    assert answer.json()["data"]["status"] == "completed"
    assert jobs.get(service.control, job.job_id) == job
    assert client.get(f"{JOBS}/{job.job_id}").json()["data"]["notes"] == []


@pytest.mark.parametrize(
    "job_id", ["none", "00000000-0000-0000-0000-000000000000", "%00", "a" * 300, "..%2f", "%ff"]
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_job_that_is_not_there_is_not_found(client: TestClient, method: str, job_id: str) -> None:
    answer = client.request(method, f"{JOBS}/{job_id}")
    assert answer.status_code == 404
    assert answer.json()["data"]["error"]["type"] in {"job_not_found", "not_found"}


def test_a_job_whose_retention_is_over_is_not_found(service: Any, client: TestClient) -> None:
    job = service.stored()
    service.now += timedelta(days=31)
    assert client.get(f"{JOBS}/{job.job_id}").status_code == 404


def test_the_list_has_only_jobs_that_are_still_kept(service: Any, client: TestClient) -> None:
    job = service.stored(parameters=ScanParameters(count=7))
    service.now += timedelta(days=30) - timedelta(seconds=1)
    waiting = ask(client, refresh=True).json()["data"]["job_id"]

    def listed(**query: Any) -> list[str]:
        found = client.get("/api/v1/sametrack/jobs", params=query).json()["data"]
        return [one["job_id"] for one in found["jobs"]]

    assert listed() == [waiting, job.job_id]
    service.now += timedelta(seconds=1)
    assert client.get(f"{JOBS}/{job.job_id}").status_code == 404
    assert listed() == [waiting]
    assert listed(status="completed") == []
    assert listed(limit=1, status="queued") == [waiting]


def test_a_reader_who_has_it_already_gets_304(service: Any, client: TestClient) -> None:
    job = service.stored()
    first = client.get(f"{JOBS}/{job.job_id}")
    known = {"If-None-Match": first.headers["etag"]}
    again = client.get(f"{JOBS}/{job.job_id}", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert "retry-after" not in again.headers
    assert client.get(HOT, params={"music_id": MUSIC_ID}, headers=known).status_code == 200


def test_a_304_of_a_job_that_goes_on_says_when_to_ask_again(client: TestClient) -> None:
    path = ask(client).headers["location"]
    known = {"If-None-Match": client.get(path).headers["etag"]}
    again = client.get(path, headers=known)
    assert (again.status_code, again.headers["retry-after"]) == (304, "1")


def test_a_small_candidate_limit_is_noted(client: TestClient) -> None:
    assert (
        ask(client, candidate_limit=15).json()["data"]["notes"][0]["type"] == "low_candidate_limit"
    )


def test_a_full_disk_takes_no_new_scan_but_answers_what_is_stored(
    service: Any, client: TestClient
) -> None:
    service.has_free_space = False
    answer = ask(client)
    assert answer.status_code == 503
    assert answer.json()["data"]["error"]["type"] == "capacity_exhausted"
    service.stored()
    assert ask(client).status_code == 200


def test_another_provider_runs_no_scans(service: Any) -> None:
    service.provider = "browser-public"
    answer = ask(service.client())
    assert answer.status_code == 501
    assert answer.json()["data"]["error"]["type"] == "provider_unsupported"


def test_a_search_by_name_alone_is_a_job_without_a_track(client: TestClient) -> None:
    answer = client.post(JOBS, json={"keyword": "Paper Boats", "search_only": True})
    assert answer.status_code == 202
    data = answer.json()["data"]
    assert (data["input"], data["music_id"], data["status"]) == ("Paper Boats", None, "queued")
    assert answer.json()["params"]["search_only"] is True
    again = client.post(JOBS, json={"keyword": " paper boats ", "search_only": True})
    assert again.json()["data"]["job_id"] == data["job_id"]


def test_jobs_are_listed_newest_first(service: Any, client: TestClient) -> None:
    service.stored(parameters=ScanParameters(count=7))
    service.now += timedelta(seconds=1)
    newest = ask(client, refresh=True).json()["data"]["job_id"]
    answer = client.get("/api/v1/sametrack/jobs")
    found = Envelope[JobList].model_validate(answer.json()).data
    assert found["jobs"][0]["job_id"] == newest
    assert [job["result"] for job in found["jobs"]] == [None, None]
    assert found["tracks"] == {}
    queued = client.get("/api/v1/sametrack/jobs", params={"status": "queued", "limit": 1})
    assert queued.json()["data"]["returned_count"] == 1


def test_a_running_scan_is_previewed_ranked_as_its_job_asks(service: Any) -> None:
    client = service.client()
    job_id = ask(client, sort_by="digg", count=20).json()["data"]["job_id"]
    place = f"/api/v1/sametrack/jobs/{job_id}/preview"
    before = Envelope[JobPreview].model_validate(client.get(place).json()).data
    assert (before["status"], before["aweme_list"], before["updated_at"]) == ("queued", [], None)
    run = jobs.claim(service.control, "worker")
    assert run is not None
    ranked = result(40)["ranked"]
    preview = {"music": result(40)["music"], "ranked": ranked, "confirmed_count": 61}
    scan_journal.save_preview(
        service.control, job_id, pack_document(preview), run_number=run.run_number
    )
    shown = Envelope[JobPreview].model_validate(client.get(place).json()).data
    likes = [video["statistics"]["digg_count"] or 0 for video in shown["aweme_list"]]
    assert likes == sorted(likes, reverse=True)
    assert [video["rank"] for video in shown["aweme_list"]] == list(range(1, 21))
    assert (shown["confirmed_count"], shown["returned_count"]) == (61, 20)
    assert shown["updated_at"] is not None


def test_no_preview_of_an_unknown_job(client: TestClient) -> None:
    answer = client.get("/api/v1/sametrack/jobs/3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61/preview")
    assert answer.json()["data"]["error"]["type"] == "job_not_found"


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "status=done", "page=2"])
def test_a_bad_list_query_is_400(client: TestClient, query: str) -> None:
    assert client.get(f"/api/v1/sametrack/jobs?{query}").status_code == 400


def test_with_a_source_of_first_screens_alone_the_ranking_is_awaited(service: Any) -> None:
    service.is_awaited = True
    with BusyWorker(service, result=result(40)):
        answer = service.client().get(HOT, params={"music_id": MUSIC_ID})
    assert answer.status_code == 200
    assert answer.json()["data"]["returned_count"] == 30
    assert (
        service.client(sync_job_timeout=0.1)
        .get(HOT, params={"music_id": MUSIC_ID, "refresh": "true"})
        .status_code
        == 503
    )
