"""Every line of every log of `sametrack up` is JSON, whatever happens to scans and processes."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from api.cli.processes.child_processes import find_port
from pipelines.captures.inputs import ACCEPTED_INPUT_HINT
from tests.children import end_group
from tests.integration.cli.conftest import ALWAYS
from tests.stage import PATIENCE_S, wait_for

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


class Stack:
    """A running `sametrack up`."""

    def __init__(self, home: Path, process: "subprocess.Popen[Any]", ports: tuple[int, int, int]):
        self.home, self.process = home, process
        self.api, self.ui, self.sandbox = ports

    def call(self, port: int, method: str, path: str, body: object = None) -> Any:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as called:
            headers = {"Content-Type": "application/json"}
            called.request(method, path, None if body is None else json.dumps(body), headers)
            return json.loads(called.getresponse().read())

    def request(self, text: str) -> str:
        answer = self.call(self.api, "POST", JOBS, {"input": text, "candidate_limit": 30})
        return str(answer["data"]["job_id"])

    def status(self, job_id: str) -> str:
        return str(self.call(self.api, "GET", f"{JOBS}/{job_id}")["data"]["status"])

    def scan_processes(self) -> list[psutil.Process]:
        family = psutil.Process(self.process.pid).children(recursive=True)
        servers = [process for process in family if "forkserver" in command_of(process)]
        return [scan for server in servers for scan in server.children()]


def command_of(process: psutil.Process) -> str:
    """The command line of a process; nothing of one that has just ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    ports = find_port(), find_port(), find_port()
    settings = {
        "DATA_HOME": str(tmp_path / "data"), "API_PORT": str(ports[0]), "RATE_LIMIT_PER_S": "0",
        "SANDBOX_PORT": str(ports[2]), "WORKER_RUNS": "1",
    }  # fmt: skip
    said = tmp_path / "said"
    command = ("up", "--sandbox", "--size", "0.1", "--dagster-port", str(ports[1]))
    with said.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "api.cli.main", *command],
            cwd=tmp_path, env={**os.environ, **ALWAYS, **settings}, stdin=subprocess.DEVNULL,
            stdout=stream, stderr=stream, start_new_session=True,
        )  # fmt: skip
    try:
        wait_for(lambda: "ready (profile" in said.read_text())
        yield Stack(tmp_path / "data" / "sandbox", process, ports)
    finally:
        end_group(process)


def reasons(stack: Stack) -> list[str]:
    """Why runs of `request_scan` have failed, as Dagster shows it."""
    runs = stack.call(stack.ui, "POST", "/graphql", {"query": FAILED})["data"]["runsOrError"]
    return [
        event["error"]["message"]
        for run in runs["results"]
        for event in run["eventConnection"]["events"]
        if event.get("error")
    ]


def test_all_lines_parse_after_scans_refusals_a_cancel_and_kills(stack: Stack) -> None:
    tracks = stack.call(stack.sandbox, "GET", "/_world/tracks")["tracks"]
    whole, unknown = stack.request(tracks[0]["music_id"]), stack.request(UNKNOWN_TRACK)
    config = {"ops": {"hand_in_scan": {"config": {"input": "no link"}}}}
    launch = {"query": REQUEST, "variables": {"config": json.dumps(config)}}
    assert "LaunchRunSuccess" in json.dumps(stack.call(stack.ui, "POST", "/graphql", launch))
    wait_for(lambda: stack.status(whole) == "completed" and stack.status(unknown) == "failed")

    cancelled = stack.request(tracks[1]["music_id"])
    wait_for(lambda: stack.status(cancelled) == "running")
    stack.call(stack.api, "DELETE", f"{JOBS}/{cancelled}")
    wait_for(lambda: stack.status(cancelled) == "cancelled")

    killed = stack.request(tracks[2]["music_id"])
    wait_for(lambda: stack.status(killed) == "running")
    for process in stack.scan_processes():
        process.kill()
    wait_for(lambda: stack.status(killed) == "completed")
    wait_for(lambda: bool(reasons(stack)))
    assert all(ACCEPTED_INPUT_HINT in reason for reason in reasons(stack))

    os.kill(stack.process.pid, signal.SIGTERM)
    stack.process.wait(PATIENCE_S)
    lines = {
        log.stem: [json.loads(line) for line in log.read_text().splitlines()]
        for log in (stack.home / "logs").glob("*.log")
    }
    assert {"api", "worker", "code-server", "daemon", "dagster", "sandbox"} <= {
        name for name, said in lines.items() if said
    }
    for said in lines.values():
        assert all({"time", "level", "logger", "message"} <= line.keys() for line in said)
        assert not [
            line for line in said if str(stack.home) in str(line) or sys.prefix in str(line)
        ]
    refused = [line for line in lines["worker"] if UNKNOWN_TRACK in str(line.get("detail"))]
    assert [line["job_id"] for line in refused] == [unknown]
    assert not [line for line in lines["worker"] if "exception" in line]
    printed = [*(stack.home / "dagster" / "storage").glob("*/compute_logs/*.err")]
    assert any(path.stat().st_size for path in printed), "what steps print is kept"
