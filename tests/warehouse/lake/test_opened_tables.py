"""A lake that its release has opened before opens each table when it is first used."""

import json
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from tests.warehouse.lake.song_lake import OTHER, SONGS, TABLE, opened, songs, stored, titled
from warehouse.lake.store import OPENED_NOTE, are_opened, note_opened, open_lake
from warehouse.records.errors import (
    StoreTooNewError,
    WarehouseUnavailableError,
    WrongWorldError,
)
from warehouse.tables import Column
from warehouse.tables.column import TEXT

MOOD = Column("mood", TEXT, "mood")
NEWER = replace(TABLE, version=2, columns=(*TABLE.columns, MOOD))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A lake of two tables that was opened and has a row."""
    root = tmp_path / "lake"
    opened(str(root)).append(SONGS, songs("a"))
    return root


def test_the_first_opening_makes_the_tables_and_notes_them(root: Path) -> None:
    noted = json.loads((root / OPENED_NOTE).read_text())
    assert noted == {"world": "sandbox", "tables": {SONGS: 1, "raw.others": 1}}
    assert (root / "raw" / "others" / "_delta_log").is_dir()


def test_a_table_that_cannot_be_opened_is_refused_when_it_is_used(root: Path) -> None:
    for entry in (root / "raw" / "others" / "_delta_log").iterdir():
        entry.write_text("no log")
    lake = opened(str(root))
    assert stored(lake) == titled("a")
    with pytest.raises(WarehouseUnavailableError, match=r"opening raw\.others"):
        lake.version("raw.others")
    lake.append(SONGS, songs("b"))
    assert stored(lake) == titled("a", "b")


def test_a_table_whose_folder_is_gone_is_made_by_the_next_opening(root: Path) -> None:
    shutil.rmtree(root / "raw" / "others")
    opened(str(root))
    assert (root / "raw" / "others" / "_delta_log").is_dir()


def test_lake_of_a_newer_release_is_refused(root: Path) -> None:
    opened(str(root), NEWER, OTHER)
    with pytest.raises(StoreTooNewError):
        opened(str(root))


def test_a_newer_release_migrates_at_once(root: Path) -> None:
    lake = opened(str(root), NEWER, OTHER)
    names = [field.name for field in lake.dataset(SONGS).schema]
    assert "mood" in names
    assert json.loads((root / OPENED_NOTE).read_text())["tables"][SONGS] == 2


def test_lake_of_another_world_is_refused(root: Path) -> None:
    with pytest.raises(WrongWorldError):
        open_lake(str(root), world="public", tables=[TABLE, OTHER])
    assert stored(opened(str(root))) == titled("a")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"world": "sandbox", "tables": 3}', "\0"])
def test_a_note_that_cannot_be_read_is_written_anew(root: Path, text: str) -> None:
    (root / OPENED_NOTE).write_text(text)
    assert not are_opened(str(root), [TABLE], world="sandbox")
    assert stored(opened(str(root))) == titled("a")
    assert are_opened(str(root), [TABLE, OTHER], world="sandbox")


def test_a_folder_that_cannot_be_written_has_no_note(tmp_path: Path) -> None:
    note_opened(str(tmp_path / "missing"), [TABLE], world="sandbox")
    assert list(tmp_path.iterdir()) == []


def test_a_note_has_the_permissions_of_other_files(root: Path) -> None:
    (root / "plain").write_text("")
    modes = {stat.S_IMODE((root / name).stat().st_mode) for name in (OPENED_NOTE, "plain")}
    assert len(modes) == 1
    assert not list(root.glob("*.tmp"))
