"""`sametrack parse` prints the records of a body, or the refusal that it is."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from api.cli.commands import parse as command
from pipelines.platform.reparse import SURFACES
from tests.answers import SHAPES

REPORTED = SHAPES / "reported"
CASES = tomllib.loads((REPORTED / "cases.toml").read_text(encoding="utf-8"))["case"]
VIDEO = "7600000000000000011"


@pytest.fixture(autouse=True)
def _no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROFILE", raising=False)


def run(*words: str, stdin: bytes | None = None) -> Result:
    app = typer.Typer()
    app.command()(command.parse)
    return CliRunner().invoke(app, list(words), input=stdin, catch_exceptions=False)


def parsed(case: dict[str, Any], *, stdin: bool = False) -> dict[str, Any]:
    path = REPORTED / case["file"]
    shown = run(
        "-" if stdin else str(path), "--surface", case["surface"], "--entity", case["entity"],
        "--status", str(case["status"]), "--json", stdin=path.read_bytes() if stdin else None,
    )  # fmt: skip
    assert shown.exit_code == 0
    document: dict[str, Any] = json.loads(shown.stdout)
    return document


def at(document: Any, path: str) -> Any:
    for key in path.split("."):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])
def test_a_reported_body_gives_the_expected_values(case: dict[str, Any]) -> None:
    document = parsed(case)
    expected = case["expected"]
    assert {path: at(document, path) for path in expected} == expected


def test_every_reported_body_has_a_case() -> None:
    files = {path.name for path in REPORTED.iterdir() if path.suffix != ".toml"}
    assert {case["file"] for case in CASES} == files


def test_stdin_gives_the_same_as_a_file() -> None:
    case = next(case for case in CASES if case["file"] == "desktop_page_videoDetail.html")
    from_file, from_stdin = parsed(case), parsed(case, stdin=True)
    for document in (from_file, from_stdin):
        document["record"]["video"].pop("observed_at")
    assert from_file == from_stdin


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])
def test_without_json_the_outcome_and_the_values_are_readable(case: dict[str, Any]) -> None:
    shown = run(
        str(REPORTED / case["file"]), "--surface", case["surface"], "--entity", case["entity"],
        "--status", str(case["status"]),
    )  # fmt: skip
    assert shown.exit_code == 0
    assert case["expected"]["outcome"] in shown.stdout
    assert case["surface"] in shown.stdout


def test_an_unknown_surface_is_refused_with_the_names_of_all() -> None:
    shown = run(str(REPORTED / "status_2053.json"), "--surface", "nothing", "--entity", VIDEO)
    assert shown.exit_code == 2
    words = " ".join(shown.stderr.split())
    assert "unknown surface: nothing" in words
    assert all(name in words for name in SURFACES)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"\x1f\x8b\x08\x00", "is gzip, not a text"),
        (b"{}\0", "is binary, not a text"),
        (b" " * (4 * 1024 * 1024 + 1), "has more than 4,194,304 bytes"),
    ],
    ids=["packed", "binary", "huge"],
)
def test_a_file_that_is_no_body_is_refused_by_name(
    tmp_path: Path, body: bytes, detail: str
) -> None:
    file = tmp_path / "body"
    file.write_bytes(body)
    for source, stdin in ((str(file), None), ("-", body)):
        shown = run(source, "--surface", "web_detail", "--entity", VIDEO, stdin=stdin)
        assert shown.exit_code == 2
        assert detail in " ".join(shown.stderr.split())


@pytest.mark.parametrize("file", ["missing.json", "."])
def test_a_file_that_cannot_be_read_is_an_input_error(file: str) -> None:
    shown = run(file, "--surface", "web_detail", "--entity", VIDEO)
    assert shown.exit_code == 2
    assert "cannot be read" in shown.stderr


@pytest.mark.parametrize(
    ("status", "name"), [("429", "rate_limited"), ("503", "unreachable"), ("403", "forbidden")]
)
def test_a_status_is_a_refusal_as_the_client_meets_it(
    tmp_path: Path, status: str, name: str
) -> None:
    file = tmp_path / "body"
    file.write_bytes(b"<html></html>")
    shown = run(
        str(file), "--surface", "web_detail", "--entity", VIDEO, "--status", status, "--json"
    )
    assert json.loads(shown.stdout)["refusal"]["name"] == name
