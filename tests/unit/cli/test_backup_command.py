"""`sametrack backup` and `sametrack restore` as they are called."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.main import app
from warehouse.control import open_control
from warehouse.home.folder import open_home
from warehouse.records.errors import InvalidParameterError

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
    assert "copied world sandbox: 1 files" in made.output
    monkeypatch.setenv("DATA_HOME", str(world / "other"))
    put = CliRunner().invoke(app, ["restore", str(world / "copy")], catch_exceptions=False)
    assert put.exit_code == 0
    assert "restored world sandbox" in put.output
    assert (world / "other" / WORLD / "control.sqlite").exists()


def test_what_a_copy_does_not_hold_is_said_when_it_is_made_and_when_it_is_put_back(
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


def test_stores_that_live_elsewhere_are_not_restored_into_the_home(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTROL_URL", "postgresql+psycopg://u:word@h/db")
    with pytest.raises(InvalidParameterError, match="point elsewhere"):
        CliRunner().invoke(app, ["restore", str(world / "copy")], catch_exceptions=False)
