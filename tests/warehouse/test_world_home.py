"""A home is created once, marked, and refuses another world."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warehouse.home import open_home
from warehouse.records.errors import (
    InvalidParameterError,
    StoreTooNewError,
    WarehouseUnavailableError,
    WrongWorldError,
)


def test_home_gives_each_world_its_own_folder(tmp_path: Path) -> None:
    sandbox, public = open_home(tmp_path, "sandbox"), open_home(tmp_path, "public")
    assert sandbox.root != public.root
    assert sandbox.root == tmp_path / "sandbox"
    assert sandbox.lake_url == str(tmp_path / "sandbox" / "lake")
    assert sandbox.control_url == f"sqlite:///{tmp_path}/sandbox/control.sqlite"


def test_home_makes_its_folders_and_opens_again(tmp_path: Path) -> None:
    first = open_home(tmp_path, "sandbox")
    assert open_home(tmp_path, "sandbox") == first
    folders = (first.dagster_dir, first.cache_dir, first.reports_dir, first.sounds_dir)
    assert all(folder.is_dir() and folder.is_absolute() for folder in folders)


def test_home_is_closed_to_other_users(tmp_path: Path) -> None:
    assert open_home(tmp_path, "sandbox").root.stat().st_mode & 0o077 == 0


def test_home_of_another_world_is_refused(tmp_path: Path) -> None:
    open_home(tmp_path, "sandbox").root.rename(tmp_path / "public")
    with pytest.raises(WrongWorldError, match="sandbox"):
        open_home(tmp_path, "public")


def test_home_of_a_newer_layout_is_refused(tmp_path: Path) -> None:
    home = open_home(tmp_path, "sandbox")
    mark = {"world": "sandbox", "layout_version": 2}
    (home.root / "world.json").write_text(json.dumps(mark))
    with pytest.raises(StoreTooNewError, match="layout version 2"):
        open_home(tmp_path, "sandbox")


@pytest.mark.parametrize("damage", ["", "[]", "{", '"sandbox"'])
def test_damaged_mark_is_refused_rather_than_replaced(tmp_path: Path, damage: str) -> None:
    home = open_home(tmp_path, "sandbox")
    (home.root / "world.json").write_text(damage)
    with pytest.raises(WrongWorldError, match="unreadable"):
        open_home(tmp_path, "sandbox")
    assert (home.root / "world.json").read_text() == damage


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", "a\n", " a", "-", "x" * 65, "é"])
def test_name_that_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidParameterError):
        open_home(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_home_on_a_file_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(WarehouseUnavailableError) as caught:
        open_home(tmp_path / "data", "sandbox")
    assert str(tmp_path) not in caught.value.detail


def test_many_openers_at_once_agree_on_one_mark(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: open_home(tmp_path, "sandbox"), range(32)))
    assert len(homes) == 1
    marks = [path.name for path in (tmp_path / "sandbox").glob("world.json*")]
    assert marks == ["world.json"]
