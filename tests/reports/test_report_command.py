"""What `sametrack report` refuses before it makes anything, and what it lists."""

from contextlib import closing
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from api.cli.commands.report import report
from tests.cli.asked_scans import ask_for_scan
from warehouse.control import open_control
from warehouse.home import open_home

MUSIC_ID = "7300000000000000001"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    return tmp_path


def run(*words: str) -> Result:
    app = typer.Typer()
    app.command()(report)
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (["track", "--language", "fr"], "'fr' is not a language of reports"),
        (["0a1b2c3d", "--as-of", "2026-01-01"], "takes no parameters and no --as-of"),
        (["track", "-p", " =1"], "is not KEY=VALUE"),
    ],
)
def test_report_command_refuses_invalid_options_with_advice(words: list[str], detail: str) -> None:
    refused = run(*words)
    assert refused.exit_code == 2
    assert detail in refused.output


def test_a_job_without_a_result_has_no_report(home: Path) -> None:
    with closing(open_control(open_home(home, "sandbox").control_url, world="sandbox")) as control:
        job_id = ask_for_scan(control, MUSIC_ID)
    refused = run(job_id)
    assert refused.exit_code == 2
    assert "is queued and has no result to report" in " ".join(refused.output.split())
    assert not list(home.rglob("*.html"))
