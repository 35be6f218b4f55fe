"""The API as a real process over real stores: what it loads, serves, survives and leaves."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import socket
from typing import Any

import httpx2
import pytest

from pipelines.domain.evidence import ALGORITHM
from pipelines.domain.parameters import ScanParameters, scan_key
from tests.documents import MUSIC_ID, result
from warehouse.control import open_control
from warehouse.documents import pack_document
from warehouse.home import open_home
from warehouse.lake import open_lake

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
SERVE = "import api.server, api.settings; api.server.run_server(api.settings.ApiSettings())"
HEAVY = {"dagster", "librosa", "numba", "scipy", "av", "pebble", "playwright"}
FORBIDDEN = ("pipelines.audio", "pipelines.sandbox", "pipelines.world", "pipelines.scan")
START_S = 60.0


def free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(data_home: Path, port: int, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {
        **kept, "PROFILE": "sandbox", "DATA_HOME": str(data_home), "API_PORT": str(port), **more
    }  # fmt: skip


@contextmanager
def serving(
    data_home: Path, **more: str
) -> Iterator[tuple[httpx2.Client, subprocess.Popen[bytes]]]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        env=environment(data_home, port, **more),
        cwd=data_home,
        stderr=subprocess.PIPE,
    )
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
            wait_until_alive(client, process)
            yield client, process
    finally:
        process.kill()
        process.communicate()


def wait_until_alive(client: httpx2.Client, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            client.get("/healthz").raise_for_status()
        except httpx2.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the service did not start: {process.poll()}")


def finish_as_a_worker_does(data_home: Path, job_id: str) -> None:
    home = open_home(data_home, "sandbox")
    row = {
        "job_id": job_id, "music_id": MUSIC_ID, "document": pack_document(result(40)),
        "confirmed_count": 40, "algorithm": ALGORITHM,
    }  # fmt: skip
    with closing(open_control(home.control_url, world=home.world)) as control:
        control.claim("worker")
        key = scan_key(MUSIC_ID, "sandbox", "public-graph", ALGORITHM, ScanParameters())
        control.set_target(job_id, music_id=MUSIC_ID, scan_key=key)
        open_lake(home.lake_url, world=home.world).append("marts.job_results", [row])
        control.finish(job_id, "completed", expires_at=datetime.now(UTC) + timedelta(days=1))


def ask(client: httpx2.Client, **body: Any) -> httpx2.Response:
    return client.post(JOBS, json={"input": MUSIC_ID, **body})


def test_a_result_of_another_process_is_served_and_outlives_a_kill(tmp_path: Path) -> None:
    with serving(tmp_path) as (client, process):
        started = ask(client)
        job_id = started.json()["data"]["job_id"]
        assert started.status_code == 202
        process.kill()
    with serving(tmp_path) as (client, process):
        assert client.get(f"{JOBS}/{job_id}").json()["data"]["status"] == "queued"
        finish_as_a_worker_does(tmp_path, job_id)
        done = client.get(f"{JOBS}/{job_id}").json()["data"]
        assert (done["status"], done["result"]["returned_count"]) == ("completed", 30)
        again = ask(client, count=5)
        assert (again.status_code, again.json()["data"]["job_id"]) == (200, job_id)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_links_of_the_profile_are_read_and_foreign_ones_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as (client, _):
        prose = f"听听 https://www.vidplat.localhost:8790/music/{MUSIC_ID}。好听"
        assert ask(client, input=prose).json()["data"]["music_id"] == MUSIC_ID
        refused = ask(client, input=f"https://evil.example/music/{MUSIC_ID}")
        assert refused.json()["data"]["error"]["type"] == "invalid_music_input"


def test_readiness_names_the_missing_worker(tmp_path: Path) -> None:
    with serving(tmp_path) as (client, _):
        answer = client.get("/readyz")
        reasons = {check["name"]: check["reason"] for check in answer.json()["checks"]}
        assert answer.status_code == 503
        assert set(reasons) == {"control_store", "lake", "workers", "disk"}
        assert [name for name, reason in reasons.items() if reason] == ["workers"]
        assert str(tmp_path) not in answer.text


def test_without_a_profile_the_service_says_what_is_missing(tmp_path: Path) -> None:
    with serving(tmp_path, PROFILE="") as (client, _):
        answer = ask(client)
        assert answer.status_code == 503
        assert answer.json()["data"]["error"]["type"] == "profile_not_chosen"
        assert client.get("/readyz").status_code == 503
        assert list(tmp_path.iterdir()) == []


def test_each_request_leaves_one_json_line_with_its_id(tmp_path: Path) -> None:
    with serving(tmp_path, OWN_API_TOKEN="sesam-42") as (client, process):
        answer = client.get(f"{JOBS}/none", headers={"x-api-key": "sesam-42"})
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=20)
    lines = [json.loads(line) for line in log.decode().splitlines()]
    found = [line for line in lines if line["request_id"] == answer.json()["request_id"]]
    assert [(line["status"], line["method"]) for line in found] == [(404, "GET")]
    assert b"sesam-42" not in log


def test_a_running_request_ends_before_the_service_does(tmp_path: Path) -> None:
    body = json.dumps({"input": MUSIC_ID}).encode()
    with serving(tmp_path) as (client, process), socket() as line:
        line.settimeout(20)
        line.connect(("127.0.0.1", client.base_url.port))
        head = f"POST {JOBS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
        line.sendall(head.encode() + body[:5])
        assert line.recv(65_536).startswith(b"HTTP/1.1 100")  # it is being read
        process.send_signal(signal.SIGTERM)
        wait_until_closed(client)
        line.sendall(body[5:])
        answer = b"".join(iter(lambda: line.recv(65_536), b""))
        assert answer.startswith(b"HTTP/1.1 202")
        assert process.wait(20) == 0
        _, log = process.communicate(timeout=20)
    (kept,) = [json.loads(row) for row in log.splitlines() if b'"POST"' in row]
    assert kept["request_id"].encode() in answer  # the last line is written, too
    home = open_home(tmp_path, "sandbox")
    with closing(open_control(home.control_url, world=home.world)) as control:
        assert [job.status for job in control.jobs(limit=2)] == ["queued"]


def wait_until_closed(client: httpx2.Client) -> None:
    """Nobody new is let in any more."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        try:
            httpx2.get(client.base_url.join("/healthz"))
        except httpx2.TransportError:
            return
        time.sleep(0.02)
    raise AssertionError("the service still lets requests in")


def test_a_wider_bind_without_a_token_does_not_start(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", SERVE],
        env=environment(tmp_path, free_port(), API_HOST="0.0.0.0"),
        cwd=tmp_path,
        capture_output=True,
        timeout=START_S,
        check=False,
    )
    assert found.returncode != 0
    assert b"OWN_API_TOKEN" in found.stderr


@pytest.mark.parametrize("module", ["api.server", "api.app"])
def test_the_process_loads_neither_the_orchestrator_nor_what_decodes_sound(module: str) -> None:
    look = f"import {module}, sys; print('\\n'.join(sys.modules))"
    found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    loaded = found.stdout.split()
    assert module in loaded
    assert HEAVY.isdisjoint(name.partition(".")[0] for name in loaded)
    assert [name for name in loaded if name.startswith(FORBIDDEN)] == []
