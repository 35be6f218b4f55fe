"""Deleting old versions takes no file from a writer that has not committed it yet."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake

from tests.warehouse.lake.song_lake import SONGS, opened, songs, stored, titled
from warehouse.lake import schema_evolution
from warehouse.lake import store as lake_module
from warehouse.lake.schema_evolution import (
    SORT_COLUMNS,
    purge_versions,
    rewrite_properties,
    writing,
)
from warehouse.lake.store import Lake
from warehouse.maintenance import compaction
from warehouse.records.errors import WarehouseError

HOUR_S = 3600
LOG_KEPT = "delta.logRetentionDuration"
WRITES: dict[str, Callable[[Lake], object]] = {
    "append": lambda lake: lake.append(SONGS, songs("9")),
    "compact": lambda lake: lake.compact(SONGS),
    "delete": lambda lake: lake.delete(SONGS, "song_id", ["1"]),
    "erase": lambda lake: lake.delete_where(SONGS, "song_id = '1'"),
    "blank": lambda lake: lake.set_null(SONGS, "title", "song_id = '1'"),
    "sort": lambda lake: compaction._sort_table(lake, SONGS),
}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = opened(str(tmp_path / "lake"))
    for number in range(3):
        lake.append(SONGS, songs(str(number)))
    return lake


@pytest.fixture
def far(lake: Lake) -> Lake:
    """The same lake at an address as an object store has one."""
    return opened(f"file://{lake.url}")


def is_free(lake: Lake, kind: int) -> bool:
    """Whether another process could take its turn at the songs now."""
    with Path(lake.path(SONGS), "_forgetting.lock").open("w") as turn:
        try:
            fcntl.flock(turn, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_vacuum_waits_while_a_table_is_written(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, write: Callable[[Lake], object]
) -> None:
    seen: list[tuple[bool, bool]] = []

    def note(real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **options: Any) -> Any:
            seen.append((is_free(lake, fcntl.LOCK_EX), is_free(lake, fcntl.LOCK_SH)))
            return real(*args, **options)

        return called

    monkeypatch.setattr(lake_module, "write_deltalake", note(write_deltalake))
    monkeypatch.setattr(schema_evolution, "rewrite_properties", note(rewrite_properties))
    monkeypatch.setitem(SORT_COLUMNS, SONGS, "song_id")
    write(lake)
    assert seen == [(False, True)]
    assert is_free(lake, fcntl.LOCK_EX)


def test_writers_wait_while_old_versions_are_vacuumed(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def purge(path: str, *, unnamed_hours: int) -> None:
        seen.append(is_free(lake, fcntl.LOCK_SH))
        purge_versions(path, unnamed_hours=unnamed_hours)

    monkeypatch.setattr(schema_evolution, "purge_versions", purge)
    lake.delete_old_versions(SONGS)
    assert seen == [False]
    assert is_free(lake, fcntl.LOCK_EX)


def test_a_turn_ends_although_a_fork_has_inherited_it(lake: Lake) -> None:
    with writing(lake.path(SONGS)):
        held = [file for file in Path("/proc/self/fd").iterdir() if _is_turn(file)]
        copies = [os.dup(int(file.name)) for file in held]
    assert len(copies) == 1
    assert is_free(lake, fcntl.LOCK_EX)
    os.close(copies[0])


def _is_turn(descriptor: Path) -> bool:
    try:
        return descriptor.readlink().name == "_forgetting.lock"
    except FileNotFoundError:
        return False  # the descriptor that lists them


def unnamed_files(lake: Lake) -> list[Path]:
    """A file that a writer is about to commit, and one whose writer died two hours ago."""
    [*_, source] = lake.files(SONGS)
    young, old = (Path(source).with_name(f"part-{age}.parquet") for age in ("young", "old"))
    for path in (young, old):
        shutil.copyfile(source, path)
    before = time.time() - 2 * HOUR_S
    os.utime(old, (before, before))
    return [young, old]


def test_a_folder_keeps_no_file_that_no_version_names(lake: Lake) -> None:
    files = unnamed_files(lake)
    lake.delete_old_versions(SONGS)
    assert [path.exists() for path in files] == [False, False]


def test_an_address_keeps_what_may_be_about_to_be_committed_and_no_erased_row(
    lake: Lake, far: Lake
) -> None:
    files = unnamed_files(lake)
    named = [Path(file) for file in lake.files(SONGS)]
    far.compact(SONGS)
    assert far.delete_where(SONGS, "song_id = '1'") == 1
    far.delete_old_versions(SONGS)
    assert [path.exists() for path in files] == [True, False]
    assert not any(path.exists() for path in named)
    assert stored(lake) == titled("0", "2")


def test_a_log_that_a_killed_process_was_about_to_purge_is_kept_again(lake: Lake) -> None:
    kept = log_kept(lake)
    DeltaTable(lake.path(SONGS)).alter.set_table_properties({LOG_KEPT: "interval 0 seconds"})
    opened(lake.url).append(SONGS, songs("9"))
    assert log_kept(lake) == kept == "interval 7 days"


def test_a_log_that_could_not_be_purged_is_kept_again(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(DeltaTable):
        def cleanup_metadata(self) -> None:
            raise OSError("no space left")

    monkeypatch.setattr(schema_evolution, "DeltaTable", Full)
    with pytest.raises(WarehouseError):
        lake.delete_old_versions(SONGS)
    assert log_kept(lake) == "interval 7 days"


def log_kept(lake: Lake) -> str | None:
    return DeltaTable(lake.path(SONGS)).metadata().configuration.get(LOG_KEPT)


def test_an_address_gives_no_turns_to_write(far: Lake) -> None:
    with writing(far.path(SONGS), alone=True) as is_alone, writing(far.path(SONGS)):
        assert not is_alone
