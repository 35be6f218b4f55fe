"""Commands over the warehouse: they say what is invented, and what they need."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.commands.analysis.query import open_workspace
from api.cli.main import app


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


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["for people", "for programs"])
def test_without_a_statement_the_error_says_what_asks_interactively(words: list[str]) -> None:
    refused = CliRunner().invoke(app, ["sql", *words], catch_exceptions=False)
    assert refused.exit_code == 2
    assert "a statement is missing" in refused.stderr
    assert "sametrack database" in refused.stderr
    assert "duckdb -ui FILE" in refused.stderr
