"""`sametrack demo` with processes that only pretend to run: what it prints, writes and keeps."""

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any, Self

import pytest
import typer
from typer.testing import CliRunner, Result

from api.cli.commands import demo as command
from api.cli.interrupts import Interrupted
from api.cli.main import app as commands_of_all
from api.cli.processes.demo_environment import has_tables
from api.services.evidence.report_evidence import ReportEvidence
from tests.cli.asked_scans import answer_scan
from tests.stored_results import MUSIC_ID, work
from warehouse.control import open_control
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.records.errors import SametrackError

pytestmark = pytest.mark.full

type Run = Callable[..., Result]
SHORT, LONG = "a song that few used", f"a song that many used {MUSIC_ID}"


class Group:
    """Starts nothing; keeps the folder that a killed command would leave."""

    def __init__(self) -> None:
        self.folders: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to stop."""

    def remove_on_kill(self, folder: Path) -> None:
        self.folders.append(folder)


class Stage:
    """A demo whose sandbox knows which videos carry the song."""

    api_url, token = "http://127.0.0.1:1", "sesam"

    def __init__(self) -> None:
        self.carrying = [0, 1, 2, 3]
        self.home = self.cache = Path()
        self.fault: BaseException | None = None
        self.shown_logs: list[str] = []

    def set_up(self) -> None:
        if self.fault is not None:
            raise self.fault
        home = open_home(self.home, "sandbox")
        open_lake(home.lake_url, world="sandbox")
        open_control(home.control_url, world="sandbox").close()

    def world(self, path: str) -> dict[str, Any]:
        tracks = [
            {"prose": SHORT, "music_id": "1", "listed_count": 5},
            {"prose": LONG, "music_id": MUSIC_ID, "listed_count": 45},
        ]
        answers: dict[str, dict[str, Any]] = {
            "/_world/tracks?counts=0": {"tracks": tracks},
            f"/_world/truth/{MUSIC_ID}": {"works": [self._truth(n) for n in self.carrying]},
            "/_world/cpu": {"total_s": 12.34},
        }
        return answers[path]

    def _truth(self, number: int) -> dict[str, Any]:
        video = work(number)
        return {
            "aweme_id": video["aweme_id"], "music_id": video["source_music_id"], "kind": "main",
            "sound": "as_named", "relation": "same", "carries_recording": True, "heard": "song",
            "round": 1, "is_public": True,
        }  # fmt: skip

    def read_confirmed(self, _job_id: str) -> tuple[list[Any], list[Any]]:
        return [work(number) for number in range(4)], []

    def gather_pairs(self, _job: object) -> ReportEvidence:
        return ReportEvidence()

    def show_logs(self, name: str) -> None:
        self.shown_logs.append(name)

    def look(self) -> None:
        """All processes are running."""

    def held(self) -> AbstractContextManager[None]:
        return nullcontext()


class FakeJobClient:
    """A job service whose jobs have ended when they are handed in."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.asked = job, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""

    def create(self, text: str, _parameters: object) -> dict[str, Any]:
        self.asked = text
        return self.job


@pytest.fixture
def group() -> Group:
    return Group()


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def job_client(tmp_path: Path) -> Iterator[FakeJobClient]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox")) as control:
        yield FakeJobClient(answer_scan(control, videos=4))


@pytest.fixture
def run(
    group: Group,
    stage: Stage,
    job_client: FakeJobClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    def build(*, home: Path, cache: Path, **_given: object) -> Stage:
        stage.home, stage.cache = home, cache
        return stage

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "ChildProcessGroup", lambda: group)
    monkeypatch.setattr(command, "DemoEnvironment", build)
    monkeypatch.setattr(command, "HttpJobClient", lambda _url, token: job_client)
    app = typer.Typer()
    app.command()(command.demo)
    return lambda *words: CliRunner().invoke(
        app, ["--out", "reports", "--keep", "data", *words], env={"COLUMNS": "200"}
    )


def test_the_track_with_the_longest_list_is_scanned_and_compared_with_the_truth(
    run: Run, job_client: FakeJobClient, group: Group, tmp_path: Path
) -> None:
    done = run("--seed", "3", "--size", "0.5")
    assert done.exit_code == 0, done.output
    assert job_client.asked == LONG
    assert f"input: {LONG}" in done.stderr
    assert "4 confirmed videos of 14 candidates" in done.stdout
    assert "2 of 2 (100.0 %)" in done.stdout
    assert "the sandbox used 12.3 s of CPU" in done.stdout
    written = json.loads((tmp_path / "reports" / "demo-seed3-size0.5.json").read_text())
    assert written["ground_truth"]["goals_met"] is True
    assert written["job"]["job_id"] == job_client.job["job_id"]
    assert "Paper Boats" in (tmp_path / "reports" / "demo-seed3-size0.5.html").read_text()
    assert group.folders
    assert not group.folders[0].exists()


def test_all_that_stays_is_in_the_data_home_unless_a_folder_is_named(
    run: Run, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_HOME", "home")
    app = typer.Typer()
    app.command()(command.demo)
    done = CliRunner().invoke(app, ["--seed", "3"], env={"COLUMNS": "200"})
    assert "kept the job and its tables in home; next:" in done.stdout
    assert "\n  sametrack jobs\n" in done.stdout
    assert has_tables(tmp_path / "home")
    assert (tmp_path / "home" / "sandbox" / "reports" / "demo-seed3-size0.3.json").is_file()
    assert stage.cache == Path("home/sandbox/cache/sounds")


def test_tables_are_kept_once_and_a_later_demo_leaves_them(run: Run, tmp_path: Path) -> None:
    assert "kept the job and its tables in data" in run().stdout
    assert has_tables(tmp_path / "data")
    assert "kept the job" not in run().stdout


@pytest.mark.parametrize(
    ("environment", "given"),
    [
        ({}, "DATA_HOME=data "),
        ({"DATA_HOME": "data"}, ""),
        ({"DATA_HOME": "data", "PROFILE": "sandbox"}, ""),
        ({"DATA_HOME": "data", "PROFILE": "public"}, "PROFILE=sandbox "),
        (
            {"DATA_HOME": "data", "DATA_PROVIDER": "mock"},
            "PROFILE=sandbox DATA_PROVIDER=vidplat-public ",
        ),
    ],
)
def test_the_commands_that_it_names_read_what_it_has_kept(
    run: Run, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], given: str
) -> None:
    for name in ("PROFILE", "DATA_PROVIDER", "DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    lines = run().stdout.partition("next:\n")[2].splitlines()
    commands = [line.strip() for line in lines if line.startswith("  ")]
    assert commands[0] == f"{given}sametrack jobs"
    assert len(commands) == 5
    for name in environment:
        monkeypatch.delenv(name)
    for command_line in commands[:2]:
        words = shlex.split(command_line)
        place = words.index("sametrack")
        settings = {**environment, **dict(word.split("=", 1) for word in words[:place])}
        done = CliRunner().invoke(commands_of_all, words[place + 1 :], env=settings)
        assert done.exit_code == 0, f"{command_line}: {done.output} {done.exception}"


def test_a_scan_that_misses_the_goals_is_reported_and_fails(
    run: Run, stage: Stage, tmp_path: Path
) -> None:
    stage.carrying = [0, 1, 2]  # the fourth is confirmed by sound without the recording
    missed = run()
    assert missed.exit_code == 1
    assert "demo_goal_missed" in missed.stderr
    assert "without the recording, audio_fingerprint_match: 1" in missed.stdout
    assert (tmp_path / "reports" / "demo-seed7-size0.3.html").is_file()


def test_a_scan_that_fails_shows_its_error_and_the_log_of_the_worker(
    run: Run, job_client: FakeJobClient, stage: Stage, tmp_path: Path
) -> None:
    fault = {"type": "upstream_empty", "detail": "nothing came", "hint": None}
    job_client.job = {**job_client.job, "status": "failed", "error": fault, "result": None}
    failed = run()
    assert failed.exit_code == 1
    assert "nothing came (upstream_empty)" in failed.stderr
    assert stage.shown_logs == ["worker"]
    assert not (tmp_path / "reports").exists()
    assert not (tmp_path / "data").exists()


def test_a_scan_that_was_cancelled_ends_like_an_interrupted_command(
    run: Run, job_client: FakeJobClient, stage: Stage
) -> None:
    job_client.job = {**job_client.job, "status": "cancelled", "result": None}
    cancelled = run()
    assert cancelled.exit_code == 130
    assert "cancelled" in cancelled.stderr
    assert stage.shown_logs == []


def test_a_stop_signal_ends_the_demo_and_says_so(run: Run, stage: Stage) -> None:
    stage.fault = Interrupted(15)
    stopped = run()
    assert stopped.exit_code == 130
    assert "stopped by SIGTERM; all processes have ended" in stopped.stderr


def test_a_folder_that_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file")
    fault = run().exception
    assert isinstance(fault, SametrackError)
    assert fault.detail.startswith("reports cannot be written: ")
