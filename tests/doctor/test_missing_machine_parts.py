"""What the doctor says of a machine that lacks something, and of ports that do answer."""

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pipelines.doctor.checks import check_chromium, check_port, check_python, check_sandbox


class Healthy(BaseHTTPRequestHandler):
    """Our service: it knows one path."""

    def do_GET(self) -> None:
        assert self.path == "/healthz"
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


def test_an_old_python_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 11, 9, "final", 0))
    found = check_python()
    assert (found.state, found.says.split(",")[0]) == ("fail", "3.11.9")
    assert "Python 3.12 or newer" in str(found.advice)


def test_a_python_of_the_system_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    found = check_python()
    assert found.state == "warn"
    assert found.says.endswith("outside of a virtual environment")
    assert found.advice == "run `make env`"


def test_a_python_of_the_project_names_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/somewhere/.venv")
    found = check_python()
    assert (found.state, found.says.endswith(", in .venv")) == ("ok", True)


@pytest.mark.parametrize(
    ("is_needed", "state"),
    [pytest.param(True, "fail", id="needed"), pytest.param(False, "warn", id="not-needed")],
)
def test_without_any_browser_it_is_said_who_needs_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_needed: bool, state: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = check_chromium(None, is_needed=is_needed)
    assert (found.state, found.says) == (state, "not found; only browser-public needs it")


class OverIPv6(ThreadingHTTPServer):
    address_family = socket.AF_INET6


@contextmanager
def service(host: str = "127.0.0.1") -> Iterator[int]:
    server = (OverIPv6 if ":" in host else ThreadingHTTPServer)((host, 0), Healthy)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_our_service_and_a_sandbox_on_their_ports_are_fine() -> None:
    with service() as port:
        found = check_port("api", port, setting="API_PORT", path="/healthz")
        assert (found.state, found.says) == ("ok", f"answers on port {port}")
        assert check_sandbox(port).says == f"listens on port {port}"


def test_our_service_is_found_at_the_address_that_it_listens_on() -> None:
    host = "::1"
    with service(host) as port:
        found = check_port("api", port, setting="API_PORT", path="/healthz", host=host)
        assert (found.state, found.says) == ("ok", f"answers on port {port}")
        elsewhere = check_port("api", port, setting="API_PORT", path="/healthz")
        assert elsewhere.says == f"port {port} is free; the service is not running"


@contextmanager
def closing_doors() -> Iterator[int]:
    """A program that takes each connection and closes it at once, until it is closed itself."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = int(listening.getsockname()[1])
        is_over = threading.Event()

        def take() -> None:
            while not is_over.is_set():
                listening.accept()[0].close()

        thread = threading.Thread(target=take)
        thread.start()
        try:
            yield port
        finally:
            is_over.set()
            socket.create_connection(("127.0.0.1", port)).close()
            thread.join()


def test_a_port_that_is_taken_and_does_not_answer_is_told() -> None:
    with closing_doors() as port:
        found = check_port("api", port, setting="API_PORT", path="/healthz")
    assert found.state == "warn"
    assert found.says.startswith(f"port {port} is taken and does not answer (")
    assert "API_PORT" in str(found.advice)
