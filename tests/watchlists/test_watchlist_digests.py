"""`sametrack watchlist run --wait` and the digests it leaves, with a worker that only fails."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from api.cli.commands import watchlist
from api.cli.terminal import out
from tests.stored_results import MUSIC_ID
from warehouse.control import ControlStore, jobs, open_control, watchlists
from warehouse.home import open_home
from warehouse.records.watchlists import DueRun

type Run = Callable[..., Result]
LATER = datetime(2100, 1, 1, tzinfo=UTC)
FAULT: dict[str, object] = {"type": "upstream_empty", "detail": "nothing came", "hint": None}


class Worker:
    """Ends one scan with an error each time that somebody waits for it."""

    def __init__(self, control: ControlStore) -> None:
        self.control, self.waits = control, 0

    def sleep(self, _seconds: float) -> None:
        self.waits += 1
        if self.waits > 1:  # at first it is busy with another scan
            job = jobs.claim(self.control, "worker")
            assert job is not None
            jobs.finish(self.control, job.job_id, "failed", error=FAULT)


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setattr(out, "_width", 160)  # the width of a terminal that shows all columns
    url = open_home(tmp_path, "sandbox").control_url
    with closing(open_control(url, world="sandbox")) as control:
        found = Worker(control)
        monkeypatch.setattr(watchlist, "time", SimpleNamespace(sleep=found.sleep))
        yield found


@pytest.fixture
def run(worker: Worker) -> Run:
    def command(*words: str) -> Result:
        return CliRunner().invoke(watchlist.app, list(words), catch_exceptions=False)

    assert command("add", "songs", "--track", MUSIC_ID).exit_code == 0
    return command


def test_watchlist_run_wait_prints_the_digest_after_the_last_scan(run: Run, worker: Worker) -> None:
    done = run("run", "songs", "--wait")
    assert done.exit_code == 1  # no entry could be checked
    assert worker.waits == 2
    assert "0 changes · 1 failed" in done.stdout
    assert "failed: nothing came" in done.stdout
    (listed,) = json.loads(run("runs", "songs", "--json").stdout)["runs"]
    assert listed["status"] == "failed"


def test_a_digest_is_shown_for_a_person_and_a_program_by_its_run_or_the_newest(run: Run) -> None:
    ended = json.loads(run("run", "songs", "--wait", "--json").stdout)
    started = json.loads(run("run", "songs", "--json").stdout)
    assert (ended["status"], started["status"]) == ("failed", "waiting")
    newest = json.loads(run("digest", "songs", "--json").stdout)
    assert newest == ended["digest"]
    assert json.loads(run("digest", "songs", ended["run_id"], "--json").stdout) == newest
    shown = run("digest", "songs")
    assert "songs due" in shown.stdout
    assert "nothing came" in shown.stdout
    assert newest["files"]["html"] in shown.stdout
    assert "demo data" in shown.stderr
    waiting = run("digest", "songs", started["run_id"])
    assert waiting.exit_code == 1
    assert "no digest yet" in waiting.stderr


def test_the_newest_digest_is_found_behind_any_number_of_skipped_runs(
    run: Run, worker: Worker
) -> None:
    ended = json.loads(run("run", "songs", "--wait", "--json").stdout)
    run("run", "songs")  # its scan waits for a worker meanwhile
    for minute in range(201):
        watchlists.take_due(
            worker.control, "songs", DueRun(due_at=LATER + timedelta(minutes=minute))
        )
    assert json.loads(run("digest", "songs", "--json").stdout) == ended["digest"]
