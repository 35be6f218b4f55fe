"""The API as a real process over real stores: what it loads, serves, survives and leaves.

Nothing secret is in any log or answer: after a tour of requests, good, bad and unlucky, every byte
that the service and the platform left is searched.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import socket
from typing import Any

import httpx2
import orjson
import psutil
import pytest
from starlette.testclient import TestClient

from api import process
from api.cli.main import main
from api.cli.processes.child_processes import Child, find_port
from api.process import build_app_from_settings
from api.services.job_feed import JobBroadcaster
from api.settings import ApiSettings
from pipelines.parameters.scan import ScanParameters, scan_key
from tests.deployment import PATIENCE_S, Deployment, open_deployment, wait_for
from tests.stored_results import MUSIC_ID, result
from warehouse.control import jobs
from warehouse.lake.record_rows import pack_document
from warehouse.records.evidence import ALGORITHM
from warehouse.records.jobs import Job, ProgressRecord

pytestmark = pytest.mark.full

JOBS = "/api/v1/vidplat/app/v3/music_collection_jobs"
STREAMS = "/api/v1/sametrack/jobs/{}/events"
TOKEN = {"x-api-key": "tok3n-of-the-tour-4711"}
COOKIE = "sessionid=c00kie-of-the-tour-0815"
V3 = "/api/v1/vidplat/app/v3"
ROOT = Path(__file__).parents[3]
FAULTS = ("captcha", "structure")
LIMIT = 20


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A home without a worker and a platform; its service asks for a token, has few streams."""
    root = tmp_path_factory.mktemp("service")
    with open_deployment(root, root / "sounds") as built:
        built.settings = {
            "EVENT_STREAMS_MAX": str(LIMIT),
            "OWN_API_TOKEN": TOKEN["x-api-key"],
            "VIDPLAT_COOKIE": COOKIE,
            "DATA_PROVIDER": "vidplat-web",
            "RATE_LIMIT_PER_S": "0",
        }
        built.start_platform(seed=5, size=0.1)
        yield built


@pytest.fixture(scope="module")
def client(deployment: Deployment) -> httpx2.Client:
    """A client of a service that all tests of this file look at and none stops."""
    client = deployment.start_api()
    client.headers.update(TOKEN)
    return client


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Deployment]:
    """A home of its own, for services that are killed and stopped."""
    with open_deployment(tmp_path / "own", tmp_path) as built:
        yield built


def service_of(deployment: Deployment) -> Child:
    """The service that was started last."""
    return [child for child in deployment.process_group.children if child.name == "serve"][-1]


def ask(client: httpx2.Client, **body: Any) -> httpx2.Response:
    return client.post(JOBS, json={"input": MUSIC_ID, **body})


def finish_as_a_worker_does(deployment: Deployment, job_id: str) -> None:
    row = {
        "job_id": job_id, "music_id": MUSIC_ID, "document": pack_document(result(40)),
        "confirmed_count": 40, "algorithm": ALGORITHM,
    }  # fmt: skip
    jobs.claim(deployment.control, "worker")
    key = scan_key(MUSIC_ID, "sandbox", "public-graph", ALGORITHM, ScanParameters())
    jobs.set_target(deployment.control, job_id, music_id=MUSIC_ID, scan_key=key)
    deployment.engine.lake.append("marts.job_results", [row])
    jobs.finish(
        deployment.control, job_id, "completed", expires_at=datetime.now(UTC) + timedelta(days=1)
    )


def lines_of(deployment: Deployment) -> list[dict[str, Any]]:
    """What the services of a stage have logged, line by line."""
    logs = sorted(deployment.root.glob("serve-*.log"))
    return [json.loads(line) for log in logs for line in whole_lines(log)]


def whole_lines(log: Path) -> list[str]:
    """Without the one that is just being written."""
    return log.read_text().rpartition("\n")[0].splitlines()


@contextmanager
def reading(client: httpx2.Client, job_id: str) -> Iterator[httpx2.Response]:
    """An open stream on a connection of its own."""
    address = client.base_url.join(STREAMS.format(job_id))
    with (
        closing(httpx2.Client(timeout=PATIENCE_S, headers=TOKEN, verify=False)) as own,
        own.stream("GET", address) as answer,
    ):
        yield answer


def status_of_a_new_stream(client: httpx2.Client, job_id: str) -> int:
    with reading(client, job_id) as answer:
        return answer.status_code


def test_jobs_outlive_a_kill_and_a_stop_lets_a_request_end_and_ends_streams(
    own: Deployment,
) -> None:
    job_id = ask(own.start_api()).json()["data"]["job_id"]
    killed = service_of(own)
    psutil.Process(killed.process.pid).kill()
    killed.process.wait()

    client = own.start_api()
    assert client.get(f"{JOBS}/{job_id}").json()["data"]["status"] == "queued"
    finish_as_a_worker_does(own, job_id)
    done = client.get(f"{JOBS}/{job_id}").json()["data"]
    assert (done["status"], done["result"]["returned_count"]) == ("completed", 30)
    again = ask(client, count=5)
    assert (again.status_code, again.json()["data"]["job_id"]) == (200, job_id)

    streamed = ask(client, input=STREAMED_INPUT).json()["data"]["job_id"]
    with reading(client, streamed) as stream, half_sent(client) as line:
        events = stream.iter_lines()
        assert any('"status":"queued"' in event for event in events)
        jobs.claim(own.control, "worker")
        jobs.save_progress(own.control, streamed, ProgressRecord(candidate_pool_count=41))
        assert any('"candidate_pool_count":41' in event for event in events)
        psutil.Process(service_of(own).process.pid).terminate()
        assert all("event: ended" not in event for event in events)
        wait_until_closed(client)
        line.sendall(BODY[5:])
        answer = b"".join(iter(lambda: line.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 202")
    assert service_of(own).process.wait() == 0
    kept = [row["request_id"] for row in lines_of(own) if row.get("method") == "POST"]
    assert kept[-1].encode() in answer  # the last line is written, too
    assert {job.input for job in queued(own)} == {BODY_INPUT}


STREAMED_INPUT = "7361729694329545998"
BODY_INPUT = "7361729694329545999"
BODY = json.dumps({"input": BODY_INPUT}).encode()


def queued(deployment: Deployment) -> list[Job]:
    return [job for job in jobs.newest(deployment.control, limit=5) if job.status == "queued"]


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
            httpx2.get(client.base_url.join("/healthz"), verify=False)
        except httpx2.TransportError:
            return True
        return False

    wait_for(is_closed)


def test_clients_that_vanish_leave_no_socket_no_thread_and_no_descriptor(
    deployment: Deployment, client: httpx2.Client
) -> None:
    """Threads and connections to the stores are kept for the next request, up to a bound that
    depends on how many happened to meet; what each client left would be three times the limit.
    """
    job_id = deployment.ask(MUSIC_ID, music_id=MUSIC_ID)
    service = psutil.Process(service_of(deployment).process.pid)
    assert status_of_a_new_stream(client, job_id) == 200
    files, threads = service.num_fds(), service.num_threads()
    for _ in range(3):
        with ExitStack() as streams:
            opened = [streams.enter_context(reading(client, job_id)) for _ in range(LIMIT)]
            assert [stream.status_code for stream in opened] == [200] * LIMIT
            assert status_of_a_new_stream(client, job_id) == 503
        deployment.wait(lambda: status_of_a_new_stream(client, job_id) == 200)
    deployment.wait(lambda: service.num_fds() < files + LIMIT)
    assert service.num_threads() < threads + 2 * LIMIT


def test_links_of_the_profile_are_read_and_foreign_ones_refused(
    deployment: Deployment, client: httpx2.Client
) -> None:
    prose = f"听听 https://www.vidplat.localhost:{deployment.port}/music/{MUSIC_ID}。好听"
    assert ask(client, input=prose).json()["data"]["music_id"] == MUSIC_ID
    refused = ask(client, input=f"https://evil.example/music/{MUSIC_ID}")
    assert refused.json()["data"]["error"]["type"] == "invalid_music_input"


def test_readiness_names_the_missing_worker(deployment: Deployment, client: httpx2.Client) -> None:
    answer = client.get("/readyz")
    reasons = {check["name"]: check["reason"] for check in answer.json()["checks"]}
    assert answer.status_code == 503
    assert set(reasons) == {"control_store", "lake", "workers", "disk"}
    assert [name for name, reason in reasons.items() if reason] == ["workers"]
    assert str(deployment.root) not in answer.text


def test_each_request_leaves_one_json_line_with_its_id(
    deployment: Deployment, client: httpx2.Client
) -> None:
    asked = client.get(f"{JOBS}/none").json()["request_id"]

    def found() -> list[dict[str, Any]]:
        return [line for line in lines_of(deployment) if line.get("request_id") == asked]

    deployment.wait(found)
    assert [(line["status"], line["method"]) for line in found()] == [(404, "GET")]
    assert TOKEN["x-api-key"] not in repr(lines_of(deployment))


def test_without_a_profile_the_service_says_what_is_missing(tmp_path: Path) -> None:
    settings = ApiSettings(_env_file=None, profile="", data_home=tmp_path)
    with (
        build_app_from_settings(settings, feed=JobBroadcaster(limit=4)) as app,
        TestClient(app, base_url="http://127.0.0.1") as client,
    ):
        answer = client.post(JOBS, json={"input": MUSIC_ID})
        assert answer.status_code == 503
        assert answer.json()["data"]["error"]["type"] == "profile_not_chosen"
        assert client.get("/readyz").status_code == 503
    assert list(tmp_path.iterdir()) == []


def test_a_wider_bind_without_a_token_does_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def start(_settings: ApiSettings) -> None:
        pytest.fail("it has started")

    monkeypatch.setattr(process, "run_server", start)
    home = {"PROFILE": "sandbox", "DATA_HOME": str(tmp_path)}
    for name, value in {**home, "API_HOST": "0.0.0.0", "OWN_API_TOKEN": ""}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["sametrack", "serve", "--port", str(find_port())])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code not in {0, None}
    assert "OWN_API_TOKEN" in capsys.readouterr().err


@dataclass
class Tour:
    """Asks, and remembers every answer as it came."""

    client: httpx2.Client
    answers: list[bytes] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)

    def ask(self, method: str, path: str, **request: Any) -> httpx2.Response:
        answer = self.client.request(method, path, **request)
        self.statuses.add(answer.status_code)
        self.answers.append(repr(answer.headers).encode() + answer.content)
        return answer


@pytest.fixture(scope="module")
def tour(deployment: Deployment, client: httpx2.Client) -> Tour:
    tour = Tour(client)
    description = tour.ask("GET", "/openapi.json").json()
    _ask_wrongly(tour, description)
    _ask_rightly(tour, deployment)
    return tour


def _ask_wrongly(tour: Tour, description: dict[str, Any]) -> None:
    """Every operation without its parameters, with foreign ones and with what is none."""
    for path, operations in description["paths"].items():
        here = path.replace("{", "").replace("}", "")
        for method, operation in operations.items():
            names = [p["name"] for p in operation.get("parameters", []) if p["in"] == "query"]
            tour.ask(method.upper(), here, params={"no_such_parameter": "x"})
            tour.ask(method.upper(), here, params=dict.fromkeys(names, "\x00../../etc/passwd"))
            if "requestBody" in operation:
                tour.ask(method.upper(), here, content=b'{"a": ')
                tour.ask(method.upper(), here, json={"no_such_field": [1]})
    for path in ("/nowhere", "/api/v1/nowhere", "/docs/../../etc/passwd", "/docs/%2e%2e/x"):
        tour.ask("GET", path)
    tour.ask("DELETE", "/healthz")
    tour.ask("GET", "/readyz", headers={"host": "evil.example"})
    tour.ask("POST", f"{V3}/music_collection_jobs", headers={"origin": "http://evil.example"})
    tour.ask(
        "GET", f"{V3}/music_collection_jobs/x", headers={"x-api-key": "tok3n-of-the-tour-4711x"}
    )
    tour.ask("GET", f"{V3}/music_collection_jobs/x", headers={"cookie": COOKIE})


def _ask_rightly(tour: Tour, deployment: Deployment) -> None:
    track = deployment.world("/_world/tracks")["tracks"][0]
    account = {"sec_user_id": "MS4wLjABAAAA-nobody"}
    tour.ask("POST", f"{V3}/music_collection_jobs", json={"input": track["music_id"]})
    for fault in ("", *FAULTS):
        if fault:
            deployment.fault(surface="*", kind=fault, times=2)
        tour.ask("GET", f"{V3}/handler_user_profile", params=account)
        tour.ask("POST", f"{V3}/fetch_multi_video", json=["7000000000000000001"])
    for path in ("/healthz", "/readyz", "/metrics", "/api/v1/sametrack/jobs"):
        tour.ask("GET", path)


def secrets() -> list[bytes]:
    return [TOKEN["x-api-key"].encode(), b"c00kie-of-the-tour"]


def paths(deployment: Deployment) -> list[bytes]:
    found = {str(deployment.root), str(ROOT), str(Path.home()), "site-packages"}
    return [path.encode() for path in found if len(path) > 1]


def test_the_tour_met_success_and_every_kind_of_refusal(tour: Tour) -> None:
    assert {200, 202, 400, 401, 403, 404, 405, 415, 421} <= tour.statuses
    assert 500 not in tour.statuses


def test_no_answer_holds_a_secret_or_a_local_path(tour: Tour, deployment: Deployment) -> None:
    for hidden in (*secrets(), *paths(deployment)):
        assert [answer[:300] for answer in tour.answers if hidden in answer] == []


def test_no_log_holds_a_secret_or_a_local_path(tour: Tour, deployment: Deployment) -> None:
    logs = {file.name: file.read_bytes() for file in deployment.root.glob("*.log")}
    assert any(name.startswith("serve") for name in logs)
    for hidden in (*secrets(), *paths(deployment)):
        found = [line for log in logs.values() for line in log.splitlines() if hidden in line]
        assert found == []


def test_each_line_of_the_service_is_json_and_each_request_has_one(
    tour: Tour, deployment: Deployment
) -> None:
    (log,) = deployment.root.glob("serve-*.log")
    deployment.wait(lambda: log.read_bytes().count(b'"message":"request"') >= len(tour.answers))
    lines = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    assert all({"message", "level", "logger", "time"} <= line.keys() for line in lines)
    assert not [line for line in lines if line["level"] in {"error", "critical"}]
