"""Signing in at the service: the page for people, `/session` for the console, roles."""

from hashlib import sha256
from pathlib import Path
from typing import Any, override

import pytest
from starlette.testclient import TestClient

from api.server.access.sessions import COOKIE, SessionsInMemory
from warehouse.records.errors import WarehouseUnavailableError

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
LIST = "/api/v1/sametrack/jobs"
TOKENS = {"read": "token-to-look", "scan": "token-to-scan", "operate": "token-for-all"}
OWN = {"sec-fetch-site": "same-origin"}


@pytest.fixture
def guarded(service: Any, tmp_path: Path) -> TestClient:
    """The service with a token of each role."""
    file = tmp_path / "tokens"
    lines = [f"{role} {sha256(token.encode()).hexdigest()}" for role, token in TOKENS.items()]
    file.write_text("\n".join(lines))
    found: TestClient = service.client(
        own_api_tokens=file, data_home=tmp_path, dagster_url="http://127.0.0.1:8781"
    )
    return found


def sign_in(client: TestClient, role: str, **more: Any) -> Any:
    return client.post("/session", json={"token": TOKENS[role], **more}, headers=OWN)


def bearer(role: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKENS[role]}"}


def test_a_session_opens_what_its_token_opens(guarded: TestClient) -> None:
    assert guarded.get(LIST).status_code == 401
    answer = sign_in(guarded, "read")
    assert answer.json() == {
        "required": True, "role": "read", "dagster_url": None,
        "shows_pictures": True,
    }  # fmt: skip
    assert guarded.get(LIST).status_code == 200
    assert guarded.get("/session").json()["role"] == "read"
    assert sign_in(guarded, "operate").json()["dagster_url"] == "http://127.0.0.1:8781"
    sign_in(guarded, "read")
    assert guarded.get("/metrics").status_code == 200


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(guarded: TestClient) -> None:
    cookie = sign_in(guarded, "read").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "max-age" not in cookie
    assert "; secure" not in cookie
    assert TOKENS["read"] not in cookie
    assert "max-age=43200" in sign_in(guarded, "read", keep=True).headers["set-cookie"].lower()


def test_behind_a_proxy_with_tls_the_cookie_is_secure(guarded: TestClient) -> None:
    own = {"origin": "https://127.0.0.1", **OWN}
    answer = guarded.post("/session", json={"token": TOKENS["read"]}, headers=own)
    assert "; secure" in answer.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    ("body", "status"),
    [('{"token": "wrong"}', 401), ("{}", 400), ("[]", 400), ("no", 400), ('"text"', 400),
     ('{"token": "' + "x" * 5000 + '"}', 413)],
)  # fmt: skip
def test_invalid_sign_in_body_opens_no_session(guarded: TestClient, body: str, status: int) -> None:
    answer = guarded.post("/session", content=body, headers=OWN)
    assert answer.status_code == status
    assert answer.json()["code"] == status
    assert "set-cookie" not in answer.headers


def test_another_site_cannot_sign_somebody_in_or_out(guarded: TestClient) -> None:
    for path in ("/session", "/login", "/logout"):
        for site in ("cross-site", "same-site"):
            assert guarded.post(path, headers={"sec-fetch-site": site}).status_code == 403


def test_signing_out_ends_the_session(guarded: TestClient) -> None:
    for method, path, status in (("DELETE", "/session", 200), ("POST", "/logout", 303)):
        sign_in(guarded, "read")
        assert guarded.get(LIST).status_code == 200
        answer = guarded.request(method, path, headers=OWN, follow_redirects=False)
        assert answer.status_code == status
        assert guarded.get(LIST).status_code == 401


def test_a_copied_cookie_opens_nothing_after_signing_out(guarded: TestClient) -> None:
    for method, path in (("DELETE", "/session"), ("POST", "/logout")):
        sign_in(guarded, "operate")
        copied = {"cookie": f"{COOKIE}={guarded.cookies[COOKIE]}"}
        guarded.request(method, path, headers=OWN, follow_redirects=False)
        guarded.cookies.clear()
        answer = guarded.get(LIST, headers=copied)
        assert answer.status_code == 401, method
        assert "session" in answer.json()["data"]["error"]["detail"]
        assert guarded.get("/session", headers=copied).json()["role"] is None
        assert guarded.get("/login", headers=copied).status_code == 200
        assert guarded.post(JOBS, json={"input": "1"}, headers={**copied, **OWN}).status_code == 401


def test_signing_in_again_replaces_the_session_of_this_browser_alone(guarded: TestClient) -> None:
    sign_in(guarded, "read")
    first = guarded.cookies[COOKIE]
    guarded.cookies.clear()
    sign_in(guarded, "read")
    second = guarded.cookies[COOKIE]
    sign_in(guarded, "scan")
    guarded.cookies.clear()
    for value, status in ((first, 200), (second, 401)):
        answer = guarded.get(LIST, headers={"cookie": f"{COOKIE}={value}"})
        assert answer.status_code == status


def test_a_store_of_sessions_that_cannot_be_read_is_said(service: Any, tmp_path: Path) -> None:
    class Unreadable(SessionsInMemory):
        @override
        def has_session(self, session_id: str) -> bool:
            raise WarehouseUnavailableError("reading the control store failed")

        @override
        def end_session(self, session_id: str) -> None:
            raise WarehouseUnavailableError("writing to the control store failed")

    service.sessions = Unreadable()
    client = service.client(own_api_token=TOKENS["operate"], data_home=tmp_path)
    assert sign_in(client, "operate").status_code == 200
    for method, path in (("GET", LIST), ("GET", "/session"), ("DELETE", "/session")):
        answer = client.request(method, path, headers=OWN)
        assert answer.status_code == 503, (method, path)
        assert answer.json()["data"]["error"]["type"] == "warehouse_unavailable"
        assert "set-cookie" not in answer.headers


def test_a_session_changes_something_only_from_its_own_pages(guarded: TestClient) -> None:
    sign_in(guarded, "scan")
    assert guarded.post(JOBS, json={"input": "12345"}).status_code == 403
    assert guarded.post(JOBS, json={"input": "12345"}, headers=OWN).status_code == 202
    hot = "/api/v1/vidplat/app/v3/fetch_music_hot_videos?music_id=12345"  # a read that starts work
    assert guarded.get(hot).status_code == 403
    assert guarded.get(hot, headers={"origin": "http://evil.example"}).status_code == 403
    assert guarded.get(hot, headers=OWN).status_code == 202


def test_each_role_does_what_it_may(guarded: TestClient) -> None:
    watch = {"name": "a", "kind": "track", "target": "12345", "every": "1d"}
    wanted = {
        ("GET", LIST): "read",
        ("POST", "/api/v1/vidplat/search/fetch_music_search"): "read",
        ("POST", "/api/v1/vidplat/web/fetch_multi_video"): "read",
        ("GET", "/api/v1/vidplat/app/v3/fetch_music_hot_videos"): "scan",
        ("GET", "/api/v1/vidplat/app/v3/discover_music_related_videos"): "scan",
        ("POST", "/api/v1/vidplat/app/v3/fetch_music_hot_videos_batch"): "scan",
        ("POST", JOBS): "scan",
        ("DELETE", f"{JOBS}/none"): "scan",
        ("POST", "/api/v1/sametrack/watchlists/none/runs"): "scan",
        ("POST", "/api/v1/sametrack/watchlists"): "operate",
        ("PATCH", "/api/v1/sametrack/watchlists/none"): "operate",
        ("DELETE", "/api/v1/sametrack/watchlists/none"): "operate",
        ("PUT", "/api/v1/anything"): "operate",
    }
    order = list(TOKENS)
    for (method, path), lowest in wanted.items():
        for role in order:
            answer = guarded.request(method, path, json=watch, headers=bearer(role))
            is_refused = order.index(role) < order.index(lowest)
            assert (answer.status_code == 403) == is_refused, (method, path, role)
            if is_refused:
                error = answer.json()["data"]["error"]
                assert error["type"] == "role_required"
                assert lowest in error["detail"]


def test_the_page_signs_in_without_a_script(guarded: TestClient) -> None:
    page = guarded.get("/login?next=/docs%3Fa%3Db")
    assert page.status_code == 200
    assert 'value="/docs?a=b"' in page.text
    assert "<script" not in page.text
    assert "script-src" not in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "same-origin"  # else the form has no origin
    form = {"token": TOKENS["read"], "next": "/docs?a=b", "keep": "1"}
    answer = guarded.post("/login", data=form, headers=OWN, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/docs?a=b")
    assert guarded.get(LIST).status_code == 200
    assert guarded.get("/login", follow_redirects=False).status_code == 303  # signed in already


def test_the_page_says_that_a_token_is_wrong(guarded: TestClient) -> None:
    answer = guarded.post("/login", data={"token": "wrong"}, headers=OWN)
    assert answer.status_code == 401
    assert "hidden>The token" not in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "target", ["//evil.example", "/\\evil.example", "https://evil.example", "evil", "/a b",
               "/\n/evil.example", "javascript:alert(1)"],
)  # fmt: skip
def test_the_page_never_leads_to_another_host(guarded: TestClient, target: str) -> None:
    form = {"token": TOKENS["read"], "next": target}
    answer = guarded.post("/login", data=form, headers=OWN, follow_redirects=False)
    assert answer.headers["location"] == "/"


def test_the_page_escapes_where_it_leads(guarded: TestClient) -> None:
    page = guarded.get("/login", params={"next": '/"><script>'})
    assert 'value="/&quot;&gt;&lt;script&gt;"' in page.text


def test_other_methods_are_told_what_is_allowed(guarded: TestClient) -> None:
    for path, allowed in (("/login", "GET, HEAD, POST"), ("/logout", "POST")):
        answer = guarded.put(path, headers=OWN)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


def test_without_tokens_nobody_signs_in(client: TestClient) -> None:
    state = client.get("/session").json()
    assert (state["required"], state["role"]) == (False, "operate")
    assert "set-cookie" not in client.post("/session", json={"token": "x"}, headers=OWN).headers
    assert client.get("/login", follow_redirects=False).headers["location"] == "/"
