"""`sametrack backup` and `sametrack restore` as they are called."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.main import app
from warehouse.control import captures, open_control
from warehouse.home import open_home
from warehouse.lake.store import open_lake
from warehouse.records.errors import InvalidParameterError
from warehouse.tables import BY_NAME

WORLD = "sandbox"


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("CONTROL_URL", "LAKE_URL", "DATA_PROVIDER", "DAGSTER_STORAGE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PROFILE", WORLD)
    monkeypatch.setenv("DATA_HOME", str(tmp_path / "home"))
    home = open_home(tmp_path / "home", WORLD)
    open_control(home.control_url, world=WORLD).close()
    return tmp_path


def test_a_copy_is_made_and_put_back_elsewhere(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = CliRunner().invoke(app, ["backup", str(world / "copy")], catch_exceptions=False)
    assert made.exit_code == 0
    assert "copied world sandbox: 1 file," in made.output
    monkeypatch.setenv("DATA_HOME", str(world / "other"))
    put = CliRunner().invoke(app, ["restore", str(world / "copy")], catch_exceptions=False)
    assert put.exit_code == 0
    assert "restored world sandbox" in put.output
    assert (world / "other" / WORLD / "control.sqlite").exists()


def test_backup_and_restore_commands_name_stores_that_are_left_out(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_STORAGE_URL", "postgresql://u:word@h/db")
    made = CliRunner().invoke(app, ["backup", str(world / "copy")], catch_exceptions=False)
    assert "left out Dagster's runs are in PostgreSQL" in made.output
    assert "word" not in made.output
    monkeypatch.delenv("DAGSTER_STORAGE_URL")
    monkeypatch.setenv("DATA_HOME", str(world / "other"))
    put = CliRunner().invoke(app, ["restore", str(world / "copy")], catch_exceptions=False)
    assert put.exit_code == 0
    assert "was left out Dagster's runs are in PostgreSQL" in put.output


def test_numbers_of_captures_go_on_after_those_of_the_lake_wherever_the_stores_live(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control_url, lake_url = f"sqlite:///{world}/elsewhere.sqlite", str(world / "elsewhere")
    names = [column.name for column in BY_NAME["raw.captures"].columns]
    captured = dict.fromkeys(name for name in names if name != "committed_at") | {
        "capture_id": "c", "surface": "music_list", "entity_id": "1", "sequence": 7,
        "outcome": "ok", "request_count": 1, "parser_version": "1", "data_provider": "test",
        "observed_at": datetime(2026, 11, 1, tzinfo=UTC),
    }  # fmt: skip
    open_lake(lake_url, world=WORLD).append("raw.captures", [captured])
    monkeypatch.setenv("CONTROL_URL", control_url)
    monkeypatch.setenv("LAKE_URL", lake_url)
    raised = CliRunner().invoke(app, ["restore", "--sequences"], catch_exceptions=False)
    assert raised.exit_code == 0
    assert "raised 1 sequence of lists and entities" in raised.output
    with closing(open_control(control_url, world=WORLD)) as control:
        assert captures.next_numbers(control, [("music_list", "1"), ("music_list", "2")]) == [8, 1]


@pytest.mark.parametrize("arguments", [[], ["copy", "--sequences"]])
def test_a_backup_is_restored_or_numbers_are_raised(arguments: list[str]) -> None:
    with pytest.raises(InvalidParameterError, match="either"):
        CliRunner().invoke(app, ["restore", *arguments], catch_exceptions=False)


def test_stores_that_live_elsewhere_are_not_restored_into_the_home(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTROL_URL", "postgresql+psycopg://u:word@h/db")
    with pytest.raises(InvalidParameterError, match="point elsewhere"):
        CliRunner().invoke(app, ["restore", str(world / "copy")], catch_exceptions=False)
