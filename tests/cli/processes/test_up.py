"""One `sametrack up` with a token, from its ready line to its end.

It starts everything on ports of loopback, none of which answers a stranger. It revives a dead
worker, runs scans and what is launched in Dagster, and takes all along when it ends. Every line of
every log is JSON then, whatever happened to scans and processes. The same sweeps of routes, with
more callers, are in process in tests/contract/access/test_open_paths.py and
test_dagster_access.py; the followed pages start `up`, scan and end it in each check.
"""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from fastapi.routing import APIRoute
from starlette.routing import Route

from api.cli.processes.child_processes import find_port
from api.routes import ROUTERS
from pipelines.captures.inputs import ACCEPTED_INPUT_HINT
from tests.children import end_group
from tests.cli.processes.conftest import ALWAYS, ProcessWatch
from tests.cli.processes.dagster_routes import open_dagster_app, routes_of
from tests.deployment import PATIENCE_S, wait_for
from tests.orchestration.runs.orchestrator import LAUNCH, RUN, launch_parameters
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.reading import open_lake_for_reading

pytestmark = pytest.mark.soak

TOKEN = "token-of-the-owner"
OWNER = {"Authorization": f"Bearer {TOKEN}"}
OPEN_PAGES = {"/healthz", "/readyz", "/", "/console", "/openapi.json", "/docs"}
HANDSHAKE = {
    "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "graphql-ws",
}  # fmt: skip
JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
UNKNOWN_TRACK = "7482938044873711999"
REQUEST = """
mutation ($config: RunConfigData!) {
  launchPipelineExecution(executionParams: {
    selector: {
      repositoryLocationName: "sametrack", repositoryName: "__repository__"
      pipelineName: "request_scan"
    }
    mode: "default", runConfigData: $config
  }) { __typename }
}
"""
FAILED = """
{ runsOrError(filter: {pipelineName: "request_scan", statuses: [FAILURE]}) {
    ... on Runs { results { runId eventConnection(limit: 1000) { events {
      ... on RunFailureEvent { error { message } }
    } } } }
} }
"""


@dataclass(frozen=True)
class Up:
    """A running `sametrack up` and its ports."""

    process: subprocess.Popen[str]
    folder: Path
    api: int
    ui: int
    sandbox: int

    @property
    def said(self) -> str:
        return (self.folder / "said").read_text()

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

    def call(self, port: int, method: str, path: str, body: object = None) -> Any:
        """What its owner is answered."""
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as called:
            headers = {"Content-Type": "application/json", **OWNER}
            called.request(method, path, None if body is None else json.dumps(body), headers)
            return json.loads(called.getresponse().read())

    def graphql(self, text: str, **variables: object) -> Any:
        """What Dagster's UI is answered, by the only field that is asked for."""
        body = {"query": text, "variables": variables}
        (answer,) = self.call(self.ui, "POST", "/graphql", body)["data"].values()
        return answer

    def request(self, text: str) -> str:
        answer = self.call(self.api, "POST", JOBS, {"input": text, "candidate_limit": 15})
        return str(answer["data"]["job_id"])

    def status(self, job_id: str) -> str:
        return str(self.call(self.api, "GET", f"{JOBS}/{job_id}")["data"]["status"])

    def wait_until_it_runs(self, job_id: str) -> None:
        wait_for(lambda: self.status(job_id) == "running")

    def kill_scan(self) -> None:
        for one in psutil.Process(self.process.pid).children(recursive=True):
            with suppress(psutil.Error):
                if "sametrack: run" in " ".join(one.cmdline()):
                    one.kill()

    def reasons(self) -> list[str]:
        """Why runs of `request_scan` have failed, as Dagster shows it."""
        return [
            event["error"]["message"]
            for run in self.graphql(FAILED)["results"]
            for event in run["eventConnection"]["events"]
            if event.get("error")
        ]

    def requests_of_the_platform(self) -> int:
        answer = self.call(self.sandbox, "GET", "/_world/access-log/requests?limit=10000")
        return len(answer["requests"])

    def ranking_of(self, job_id: str) -> list[dict[str, Any]]:
        lake = open_lake_for_reading(open_home(self.folder / "data", "sandbox").lake_url)
        with closing(Engine(lake)) as engine:
            return engine.rows(
                "select * exclude (job_id, committed_at) from marts.rankings "
                "where job_id = $id order by rank",
                {"id": job_id},
            )

    def log_lines(self) -> dict[str, list[dict[str, Any]]]:
        logs = (self.folder / "data" / "sandbox" / "logs").glob("*.log")
        return {
            log.stem: [json.loads(line) for line in log.read_text().splitlines()] for log in logs
        }


def status(port: int, method: str, path: str, **headers: str) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        connection.request(method, path, headers=headers)
        return connection.getresponse().status


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """The tests run in any order; what holds of the end, and of all logs, is asserted here."""
    folder = tmp_path_factory.mktemp("up")
    ports = {"api": find_port(), "ui": find_port(), "sandbox": find_port()}
    settings = {
        "OWN_API_TOKEN": TOKEN, "DATA_HOME": str(folder / "data"), "API_PORT": str(ports["api"]),
        "SANDBOX_PORT": str(ports["sandbox"]), "WORKER_RUNS": "1", "RATE_LIMIT_PER_S": "0",
    }  # fmt: skip
    command = ("up", "--sandbox", "--size", "0.1", "--dagster-port", str(ports["ui"]))
    with (folder / "said").open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "api.cli.main", *command],
            cwd=folder, env={**os.environ, **ALWAYS, **settings}, stdin=subprocess.DEVNULL,
            stdout=stream, stderr=stream, text=True, start_new_session=True,
        )  # fmt: skip
    running = Up(process, folder, **ports)

    def is_ready() -> bool:
        assert process.poll() is None, running.said
        return "ready (profile" in running.said

    try:
        wait_for(is_ready)
        yield running
        processes = ProcessWatch()
        everybody = processes.family(process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
        assert processes.wait_until(lambda: processes.are_gone(everybody)), "it takes all along"
        assert_every_line_is_told_by_our_fields(running)
    finally:
        end_group(process)


def assert_every_line_is_told_by_our_fields(up: Up) -> None:
    """All are JSON, and name no folder of this machine."""
    lines = up.log_lines()
    assert {"api", "worker", "dagster", "sandbox"} <= {name for name, said in lines.items() if said}
    for said in lines.values():
        assert all({"time", "level", "logger", "message"} <= line.keys() for line in said)
        assert not [line for line in said if str(up.folder) in str(line) or sys.prefix in str(line)]
    assert not [line for line in lines["worker"] if "exception" in line]


def test_it_listens_on_three_ports_of_loopback(up: Up) -> None:
    """The third is the sandbox, which stands in for the platform's public pages."""
    assert up.listeners() == {("127.0.0.1", port) for port in (up.api, up.ui, up.sandbox)}


def test_up_starts_every_program_and_restarts_a_killed_worker(up: Up) -> None:
    processes = ProcessWatch()
    assert len(processes.family(up.process.pid)) >= 8
    assert status(up.api, "GET", "/readyz") == 200  # with a worker, so nobody has to start one
    first = processes.worker_of(up.process.pid)
    os.kill(first, signal.SIGKILL)
    assert processes.wait_until(lambda: processes.worker_of(up.process.pid) not in {0, first})
    assert "worker exited" in up.said


def test_no_route_of_the_ui_answers_without_the_token(up: Up, tmp_path: Path) -> None:
    with open_dagster_app(tmp_path) as (app, _):
        routes = {*routes_of(app.routes), ("GET", "/"), ("DELETE", "/x")}
    assert len(routes) > 20
    answers = {route: status(up.ui, *route) for route in sorted(routes)}
    assert set(answers.values()) == {401}, answers
    assert status(up.ui, "GET", "/graphql", **HANDSHAKE) in {401, 403}
    assert status(up.ui, "GET", "/server_info", Authorization="Bearer wrong") == 401
    assert status(up.ui, "GET", "/server_info", **OWNER) == 200


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
    assert status(up.api, "GET", "/api/v1/sametrack/jobs", **OWNER) == 200


@dataclass(frozen=True)
class Scanned:
    """The tracks of the world, and the job of the first one, whose run was killed once."""

    tracks: list[dict[str, Any]]
    job_id: str


@pytest.fixture(scope="module")
def scanned(up: Up) -> Scanned:
    tracks = up.call(up.sandbox, "GET", "/_world/tracks")["tracks"]
    job_id = up.request(tracks[0]["music_id"])
    up.wait_until_it_runs(job_id)
    up.kill_scan()
    wait_for(lambda: up.status(job_id) not in {"queued", "running"})
    return Scanned(tracks, job_id)


def test_scans_end_as_they_should_after_a_refusal_a_cancel_and_a_kill(
    up: Up, scanned: Scanned
) -> None:
    """What their processes wrote into the logs is asserted at the end of `up`."""
    assert up.status(scanned.job_id) == "completed"
    unknown = up.request(UNKNOWN_TRACK)
    config = {"ops": {"hand_in_scan": {"config": {"input": "no link"}}}}
    assert up.graphql(REQUEST, config=json.dumps(config))["__typename"] == "LaunchRunSuccess"
    wait_for(lambda: up.status(unknown) == "failed")

    cancelled = up.request(scanned.tracks[1]["music_id"])
    up.wait_until_it_runs(cancelled)
    up.call(up.api, "DELETE", f"{JOBS}/{cancelled}")
    wait_for(lambda: up.status(cancelled) == "cancelled")
    wait_for(lambda: bool(up.reasons()))
    assert all(ACCEPTED_INPUT_HINT in reason for reason in up.reasons())

    refused = [one for one in up.log_lines()["worker"] if UNKNOWN_TRACK in str(one.get("detail"))]
    assert [line["job_id"] for line in refused] == [unknown]
    printed = (up.folder / "data" / "sandbox" / "dagster" / "storage").glob("*/compute_logs/*.err")
    assert any(path.stat().st_size for path in printed), "what steps print is kept"


def test_one_asset_is_made_again_from_the_launchpad_without_a_request(
    up: Up, scanned: Scanned
) -> None:
    requests_before = up.requests_of_the_platform()
    track = f"music:{scanned.tracks[0]['music_id']}"
    launch = launch_parameters(track, "marts/rankings", "marts/account_summaries")
    again = up.graphql(LAUNCH, p=launch)["run"]["runId"]
    wait_for(lambda: up.graphql(RUN, id=again)["status"] in {"SUCCESS", "FAILURE"}, every_s=0.5)
    ranked = up.ranking_of(again)
    assert ranked
    assert ranked == up.ranking_of(scanned.job_id)
    assert up.requests_of_the_platform() == requests_before
    assert up.status(again) == "cancelled", "without a result there is no other end"
