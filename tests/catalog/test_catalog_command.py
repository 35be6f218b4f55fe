"""`sametrack catalog` on stores of its own: imported, run, shown, removed."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from api.cli.commands.catalog import app
from api.cli.rendering.catalogs import CatalogRunDisplay
from pipelines.catalog.rules import TRACK_STATES, DaySpending
from pipelines.catalog.run import CatalogProgress
from warehouse.records.catalogs import CatalogTrack, ImportedTrack
from warehouse.records.errors import InvalidParameterError

FIRST, SECOND = "7300000000000000001", "7300000000000000002"
NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
TABLE = f"""\
music_id,title,priority,ISRC
{FIRST},Paper Boats,5,DE-A00
{SECOND},,,
{FIRST},,,
7.3E+18,,,
nowhere,,,
"""

type Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    (tmp_path / "songs.csv").write_text(TABLE)
    return lambda *words: CliRunner().invoke(app, list(words), catch_exceptions=True)


def shown(result: Result, *, exit_code: int = 0) -> Any:
    assert result.exit_code == exit_code, result.output
    return json.loads(result.stdout)


def test_an_import_names_every_line_that_is_no_track_of_its_own(run: Run) -> None:
    (report,) = shown(run("import", "songs", "songs.csv", "--json"), exit_code=2)
    assert (report["new_count"], report["track_count"]) == (2, 2)
    assert [(one["line"], one["reason"]) for one in report["problems"]] == [
        (5, "rounded_number"),
        (6, "not_a_track"),
    ]
    assert [(one["line"], one["first_line"]) for one in report["duplicates"]] == [(4, 2)]
    text = run("import", "songs", "songs.csv").stdout
    assert "0 new · 2 updated · 1 duplicates · 2 problems · 2 tracks in all" in text
    assert "line 5" in text
    assert "is the track of line 2" in text


def test_a_dry_run_stores_nothing(run: Run) -> None:
    (report,) = shown(run("import", "songs", "songs.csv", "--dry-run", "--json"), exit_code=2)
    assert (report["new_count"], report["is_dry_run"]) == (2, True)
    assert shown(run("list", "--json")) == []


@pytest.mark.parametrize(
    ("option", "value"),
    [("--fresh-days", "inf"), ("--fresh-days", "nan"), ("--tracks-per-day", "10000001")],
)
def test_a_setting_that_the_service_would_refuse_is_refused(
    run: Run, option: str, value: str
) -> None:
    assert run("import", "songs", FIRST, option, value).exit_code == 2
    assert shown(run("list", "--json")) == []


def test_settings_are_kept_until_another_import_changes_them(run: Run) -> None:
    given = ("--tracks-per-day", "40", "--fresh-days", "2", "--candidate-limit", "50")
    shown(run("import", "songs", FIRST, *given, "--json"))
    shown(run("import", "songs", SECOND, "--tracks-per-day", "0", "--json"))
    assert shown(run("status", "songs", "--json"))["settings"] == {
        "fresh_days": 2.0,
        "tracks_per_day": None,
        "requests_per_day": None,
        "parameters": {"candidate_limit": 50},
    }


def test_the_status_shows_what_is_due_and_each_track(run: Run) -> None:
    run("import", "songs", "songs.csv")
    found = shown(run("status", "songs", "--json"))
    assert (found["due_count"], found["states"]["never_read"]) == (2, 2)
    assert found["spent_today"] == {"tracks": 0, "requests": 0}
    first = found["tracks"][0]
    assert (first["label"], first["priority"], first["state"]) == ("Paper Boats", 5, "never_read")
    assert first["columns"]["ISRC"] == "DE-A00"
    assert shown(run("status", "songs", "--state", "fresh", "--json"))["tracks"] == []
    text = run("status", "songs", "--tracks").stdout
    assert "2 due" in text
    assert "Paper Boats" in text
    assert run("status", "songs", "--state", "rotten").exit_code == 2


def test_tracks_and_catalogues_are_removed(run: Run) -> None:
    run("import", "songs", "songs.csv")
    assert shown(run("remove", "songs", FIRST, "--json"))["removed_count"] == 1
    assert isinstance(run("remove", "songs", FIRST).exception, InvalidParameterError)
    (left,) = shown(run("list", "--json"))
    assert left["track_count"] == 1
    assert "removed with 1 track\n" in run("remove", "songs").stdout
    assert isinstance(run("status", "songs").exception, InvalidParameterError)
    assert "songs" not in run("list").stdout


@pytest.mark.parametrize("name", ["Songs", "a b", "../x", ""])
def test_a_name_that_is_no_file_name_is_refused(run: Run, name: str) -> None:
    assert isinstance(run("import", name, FIRST).exception, InvalidParameterError)


def test_a_file_that_is_not_there_is_no_link(run: Run) -> None:
    assert "missing.csv does not exist" in str(run("import", "songs", "missing.csv").exception)


def test_a_run_says_why_it_ends_and_what_is_left(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIN_FREE_DISK_MB", str(2**40))
    run("import", "songs", "songs.csv")
    result = run("run", "songs", "--json")
    assert "no worker is running" in result.stderr
    assert "2 due · 0 running · 0 fresh · 0 failed · today 0 scans, 0 requests" in result.stderr
    assert "the disk is too full" in result.stderr
    ended = shown(result)
    assert (ended["stop"], ended["due_count"], ended["running"]) == ("disk_full", 2, [])


def test_an_interrupted_run_is_continued_and_its_jobs_can_be_cancelled(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("api.cli.commands.catalog.sleep", interrupt)
    run("import", "songs", "songs.csv")
    for _ in range(2):  # the second run is not kept out by the first, and submits nothing again
        result = run("run", "songs", "--at-once", "1")
        assert "interrupted; the worker goes on with 1 scan under way" in result.stderr
    assert shown(run("status", "songs", "--json"))["states"]["running"] == 1
    assert shown(run("cancel", "songs", "--json"))["cancelled_count"] == 1
    assert shown(run("status", "songs", "--json"))["due_count"] == 2


def test_a_track_that_ended_is_shown_with_its_outcome() -> None:
    given = ImportedTrack(key="music:12345", input="12345", label="Paper [bold]Boats")
    track = CatalogTrack(given=given, position=0)
    done = replace(track, result_job_id="a", music_id="12345")
    stopped = replace(done, given=replace(given, key="music:54321", label="Again"))
    failed = replace(track, failed_at=NOW, error={"detail": "nothing came"})
    progress = CatalogProgress(
        states=dict.fromkeys(TRACK_STATES, 0), due_count=3, jobs={}, ended=(done, failed, stopped),
        spent=DaySpending(tracks=2, requests=30), stop="track_budget",
        cancelled=frozenset({"music:54321"}),
    )  # fmt: skip
    written = StringIO()
    with CatalogRunDisplay(Console(file=written, width=200)) as display:
        display.update(progress)
        display.close(progress)
    assert written.getvalue().splitlines() == [
        "done Paper [bold]Boats 12345",
        "failed Paper [bold]Boats: nothing came",
        "cancelled Again",
        (
            "3 due · 0 running · 0 fresh · 0 failed · today 2 scans, 30 requests · "
            "the day's scans are used up; the next day (UTC) goes on"
        ),
    ]


def test_a_report_is_written_where_it_is_asked_for(run: Run, tmp_path: Path) -> None:
    run("import", "songs", "songs.csv")
    (path,) = shown(run("report", "songs", "--format", "html", "--out", "here", "--json"))["paths"]
    assert "Paper Boats" in (tmp_path / path).read_text()
    for option in ("--format", "--language"):
        assert run("report", "songs", option, "docx").exit_code == 2


def test_catalogues_are_listed_for_a_person_and_a_program(run: Run) -> None:
    assert "no catalogues yet" in run("list").output
    assert shown(run("list", "--json")) == []
    run("import", "songs", "songs.csv")
    text = run("list").stdout
    assert text.splitlines()[-2].split()[:3] == ["songs", "2", "2"]
    assert [one["name"] for one in shown(run("list", "--json"))] == ["songs"]


def test_an_unknown_state_is_refused_with_those_that_exist(run: Run) -> None:
    run("import", "songs", "songs.csv")
    refused = run("status", "songs", "--state", "lost")
    assert refused.exit_code == 2
    assert all(state in " ".join(refused.output.split()) for state in TRACK_STATES)


def test_no_more_problems_are_printed_than_a_person_reads(run: Run, tmp_path: Path) -> None:
    lines = [f"nowhere {number}" for number in range(60)] + [FIRST] * 60
    (tmp_path / "long.txt").write_text("\n".join(lines))
    text = " ".join(run("import", "songs", "long.txt", "--dry-run").stdout.split())
    assert "dry run: nothing was stored" in text
    assert "more problems: --json names all" in text
    assert "more duplicates: --json names all" in text
