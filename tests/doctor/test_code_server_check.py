"""What the doctor says of Dagster's UI and of the code server behind it."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from api.cli.commands.system.doctor import dagster_port
from api.cli.processes.child_processes import DAGSTER_PORT, find_port
from pipelines.doctor.checks import check_code_server, check_port

pytestmark = pytest.mark.full

type Answering = Callable[[int, bytes], int]


@pytest.fixture
def answering() -> Iterator[Answering]:
    """A program on a loopback port that gives one answer to everything."""
    started: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(status: int, body: bytes) -> int:
        class Program(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815  # named by the library

            def log_message(self, *_: object) -> None:
                """Quiet."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Program)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        started.append((server, thread))
        return int(server.server_address[1])

    yield start
    for server, thread in started:
        server.shutdown()
        thread.join()
        server.server_close()


def locations(*statuses: str) -> bytes:
    entries = [{"name": "sametrack", "loadStatus": status} for status in statuses]
    return json.dumps({"data": {"locationStatusesOrError": {"entries": entries}}}).encode()


@pytest.mark.parametrize(
    ("status", "body", "state", "says"),
    [
        (200, locations("LOADED"), "ok", "code server: sametrack"),
        (200, locations("LOADING"), "warn", "the code server does not"),
        (200, locations(), "warn", "the code server does not"),
        (200, b"a page", "warn", "gives no valid response (JSONDecodeError)"),
        (200, b'{"data": null}', "warn", "gives no valid response (TypeError)"),
        (200, b'{"data": {}}', "warn", "gives no valid response (KeyError)"),
        (500, b"", "warn", "gives no valid response (HTTPStatusError)"),
        (401, b"", "warn", "requires a token"),
    ],
)
def test_the_answer_of_the_ui_tells_of_the_code_server(
    answering: Answering, status: int, body: bytes, state: str, says: str
) -> None:
    found = check_code_server(answering(status, body), token="a token")
    assert (found.name, found.state) == ("dagster ui", state)
    assert says in found.says
    assert (found.advice is None) == (state == "ok")


def test_doctor_says_how_to_start_a_missing_code_server() -> None:
    found = check_code_server(find_port())
    assert found.state == "warn"
    assert "sametrack up" in str(found.advice)


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("http://127.0.0.1:9000", 9000),
        ("http://localhost:9000/runs", 9000),
        ("https://dagster.example.com:9000", DAGSTER_PORT),
        ("http://127.0.0.1:port", DAGSTER_PORT),
        ("http://localhost", DAGSTER_PORT),
        (None, DAGSTER_PORT),
    ],
)
def test_the_port_is_that_of_an_address_on_this_machine(url: str | None, port: int) -> None:
    assert dagster_port(url) == port


@pytest.mark.parametrize(("status", "state"), [(200, "ok"), (503, "warn")])
def test_a_port_is_ours_if_it_answers_well(answering: Answering, status: int, state: str) -> None:
    port = answering(status, b"")
    found: Any = check_port("service", port, setting="PORT", path="/healthz")
    assert found.state == state
    assert str(port) in found.says
