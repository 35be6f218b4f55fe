"""`sametrack replay` before and after an archive is parsed: what it refuses and what it shows."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from api.cli.commands.system import replay as command
from api.cli.terminal import out
from pipelines.captures.replay import Replay, ReplayExample, SurfaceReplay

type Run = Callable[..., Result]
SAME = SurfaceReplay(surface="music_info", kinds=Counter({"same": 1_210}))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setattr(out, "_width", 160)  # the width of a terminal that shows all columns
    app = typer.Typer()
    app.command()(command.replay)
    return lambda *words: CliRunner().invoke(app, list(words), catch_exceptions=False)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What an archive is asked for; it finds two surfaces, one of them with differences."""
    seen: list[dict[str, Any]] = []
    changed = SurfaceReplay(
        surface="music_list", kinds=Counter({"same": 3, "changed": 2, "now_parsed": 1}),
        fields=Counter({"title": 2, "+record": 1}),
        examples=[ReplayExample(kind="changed", capture_id="c-1", entity_id="[7]", what="title")],
    )  # fmt: skip

    def find(_replay: Replay, **given: Any) -> list[SurfaceReplay]:
        given.pop("on_step")(3, 6)
        seen.append(given)
        return [SAME, changed]

    monkeypatch.setattr(Replay, "run", find)
    return seen


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (["--since", "yesterday"], "'yesterday' is not a date"),
        (["--surface", "music_info", "--surface", "nothing"], "unknown surface: nothing"),
    ],
    ids=["no date", "no surface"],
)
def test_replay_command_refuses_invalid_options_before_opening_a_store(
    run: Run, tmp_path: Path, words: list[str], detail: str
) -> None:
    refused = run(*words)
    assert refused.exit_code == 2
    assert detail in " ".join(refused.stderr.split())
    assert not (tmp_path / "sandbox").exists()


def test_an_empty_archive_is_said_to_be_empty(run: Run) -> None:
    shown = run()
    assert shown.exit_code == 0
    assert "the archive is empty" in shown.stderr
    assert shown.stdout == ""
    assert json.loads(run("--json").stdout)["surfaces"] == []


def test_differences_are_shown_and_what_writing_them_would_do(
    run: Run, asked: list[dict[str, Any]]
) -> None:
    shown = run("--since", "2026-11-01", "--surface", "music_list")
    assert asked == [
        {
            "since": datetime(2026, 11, 1, tzinfo=UTC), "surfaces": ("music_list",),
            "is_written": False,
        }
    ]  # fmt: skip
    rows = {line.split()[0]: line.split()[1:] for line in shown.stdout.splitlines() if line.strip()}
    assert rows["music_info"][:3] == ["1,210", "1,210", "0"]
    assert "music_list records that differ: title 2, +record 1" in shown.stdout
    assert "• changed [7] c-1: title" in shown.stdout
    assert "3 captures would be appended with --write; old rows are kept" in shown.stderr
    assert "3 captures were appended" in run("--write").stderr
    assert asked[-1] == {"since": None, "surfaces": (), "is_written": True}


def test_a_time_with_its_zone_is_taken_as_it_is(run: Run, asked: list[dict[str, Any]]) -> None:
    run("--since", "2026-11-01T08:00:00+08:00")
    assert asked[0]["since"] == datetime(2026, 11, 1, tzinfo=UTC)


def test_an_archive_that_reads_as_before_promises_no_writing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Replay, "run", lambda *_, **_given: [SAME])
    shown = run()
    assert "1,210" in shown.stdout
    assert "records that differ" not in shown.stdout
    assert "append" not in shown.stderr
