"""Commands over the warehouse: they say what is invented, and open a prompt in a terminal only."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from api.cli.commands.analysis import sql as command
from api.cli.commands.analysis.analysis_workspace import open_workspace
from api.cli.main import app
from api.cli.sql_prompt import answer_lines
from warehouse.engine.duckdb_engine import Engine


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("LAKE_URL", "DATA_PROVIDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize(("profile", "is_demo"), [("sandbox", True), ("public", False)])
def test_only_what_is_invented_is_announced_as_demo_data(
    profile: str, is_demo: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROFILE", profile)
    with open_workspace() as workspace:
        assert (workspace.home.world, workspace.is_demo) == (profile, is_demo)
        assert workspace.engine.rows("select count(*) as n from marts.rankings") == [{"n": 0}]
    assert ("demo data" in capsys.readouterr().err) is is_demo


def test_without_a_statement_a_terminal_gets_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: Iterator[str] = iter(["select 6 * 7 as answer;", ".quit"])

    def prompt(engine: Engine, *, rows: int) -> None:
        answer_lines(lambda _: next(lines), engine, rows=rows)

    terminal: Any = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(command, "sys", SimpleNamespace(stdin=terminal))
    monkeypatch.setattr("api.cli.sql_prompt.run_prompt", prompt)
    done = CliRunner().invoke(app, ["sql"], catch_exceptions=False)
    assert done.exit_code == 0
    assert "answer" in done.stdout
    assert "42" in done.stdout


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["for people", "for programs"])
def test_a_pipe_gets_no_prompt(words: list[str]) -> None:
    refused = CliRunner().invoke(app, ["sql", *words], catch_exceptions=False)
    assert refused.exit_code == 2
    assert "give a statement" in refused.stderr
