"""The orchestrator's UI behind the guard, without a token: other sites change nothing.

Its application runs in process here; `test_up.py` starts it.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from dagster import DagsterInstance, DagsterRun
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from api.cli.processes.dagster_ui import protect_dagster
from api.server.access.sessions import SessionsInMemory
from api.settings import ApiSettings
from tests.cli.processes.dagster_routes import open_dagster_app

pytestmark = pytest.mark.full

OWN = "http://127.0.0.1:8781"
RUN_ID = "0a3c2f5e-1111-4222-8333-444455556666"
DELETE = f'mutation {{ deletePipelineRun(runId: "{RUN_ID}") {{ __typename }} }}'
IN_ADDRESS = f"/graphql?{urlencode({'query': DELETE})}"
AS_JSON = json.dumps({"query": DELETE}).encode()
JSON = {"content-type": "application/json"}


class Ui:
    """The orchestrator's web application behind the guard, and its instance."""

    def __init__(self, client: TestClient, instance: DagsterInstance) -> None:
        self.client, self.instance = client, instance

    def ask(self, method: str, path: str, body: bytes | None, **headers: str) -> int:
        """Status of the answer."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.request(method, path, content=body, headers=named).status_code

    def has_run(self) -> bool:
        """Whether the run that the mutation deletes is still there."""
        return self.instance.get_run_by_id(RUN_ID) is not None


@pytest.fixture(scope="module")
def running_ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    folder = tmp_path_factory.mktemp("dagster")
    settings = ApiSettings(_env_file=None, data_home=folder, rate_limit_per_s=0)
    with open_dagster_app(folder) as (app, instance):
        guarded = protect_dagster(app, settings, sessions=SessionsInMemory())
        yield Ui(TestClient(guarded, base_url=OWN, follow_redirects=False), instance)


@pytest.fixture
def ui(running_ui: Ui) -> Ui:
    """The UI, with the run that the mutation deletes."""
    if not running_ui.has_run():
        running_ui.instance.add_run(DagsterRun(job_name="scan", run_id=RUN_ID))
    return running_ui


ATTACKS: dict[str, tuple[int, Callable[[Ui], int]]] = {
    "a query in the address, of another site": (
        403, lambda ui: ui.ask("GET", IN_ADDRESS, None, sec_fetch_site="cross-site")),
    "the same of a page on another port": (
        403, lambda ui: ui.ask("GET", IN_ADDRESS, None, sec_fetch_site="same-site")),
    "the same under a foreign host name": (
        421, lambda ui: ui.ask("GET", IN_ADDRESS, None, host="rebound.example")),
    "a JSON body under a foreign host name": (
        421, lambda ui: ui.ask("POST", "/graphql", AS_JSON, host="rebound.example:80", **JSON)),
    "a form of another site": (
        403, lambda ui: ui.ask("POST", IN_ADDRESS, b"", origin="https://other.example",
                               sec_fetch_site="cross-site")),
    "JSON of another site": (
        403, lambda ui: ui.ask("POST", "/graphql", AS_JSON,
                               origin="https://other.example", **JSON)),
    "JSON of a sandboxed frame": (
        403, lambda ui: ui.ask("POST", "/graphql", AS_JSON, origin="null", **JSON)),
    "JSON declared as plain text": (
        403, lambda ui: ui.ask("POST", "/graphql", AS_JSON, origin="https://other.example",
                               content_type="text/plain; application/json")),
    "GraphQL declared as itself": (
        403, lambda ui: ui.ask("POST", "/graphql", DELETE.encode(),
                               origin="https://other.example",
                               content_type="application/graphql")),
    "an event of another site": (
        403, lambda ui: ui.ask("POST", "/report_asset_materialization/track", b"{}",
                               sec_fetch_site="cross-site", **JSON)),
}  # fmt: skip


@pytest.mark.parametrize("name", list(ATTACKS))
def test_cross_site_requests_to_the_dagster_ui_change_nothing(ui: Ui, name: str) -> None:
    status, attack = ATTACKS[name]
    assert attack(ui) == status
    assert ui.has_run()


def test_a_socket_of_another_site_is_not_opened(ui: Ui) -> None:
    def open_socket(origin: str) -> None:
        given = {"origin": origin, "host": OWN.removeprefix("http://")}
        with ui.client.websocket_connect("/graphql", ["graphql-ws"], headers=given) as opened:
            opened.send_json({"type": "connection_init"})
            assert opened.receive_json()["type"] == "connection_ack"

    with pytest.raises(WebSocketDisconnect):
        open_socket("https://other.example")
    open_socket(OWN)


def test_the_page_itself_is_served(ui: Ui) -> None:
    assert ui.ask("GET", "/", None) == 200
    assert ui.ask("GET", "/graphql", None, accept="text/html") == 200


def test_the_page_own_request_is_obeyed(ui: Ui) -> None:
    own: dict[str, Any] = {"origin": OWN, "sec_fetch_site": "same-origin", **JSON}
    assert ui.ask("POST", "/graphql?op=DeleteRun", AS_JSON, **own) == 200
    assert not ui.has_run()
