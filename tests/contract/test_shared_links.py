"""Read-only links: one page for readers without a token, until it expires or is revoked."""

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from itsdangerous import URLSafeSerializer
from starlette.testclient import TestClient

from api.responses.documents import Envelope
from api.schemas.extensions.shared_links import SharedLinkDocument, SharedLinkList
from api.server.access.sessions import KEY_BYTES
from api.settings import SHARED_PAGES
from tests.contract import test_track_routes
from tests.scripted_reads import ReadService, open_reads
from tests.stored_results import MUSIC_ID
from warehouse.control import jobs, notes

PLACE = "/api/v1/sametrack/shared"
TOKEN = "sesam-42"
MINE = {"Authorization": f"Bearer {TOKEN}"}
UNKNOWN = "3f1c9a52-6d0e-4b7a-9c54-0a7d3f2b8e61"
TRACK = test_track_routes.TRACK


@pytest.fixture(scope="module")
def stored_track(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadService]:
    """Stores with a scanned track."""
    with open_reads(tmp_path_factory.mktemp("shared")) as reads:
        test_track_routes.fill(reads.engine)
        yield reads


@pytest.fixture
def operator(service: Any) -> TestClient:
    """A client with the token of the installation."""
    client: TestClient = service.client(own_api_token=TOKEN)
    client.headers.update(MINE)
    return client


@pytest.fixture
def stranger(service: Any) -> TestClient:
    """A client without a token."""
    client: TestClient = service.client(own_api_token=TOKEN)
    return client


def create(client: TestClient, job_id: str, **body: Any) -> SharedLinkDocument:
    answer = client.post(PLACE, json={"id": job_id, **body})
    assert answer.status_code == 200, answer.text
    return Envelope[SharedLinkDocument].model_validate(answer.json()).data


def links_of(client: TestClient, **query: str) -> list[SharedLinkDocument]:
    answer = client.get(PLACE, params=query)
    return Envelope[SharedLinkList].model_validate(answer.json()).data["links"]


def test_a_stranger_reads_the_report_of_a_link(
    service: Any, operator: TestClient, stranger: TestClient
) -> None:
    job = service.stored()
    link = create(operator, job.job_id)
    page = stranger.get(link["path"])
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    report = operator.get(f"/api/v1/sametrack/jobs/{job.job_id}/report").text
    assert page.text.partition("<main>")[0] == report.partition("<main>")[0]
    assert link["path"].removeprefix(SHARED_PAGES) not in page.text
    assert "<script" not in page.text


def test_the_page_is_kept_nowhere_and_sends_no_address_on(
    service: Any, operator: TestClient, stranger: TestClient
) -> None:
    page = stranger.get(create(operator, service.stored().job_id)["path"])
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["x-robots-tag"] == "noindex, nofollow, noarchive"
    style = page.text.partition("<style>")[2].partition("</style>")[0]
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    rules = page.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", f"style-src 'sha256-{digest}'", "frame-ancestors 'none'"} <= {
        *rules
    }
    assert not any(rule.startswith(("script-src", "connect-src")) for rule in rules)


@pytest.mark.parametrize(
    ("languages", "shown"), [("zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"), ("fr,en", "en"), ("", "en")]
)
def test_the_page_begins_in_the_language_of_the_reader(
    service: Any, operator: TestClient, stranger: TestClient, languages: str, shown: str
) -> None:
    link = create(operator, service.stored().job_id)
    page = stranger.get(link["path"], headers={"Accept-Language": languages})
    assert f'<html lang="{shown}"' in page.text


def test_the_token_of_a_link_opens_nothing_else(
    service: Any, operator: TestClient, stranger: TestClient
) -> None:
    job = service.stored()
    token = create(operator, job.job_id)["path"].removeprefix(SHARED_PAGES)
    for headers in (
        {"Authorization": f"Bearer {token}"},
        {"x-api-key": token},
        {"Cookie": f"sametrack_session={token}"},
    ):
        for place in (
            "/api/v1/sametrack/jobs",
            PLACE,
            f"/api/v1/sametrack/jobs/{job.job_id}/report",
        ):
            assert stranger.get(place, headers=headers).status_code == 401
    assert stranger.post(f"{SHARED_PAGES}{token}").status_code == 405


@pytest.mark.parametrize("is_open", [True, False])
def test_a_link_works_with_and_without_a_token_of_the_installation(
    service: Any, operator: TestClient, is_open: bool
) -> None:
    creator = service.client() if is_open else operator
    link = create(creator, service.stored().job_id)
    assert link["created_by"] == (None if is_open else "operate")
    assert service.client().get(link["path"]).status_code == 200


def test_a_link_has_the_name_of_its_token_and_readers_create_and_see_none(
    service: Any, tmp_path: Path
) -> None:
    digests = {token: hashlib.sha256(token.encode()).hexdigest() for token in ("team", "board")}
    file = tmp_path / "tokens"
    file.write_text(f"scan {digests['team']} # Lin, label A\nread {digests['board']}\n")
    client = service.client(own_api_tokens=file)
    team, board = ({"x-api-key": token} for token in ("team", "board"))
    body = {"id": service.stored().job_id}
    link = client.post(PLACE, json=body, headers=team).json()["data"]
    assert link["created_by"] == "Lin, label A"
    for refused in (
        client.post(PLACE, json=body, headers=board),
        client.get(PLACE, headers=board),
        client.delete(f"{PLACE}/{link['link_id']}", headers=board),
    ):
        assert refused.json()["data"]["error"]["type"] == "role_required"
    assert client.get(link["path"]).status_code == 200


def _revoked(service: Any, operator: TestClient, path: str, link_id: str) -> str:
    assert operator.delete(f"{PLACE}/{link_id}").status_code == 200
    return path


def _expired(service: Any, _operator: TestClient, path: str, _link_id: str) -> str:
    service.now += timedelta(days=30)
    return path


def _changed(_service: Any, _operator: TestClient, path: str, _link_id: str) -> str:
    return f"{path[:-4]}AAAA"


def _signed_elsewhere(_service: Any, _operator: TestClient, _path: str, link_id: str) -> str:
    signer = URLSafeSerializer(b"x" * KEY_BYTES, salt=SHARED_PAGES)
    return f"{SHARED_PAGES}{signer.dumps(link_id)}"


def _session_key_other_purpose(
    _service: Any, _operator: TestClient, _path: str, link_id: str
) -> str:
    signer = URLSafeSerializer(b"k" * KEY_BYTES, salt="sametrack_session")
    return f"{SHARED_PAGES}{signer.dumps(link_id)}"


def _deleted_job(service: Any, _operator: TestClient, path: str, _link_id: str) -> str:
    jobs.delete_ended(
        service.control, [job.job_id for job in jobs.newest(service.control, limit=9)]
    )
    return path


def _erased_result(service: Any, _operator: TestClient, path: str, _link_id: str) -> str:
    service.results.clear()
    return path


def _nothing(_service: Any, _operator: TestClient, _path: str, _link_id: str) -> str:
    return SHARED_PAGES


@pytest.mark.parametrize(
    "spoil",
    [
        _revoked, _expired, _changed, _signed_elsewhere, _session_key_other_purpose, _deleted_job,
        _erased_result, _nothing,
    ],
)  # fmt: skip
def test_a_link_that_shows_nothing_has_one_page_whatever_the_reason(
    service: Any,
    operator: TestClient,
    spoil: Callable[[Any, TestClient, str, str], str],
) -> None:
    link = create(operator, service.stored().job_id)
    path = spoil(service, operator, link["path"], link["link_id"])
    page = service.client(own_api_token=TOKEN).get(path)
    unknown = service.client(own_api_token=TOKEN).get(f"{SHARED_PAGES}unknown")
    assert (page.status_code, page.text) == (404, unknown.text)
    ignored = {"x-request-id"}
    assert {name: value for name, value in page.headers.items() if name not in ignored} == {
        name: value for name, value in unknown.headers.items() if name not in ignored
    }
    assert "This link is not valid" in page.text
    assert "链接无效" in page.text
    assert page.headers["cache-control"] == "no-store"


def test_links_say_who_created_them_until_when_and_when_they_were_used(
    service: Any, operator: TestClient, stranger: TestClient
) -> None:
    job = service.stored()
    link = create(operator, job.job_id, days=7)
    assert (link["kind"], link["id"], link["last_used_at"]) == ("result", job.job_id, None)
    assert link["created_at"].startswith(f"{service.now:%Y-%m-%d}")
    assert link["expires_at"].startswith(f"{service.now + timedelta(days=7):%Y-%m-%d}")
    service.now += timedelta(hours=1)
    stranger.get(link["path"])
    (listed,) = links_of(operator, kind="result", id=job.job_id)
    assert listed["last_used_at"] == f"{service.now:%Y-%m-%dT%H:%M:%SZ}"
    assert {**listed, "last_used_at": None} == link


def test_valid_links_are_listed_newest_first_and_of_one_result_alone(
    service: Any, operator: TestClient
) -> None:
    first, second = service.stored(), service.stored()
    short = create(operator, first.job_id, days=1)
    service.now += timedelta(hours=1)
    long = create(operator, second.job_id, days=9)
    assert [link["link_id"] for link in links_of(operator)] == [long["link_id"], short["link_id"]]
    assert [link["id"] for link in links_of(operator, id=first.job_id)] == [first.job_id]
    service.now += timedelta(days=1)
    assert [link["link_id"] for link in links_of(operator)] == [long["link_id"]]


def test_the_job_of_a_link_is_kept_until_the_link_ends(
    service: Any, operator: TestClient, stranger: TestClient
) -> None:
    job = service.stored()
    link = create(operator, job.job_id, days=365)
    service.now += timedelta(days=364)
    assert jobs.expired(service.control, service.now, limit=9) == []
    assert stranger.get(link["path"]).status_code == 200
    service.now += timedelta(days=1)
    assert jobs.expired(service.control, service.now, limit=9) == [job.job_id]


def test_a_short_link_does_not_shorten_the_life_of_its_job(
    service: Any, operator: TestClient
) -> None:
    job = service.stored()
    create(operator, job.job_id, days=1)
    service.now += timedelta(days=2)
    assert jobs.expired(service.control, service.now, limit=9) == []


@pytest.mark.parametrize(
    "body",
    [{}, {"id": ""}, {"id": "1", "kind": "song"}, {"id": "1", "days": 0}, {"id": "1", "days": 366},
     {"id": "1", "days": "7"}, {"id": "1", "label": "x"}],
)  # fmt: skip
def test_a_bad_link_is_refused(operator: TestClient, body: dict[str, Any]) -> None:
    assert operator.post(PLACE, json=body).status_code == 400
    assert links_of(operator) == []


def test_only_a_result_with_a_ranking_is_shared(service: Any, operator: TestClient) -> None:
    unknown = operator.post(PLACE, json={"id": UNKNOWN})
    assert unknown.json()["data"]["error"]["type"] == "job_not_found"
    queued = operator.post(
        "/api/v1/vidplat/app/v3/music_collection_jobs", json={"input": MUSIC_ID}
    ).json()["data"]
    refused = operator.post(PLACE, json={"id": queued["job_id"]})
    assert refused.json()["data"]["error"]["type"] == "not_found"


def test_a_link_is_revoked_once(service: Any, operator: TestClient) -> None:
    link = create(operator, service.stored().job_id)
    place = f"{PLACE}/{link['link_id']}"
    assert operator.delete(place).json()["data"]["is_revoked"] is True
    assert links_of(operator) == []
    assert operator.delete(place).json()["data"]["error"]["type"] == "not_found"


def test_pages_of_links_count_against_the_rate_of_their_reader(service: Any) -> None:
    reader = service.client(rate_limit_per_s=1, rate_limit_burst=2)
    answers = [reader.get(f"{SHARED_PAGES}unknown").status_code for _ in range(3)]
    assert answers == [404, 404, 429]


def test_a_page_of_another_site_may_lead_to_a_link(
    service: Any, operator: TestClient, stranger: TestClient
) -> None:
    link = create(operator, service.stored().job_id)
    headers = {"Sec-Fetch-Site": "cross-site", "Referer": "https://mail.example/"}
    assert stranger.get(f"{link['path']}?utm_source=mail", headers=headers).status_code == 200


def test_the_token_of_a_link_is_in_no_log_line_and_in_no_error(service: Any) -> None:
    lines: list[dict[str, object]] = []
    client = service.client(note=lines.append, rate_limit_per_s=1, rate_limit_burst=1)
    first = client.get(f"{SHARED_PAGES}secret-token")
    refused = client.get(f"{SHARED_PAGES}secret-token")
    assert (first.status_code, refused.status_code) == (404, 429)
    assert [line["path"] for line in lines] == [f"{SHARED_PAGES}…"] * 2
    assert "secret-token" not in refused.text


def test_a_service_without_a_profile_has_no_links(service: Any) -> None:
    service.has_links = False
    client = service.client()
    assert client.get(f"{SHARED_PAGES}unknown").status_code == 404
    refused = client.get(PLACE)
    assert refused.json()["data"]["error"]["type"] == "profile_not_chosen"


def test_a_stranger_reads_the_page_of_a_track_until_its_link_is_revoked(
    service: Any, stored_track: ReadService
) -> None:
    service.reads = stored_track
    notes.write(stored_track.control, "track", TRACK, text="for our eyes only", tags=[])
    operator, stranger = service.client(own_api_token=TOKEN), service.client(own_api_token=TOKEN)
    operator.headers.update(MINE)
    link = create(operator, TRACK, kind="track")
    assert (link["kind"], link["id"], link["is_demo_data"]) == ("track", TRACK, True)
    page = stranger.get(link["path"])
    assert page.status_code == 200
    assert "Night Flight" in page.text
    assert "demo data" in page.text
    for hidden in ("<script", "<a ", "for our eyes only", "/api/"):
        assert hidden not in page.text
    assert stranger.get(f"/api/v1/sametrack/tracks/{TRACK}").status_code == 401
    assert links_of(operator, kind="track", id=TRACK)[0]["last_used_at"] is not None
    assert links_of(operator, kind="result") == []
    assert operator.delete(f"{PLACE}/{link['link_id']}").status_code == 200
    ended = stranger.get(link["path"])
    assert (ended.status_code, "This link is not valid" in ended.text) == (404, True)


def test_the_page_of_a_track_is_what_is_stored_when_it_is_opened(
    service: Any, tmp_path: Path
) -> None:
    with open_reads(tmp_path / "reads") as reads:
        service.reads = reads
        test_track_routes.fill(reads.engine)
        link = create(service.client(), TRACK, kind="track")
        assert "first scan" in service.client().get(link["path"]).text
        test_track_routes.scan(reads.engine, "third", [], day=5)
        assert "2026-11-07 09:00 UTC" in service.client().get(link["path"]).text


def test_a_link_to_a_track_of_which_nothing_is_stored_says_what_to_do(
    service: Any, operator: TestClient
) -> None:
    refused = operator.post(PLACE, json={"id": "7399999999999999999", "kind": "track"})
    error = refused.json()["data"]["error"]
    assert (refused.status_code, error["type"]) == (404, "not_found")
    assert error["hint"].startswith("Scan it first")
    assert links_of(operator) == []


def test_a_link_to_a_track_that_is_no_longer_stored_shows_nothing(
    service: Any, stored_track: ReadService
) -> None:
    service.reads = stored_track
    link = create(service.client(), TRACK, kind="track")
    service.reads = None
    assert service.client().get(link["path"]).status_code == 404
