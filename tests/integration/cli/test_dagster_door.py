"""The orchestrator's UI behind the guard, by real HTTP: other sites change nothing."""

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from dagster import DagsterRun

from api.cli.processes.child_processes import (
    ChildProcessGroup,
    Program,
    find_port,
    sametrack_command,
)
from pipelines.orchestration.runs.open_instance import open_instance
from tests.stage import PATIENCE_S, wait_for
from warehouse.home.folder import Home, open_home

ROOT = Path(__file__).parents[3]
RUN_ID = "0a3c2f5e-1111-4222-8333-444455556666"
DELETE = f'mutation {{ deletePipelineRun(runId: "{RUN_ID}") {{ __typename }} }}'
IN_ADDRESS = f"/graphql?{urlencode({'query': DELETE})}"
AS_JSON = json.dumps({"query": DELETE}).encode()
JSON = {"content-type": "application/json"}


class Ui:
    """A running UI and the instance behind it."""

    def __init__(self, url: str, home: Home) -> None:
        self.url, self.home = url, home

    def ask(self, method: str, path: str, body: bytes | None, **headers: str) -> int:
        """Status of the answer."""
        request = urllib.request.Request(
            self.url + path, data=body, method=method,
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def open_socket(self, *, origin: str) -> int:
        """Status of the answer to a websocket handshake; 101: open."""
        host = self.url.removeprefix("http://")
        lines = (
            "GET /graphql HTTP/1.1", f"Host: {host}", f"Origin: {origin}", "Upgrade: websocket",
            "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: graphql-ws",
        )  # fmt: skip
        name, _, port = host.partition(":")
        with socket.create_connection((name, int(port)), timeout=PATIENCE_S) as stream:
            stream.sendall("\r\n".join((*lines, "", "")).encode())
            return int(stream.recv(64).split()[1])

    def has_run(self) -> bool:
        """Whether the run that the mutation deletes is still there."""
        with open_instance(self.home) as instance:
            return instance.get_run_by_id(RUN_ID) is not None


@pytest.fixture(scope="module")
def running_ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    folder = tmp_path_factory.mktemp("dagster")
    with pytest.MonkeyPatch.context() as environment, ChildProcessGroup() as process_group:
        home = open_home(folder, "sandbox")
        with open_instance(home):
            """Make its configuration and its files."""
        environment.setenv("DAGSTER_HOME", str(home.dagster_dir))
        port = find_port()
        command = sametrack_command(
            "dagster-ui", "--port", str(port), "--socket", str(folder / "none")
        )
        started = process_group.start(
            Program(name="ui", command=command, log=folder / "log", env={"PYTHONPATH": str(ROOT)})
        )
        found = Ui(f"http://127.0.0.1:{port}", home)

        def is_up() -> bool:
            assert started.exit_code() is None, started.log_tail()
            try:
                found.ask("GET", "/server_info", None)
            except OSError:
                return False
            return True

        wait_for(is_up)
        yield found


@pytest.fixture
def ui(running_ui: Ui) -> Ui:
    """The UI, with the run that the mutation deletes."""
    if not running_ui.has_run():
        with open_instance(running_ui.home) as instance:
            instance.add_run(DagsterRun(job_name="scan", run_id=RUN_ID))
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
def test_what_another_site_can_send_changes_nothing(ui: Ui, name: str) -> None:
    status, attack = ATTACKS[name]
    assert attack(ui) == status
    assert ui.has_run()


def test_a_socket_of_another_site_is_not_opened(ui: Ui) -> None:
    assert ui.open_socket(origin="https://other.example") == 403
    assert ui.open_socket(origin=ui.url) == 101


def test_the_page_itself_is_served(ui: Ui) -> None:
    assert ui.ask("GET", "/", None) == 200
    assert ui.ask("GET", "/graphql", None, accept="text/html") == 200


def test_the_page_own_request_is_obeyed(ui: Ui) -> None:
    own: dict[str, Any] = {"origin": ui.url, "sec_fetch_site": "same-origin", **JSON}
    assert ui.ask("POST", "/graphql?op=DeleteRun", AS_JSON, **own) == 200
    assert not ui.has_run()
