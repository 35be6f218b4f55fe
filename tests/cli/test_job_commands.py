"""`sametrack jobs` on stores of its own, and what is shown while a job is followed."""

import io
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from api.cli.commands.jobs import app
from api.cli.rendering.progress import ScanDisplay, describe_stage, format_counts
from api.cli.terminal import out
from tests.cli.asked_scans import ask_for_scan
from warehouse.control import ControlStore, jobs, open_control
from warehouse.control import jobs as job_claims
from warehouse.home import open_home
from warehouse.records.jobs import ProgressRecord

FAULT: dict[str, object] = {
    "type": "upstream_forbidden", "detail": "the platform refused", "hint": "Wait",
    "retry_after": None, "upstream": None,
}  # fmt: skip


@pytest.fixture
def control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ControlStore:
    """The job store of a new home, which commands of this test use."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setattr(out, "_width", 160)  # the width of a terminal that shows all columns
    return open_control(open_home(tmp_path, "sandbox").control_url, world="sandbox")


def run(*words: str) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_without_a_job_the_list_says_how_to_start_one(control: ControlStore) -> None:
    with closing(control):
        assert "no jobs yet" in run()
        assert json.loads(run("--json")) == []


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_list_shows_status_and_confirmed_videos_in_any_terminal(
    control: ControlStore, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(out, "_width", width)
    with closing(control):
        job_id = ask_for_scan(control, "7300000000000000001")
        job_claims.claim(control, "worker")
        progress = ProgressRecord(
            candidate_pool_count=150, confirmed_count=30, detail_checked_count=150,
            audio_checked_count=110, requests_used=443,
        )  # fmt: skip
        jobs.save_progress(control, job_id, progress)
        jobs.finish(control, job_id, "completed")
        row = next(line for line in run().splitlines() if "7300000000000000001" in line)
    shown_id = job_id if width >= 120 else job_id[:8]
    assert row.split()[:3] == [shown_id, "completed", "7300000000000000001"]
    assert row.split()[3:5] == ["confirmed", "30"]
    assert len(row.rstrip()) <= width


def test_jobs_are_listed_with_where_they_are(control: ControlStore) -> None:
    with closing(control):
        waiting = ask_for_scan(control, "7300000000000000001")
        job_claims.claim(control, "worker")
        jobs.finish(control, waiting, "failed", error=FAULT)
        ask_for_scan(control, "7300000000000000002")
        text = run()
        assert "the platform refused" in text
        assert "queued" in text
        assert [job["status"] for job in json.loads(run("--json"))] == ["queued", "failed"]
        assert len(json.loads(run("--limit", "1", "--json"))) == 1


def test_a_job_is_shown_by_the_beginning_of_its_id(control: ControlStore) -> None:
    with closing(control):
        job_id = ask_for_scan(control, "7300000000000000001")
        text = run("show", job_id[:8])
        assert job_id in text
        assert "waiting for a worker" in text
        job_claims.claim(control, "worker")
        jobs.finish(control, job_id, "failed", error=FAULT)
        assert "the platform refused" in run("show", job_id)
        assert json.loads(run("show", job_id, "--json"))["error"]["type"] == "upstream_forbidden"


def test_a_job_is_cancelled_unless_it_has_ended(control: ControlStore) -> None:
    with closing(control):
        ended = ask_for_scan(control, "7300000000000000002")
        job_claims.claim(control, "worker")
        jobs.finish(control, ended, "failed", error=FAULT)
        assert "failed · already ended" in run("cancel", ended)
        job_id = ask_for_scan(control, "7300000000000000001")
        assert "cancelled · what it has read is kept" in run("cancel", job_id)
        assert json.loads(run("cancel", job_id, "--json"))["status"] == "cancelled"


def running(**progress: Any) -> dict[str, Any]:
    return {"status": "running", "progress": {"stage": "video_details", **progress}}


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ({"status": "queued"}, "waiting for a worker"),
        ({"status": "queued", "progress": {"waiting_for": "lease"}}, "waiting for an equal job"),
        ({"status": "completed"}, "completed"),
        ({**running(), "cancel_requested": True}, "stopping at the next safe point"),
        (running(waiting_for="budget"),
         "reading detail pages, waiting for the daily budget of a host"),
        (running(stage="of tomorrow"), "of tomorrow"),
        (running(attempt=2, attempt_count=3), "reading detail pages (attempt 2 of 3)"),
        (running(continued_from={"stage": "candidates", "round": 2}),
         "reading detail pages (continued from choosing candidates, round 2)"),
        (running(attempt=3, attempt_count=3, continued_from={"stage": "track", "round": None}),
         "reading detail pages (attempt 3 of 3, continued from reading the track)"),
    ],
)  # fmt: skip
def test_a_job_says_in_words_where_it_is(job: dict[str, Any], said: str) -> None:
    assert describe_stage(job) == said


def test_only_counts_that_are_known_and_not_zero_are_shown() -> None:
    counts = {"candidate_pool_count": 1500, "confirmed_count": 0, "requests_used": None}
    assert format_counts(running(**counts)) == "candidates 1,500"
    assert format_counts({"status": "queued"}) == ""


def followed(console: Console, *jobs: dict[str, Any]) -> None:
    with ScanDisplay(console) as display:
        for job in jobs:
            display.update(job)


def test_a_pipe_gets_one_line_for_each_stage() -> None:
    pipe = io.StringIO()
    later = running(stage="rankings")
    followed(Console(file=pipe, width=150), running(), running(), later)
    first, second = pipe.getvalue().splitlines()
    assert first.endswith("reading detail pages")
    assert second.endswith("ranking")


def test_a_terminal_shows_how_much_time_may_be_left() -> None:
    screen = io.StringIO()
    console = Console(file=screen, width=150, force_terminal=True, color_system=None)
    followed(console, running(eta_range_s=[3.2, 9.6], stage_index=5, candidate_pool_count=7))
    assert "3 to 10 s left" in screen.getvalue()
    assert "candidates 7" in screen.getvalue()
