"""Commands take no other program for a service, and say beforehand what is long or unusual."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import structlog
import typer
from typer.testing import CliRunner, Result

from api.cli import api_access
from api.cli.commands.scan import scan
from api.cli.main import app as main_app
from api.cli.rendering import progress
from api.client import ApiResponse, AsyncClient
from tests.stored_results import MUSIC_ID
from warehouse.control import ControlStore, jobs, open_control
from warehouse.home import open_home
from warehouse.records.jobs import JobStatus

type Run = Callable[..., Result]
FAULT: dict[str, object] = {"type": "upstream_empty", "detail": "nothing came", "hint": None}


class Stranger(BaseHTTPRequestHandler):
    """Another program that answers everything with a page of its own."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a program that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def stranger() -> Iterator[int]:
    """The port of a program that is not Sametrack."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home, and logging as it was afterwards."""
    logging_before = structlog.get_config()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setenv("API_PORT", "1")  # nothing listens there
    yield tmp_path
    structlog.configure(**logging_before)


@pytest.fixture
def control(home: Path) -> Iterator[ControlStore]:
    """The job store of that home, with a live worker."""
    with closing(open_control(open_home(home, "sandbox").control_url, world="sandbox")) as opened:
        jobs.beat(opened, "worker", [])
        yield opened


@pytest.fixture
def run(home: Path) -> Run:
    app = typer.Typer()
    app.command()(scan)
    return lambda *words: CliRunner().invoke(app, [MUSIC_ID, *words], catch_exceptions=False)


def works(
    monkeypatch: pytest.MonkeyPatch, control: ControlStore, status: JobStatus, **ending: Any
) -> None:
    """While the command waits, the worker ends its job."""

    def end(_seconds: float) -> None:
        job = jobs.claim(control, "worker")
        assert job is not None
        jobs.finish(control, job.job_id, status, **ending)

    monkeypatch.setattr(progress, "sleep", end)


def test_a_scan_passes_by_another_program_on_the_port_of_the_service(
    run: Run, control: ControlStore, stranger: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_PORT", str(stranger))
    works(monkeypatch, control, "failed", error=FAULT)
    failed = run()
    assert failed.exit_code == 1
    assert "nothing came (upstream_empty)" in failed.stderr
    (job,) = jobs.newest(control, limit=9)
    assert (job.input, job.origin) == (MUSIC_ID, "cli")


def test_a_question_passes_by_another_program_too(
    home: Path, stranger: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("API_PORT", str(stranger))
    with pytest.raises(typer.Exit) as refused:
        api_access.call_api(lambda client: client.job("none"), api=None)
    assert refused.value.exit_code == 2
    assert "job_not_found" in capsys.readouterr().err
    assert (home / "sandbox").is_dir()


def test_a_question_does_not_wait_for_a_service_that_hangs(
    home: Path, silent: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("API_PORT", str(silent))
    monkeypatch.setattr(api_access, "ALIVE_WITHIN_S", 0.05)
    with pytest.raises(typer.Exit) as refused:
        api_access.call_api(lambda client: client.job("none"), api=None)
    assert refused.value.exit_code == 2
    assert "job_not_found" in capsys.readouterr().err
    assert (home / "sandbox").is_dir()


@pytest.mark.usefixtures("home")
def test_a_named_service_that_hangs_is_given_up_when_the_time_is_over(
    silent: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SYNC_REQUEST_TIMEOUT", "0.1")
    with pytest.raises(typer.Exit) as refused:
        api_access.call_api(lambda client: client.job("none"), api=f"http://127.0.0.1:{silent}")
    assert refused.value.exit_code == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "did not answer (ReadTimeout, 1 attempt in 0." in said


def test_api_address_of_another_program_is_unreachable(
    home: Path, stranger: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as refused:
        api_access.call_api(lambda client: client.job("none"), api=f"http://127.0.0.1:{stranger}")
    assert refused.value.exit_code == 1
    assert "service_unreachable" in capsys.readouterr().err
    assert not (home / "sandbox").exists()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("command", [("scan", MUSIC_ID), ("user", "profile", "x")])
@pytest.mark.parametrize(
    "address", ["localhost:8780", "http://", "http://[::1", "http://127.0.0.1:99999"]
)
def test_invalid_api_address_is_an_input_error(command: tuple[str, ...], address: str) -> None:
    refused = CliRunner().invoke(main_app, [*command, "--api", address], catch_exceptions=False)
    assert refused.exit_code == 2
    assert "is not the address of a service, such as http://127.0.0.1:8780" in refused.stderr


def test_a_scan_that_takes_minutes_says_so_before_it_starts(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFILE", "public")
    with closing(open_control(open_home(home, "public").control_url, world="public")) as control:
        jobs.beat(control, "worker", [])
        works(monkeypatch, control, "failed", error=FAULT)
        small, large = (run("--candidate-limit", limit).stderr for limit in ("15", "2000"))
    assert "this is a large scan: about " in large
    assert "Ctrl-C cancels it" in " ".join(large.split())
    assert "upstream_empty" in small
    assert "this is a large scan" not in small


def answer_with(data: dict[str, bool]) -> ApiResponse[dict[str, bool]]:
    return ApiResponse(
        data=data, status=200, request_id="r", params={}, message="", message_zh="",
        time_stamp=0, retry_after=None, envelope={},  # type: ignore[typeddict-item]  # not looked at
    )  # fmt: skip


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"is_demo_data": True}, "demo data"),
        ({"is_experimental": True}, "experimental"),
        ({"is_demo_data": False, "is_experimental": False}, ""),
    ],
    ids=["demo", "experimental", "ordinary"],
)
@pytest.mark.usefixtures("home")
def test_command_prints_a_note_for_demo_and_experimental_data(
    data: dict[str, bool], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def question(_client: AsyncClient) -> ApiResponse[dict[str, bool]]:
        return answer_with(data)

    seen: list[object] = []
    api_access.call_and_print(
        question, lambda _console, found: seen.append(found), api="http://127.0.0.1:1",
        as_json=False,
    )  # fmt: skip
    assert seen == [data]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err.lower()
    assert bool(said) == bool(shown.err)
