"""What a lake keeps to while others work on it, and at an address as an object store has one."""

import fcntl
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, Field, write_deltalake
from deltalake.schema import PrimitiveType

from tests.warehouse.lake.song_lake import OTHER, SONGS, TABLE, opened, songs, stored, titled
from warehouse.lake import schema_evolution
from warehouse.lake import store as lake_module
from warehouse.lake.schema_evolution import open_table
from warehouse.lake.store import MAX_TABLE_FILES, Lake
from warehouse.records.errors import StoreTooNewError, WarehouseUnavailableError
from warehouse.tables import Column, Table
from warehouse.tables.column import TEXT

NEWER = replace(TABLE, version=2, columns=(*TABLE.columns, Column("mood", TEXT, "how it feels")))


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return opened(str(tmp_path / "lake"))


@pytest.fixture
def far(lake: Lake) -> Lake:
    """The same lake at an address, where neither folders nor the disk are looked at."""
    return opened(f"file://{lake.url}", free_mb=0)


class MetLake(Lake):
    """A lake whose crowded table another process merges first, and a third adds to."""

    def tables_to_compact(self, *, files: int = MAX_TABLE_FILES) -> list[str]:
        names = super().tables_to_compact(files=files)
        opened(self.url).compact(SONGS)
        opened(self.url).append(SONGS, songs("late"))
        return names


def read_updates(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The tables whose log is read from now on."""
    updates: list[object] = []
    monkeypatch.setattr(lake_module, "_update", updates.append)
    return updates


def test_an_append_to_a_vanished_table_is_refused_and_makes_none(lake: Lake) -> None:
    lake.append(SONGS, songs("1"))
    Path(lake.path(SONGS)).rename(Path(lake.url, "elsewhere"))
    with pytest.raises(WarehouseUnavailableError, match=r"raw\.songs is missing"):
        lake.append(SONGS, songs("2"))
    assert not Path(lake.path(SONGS)).exists()


def test_rows_refused_while_a_migration_ends_are_refused_because_of_it(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    DeltaTable(lake.path(SONGS)).alter.add_columns([Field("mood", PrimitiveType("string"))])

    def meet_its_end(delta: DeltaTable, *args: Any, **options: Any) -> None:
        opened(lake.url, NEWER, OTHER)
        write_deltalake(delta, *args, **options)

    monkeypatch.setattr(lake_module, "write_deltalake", meet_its_end)
    with pytest.raises(StoreTooNewError):
        lake.append(SONGS, songs("1"))
    assert stored(lake) == []


def test_lake_reads_each_commit_of_another_process_once(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lake.version(SONGS) == 0
    opened(lake.url).append(SONGS, songs("1"))
    assert lake.version(SONGS) == 1
    updates = read_updates(monkeypatch)
    assert lake.version(SONGS) == 1
    assert updates == []


def test_a_log_as_old_as_clocks_go_is_read(lake: Lake) -> None:
    lake.append(SONGS, songs("1"))
    os.utime(Path(lake.path(SONGS), "_delta_log"), ns=(0, 0))
    assert lake.version(SONGS) == 1
    assert opened(lake.url).version(SONGS) == 1


@pytest.mark.parametrize("before_ns", [0, 10**18])
def test_a_log_that_is_cleaned_while_its_table_is_opened_is_read_again(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, before_ns: int
) -> None:
    lake.append(SONGS, songs("1"))
    log = Path(lake.path(SONGS), "_delta_log")
    os.utime(log, ns=(before_ns, before_ns))

    def open_slowly(path: str, table: Table, *, world: str) -> DeltaTable:
        found = open_table(path, table, world=world)
        lake.append(SONGS, songs("2"))
        DeltaTable(lake.path(SONGS)).create_checkpoint()
        for entry in log.glob("*.json"):
            entry.unlink()
        return found

    monkeypatch.setattr(schema_evolution, "open_table", open_slowly)
    assert opened(lake.url).version(SONGS) == 2


def test_lake_does_not_compact_what_another_process_compacted(lake: Lake) -> None:
    for number in range(5):
        lake.append(SONGS, songs(str(number)))
    met = MetLake(lake.url, lake.world, {}, free=lake._free, unopened=lake.tables)
    assert met.compact_all(files=4) == 0
    assert len(met.files(SONGS)) == 2


def test_a_turn_to_compact_has_the_same_name_in_every_release(lake: Lake) -> None:
    for number in range(2):
        lake.append(SONGS, songs(str(number)))
    with Path(lake.path(SONGS), "_compaction.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        assert lake.compact(SONGS) == 0
    assert lake.compact(SONGS) == 2


def test_a_turn_to_compact_outlives_forgetting(lake: Lake) -> None:
    for number in range(2):
        lake.append(SONGS, songs(str(number)))
    assert lake.compact(SONGS) == 2
    lake.delete_old_versions(SONGS)
    assert Path(lake.path(SONGS), "_compaction.lock").is_file()


def test_a_dataset_holds_what_is_left_when_old_versions_are_forgotten(lake: Lake) -> None:
    lake.append(SONGS, songs("1", "2"))
    lake.delete_where(SONGS, "song_id = '1'")
    lake.delete_old_versions(SONGS)
    assert lake.dataset(SONGS).to_table()["song_id"].to_pylist() == ["2"]


def test_an_address_is_written_to_whatever_room_the_disk_has(far: Lake) -> None:
    far.append(SONGS, songs("1", "2"))
    assert far.is_remote
    assert stored(far) == titled("1", "2")


def test_an_address_makes_no_folder_where_the_process_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    far = opened(f"file://{tmp_path}/lake")
    far.append(SONGS, songs("1"))
    assert list((tmp_path / "here").iterdir()) == []
    assert (tmp_path / "lake" / "raw" / "songs" / "_delta_log").is_dir()


def test_lake_at_an_address_sees_commits_of_other_processes_at_the_next_read(
    lake: Lake, far: Lake
) -> None:
    for number in range(1, 4):
        lake.append(SONGS, songs(str(number)))
        assert far.version(SONGS) == number


def test_every_look_at_an_address_reads_the_log(far: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    updates = read_updates(monkeypatch)
    far.version(SONGS)
    far.version(SONGS)
    assert len(updates) == 2


def test_an_address_gives_no_turns_to_compact(lake: Lake, far: Lake) -> None:
    for number in range(5):
        lake.append(SONGS, songs(str(number)))
    with lake._compaction_lock(lake._handle(SONGS)):
        assert far.compact(SONGS) == 5
