"""`sametrack up` starts everything, revives a dead worker, and takes all along.

With a token set it listens on known ports alone, and none answers a stranger.

The same sweeps in process, with more callers, are tests/contract/test_open_paths.py and
test_dagster_access.py.
"""

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest
from fastapi.routing import APIRoute
from starlette.routing import Route

from api.cli.processes.child_processes import find_port
from api.routes import ROUTERS
from tests.dagster_routes import open_dagster_app, routes_of
from tests.integration.cli.conftest import ALWAYS, Watch
from tests.stage import PATIENCE_S, wait_for

TOKEN = "token-of-the-owner"
OPEN_PAGES = {"/healthz", "/readyz", "/", "/console", "/openapi.json", "/docs"}
HANDSHAKE = {
    "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "graphql-ws",
}  # fmt: skip


class Up:
    """A running `sametrack up` and its ports."""

    def __init__(
        self, process: subprocess.Popen[str], log: Path, *, api: int, ui: int, sandbox: int
    ) -> None:
        self.process, self.log = process, log
        self.api, self.ui, self.sandbox = api, ui, sandbox

    def listeners(self) -> set[tuple[str, int]]:
        """Every address on which one of its processes accepts connections."""
        root = psutil.Process(self.process.pid)
        found: set[tuple[str, int]] = set()
        for one in (root, *root.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # a helper that has just ended
                found |= {
                    (connection.laddr.ip, connection.laddr.port)
                    for connection in one.net_connections(kind="inet")
                    if connection.status == psutil.CONN_LISTEN
                }
        return found


def status(port: int, method: str, path: str, **headers: str) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        connection.request(method, path, headers=headers)
        return connection.getresponse().status


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("up")
    api, ui, sandbox = find_port(), find_port(), find_port()
    settings = {
        "OWN_API_TOKEN": TOKEN, "DATA_HOME": str(folder / "data"), "API_PORT": str(api),
        "SANDBOX_PORT": str(sandbox), "WORKER_RUNS": "1", "RATE_LIMIT_PER_S": "0",
    }  # fmt: skip
    command = ("up", "--sandbox", "--size", "0.1", "--dagster-port", str(ui))
    log = folder / "log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "api.cli.main", *command],
            cwd=folder, env={**os.environ, **ALWAYS, **settings}, stdin=subprocess.DEVNULL,
            stdout=stream, stderr=stream, text=True, start_new_session=True,
        )  # fmt: skip

    def is_ready() -> bool:
        assert process.poll() is None, log.read_text()
        return "ready (profile" in log.read_text()

    try:
        wait_for(is_ready)
        yield Up(process, log, api=api, ui=ui, sandbox=sandbox)
        watch = Watch()
        everybody = watch.family(process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
        assert watch.wait_until(lambda: watch.are_gone(everybody)), "it takes all along"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_it_listens_on_three_ports_of_loopback(up: Up) -> None:
    """The third is the sandbox, which stands in for the platform's public pages."""
    assert up.listeners() == {("127.0.0.1", port) for port in (up.api, up.ui, up.sandbox)}


def test_everything_is_up_and_a_dead_worker_is_revived(up: Up) -> None:
    watch = Watch()
    assert len(watch.family(up.process.pid)) >= 8
    assert status(up.api, "GET", "/readyz") == 200  # with a worker, so nobody has to start one
    first = watch.worker_of(up.process.pid)
    os.kill(first, signal.SIGKILL)
    assert watch.wait_until(lambda: watch.worker_of(up.process.pid) not in {0, first})
    assert "worker exited" in up.log.read_text()


def test_no_route_of_the_ui_answers_without_the_token(up: Up, tmp_path: Path) -> None:
    with open_dagster_app(tmp_path) as (app, _):
        routes = {*routes_of(app.routes), ("GET", "/"), ("DELETE", "/x")}
    assert len(routes) > 20
    answers = {route: status(up.ui, *route) for route in sorted(routes)}
    assert set(answers.values()) == {401}, answers
    assert status(up.ui, "GET", "/graphql", **HANDSHAKE) in {401, 403}
    assert status(up.ui, "GET", "/server_info", Authorization="Bearer wrong") == 401
    assert status(up.ui, "GET", "/server_info", Authorization=f"Bearer {TOKEN}") == 200


def closed_paths() -> Iterator[str]:
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute | Route), "a kind of route that the sweep knows"
            if route.path not in OPEN_PAGES and not route.path.startswith(("/console/", "/docs/")):
                yield route.path


def test_no_operation_of_the_service_answers_without_the_token(up: Up) -> None:
    paths = set(closed_paths())
    assert len(paths) > 30
    answers = {
        path: status(up.api, "GET", path.replace("{", "").replace("}", "")) for path in paths
    }
    assert set(answers.values()) == {401}, answers
    jobs = "/api/v1/sametrack/jobs"
    assert status(up.api, "GET", jobs, Authorization=f"Bearer {TOKEN}") == 200
