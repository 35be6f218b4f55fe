"""Processes that tests look at, and a job API to speak to."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.children import end_group

ROOT = Path(__file__).parents[3]
PATIENCE_S = 600.0  # a machine may be busy with other things


ALWAYS = {
    "PYTHONPATH": str(ROOT),
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "",
    "RANDOM_AUDIT_SIZE": "0",
    "WORKER_LOST_AFTER_S": "600",  # on a busy machine silence proves nothing
    "LISTENING_WORKERS": "1",
}


class ProcessWatch:
    """Looks at processes and ports."""

    def wait_until(self, holds: Callable[[], bool], *, within_s: float = PATIENCE_S) -> bool:
        """Whether something came to hold in time."""
        until = time.monotonic() + within_s
        while not holds():
            if time.monotonic() > until:
                return False
            time.sleep(0.2)  # a look at every process takes a while itself
        return True

    def are_gone(self, pids: set[int]) -> bool:
        """True when nothing runs under these ids (a zombie does not run)."""
        return not any(self._runs(pid) for pid in pids)

    def family(self, pid: int) -> set[int]:
        """A process and everything below it, now."""
        return {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}

    def worker_of(self, pid: int) -> int:
        """The worker that `up` has started; 0 when there is none."""
        for child in self.family(pid):
            command = Path(f"/proc/{child}/cmdline")
            words = command.read_text().split("\0") if command.exists() else []
            if "-m api.cli.main worker" in " ".join(words):
                return child
        return 0

    def find_port(self) -> int:
        """A free loopback port."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    def _runs(self, pid: int) -> bool:
        try:
            return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False


@pytest.fixture
def processes() -> ProcessWatch:
    return ProcessWatch()


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a command of this project; what is left of it is ended afterwards."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str, cwd: Path, log: Path, **env: str) -> subprocess.Popen[str]:
        with log.open("a") as stream:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=cwd, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
                text=True, start_new_session=True,
                env={**os.environ, **ALWAYS, **env},
            )  # fmt: skip
        started.append(process)
        return process

    yield run
    for process in started:
        end_group(process)


class JobApi:
    """A job API with scripted answers, and what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, Any]]] = []
        self.asked: list[tuple[str, str, Any]] = []
        self.tokens: set[str | None] = set()
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                api.asked.append((self.command, self.path, body))
                api.tokens.add(self.headers.get("authorization"))
                status, data = api.answers.pop(0) if len(api.answers) > 1 else api.answers[0]
                if status >= 400:
                    usual = {"retry_after": None, "upstream": None}
                    data = {"error": {**usual, **data["error"]}}
                envelope = {
                    "code": status, "request_id": "r-1", "message": "", "message_zh": "",
                    "time_stamp": 0, "router": self.path, "params": {}, "data": data,
                }  # fmt: skip
                payload = json.dumps(envelope).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def do_GET(self) -> None:
                self.do_POST()

            def do_DELETE(self) -> None:
                self.do_POST()

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()


@pytest.fixture
def job_api() -> Iterator[JobApi]:
    api = JobApi()
    yield api
    api.server.shutdown()
    api.server.server_close()
    api.thread.join()
