"""`sametrack chart` on stores of its own: back-filled, judged, linked and taken back."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.cli.commands.chart import app
from tests.charts.chart_rows import OTHER_KEY, SONG_KEY, TRACK, add_usual
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.records.errors import SametrackError

pytestmark = pytest.mark.full

type Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_PROVIDER", "mock")
    monkeypatch.setenv("MOCK_SIZE", "0.1")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")
    return lambda *words: CliRunner().invoke(app, list(words), catch_exceptions=True)


def shown(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(result: Result) -> str:
    assert isinstance(result.exception, SametrackError), result.output
    return result.exception.type


def test_a_range_is_read_once_and_its_gaps_are_told(run: Run) -> None:
    words = ("backfill", "--from", "2025-09-24", "--to", "2026-01-01")
    first = run(*words)
    assert first.exit_code == 0, first.output
    assert "demo data" in first.stderr
    assert "requested: 2026-01-01" in first.stdout
    again = shown(run(*words, "--json"))
    assert (again["new_count"], again["left_count"], again["is_cut"]) == (0, 0, True)
    assert again["known_count"] == again["issue_count"] > 5
    assert f"{again['issue_count']} of {again['issue_count']} issues" in first.stderr
    reported = shown(run("judge", "--json"))
    assert reported["issue_count"] == again["issue_count"]
    assert "songs of" in run("judge").stdout


def test_chart_backfill_command_refuses_invalid_date_ranges(run: Run) -> None:
    for words in (("--from", "x"), ("--from", "2020-01-01"), ("--from", "2040-01-01")):
        assert refused(run("backfill", *words, "--to", "2040-02-01")) == "invalid_date_range"


def test_chart_commands_store_show_and_withdraw_link_decisions(run: Run, tmp_path: Path) -> None:
    lake = open_lake(open_home(tmp_path, "mock").lake_url, world="mock")
    with closing(Engine(lake)) as engine:
        add_usual(engine)
    assert shown(run("judge", "--json"))["relations"] == {"same": 1}
    song = run("song", SONG_KEY)
    assert "title and artist" in song.stdout
    assert "lead of the platform, estimated: +8.0 days" in song.stdout
    denied = run("unlink", SONG_KEY, TRACK, "--by", "Lin", "--note", "[b]a cover[/b]")
    assert "manual different" in denied.stdout
    assert "no lead estimated (no observations)" in denied.stdout
    assert "cover[/b]" in run("links").stdout
    assert [one["note"] for one in shown(run("links", "--json"))["links"]] == ["[b]a cover[/b]"]
    back = shown(run("withdraw", SONG_KEY, TRACK, "--json"))
    assert [link["reason"] for link in back["links"]] == ["title_and_artist"]
    linked = shown(run("link", OTHER_KEY, TRACK, "--json"))
    assert [link["confidence"] for link in linked["links"]] == ["manual"]
    assert shown(run("links", OTHER_KEY, "--json"))["returned_count"] == 1
    assert refused(run("link", "hash:00", TRACK)) == "not_found"
    assert run("link", SONG_KEY, "12x").exit_code == 2
