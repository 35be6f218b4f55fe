"""What keeps a table of the lake small: compaction, vacuum, deletion, erasure."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from pyarrow import parquet

from tests.warehouse.lake.song_lake import (
    SONGS,
    TABLE,
    are_compressed,
    opened,
    songs,
    stored,
    titled,
)
from warehouse.lake import store as lake_module
from warehouse.lake.schema_evolution import FILE_SIZES
from warehouse.lake.store import Lake
from warehouse.tables import Column
from warehouse.tables.column import TEXT

HOUR_MS = 3_600_000


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return opened(str(tmp_path / "lake"))


class CrowdedLake(Lake):
    """A lake that has so many files in each table."""

    def __init__(self, lake: Lake, counts: dict[str, int]) -> None:
        super().__init__(lake.url, lake.world, {}, free=lake._free, unopened=lake.tables)
        self._counts = counts

    def files(self, name: str) -> list[str]:
        return ["file"] * self._counts[name]

    def _count_small(self, name: str) -> int:
        return self._counts[name]


def test_a_table_is_crowded_with_more_files_than_are_allowed(lake: Lake) -> None:
    counted = CrowdedLake(lake, {SONGS: 61, "raw.others": 60})
    assert counted.tables_to_compact() == [SONGS]
    assert counted.tables_to_compact(files=59) == [SONGS, "raw.others"]
    assert counted.tables_to_compact(files=61) == []


def test_compaction_merges_all_small_files_and_loses_no_row(lake: Lake) -> None:
    for number in range(5):
        lake.append(SONGS, songs(f"{number}a", f"{number}b"))
    before = stored(lake)
    assert lake.compact(SONGS) == 5
    assert len(lake.files(SONGS)) == 1
    assert are_compressed(lake)
    assert stored(lake) == before
    assert lake.compact(SONGS) == 0


def test_a_compaction_that_lost_its_race_has_merged_nothing(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        lake.append(SONGS, songs(str(number)))

    class Losing:
        optimize: "Losing"

        def __init__(self, _path: str) -> None:
            self.optimize = self

        def compact(self, **_options: object) -> None:
            raise CommitFailedError("met another")

    monkeypatch.setattr(lake_module, "DeltaTable", Losing)
    assert lake.compact(SONGS) == 0


def test_one_process_at_a_time_compacts_a_table(lake: Lake) -> None:
    for number in range(5):
        lake.append(SONGS, songs(str(number)))
    with lake._compaction_lock(lake._handle(SONGS)) as is_locked:
        assert is_locked
        assert opened(lake.url).compact(SONGS) == 0
    assert opened(lake.url).compact(SONGS, above=5) == 0  # as when another has just merged them
    assert opened(lake.url).compact(SONGS, above=4) == 5


def test_files_of_full_size_do_not_crowd_a_table(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        lake.append(SONGS, songs(str(number)))
    assert lake.compact_all(files=5) == 0
    monkeypatch.setitem(FILE_SIZES, SONGS, 1)
    assert lake.tables_to_compact(files=4) == []
    monkeypatch.delitem(FILE_SIZES, SONGS)
    assert lake.compact_all(files=4) == 5


def test_a_table_with_as_many_small_files_as_are_allowed_is_not_crowded(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        lake.append(SONGS, songs(str(number)))
    lake.append(SONGS, songs(*map(str, range(1000, 3000))))
    largest = max(Path(file).stat().st_size for file in lake.files(SONGS))
    monkeypatch.setitem(FILE_SIZES, SONGS, largest)
    assert lake.tables_to_compact(files=3) == [SONGS]
    assert lake.tables_to_compact(files=4) == []


def test_files_are_merged_up_to_the_size_of_their_table(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        lake.append(SONGS, songs(str(number)))
    largest = max(Path(file).stat().st_size for file in lake.files(SONGS))
    monkeypatch.setitem(FILE_SIZES, SONGS, largest * 5 // 2)  # room for two, not for three
    assert lake.compact(SONGS) == 4
    assert len(lake.files(SONGS)) == 2


def test_vacuum_deletes_what_no_version_of_the_last_week_names(lake: Lake) -> None:
    for number in range(3):
        lake.append(SONGS, songs(str(number)))
    names = [Path(file).name for file in sorted(lake.files(SONGS))]
    lake.compact(SONGS)
    _let_age(lake, dict(zip(names, (169, 167, 1), strict=True)))
    assert opened(lake.url).vacuum(SONGS) == 1
    left = {path.name for path in Path(lake.path(SONGS)).glob("*.parquet")}
    assert left & set(names) == set(names[1:])
    assert stored(lake) == titled("0", "1", "2")


def test_vacuum_keeps_a_week_whatever_the_table_says(lake: Lake) -> None:
    DeltaTable(lake.path(SONGS)).alter.set_table_properties(
        {"delta.deletedFileRetentionDuration": "interval 1 days"}
    )
    for number in range(2):
        lake.append(SONGS, songs(str(number)))
    young, old = (Path(file).name for file in lake.files(SONGS))
    lake.compact(SONGS)
    _let_age(lake, {young: 167, old: 169})
    assert lake.vacuum(SONGS) == 1
    assert Path(lake.path(SONGS), young).exists()


def test_vacuum_deletes_what_was_removed_before_the_last_checkpoint(lake: Lake) -> None:
    for number in range(2):
        lake.append(SONGS, songs(str(number)))
    young, old = (Path(file) for file in lake.files(SONGS))
    lake.compact(SONGS)
    _let_age(lake, {young.name: 167, old.name: 169})
    for file in (young, old):
        _let_file_age(file, hours=200)
    DeltaTable(lake.path(SONGS)).create_checkpoint()
    assert opened(lake.url).vacuum(SONGS) == 1
    assert (young.exists(), old.exists()) == (True, False)
    assert stored(lake) == titled("0", "1")


def test_vacuum_deletes_the_old_files_of_writers_that_died(lake: Lake) -> None:
    lake.append(SONGS, songs("1"))
    (stored_file,) = map(Path, lake.files(SONGS))
    young, old = (stored_file.with_name(f"part-{name}.parquet") for name in ("young", "old"))
    for file, hours in ((young, 1), (old, 169)):
        file.write_bytes(stored_file.read_bytes())
        _let_file_age(file, hours=hours)
    _let_file_age(stored_file, hours=169)
    assert lake.vacuum(SONGS) == 1
    assert (young.exists(), old.exists()) == (True, False)
    assert stored(lake) == titled("1")


def _let_file_age(file: Path, *, hours: int) -> None:
    moment = time.time() - hours * 3600
    os.utime(file, (moment, moment))


def _let_age(lake: Lake, hours: dict[str, int]) -> None:
    """Rewrite when the last commit took the named files away."""
    now_ms = int(time.time() * 1000)
    entry = max(Path(lake.path(SONGS), "_delta_log").glob("*.json"))
    actions = [json.loads(line) for line in entry.read_text().splitlines()]
    for removed in (action["remove"] for action in actions if "remove" in action):
        removed["deletionTimestamp"] = now_ms - hours[removed["path"]] * HOUR_MS
    entry.write_text("\n".join(map(json.dumps, actions)))


def test_rows_are_deleted_by_their_ids_and_counted(lake: Lake) -> None:
    lake.append(SONGS, songs("a-1", "a-2", "a-3"))
    assert lake.delete(SONGS, "song_id", ["a-1", "a-3", "a-9"]) == 2
    assert stored(lake) == titled("a-2")
    assert are_compressed(lake)
    version = lake.version(SONGS)
    assert lake.delete(SONGS, "song_id", []) == 0
    assert lake.version(SONGS) == version


def test_rewritten_tables_keep_small_row_groups(tmp_path: Path) -> None:
    tracks = replace(
        TABLE, name="raw.tracks", columns=(Column("music_id", TEXT, "sound"), *TABLE.columns[1:])
    )
    lake = opened(str(tmp_path), tracks)
    for half in (0, 10_000):
        rows = [{"music_id": f"{number}", "title": "x"} for number in range(half, half + 10_000)]
        lake.append("raw.tracks", rows)
    assert lake.compact("raw.tracks") == 2
    assert _row_groups(lake) == [16_384, 3_616]
    assert lake.delete("raw.tracks", "music_id", ["1"]) == 1
    assert _row_groups(lake) == [16_384, 3_615]
    assert lake.delete_where("raw.tracks", "music_id = '2'") == 1
    assert _row_groups(lake) == [16_384, 3_614]
    lake.set_null("raw.tracks", "title", "music_id = '3'")
    assert max(_row_groups(lake)) == 16_384


def _row_groups(lake: Lake) -> list[int]:
    """How many rows each group holds, in the only file of more than one row."""
    found = [parquet.ParquetFile(file).metadata for file in lake.files("raw.tracks")]
    largest = max(found, key=lambda metadata: metadata.num_rows)
    return [largest.row_group(group).num_rows for group in range(largest.num_row_groups)]


@pytest.mark.parametrize("odd", ["", "a' or '1'='1", "a b", "a_b", "ä", "x" * 65, "a\n"])
def test_only_plain_ids_can_be_deleted_by(lake: Lake, odd: str) -> None:
    lake.append(SONGS, songs("1"))
    with pytest.raises(ValueError, match="plain ids"):
        lake.delete(SONGS, "song_id", ["1", odd])
    assert stored(lake) == titled("1")


def test_the_longest_plain_id_can_be_deleted_by(lake: Lake) -> None:
    lake.append(SONGS, songs("Zz-9" * 16))
    assert lake.delete(SONGS, "song_id", ["Zz-9" * 16]) == 1


def test_erased_and_blanked_rows_are_gone_and_forgotten(lake: Lake) -> None:
    lake.append(SONGS, songs("1", "2", "3"))
    assert lake.delete_where(SONGS, "song_id = '1'") == 1
    assert are_compressed(lake)
    lake.set_null(SONGS, "title", "song_id = '2'")
    assert stored(lake) == [("2", None), ("3", "song 3")]
    assert are_compressed(lake)
    lake.delete_old_versions(SONGS)
    assert len(list(Path(lake.path(SONGS)).glob("*.parquet"))) == 1
    assert lake.files(SONGS) == [str(*Path(lake.path(SONGS)).glob("*.parquet"))]
    assert stored(lake) == [("2", None), ("3", "song 3")]
