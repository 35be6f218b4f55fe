"""`sametrack doctor` keeps its time limit, reports a fault as one, and refuses stray options."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from api.cli.commands.system import doctor as command
from pipelines.doctor.documents import CheckResult
from warehouse.records.errors import InvalidParameterError

type Run = Callable[..., Result]


class Examination:
    """A look at the disk that may hang or fail."""

    def __init__(self) -> None:
        self.hangs = False
        self.fault: BaseException | None = None
        self.findings: list[CheckResult] = []
        self.surfaces: dict[str, str] = {}
        self.let_go = threading.Event()
        self.asked: dict[str, Any] = {}

    def run(self) -> None:
        if self.hangs:
            self.let_go.wait()
        else:
            self.findings.append(CheckResult("disk", "ok", "80 GB free"))

    def end(self) -> None:
        if not self.findings:
            self.findings.append(CheckResult("disk", "warn", "no result in time"))

    def verdict(self) -> Any:
        return SimpleNamespace(exit_code=1 if self.hangs else 0)

    def to_document(self, took_s: float) -> dict[str, Any]:
        looks = [
            {"state": one.state, "name": one.name, "says": one.says, "advice": None}
            for one in self.findings
        ]
        return {
            "is_demo_data": False, "machine": looks, "surfaces": [], "profile": "sandbox",
            "exit_code": self.verdict().exit_code, "verdict": "looked at", "took_s": took_s,
        }  # fmt: skip


@pytest.fixture
def examination(monkeypatch: pytest.MonkeyPatch) -> Iterator[Examination]:
    found = Examination()

    def build(surfaces: object, **given: Any) -> Examination:
        found.asked = {"surfaces": surfaces, **given}
        return found

    def leave(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(command, "build_examination", build)
    monkeypatch.setattr("os._exit", leave)
    monkeypatch.setattr(command, "_age_s", lambda: 0.0)
    yield found
    found.let_go.set()


@pytest.fixture
def run(examination: Examination) -> Run:
    app = typer.Typer()
    app.command()(command.doctor)
    return lambda *words: CliRunner().invoke(app, list(words))


def test_doctor_reports_checks_within_its_time_limit(run: Run, examination: Examination) -> None:
    done = run("--no-upstream", "--surface", "music_info", "--time-limit", "600")
    assert done.exit_code == 0
    assert "80 GB free" in done.stdout
    assert "time limit reached" not in done.stderr
    assert examination.asked["wants_surfaces"] is False
    assert list(examination.asked["surfaces"]) == ["music_info"]
    assert examination.asked["time_s"] == 600 - command.CLOSING_S


def test_hanging_doctor_check_is_marked_at_the_time_limit(
    run: Run, examination: Examination, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_age_s", lambda: 600.0)  # the start alone took so long
    examination.hangs = True
    late = run()
    assert late.exit_code == 1
    assert "no result in time" in late.stdout
    assert "time limit reached: unfinished checks are marked" in late.stderr


def test_a_fault_of_the_examination_is_raised_and_no_report_is_printed(
    run: Run, examination: Examination
) -> None:
    examination.fault = RuntimeError("no event loop")
    failed = run()
    assert failed.exception is examination.fault
    assert failed.stdout == ""


def test_a_folder_that_has_files_is_refused_before_anything_is_asked(
    run: Run, examination: Examination, tmp_path: Path
) -> None:
    examination.surfaces = {"music_info": "waiting"}
    (tmp_path / "note.txt").write_text("mine")
    refused = run("--record", str(tmp_path))
    assert isinstance(refused.exception, InvalidParameterError)
    assert "has files" in refused.exception.detail
    assert examination.findings == []
    assert (tmp_path / "note.txt").read_text() == "mine"


def test_doctor_record_needs_a_probed_surface(run: Run, tmp_path: Path) -> None:
    refused = run("--record", str(tmp_path / "new"), "--no-upstream")
    assert refused.exit_code == 2
    assert "none is probed" in refused.stderr
    assert not (tmp_path / "new").exists()
