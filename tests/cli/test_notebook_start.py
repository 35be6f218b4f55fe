"""`sametrack notebook` up to the start of JupyterLab: which data it opens, and when it collects."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from api.cli.commands.analysis import notebook as command
from api.cli.processes.demo_environment import has_tables
from warehouse.home import open_home
from warehouse.lake.store import open_lake

type Run = Callable[..., Result]


class Shell:
    """Runs a demo and starts JupyterLab, both only on paper."""

    def __init__(self) -> None:
        self.demos: list[list[str]] = []
        self.started: list[str] = []
        self.environment: dict[str, str] = {}
        self.demo_code = 0
        self.leaves_tables = True
        self.is_interrupted = False

    def run(self, words: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
        assert not check
        self.demos.append(words)
        if self.is_interrupted:
            raise KeyboardInterrupt
        if self.leaves_tables:
            collect(Path(words[words.index("--keep") + 1]))
        return subprocess.CompletedProcess(words, self.demo_code)

    def execve(self, program: str, words: list[str], environment: dict[str, str]) -> None:
        assert program == words[0]
        self.started, self.environment = words, environment


def collect(data_home: Path) -> None:
    open_lake(open_home(data_home, "sandbox").lake_url, world="sandbox")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    found = Shell()
    monkeypatch.setattr("subprocess.run", found.run)
    monkeypatch.setattr("os.execve", found.execve)
    monkeypatch.setattr(command, "need_extra", lambda *_: None)
    monkeypatch.setattr(command, "may_open_browser", lambda: True)
    return found


@pytest.fixture
def run(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("PROFILE", "DATA_PROVIDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATA_HOME", "data")
    app = typer.Typer()
    app.command()(command.notebook)
    return lambda *words: CliRunner().invoke(app, list(words), catch_exceptions=True)


def test_a_demo_collects_data_where_there_is_none(run: Run, shell: Shell, tmp_path: Path) -> None:
    opened = run("--seed", "3", "--size", "0.5")
    assert opened.exit_code == 0, opened.output
    assert "there is no data of the sandbox yet" in opened.stderr
    (demo,) = shell.demos
    home = tmp_path / "data" / "sandbox"
    assert demo[3:] == [
        "demo", "--seed", "3", "--size", "0.5", "--keep", str(tmp_path / "data"),
        "--out", str(home / "reports"), "--cache", str(home / "cache" / "sounds"),
    ]  # fmt: skip
    assert "jupyterlab" in shell.started
    assert shell.environment["PROFILE"] == "sandbox"
    assert shell.environment["DATA_HOME"] == str(tmp_path / "data")


def test_data_that_is_there_is_opened_at_once(run: Run, shell: Shell, tmp_path: Path) -> None:
    collect(tmp_path / "data")
    opened = run("--no-browser", "--port", "9000")
    assert shell.demos == []
    assert "notebooks of" in opened.stderr
    assert "--ServerApp.port=9000" in shell.started
    assert "--ServerApp.open_browser=False" in shell.started


def test_a_chosen_profile_is_opened_without_any_demo(
    run: Run, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFILE", "public")
    assert run().exit_code == 0
    assert shell.demos == []
    assert shell.environment["PROFILE"] == "public"
    assert "--ServerApp.open_browser=True" in shell.started


@pytest.mark.parametrize(("code", "expected"), [(3, 3), (0, 1)], ids=["failed", "empty"])
def test_notebook_does_not_start_if_the_demo_left_no_data(
    run: Run, shell: Shell, code: int, expected: int
) -> None:
    shell.leaves_tables, shell.demo_code = False, code
    assert run().exit_code == expected
    assert shell.started == []


def test_a_demo_that_was_interrupted_opens_nothing(run: Run, shell: Shell, tmp_path: Path) -> None:
    shell.is_interrupted = True
    assert run().exit_code == 130
    assert shell.started == []
    assert not has_tables(tmp_path / "data")


def test_a_demo_that_missed_its_goals_leaves_data_all_the_same(run: Run, shell: Shell) -> None:
    shell.demo_code = 1
    assert run().exit_code == 0
    assert shell.started
