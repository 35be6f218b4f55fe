"""`sametrack report` without a kernel: its list, and what it refuses."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from api.cli.main import main
from pipelines.reports.catalogue import read_catalogue

type Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")

    def command(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["sametrack", "report", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        message = capfd.readouterr()
        return int(ended.value.code or 0), message.out + message.err

    return command


def test_the_list_names_every_report_with_its_parameters(run: Run) -> None:
    status, message = run("--list")
    assert status == 0
    for report in read_catalogue():
        assert report.name in message
        assert all(f"{one.name} = {one.default!r}" in message for one in report.parameters)
    assert "JOB_ID" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no report was named"),
        (("trakc",), "did you mean 'track'?"),
        (("track", "-p", "music=7"), "did you mean 'music_id'?"),
        (("track", "-p", "top=many"), "top: 'many' is not a valid int"),
        (("track", "-p", "top"), "is not KEY=VALUE"),
        (("track", "--as-of", "soon"), "neither a date nor a time"),
        (("0b1c2d3e", "-p", "top=1"), "takes no parameters"),
        (("0b1c2d3e",), "job_not_found"),
        (("track", "--pdf", "--output", "a.pdf"), "--pdf --output a.html"),
        (("0b1c2d3e", "--out", "a.PDF"), "names the page, which is HTML"),
    ],
)
def test_report_command_exits_with_status_2_for_invalid_arguments(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    status, said = run(*arguments)
    assert (status, message in said) == (2, True), said
    assert "Traceback" not in said
