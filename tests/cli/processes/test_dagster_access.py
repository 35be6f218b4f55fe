"""The access policy in front of the orchestrator's UI, whose own application runs in process."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import pytest
from dagster import DagsterInstance, DagsterRun
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from api.cli.processes.dagster_ui import protect_dagster
from api.server.access.sessions import COOKIE, SessionsInMemory
from api.settings import ApiSettings
from tests.cli.processes.dagster_routes import open_dagster_app, routes_of

pytestmark = pytest.mark.full

TOKENS = {"read": "token-to-look", "scan": "token-to-scan", "operate": "token-for-all"}
RUN_ID = "0a3c2f5e-1111-4222-8333-444455556666"
DELETE = f'mutation {{ deletePipelineRun(runId: "{RUN_ID}") {{ __typename }} }}'
LOOK = "{ version }"
SUBSCRIBE = 'subscription { pipelineRunLogs(runId: "none") { __typename } }'
OPEN = {"/login", "/logout", "/session"}
OWN = {"sec-fetch-site": "same-origin"}


class Ui:
    """The orchestrator's web application behind the policy, and its instance."""

    def __init__(self, app: Any, guarded: Any, instance: DagsterInstance) -> None:
        self.app, self.guarded, self.instance = app, guarded, instance

    def client(self) -> TestClient:
        return TestClient(
            self.guarded, base_url="http://127.0.0.1:8781", raise_server_exceptions=False,
            follow_redirects=False,
        )  # fmt: skip

    def as_role(self, role: str) -> TestClient:
        found = self.client()
        found.headers["Authorization"] = f"Bearer {TOKENS[role]}"
        return found

    def signed_in(self, role: str) -> TestClient:
        found = self.client()
        assert found.post("/session", json={"token": TOKENS[role]}, headers=OWN).status_code == 200
        return found

    def has_run(self) -> bool:
        return self.instance.get_run_by_id(RUN_ID) is not None


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    folder = tmp_path_factory.mktemp("ui")
    file = folder / "tokens"
    lines = [f"{role} {sha256(token.encode()).hexdigest()}" for role, token in TOKENS.items()]
    file.write_text("\n".join(lines))
    settings = ApiSettings(
        _env_file=None, own_api_tokens=file, data_home=folder, rate_limit_per_s=0
    )
    with open_dagster_app(folder) as (app, instance):
        yield Ui(app, protect_dagster(app, settings, sessions=SessionsInMemory()), instance)


@pytest.fixture
def ui(running: Ui) -> Ui:
    """The UI, with a run to delete."""
    if not running.has_run():
        running.instance.add_run(DagsterRun(job_name="scan", run_id=RUN_ID))
    return running


def ask(client: TestClient, query: str, **more: Any) -> Any:
    return client.post("/graphql", json={"query": query, **more}, headers=OWN)


def test_without_a_token_no_route_of_the_ui_answers(ui: Ui) -> None:
    found = set(routes_of(ui.app.routes))
    assert {("POST", "/graphql"), ("POST", "/report_asset_materialization/x")} <= found
    assert ("GET", "/logs/x") in found
    assert len(found) > 20
    client = ui.client()
    for method, path in sorted(found | {("GET", "/"), ("DELETE", "/x"), ("OPTIONS", "/graphql")}):
        answer = client.request(method, path)
        assert answer.status_code == 401, (method, path)
        if method != "HEAD":
            assert answer.json()["data"]["error"]["type"] == "unauthorized"
    assert ui.has_run()


def test_the_only_kinds_of_route_are_those_that_the_sweep_knows(ui: Ui) -> None:
    assert {type(route) for route in ui.app.routes} == {Mount, Route, WebSocketRoute}


def test_dagster_ui_opens_only_the_sign_in_paths_to_strangers(ui: Ui) -> None:
    client = ui.client()
    assert client.get("/login").status_code == 200
    assert client.get("/session").json()["role"] is None
    assert client.post("/logout", headers=OWN).headers["location"] == "/login"


def test_a_person_is_led_to_the_sign_in_page_and_back(ui: Ui) -> None:
    client = ui.client()
    answer = client.get("/runs?status=FAILURE", headers={"accept": "text/html,*/*"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=%2Fruns%3Fstatus%3DFAILURE"
    page = client.get(answer.headers["location"])
    assert 'value="/runs?status=FAILURE"' in page.text
    form = {"token": TOKENS["operate"], "next": "/runs?status=FAILURE"}
    back = client.post("/login", data=form, headers=OWN)
    assert back.headers["location"] == "/runs?status=FAILURE"
    assert client.get("/runs", headers={"accept": "text/html"}).status_code == 200


def test_the_session_of_the_console_opens_the_ui(ui: Ui) -> None:
    value = ui.signed_in("operate").cookies[COOKIE]
    client = ui.client()
    client.headers["cookie"] = f"{COOKIE}={value}"
    assert "version" in ask(client, LOOK).json()["data"]


@pytest.mark.parametrize("role", ["read", "scan"])
def test_a_lower_role_sees_and_changes_nothing(ui: Ui, role: str) -> None:
    for client in (ui.as_role(role), ui.signed_in(role)):
        answers = [
            client.get("/", headers={"accept": "text/html"}), client.get("/server_info"),
            ask(client, LOOK), ask(client, DELETE),
            client.post("/report_asset_materialization/a", json={}, headers=OWN),
        ]  # fmt: skip
        assert [answer.status_code for answer in answers] == [403] * len(answers)
        kinds = {answer.json()["data"]["error"]["type"] for answer in answers}
        assert kinds == {"role_required"}
        with pytest.raises(WebSocketDisconnect), socket_of(client):
            pass
    assert ui.has_run()


def test_graphql_in_an_address_is_a_change_that_a_session_sends_from_its_own_pages_only(
    ui: Ui,
) -> None:
    client, query = ui.signed_in("operate"), {"query": DELETE}
    elsewhere: list[dict[str, str]] = [{}]
    elsewhere += [{"sec-fetch-site": site} for site in ("none", "same-site", "cross-site")]
    for headers in elsewhere:
        answer = client.get("/graphql", params=query, headers=headers)
        assert answer.status_code == 403, headers
    assert ui.has_run()


def test_a_line_break_at_the_end_of_a_path_opens_nothing(ui: Ui) -> None:
    answer = ui.as_role("operate").get("/graphql%0A", params={"query": DELETE})
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (404, "not_found")
    assert ui.has_run()


def test_an_operator_changes_something_from_the_own_pages(ui: Ui) -> None:
    client = ui.signed_in("operate")
    answer = client.post("/graphql", json={"query": DELETE})
    assert answer.status_code == 403  # a session without any sign of its own page
    assert ui.has_run()
    assert ask(client, DELETE).status_code == 200
    assert not ui.has_run()


def test_a_token_in_a_header_needs_no_page(ui: Ui) -> None:
    assert ui.as_role("operate").post("/graphql", json={"query": DELETE}).status_code == 200
    assert not ui.has_run()


@contextmanager
def socket_of(client: TestClient) -> Iterator[Any]:
    own = {"origin": "http://127.0.0.1:8781", "host": "127.0.0.1:8781"}
    if COOKIE in client.cookies:  # the client gives a socket another host
        own["cookie"] = f"{COOKIE}={client.cookies[COOKIE]}"
    with client.websocket_connect("/graphql", subprotocols=["graphql-ws"], headers=own) as opened:
        opened.send_json({"type": "connection_init"})
        assert opened.receive_json()["type"] == "connection_ack"
        yield opened


def test_a_socket_needs_a_token_or_a_session(ui: Ui) -> None:
    with pytest.raises(WebSocketDisconnect), socket_of(ui.client()):
        pass
    for client in (ui.as_role("operate"), ui.signed_in("operate")):
        with socket_of(client) as opened:
            opened.send_json({"type": "start", "id": "1", "payload": {"query": SUBSCRIBE}})
            assert opened.receive_json()["id"] == "1"


def test_no_page_of_the_ui_may_be_framed_by_others(ui: Ui) -> None:
    headers = ui.as_role("operate").get("/", headers={"accept": "text/html"}).headers
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["x-request-id"]
    assert "default-src 'none'" not in headers["content-security-policy"]


def test_dagster_ui_without_tokens_is_open_to_everybody(ui: Ui, tmp_path: Path) -> None:
    settings = ApiSettings(_env_file=None, data_home=tmp_path)
    opened = protect_dagster(ui.app, settings, sessions=SessionsInMemory())
    with TestClient(opened, base_url="http://127.0.0.1") as client:
        assert client.get("/", headers={"accept": "text/html"}).status_code == 200
        assert ask(client, DELETE).status_code == 200
    assert not ui.has_run()


def test_a_client_that_leaves_during_an_upload_is_no_error(ui: Ui) -> None:
    messages = iter([
        {"type": "http.request", "body": b'{"a"', "more_body": True},
        {"type": "http.disconnect"},
    ])  # fmt: skip
    sent: list[Any] = []

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    token = f"Bearer {TOKENS['operate']}".encode()
    scope = {
        "type": "http", "method": "POST", "path": "/report_asset_materialization/x",
        "raw_path": b"/report_asset_materialization/x", "query_string": b"", "root_path": "",
        "scheme": "http", "server": ("127.0.0.1", 8781), "client": ("127.0.0.1", 50000),
        "headers": [
            (b"host", b"127.0.0.1:8781"), (b"authorization", token),
            (b"content-type", b"application/json"), (b"sec-fetch-site", b"same-origin"),
        ],
    }  # fmt: skip
    anyio.run(ui.guarded, scope, receive, send)
    assert next(messages, None) is None, "the upload was begun"
