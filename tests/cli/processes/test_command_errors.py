"""Errors of the command line are one line and an exit code."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from api.cli.main import main
from tests.deployment import PATIENCE_S

pytestmark = pytest.mark.full

type Start = Callable[..., subprocess.Popen[str]]
CLI = ("-m", "api.cli.main")
CASES: dict[str, tuple[tuple[str, ...], dict[str, str], int, str]] = {
    "a setting of the wrong kind": (("jobs",), {"API_PORT": "x"}, 2, "API_PORT"),
    "a door left open": (("jobs",), {"API_HOST": "192.0.2.1"}, 2, "OWN_API_TOKEN"),
    "no profile": (("jobs",), {"PROFILE": ""}, 2, "profile_not_chosen"),
    "an unknown profile": (("jobs",), {"PROFILE": "nowhere"}, 2, "invalid_parameter"),
    "a job that is not there": (("jobs", "show", "x"), {}, 2, "job_not_found"),
    "a report of no job": (("report", "0000"), {}, 2, "job_not_found"),
    "a misspelt report": (("report", "trak"), {}, 2, "did you mean 'track'"),
    "an input that is no link": (("scan", "hello"), {}, 2, "invalid_music_input"),
    "an input that is too long": (("scan", "1" * 5000), {}, 2, "invalid_"),
    "an unknown command": (("scna",), {}, 2, "No such command"),
    "a home that cannot be": (("jobs",), {"DATA_HOME": "/dev/null/x"}, 1, "warehouse_unavailable"),
}


@pytest.mark.parametrize("name", list(CASES))
def test_an_error_is_one_named_line_without_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    arguments, env, code, word = CASES[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["sametrack", *arguments])
    settings = {"PROFILE": "sandbox", "DATA_HOME": str(tmp_path / "data"), "API_PORT": "1", **env}
    for setting, value in settings.items():
        monkeypatch.setenv(setting, value)
    with pytest.raises(SystemExit) as ended:
        main()
    said = "".join(capfd.readouterr())
    assert ended.value.code == code, said
    assert word in said
    assert "Traceback" not in said


def test_a_token_in_a_wrong_place_is_not_shown(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = start(
        *CLI, "jobs", cwd=tmp_path, log=log, OWN_API_TOKEN="very-secret", API_PORT="very-secret"
    )
    assert command.wait(PATIENCE_S) == 2
    said = log.read_text()
    assert "API_PORT" in said
    assert "very-secret" not in said
    assert "Traceback" not in said
