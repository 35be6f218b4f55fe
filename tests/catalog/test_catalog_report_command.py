"""`sametrack catalog report`: what it asks for, and how it names the files."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.cli.main import app
from pipelines.catalog import open_service

type Asked = list[tuple[str, str, list[str]]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What reports are asked for: name, language, formats. Nothing is read or written."""
    monkeypatch.setenv("PROFILE", "sandbox")
    seen: Asked = []

    def write(
        _settings: object,
        name: str,
        *,
        folder: Path | None,
        language: str,
        formats: Collection[str],
        **_other: object,
    ) -> list[Path]:
        seen.append((name, language, list(formats)))
        return [(folder or Path("reports")) / f"[{name}].{form}" for form in formats]

    monkeypatch.setattr(open_service, "write_report", write)
    return seen


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["catalog", "report", *words], catch_exceptions=False)


def test_every_file_is_named_as_it_is_called(asked: Asked) -> None:
    done = run("songs", "--language", "zh")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "written reports/[songs].html",
        "written reports/[songs].xlsx",
        "written reports/[songs].parquet",
    ]
    assert asked == [("songs", "zh", ["html", "xlsx", "parquet"])]


def test_a_program_gets_the_paths_of_the_formats_that_it_asked_for(asked: Asked) -> None:
    done: Any = run("songs", "--format", "xlsx", "--out", "here", "--json")
    assert json.loads(done.stdout) == {"name": "songs", "paths": ["here/[songs].xlsx"]}
    assert asked == [("songs", "en", ["xlsx"])]


@pytest.mark.parametrize(
    "words", [["--language", "fr"], ["--format", "pdf"]], ids=["language", "format"]
)
def test_an_unknown_language_or_format_is_refused_before_anything_is_written(
    asked: Asked, words: list[str]
) -> None:
    refused = run("songs", *words)
    assert refused.exit_code == 2
    assert words[1] in refused.stderr
    assert asked == []
