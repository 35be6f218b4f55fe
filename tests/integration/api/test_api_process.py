"""The API as a real process over real stores: what it loads, serves, survives and leaves."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import socket
from typing import Any

import httpx2
import psutil
import pytest

from api.cli.processes.child_processes import Child, Program, find_port, sametrack_command
from pipelines.parameters.scan import ScanParameters, scan_key
from tests.documents import MUSIC_ID, result
from tests.stage import PATIENCE_S, Stage, open_stage, wait_for
from warehouse.lake.packing import pack_document
from warehouse.records.evidence import ALGORITHM
from warehouse.records.jobs import Job, ProgressRecord

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
STREAMS = "/api/v1/sametrack/jobs/{}/events"
HEAVY = {"dagster", "librosa", "numba", "scipy", "av", "pebble", "playwright"}
FORBIDDEN = (
    "pipelines.audio", "pipelines.orchestration", "pipelines.sandbox", "pipelines.scan.collect",
    "pipelines.scan.conclude", "pipelines.scan.confirm", "pipelines.scan.discover",
    "pipelines.scan.scan_run", "pipelines.scan.verify_audio",
)  # fmt: skip
TOKEN = {"x-api-key": "sesam-42"}
LIMIT = 20


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A home without a worker, whose service asks for a token and has few streams."""
    root = tmp_path_factory.mktemp("service")
    with open_stage(root, root) as built:
        built.settings = {
            "EVENT_STREAMS_MAX": str(LIMIT),
            "OWN_API_TOKEN": TOKEN["x-api-key"],
            "RATE_LIMIT_PER_S": "0",
        }
        yield built


@pytest.fixture(scope="module")
def client(stage: Stage) -> httpx2.Client:
    """A client of a service that all tests of this file look at and none stops."""
    client = stage.start_api()
    client.headers.update(TOKEN)
    return client


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Stage]:
    """A home of its own, for a service that is stopped or killed."""
    with open_stage(tmp_path / "own", tmp_path) as built:
        yield built


def service_of(stage: Stage) -> Child:
    """The service that was started last."""
    return [child for child in stage.process_group.children if child.name == "serve"][-1]


def ask(client: httpx2.Client, **body: Any) -> httpx2.Response:
    return client.post(JOBS, json={"input": MUSIC_ID, **body})


def stop(service: Child) -> int:
    """Ask it to stop; its exit status."""
    service.process.send_signal(signal.SIGTERM)
    return service.process.wait(PATIENCE_S)


def finish_as_a_worker_does(stage: Stage, job_id: str) -> None:
    row = {
        "job_id": job_id, "music_id": MUSIC_ID, "document": pack_document(result(40)),
        "confirmed_count": 40, "algorithm": ALGORITHM,
    }  # fmt: skip
    stage.control.claim("worker")
    key = scan_key(MUSIC_ID, "sandbox", "public-graph", ALGORITHM, ScanParameters())
    stage.control.set_target(job_id, music_id=MUSIC_ID, scan_key=key)
    stage.engine.lake.append("marts.job_results", [row])
    stage.control.finish(job_id, "completed", expires_at=datetime.now(UTC) + timedelta(days=1))


def lines_of(stage: Stage) -> list[dict[str, Any]]:
    """What the services of a stage have logged, line by line."""
    logs = sorted(stage.root.glob("serve-*.log"))
    return [json.loads(line) for log in logs for line in whole_lines(log)]


def whole_lines(log: Path) -> list[str]:
    """Without the one that is just being written."""
    return log.read_text().rpartition("\n")[0].splitlines()


@contextmanager
def reading(client: httpx2.Client, job_id: str) -> Iterator[httpx2.Response]:
    """An open stream on a connection of its own."""
    address = client.base_url.join(STREAMS.format(job_id))
    with (
        closing(httpx2.Client(timeout=PATIENCE_S, headers=TOKEN)) as own,
        own.stream("GET", address) as answer,
    ):
        yield answer


def status_of_a_new_stream(client: httpx2.Client, job_id: str) -> int:
    with reading(client, job_id) as answer:
        return answer.status_code


def test_a_result_of_another_process_is_served_and_outlives_a_kill(own: Stage) -> None:
    job_id = ask(own.start_api()).json()["data"]["job_id"]
    killed = service_of(own)
    killed.process.kill()
    killed.process.wait()

    client = own.start_api()
    assert client.get(f"{JOBS}/{job_id}").json()["data"]["status"] == "queued"
    finish_as_a_worker_does(own, job_id)
    done = client.get(f"{JOBS}/{job_id}").json()["data"]
    assert (done["status"], done["result"]["returned_count"]) == ("completed", 30)
    again = ask(client, count=5)
    assert (again.status_code, again.json()["data"]["job_id"]) == (200, job_id)


def test_a_stop_lets_a_request_end_and_ends_streams(own: Stage) -> None:
    client = own.start_api()
    streamed = ask(client).json()["data"]["job_id"]
    with reading(client, streamed) as stream, half_sent(client) as line:
        events = stream.iter_lines()
        assert any('"status":"queued"' in event for event in events)
        own.control.claim("worker")
        own.control.save_progress(streamed, ProgressRecord(candidate_pool_count=41))
        assert any('"candidate_pool_count":41' in event for event in events)
        service_of(own).process.send_signal(signal.SIGTERM)
        assert all("event: ended" not in event for event in events)
        wait_until_closed(client)
        line.sendall(BODY[5:])
        answer = b"".join(iter(lambda: line.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 202")
    assert service_of(own).process.wait(PATIENCE_S) == 0
    kept = [row["request_id"] for row in lines_of(own) if row.get("method") == "POST"]
    assert kept[-1].encode() in answer  # the last line is written, too
    assert {job.input for job in queued(own)} == {BODY_INPUT}


BODY_INPUT = "7361729694329545999"
BODY = json.dumps({"input": BODY_INPUT}).encode()


def queued(stage: Stage) -> list[Job]:
    return [job for job in stage.control.jobs(limit=5) if job.status == "queued"]


@contextmanager
def half_sent(client: httpx2.Client) -> Iterator[socket]:
    """A request that the service is reading, of which most has not been sent."""
    with socket() as line:
        line.settimeout(PATIENCE_S)
        line.connect(("127.0.0.1", client.base_url.port))
        head = f"POST {JOBS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(BODY)}\r\nExpect: 100-continue\r\n\r\n"
        line.sendall(head.encode() + BODY[:5])
        assert line.recv(65_536).startswith(b"HTTP/1.1 100")
        yield line


def wait_until_closed(client: httpx2.Client) -> None:
    """Nobody new is let in any more."""

    def is_closed() -> bool:
        try:
            httpx2.get(client.base_url.join("/healthz"))
        except httpx2.TransportError:
            return True
        return False

    wait_for(is_closed)


def test_clients_that_vanish_leave_no_socket_no_thread_and_no_descriptor(
    stage: Stage, client: httpx2.Client
) -> None:
    """Threads and connections to the stores are kept for the next request, up to a bound that
    depends on how many happened to meet; what each client left would be three times the limit.
    """
    job_id = stage.ask(MUSIC_ID, music_id=MUSIC_ID)
    process = psutil.Process(service_of(stage).process.pid)
    assert status_of_a_new_stream(client, job_id) == 200
    files, threads = process.num_fds(), process.num_threads()
    for _ in range(3):
        with ExitStack() as streams:
            opened = [streams.enter_context(reading(client, job_id)) for _ in range(LIMIT)]
            assert [stream.status_code for stream in opened] == [200] * LIMIT
            assert status_of_a_new_stream(client, job_id) == 503
        stage.wait(lambda: status_of_a_new_stream(client, job_id) == 200)
    stage.wait(lambda: process.num_fds() < files + LIMIT)
    assert process.num_threads() < threads + 2 * LIMIT


def test_links_of_the_profile_are_read_and_foreign_ones_refused(
    stage: Stage, client: httpx2.Client
) -> None:
    prose = f"听听 https://www.vidplat.localhost:{stage.port}/music/{MUSIC_ID}。好听"
    assert ask(client, input=prose).json()["data"]["music_id"] == MUSIC_ID
    refused = ask(client, input=f"https://evil.example/music/{MUSIC_ID}")
    assert refused.json()["data"]["error"]["type"] == "invalid_music_input"


def test_readiness_names_the_missing_worker(stage: Stage, client: httpx2.Client) -> None:
    answer = client.get("/readyz")
    reasons = {check["name"]: check["reason"] for check in answer.json()["checks"]}
    assert answer.status_code == 503
    assert set(reasons) == {"control_store", "lake", "workers", "disk"}
    assert [name for name, reason in reasons.items() if reason] == ["workers"]
    assert str(stage.root) not in answer.text


def test_each_request_leaves_one_json_line_with_its_id(stage: Stage, client: httpx2.Client) -> None:
    asked = client.get(f"{JOBS}/none").json()["request_id"]

    def found() -> list[dict[str, Any]]:
        return [line for line in lines_of(stage) if line.get("request_id") == asked]

    stage.wait(found)
    assert [(line["status"], line["method"]) for line in found()] == [(404, "GET")]
    assert TOKEN["x-api-key"] not in repr(lines_of(stage))


def test_without_a_profile_the_service_says_what_is_missing(own: Stage, tmp_path: Path) -> None:
    home = tmp_path / "untouched"
    home.mkdir()
    own.settings = {"PROFILE": "", "DATA_HOME": str(home)}
    client = own.start_api()
    answer = ask(client)
    assert answer.status_code == 503
    assert answer.json()["data"]["error"]["type"] == "profile_not_chosen"
    assert client.get("/readyz").status_code == 503
    assert list(home.iterdir()) == []
    assert stop(service_of(own)) == 0


def test_a_wider_bind_without_a_token_does_not_start(own: Stage) -> None:
    log = own.root / "refused.log"
    env = {**own._environment(), "API_HOST": "0.0.0.0", "API_PORT": str(find_port())}
    child = own.process_group.start(
        Program(name="serve", command=sametrack_command("serve"), log=log, env=env)
    )
    assert child.process.wait(PATIENCE_S) != 0
    assert "OWN_API_TOKEN" in log.read_text()


def test_the_process_loads_neither_the_orchestrator_nor_what_decodes_sound() -> None:
    look = "import api.process, sys; print('\\n'.join(sys.modules))"
    found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    loaded = found.stdout.split()
    assert {"api.process", "api.app"} <= set(loaded)
    assert HEAVY.isdisjoint(name.partition(".")[0] for name in loaded)
    assert [name for name in loaded if name.startswith(FORBIDDEN)] == []
