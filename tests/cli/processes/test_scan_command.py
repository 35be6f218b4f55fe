"""`sametrack scan` against a job API, by real HTTP."""

import json
import signal
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpcore2
import pytest
from typer.testing import CliRunner

from api.cli.http_job_client import HttpJobClient, JobServiceError, UnreachableServiceError
from api.cli.main import app
from tests.deployment import PATIENCE_S
from warehouse.records.errors import JobNotFoundError

pytestmark = pytest.mark.full

runner = CliRunner()
JOB = {
    "job_id": "0a3c2f5e-1111-4222-8333-444455556666",
    "poll_url": "/x",
    "status": "queued",
    "input": "1",
    "parameters": {},
    "progress": {"stage": "resolving", "stage_index": 0, "stage_count": 12},
    "result": None,
    "error": None,
    "cancel_requested": False,
}
RESULT: dict[str, Any] = {
    "keyword": None,
    "music_id": "7361729694329545668",
    "music": {"title": "\x1b[2Jowned [red]x[/]", "author": None},
    "aweme_list": [],
    "confirmed_count": 0,
    "candidate_pool_size": 15,
    "unique_account_count": 0,
    "returned_count": 0,
    "requested_count": 30,
    "count_satisfied": False,
    "variants": {"count": 0, "aweme_list": []},
    "coverage": {"sources": [], "not_reached": [], "unseen_estimate": None},
    "search_related": {"returned_count": 0},
    "is_demo_data": True,
}


def test_a_scan_of_another_machine_names_no_report_of_this_one(job_api: Any) -> None:
    job_api.answers = [(200, JOB | {"status": "completed", "result": RESULT})]
    done = runner.invoke(app, ["scan", "text", "--api", job_api.url])
    assert done.exit_code == 0, done.output
    assert "a stored result serves this request" in done.stderr
    assert "sametrack report" not in done.output


def test_parameters_are_sent_only_when_given(job_api: Any) -> None:
    job_api.answers = [(200, JOB | {"status": "completed", "result": RESULT})]
    answer = runner.invoke(
        app, ["scan", "text", "--api", job_api.url, "--count", "7", "--no-verify-audio",
              "--search-keywords", "a,\uff0cb", "--sort-by", "latest"],
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    (method, _, body), *_ = job_api.asked
    assert method == "POST"
    assert body == {
        "input": "text", "count": 7, "verify_audio": False, "search_keywords": ["a", "b"],
        "sort_by": "latest",
    }  # fmt: skip


def test_a_job_is_followed_to_its_result_and_hostile_text_is_shown_not_obeyed(job_api: Any) -> None:
    running = JOB | {
        "status": "running",
        "progress": {"stage": "video_details", "requests_used": 4},
    }
    job_api.answers = [
        (202, JOB),
        (200, running),
        (200, JOB | {"status": "completed", "result": RESULT}),
    ]
    answer = runner.invoke(app, ["scan", "1", "--api", job_api.url])
    assert answer.exit_code == 0, answer.output
    assert "reading detail pages" in answer.output
    assert "demo data, generated on this machine" in answer.output
    assert "\x1b[2J" not in answer.output
    assert "[red]x[/]" in answer.output


def test_json_is_the_finished_job_on_stdout_alone(job_api: Any) -> None:
    finished = JOB | {"status": "completed", "result": RESULT}
    job_api.answers = [(200, finished)]
    answer = runner.invoke(app, ["scan", "1", "--json", "--api", job_api.url])
    assert json.loads(answer.stdout) == finished


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_music_input", 2),
        (502, "upstream_forbidden", 1),
        (503, "profile_not_chosen", 1),
    ],
)
def test_a_refusal_is_one_named_line(job_api: Any, status: int, kind: str, code: int) -> None:
    job_api.answers = [(status, {"error": {"type": kind, "detail": "why", "hint": "do this"}})]
    with pytest.raises(JobServiceError) as refusal:
        HttpJobClient(job_api.url).create("x", {})
    assert (refusal.value.type, refusal.value.hint) == (kind, "do this")
    assert code == (2 if kind.startswith("invalid") else 1)


def test_a_failed_job_prints_its_error_and_hint(job_api: Any) -> None:
    error = {"type": "upstream_unreachable", "detail": "no\x1b[31m answer", "hint": "later"}
    job_api.answers = [(202, JOB), (200, JOB | {"status": "failed", "error": error})]
    answer = runner.invoke(app, ["scan", "1", "--api", job_api.url])
    assert answer.exit_code == 1
    assert "upstream_unreachable" in answer.output
    assert "later" in answer.output
    assert "Traceback" not in answer.output


def test_an_address_where_nobody_answers_is_told_as_that() -> None:
    with pytest.raises(UnreachableServiceError):
        HttpJobClient("http://127.0.0.1:1").job("x")


def test_a_missing_job_is_a_missing_job(job_api: Any) -> None:
    job_api.answers = [(404, {"error": {"type": "job_not_found", "detail": "none", "hint": None}})]
    with pytest.raises(JobNotFoundError):
        HttpJobClient(job_api.url).cancel("x")


@pytest.mark.parametrize(("scheme", "loadings"), [("http", 0), ("https", 1)])
def test_watching_loads_certificates_at_most_once(
    monkeypatch: pytest.MonkeyPatch, scheme: str, loadings: int
) -> None:
    loaded: list[ssl.SSLContext] = []

    def load(**_options: object) -> ssl.SSLContext:
        loaded.append(ssl.create_default_context())
        return loaded[-1]

    monkeypatch.setattr(httpcore2, "default_ssl_context", load)
    with HttpJobClient(f"{scheme}://127.0.0.1:1") as client:
        for _poll in range(3):
            with pytest.raises(UnreachableServiceError):
                client.job("x")
    assert len(loaded) == loadings


def test_the_token_travels_as_bearer(job_api: Any) -> None:
    job_api.answers = [(200, JOB)]
    HttpJobClient(job_api.url, token="word").job("x")
    assert job_api.tokens == {"Bearer word"}


def test_a_job_id_cannot_leave_its_place_in_the_address(job_api: Any) -> None:
    job_api.answers = [(200, JOB)]
    HttpJobClient(job_api.url).job("../../x?y#z")
    assert job_api.asked[0][1].endswith("music_collection_jobs/..%2F..%2Fx%3Fy%23z")


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)]
)
def test_ctrl_c_asks_the_job_to_stop(
    job_api: Any,
    start: Callable[..., subprocess.Popen[str]],
    processes: Any,
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    job_api.answers = [(202, JOB)]
    log = tmp_path / "log"
    scan = start("-m", "api.cli.main", "scan", "1", "--api", job_api.url, cwd=tmp_path, log=log)
    assert processes.wait_until(lambda: len(job_api.asked) > 2), log.read_text()
    scan.send_signal(number)
    assert processes.wait_until(lambda: any(method == "DELETE" for method, *_ in job_api.asked))
    job_api.answers = [(200, JOB | {"status": "cancelled", "cancel_requested": True})]
    assert scan.wait(PATIENCE_S) == 130
    assert "everything read so far is kept" in log.read_text()
