"""What the doctor says of this machine."""

import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pipelines.doctor.checks import (
    check_chromium,
    check_disk,
    check_port,
    check_python,
    check_sandbox,
    check_time_zone,
    check_workers,
)


class Elsewhere(BaseHTTPRequestHandler):
    """Some other program: knows no path."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Quiet."""


def test_this_python_is_told_with_its_version() -> None:
    found = check_python()
    assert found.state != "fail"
    assert found.says.startswith(".".join(map(str, sys.version_info[:3])))


def test_a_disk_that_is_too_full_says_what_may_be_done(tmp_path: Path) -> None:
    found = check_disk(tmp_path / "not" / "there", min_free_mb=10**12)
    assert found.state == "fail"
    assert "MIN_FREE_DISK_MB" in str(found.advice)
    assert check_disk(tmp_path, min_free_mb=0).state == "ok"


def program(folder: Path, text: str) -> Path:
    path = folder / "browser"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(("is_needed", "state"), [(True, "fail"), (False, "warn")])
def test_a_browser_that_does_not_start_matters_where_it_is_needed(
    tmp_path: Path, is_needed: bool, state: str
) -> None:
    found = check_chromium(program(tmp_path, "exit 3"), is_needed=is_needed)
    assert found.state == state
    assert "setup-browser" in str(found.advice)


def test_a_browser_is_told_with_its_version(tmp_path: Path) -> None:
    path = program(tmp_path, "echo Chromium 156.0.1.2 built on something")
    assert check_chromium(path, is_needed=True).says == "Chromium 156.0.1.2"


def test_an_unknown_zone_is_a_finding() -> None:
    assert check_time_zone("Asia/Shanghai").state == "ok"
    assert check_time_zone("Mars/Olympus").state == "fail"


def test_no_worker_is_told_with_how_to_start_one() -> None:
    assert check_workers(lambda: ["one"]).says == "1 alive"
    found = check_workers(list)
    assert found.state == "warn"
    assert "sametrack worker" in str(found.advice)


def test_a_port_with_somebody_else_behind_it_is_told() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    port = server.server_address[1]
    found = check_port("api", port, setting="API_PORT", path="/healthz")
    server.shutdown()
    server.server_close()
    thread.join()
    assert found.state == "warn"
    assert "404" in found.says
    assert "API_PORT" in str(found.advice)


def test_a_free_port_is_fine_and_a_sandbox_that_is_down_is_not() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    assert check_port("api", port, setting="API_PORT", path="/healthz").state == "ok"
    found = check_sandbox(port)
    assert found.state == "warn"
    assert "sametrack sandbox" in str(found.advice)
