"""The promises of the lake, one by one, on a table of two columns."""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, Field, write_deltalake
from deltalake.exceptions import CommitFailedError
from deltalake.schema import PrimitiveType

from tests.warehouse.lake.song_lake import (
    MB,
    OTHER,
    SONGS,
    TABLE,
    are_compressed,
    opened,
    songs,
    stored,
    titled,
)
from warehouse.lake import store as lake_module
from warehouse.lake.store import Lake, TableListing, is_remote, open_lake
from warehouse.records.errors import (
    CapacityExhaustedError,
    ContractBrokenError,
    StoreTooNewError,
    WarehouseUnavailableError,
)
from warehouse.tables import Column
from warehouse.tables.column import TEXT


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return opened(str(tmp_path / "lake"))


def commits(lake: Lake, name: str = SONGS) -> list[dict[str, Any]]:
    return DeltaTable(lake.path(name)).history()


def test_rows_are_counted_in_the_newest_version(lake: Lake) -> None:
    assert lake.row_count(SONGS) == 0
    lake.append(SONGS, songs("1", "2"))
    lake.append(SONGS, songs("3"))
    assert (lake.row_count(SONGS), lake.row_count("raw.others")) == (3, 0)
    lake.compact(SONGS)
    lake.delete(SONGS, "song_id", ["1"])
    assert lake.row_count(SONGS) == 2


def test_an_append_is_stored_at_its_place_and_nowhere_else(lake: Lake) -> None:
    lake.append(SONGS, songs("1", "2"))
    assert stored(lake) == titled("1", "2")
    assert stored(lake, "raw.others") == []
    assert lake.path(SONGS) == f"{lake.url}/raw/songs"
    assert lake.tables == (TABLE, OTHER)
    assert lake.world == "sandbox"


def test_an_append_says_for_which_job_it_was_made(lake: Lake) -> None:
    lake.append(SONGS, songs("1"), job_id="job-1")
    lake.append(SONGS, songs("2"))
    assert [commit.get("job_id") for commit in commits(lake)] == [None, "job-1", None]


def test_rows_get_the_time_of_their_commit_unless_they_bring_it(lake: Lake) -> None:
    early = datetime(2020, 1, 1, tzinfo=UTC)
    before = datetime.now(UTC)
    lake.append(SONGS, [*songs("1"), {**songs("2")[0], "committed_at": early}])
    rows = DeltaTable(lake.path(SONGS)).to_pyarrow_table().to_pylist()
    times = {row["song_id"]: row["committed_at"] for row in rows}
    assert times["2"] == early
    assert before - timedelta(milliseconds=1) <= times["1"] <= datetime.now(UTC)


def test_no_rows_need_no_room_and_no_commit(tmp_path: Path) -> None:
    full = opened(str(tmp_path), free_mb=1)
    full.append(SONGS, [])
    assert full.version(SONGS) == 0


@pytest.mark.parametrize(("free_mb", "has_free_space"), [(49, False), (50, True)])
def test_lake_refuses_to_write_with_less_than_fifty_megabytes_free(
    tmp_path: Path, free_mb: int, has_free_space: bool
) -> None:
    lake = opened(str(tmp_path), free_mb=free_mb)
    if has_free_space:
        lake.append(SONGS, songs("1"))
    else:
        with pytest.raises(CapacityExhaustedError):
            lake.append(SONGS, songs("1"))
    assert lake.version(SONGS) == int(has_free_space)


def test_the_disk_asked_is_the_lakes_own(tmp_path: Path) -> None:
    asked = []

    def free(folder: str) -> int:
        asked.append(folder)
        return 1000 * MB

    lake = open_lake(str(tmp_path), world="sandbox", tables=[TABLE], free=free)
    lake.check_free_space()
    assert asked == [str(tmp_path)]


def test_a_disk_that_cannot_be_asked_is_unavailable(tmp_path: Path) -> None:
    def free(_folder: str) -> int:
        raise OSError("gone")

    lake = open_lake(str(tmp_path), world="sandbox", tables=[TABLE], free=free)
    with pytest.raises(WarehouseUnavailableError, match="checking the disk"):
        lake.check_free_space()


def test_an_object_store_has_no_disk_to_look_at() -> None:
    far = Lake("s3://bucket/lake", "sandbox", {}, free=lambda _folder: 0)
    far.check_free_space()
    assert far.is_remote
    assert is_remote("s3://bucket")
    assert not is_remote("/data/lake")


def test_an_unknown_table_is_named_by_every_question(lake: Lake) -> None:
    for ask in (lake.version, lake.files, lake.compact, lake.path, lake.vacuum, lake.dataset):
        with pytest.raises(ContractBrokenError, match=r"no table raw\.nothing"):
            ask("raw.nothing")


def test_a_table_that_was_migrated_meanwhile_refuses_the_old_rows(lake: Lake) -> None:
    mood = Column("mood", TEXT, "how it feels")
    newer = replace(TABLE, version=2, columns=(*TABLE.columns, mood))
    opened(lake.url, newer)
    with pytest.raises(StoreTooNewError):
        lake.append(SONGS, songs("1"))
    assert stored_ids(lake) == []


def test_a_table_that_was_widened_without_a_version_refuses_by_its_contract(lake: Lake) -> None:
    DeltaTable(lake.path(SONGS)).alter.add_columns([Field("mood", PrimitiveType("string"))])
    with pytest.raises(ContractBrokenError, match=r"raw\.songs does not take these rows"):
        lake.append(SONGS, songs("1"))


def stored_ids(lake: Lake) -> list[str]:
    lake.listing(SONGS)
    return sorted(lake.dataset(SONGS).to_table()["song_id"].to_pylist())


def test_a_commit_that_met_another_is_tried_again_on_the_newest_version(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def meet_another_first(delta: DeltaTable, *args: Any, **options: Any) -> None:
        seen.append(delta.version())
        if len(seen) == 1:
            opened(lake.url).append(SONGS, songs("other"))  # recurses here once, as seen[1]
            raise CommitFailedError("met another")
        write_deltalake(delta, *args, **options)

    monkeypatch.setattr(lake_module, "write_deltalake", meet_another_first)
    lake.append(SONGS, songs("1"), job_id="job-1")
    assert seen == [0, 0, 1]
    assert stored(lake) == titled("1", "other")
    assert commits(lake)[0]["job_id"] == "job-1"


def test_a_listing_names_the_newest_version_and_its_files(lake: Lake) -> None:
    assert lake.listing(SONGS) == TableListing(0, (), has_mixed_schemas=False, schema_version=1)
    lake.append(SONGS, songs("1"))
    lake.append(SONGS, songs("2"))
    listing = lake.listing(SONGS)
    assert (listing.version, len(listing.files)) == (2, 2)
    assert all(Path(file).is_file() for file in listing.files)
    assert are_compressed(lake)
    assert lake.files(SONGS) == list(listing.files)


def test_files_are_named_as_the_disk_names_them(tmp_path: Path) -> None:
    lake = opened(str(tmp_path / "my läke"))
    lake.append(SONGS, songs("1"))
    assert all(Path(file).is_file() for file in lake.files(SONGS))


def test_a_table_with_later_columns_is_known_to_be_uneven(lake: Lake) -> None:
    lake.append(SONGS, songs("1"))
    mood = Column("mood", TEXT, "how it feels")
    newer = replace(TABLE, version=2, columns=(*TABLE.columns, mood))
    assert opened(lake.url, newer).listing(SONGS).has_mixed_schemas


@pytest.mark.parametrize(
    "look",
    [
        lambda lake: lake.version(SONGS),
        lambda lake: len(lake.files(SONGS)),
        lambda lake: len(lake.log_since(SONGS, 0)),
        lambda lake: lake.row_count(SONGS),
        lambda lake: lake._count_small(SONGS),
    ],
)
def test_lake_sees_commits_of_other_processes_at_the_next_read(
    lake: Lake, look: Callable[[Lake], int]
) -> None:
    other = opened(lake.url)
    for number in range(1, 4):
        other.append(SONGS, songs(str(number)))
        assert look(lake) == number


def test_a_commit_within_one_tick_of_the_disks_clock_is_seen(lake: Lake) -> None:
    other = opened(lake.url)
    other.append(SONGS, songs("1"))
    assert lake.version(SONGS) == 1
    log = Path(lake.path(SONGS), "_delta_log")
    moment = log.stat()
    other.append(SONGS, songs("2"))
    os.utime(log, ns=(moment.st_mtime_ns, moment.st_mtime_ns))
    assert lake.version(SONGS) == 2


def test_unchanged_lake_is_not_read_again(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.append(SONGS, songs("1"))
    updates: list[object] = []
    monkeypatch.setattr(lake_module, "_update", updates.append)
    assert lake.version(SONGS) == 1
    lake.append(SONGS, songs("2"))
    assert lake.version(SONGS) == 2
    assert updates == []
    lake.refresh()
    assert len(updates) == 2  # every table, whatever the look-ups say


def test_a_lake_is_made_where_no_folder_is_yet(tmp_path: Path) -> None:
    lake = opened(str(tmp_path / "not" / "yet"))
    lake.append(SONGS, songs("1"))
    assert stored_ids(lake) == ["1"]


@pytest.mark.parametrize("commits", [0, 2])
def test_a_lake_that_was_just_opened_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commits: int
) -> None:
    for number in range(commits):
        opened(str(tmp_path)).append(SONGS, songs(str(number)))
    lake = opened(str(tmp_path))
    updates: list[object] = []
    monkeypatch.setattr(lake_module, "_update", updates.append)
    assert lake.version(SONGS) == commits
    assert updates == []


def test_the_log_since_a_version_is_what_came_after_it(lake: Lake) -> None:
    for number in range(3):
        lake.append(SONGS, songs(str(number)), job_id=f"job-{number}")
    assert [entry["job_id"] for entry in lake.log_since(SONGS, 1)] == ["job-2", "job-1"]
    assert lake.log_since(SONGS, 3) == []
    assert lake.log_since(SONGS, 9) == []


def test_a_table_keeps_the_identity_that_it_was_given(lake: Lake) -> None:
    assert lake.identity(SONGS) == opened(lake.url).identity(SONGS)
    assert lake.identity(SONGS) != lake.identity("raw.others")
    assert lake.identity(SONGS) == str(DeltaTable(lake.path(SONGS)).metadata().id)


def test_a_dataset_holds_what_was_there_when_the_table_was_listed(lake: Lake) -> None:
    opened(lake.url).append(SONGS, songs("1", "2"))
    assert stored_ids(lake) == ["1", "2"]
    opened(lake.url).append(SONGS, songs("3"))
    assert lake.dataset(SONGS).to_table().num_rows == 2


def test_a_listing_is_returned_only_when_there_is_a_newer_version(lake: Lake) -> None:
    assert lake.newer_listing(SONGS, None) == lake.listing(SONGS)
    assert lake.newer_listing(SONGS, 0) is None
    opened(lake.url).append(SONGS, songs("1"))
    assert lake.newer_listing(SONGS, 0) == lake.listing(SONGS)


@pytest.mark.parametrize(
    ("doing", "said"),
    [
        (lambda lake: lake.append(SONGS, songs("1")), "appending to raw.songs"),
        (lambda lake: lake.listing(SONGS), "listing raw.songs"),
        (lambda lake: lake.compact(SONGS), "compacting raw.songs"),
        (lambda lake: lake.vacuum(SONGS), "vacuuming raw.songs"),
    ],
)
def test_a_damaged_table_is_unavailable_and_named(lake: Lake, doing: Any, said: str) -> None:
    lake.append(SONGS, songs("0"))
    Path(lake.path(SONGS), "_delta_log", f"{2:020}.json").write_text("no json")
    with pytest.raises(WarehouseUnavailableError, match=said) as caught:
        doing(lake)
    assert lake.url not in f"{caught.value.detail} {caught.value.hint}"


def test_a_vanished_table_is_unavailable_and_named(lake: Lake) -> None:
    Path(lake.path(SONGS)).rename(Path(lake.url, "elsewhere"))
    with pytest.raises(WarehouseUnavailableError, match=r"raw\.songs is missing"):
        lake.version(SONGS)


def test_a_log_that_was_cleaned_is_read_from_its_checkpoint(lake: Lake) -> None:
    sleeper = opened(lake.url)
    assert sleeper.version(SONGS) == 0
    for number in range(22):  # a checkpoint comes with the twentieth
        lake.append(SONGS, songs(str(number)))
    log = Path(lake.path(SONGS), "_delta_log")
    for path in _before(log.glob("*.json"), 20):
        path.unlink()
    assert sleeper.version(SONGS) == 22
    assert len(stored(sleeper)) == 22


def _before(paths: Iterable[Path], version: int) -> list[Path]:
    return [path for path in paths if int(path.stem) < version]


@pytest.mark.parametrize("sign", "%*?[]\\^|\n")
def test_a_path_that_the_libraries_misread_is_refused(tmp_path: Path, sign: str) -> None:
    with pytest.raises(WarehouseUnavailableError, match="must not contain") as caught:
        opened(str(tmp_path / f"a{sign}b"))
    assert caught.value.hint == "choose another DATA_HOME"
    assert list(tmp_path.iterdir()) == []


def test_a_lake_whose_place_is_taken_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("in the way")
    with pytest.raises(WarehouseUnavailableError, match=r"opening raw\.songs") as caught:
        opened(str(tmp_path / "lake"))
    assert isinstance(caught.value.__cause__, NotADirectoryError)
    assert str(tmp_path) not in caught.value.detail


def test_a_lake_in_the_home_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert opened("~/lake").url == str(tmp_path / "lake")
