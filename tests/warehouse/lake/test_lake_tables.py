"""Appending, listing, compacting and refusing, on one lake in a folder."""

import errno
import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyarrow.parquet import ParquetFile

from warehouse.lake.schema_evolution import FILE_SIZES, ROW_GROUP_SIZES
from warehouse.lake.store import Lake, open_lake
from warehouse.records.errors import ContractBrokenError, WarehouseUnavailableError, WrongWorldError
from warehouse.tables import TABLES

pytestmark = pytest.mark.full

ITEMS = "raw.capture_items"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return open_lake(str(tmp_path / "lake"), world="sandbox")


def items(capture_id: str, count: int = 3) -> list[dict[str, object]]:
    return [
        {
            "capture_id": capture_id,
            "position": position,
            "surface": "music_list",
            "entity_id": "1",
            "sequence": 1,
            "aweme_id": str(position),
        }
        for position in range(count)
    ]


def stored(lake: Lake, name: str = ITEMS) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = (
        DeltaTable(f"{lake.url}/{name.replace('.', '/')}").to_pyarrow_table().to_pylist()
    )
    return rows


def sound(sha256: str, features: bytes) -> dict[str, object]:
    (table,) = [one for one in TABLES if one.name == "raw.sounds"]
    row: dict[str, object] = dict.fromkeys(
        (column.name for column in table.columns if column.name != "committed_at"), None
    )
    return row | {
        "sound_sha256": sha256, "feature_version": "1", "aweme_id": "1", "features": features,
        "library_version": "1", "job_id": "j", "observed_at": datetime(2026, 11, 1, tzinfo=UTC),
    }  # fmt: skip


def parquet_files(lake: Lake, name: str) -> list[ParquetFile]:
    return [ParquetFile(file) for file in DeltaTable(lake.path(name)).file_uris()]


@pytest.mark.usefixtures("tables_made_anew")
def test_new_lake_has_every_table_and_no_rows(lake: Lake) -> None:
    assert lake.tables == TABLES
    assert [lake.files(table.name) for table in TABLES] == [[]] * len(TABLES)


def test_appended_rows_are_stored_with_the_time_of_their_commit(lake: Lake) -> None:
    before = datetime.now(UTC)
    lake.append(ITEMS, items("a"))
    rows = stored(lake)
    times = {row.pop("committed_at") for row in rows}
    assert rows == items("a")
    assert len(times) == 1
    assert all(isinstance(time, datetime) and before <= time <= datetime.now(UTC) for time in times)


def test_one_append_is_one_commit_that_names_its_job(lake: Lake) -> None:
    lake.append(ITEMS, items("a", 500), job_id="job-1")
    table = DeltaTable(f"{lake.url}/raw/capture_items")
    assert table.version() == 1
    assert table.history(1)[0]["job_id"] == "job-1"
    assert len(lake.files(ITEMS)) == 1


def test_no_rows_make_no_commit(lake: Lake) -> None:
    lake.append(ITEMS, [])
    assert lake.version(ITEMS) == 0


@pytest.mark.parametrize(
    "change",
    [{"position": 1.9}, {"position": None}, {"aweme_id": 7}, {"awemeid": "7"}],
    ids=["fraction", "null", "number", "misspelt"],
)
def test_row_that_breaks_the_contract_leaves_nothing(lake: Lake, change: dict[str, object]) -> None:
    with pytest.raises(ContractBrokenError, match=r"raw\.capture_items"):
        lake.append(ITEMS, [*items("a"), {**items("b")[0], **change}])
    assert lake.version(ITEMS) == 0
    assert list(Path(lake.url, "raw/capture_items").glob("*.parquet")) == []


def test_table_that_is_not_in_the_contract_is_refused(lake: Lake) -> None:
    with pytest.raises(ContractBrokenError, match=r"raw\.nothing"):
        lake.append("raw.nothing", [{"a": 1}])


def test_lake_of_another_world_is_refused(lake: Lake) -> None:
    with pytest.raises(WrongWorldError, match="sandbox"):
        open_lake(lake.url, world="public")


def test_other_handles_see_a_commit_at_their_next_look(lake: Lake) -> None:
    other = open_lake(lake.url, world="sandbox")
    for number in range(30):
        lake.append(ITEMS, items(str(number)))
        assert other.version(ITEMS) == number + 1
    assert sorted(other.files(ITEMS)) == sorted(lake.files(ITEMS))


def test_compaction_keeps_rows_and_leaves_few_files(lake: Lake) -> None:
    for number in range(12):
        lake.append(ITEMS, items(str(number)))
    before = sorted(stored(lake), key=str)
    assert lake.tables_to_compact(files=11) == [ITEMS]
    assert lake.compact(ITEMS) == 12
    assert len(lake.files(ITEMS)) == 1
    assert lake.tables_to_compact(files=11) == []
    assert sorted(stored(lake), key=str) == before
    lake.append(ITEMS, items("after"))
    assert len(stored(lake)) == len(before) + 3


def test_features_are_merged_so_that_a_lookup_reads_few_and_no_large_file_again(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    sounds = "raw.sounds"
    large = b"".join(hashlib.sha256(bytes([part])).digest() for part in range(200))  # as features
    for batch in range(4):
        lake.append(sounds, [sound(f"{batch}-{number}", large) for number in range(40)])
    assert lake.compact(sounds) == 4
    (merged,) = parquet_files(lake, sounds)
    groups = [merged.metadata.row_group(place).num_rows for place in range(merged.num_row_groups)]
    assert (sum(groups), max(groups)) == (160, ROW_GROUP_SIZES[sounds])
    monkeypatch.setitem(FILE_SIZES, sounds, 1 << 10)
    lake.append(sounds, [sound("late", large)])
    assert lake.compact(sounds) == 0
    assert len(parquet_files(lake, sounds)) == 2


def test_vacuum_spares_files_that_a_reader_may_still_hold(lake: Lake) -> None:
    for number in range(3):
        lake.append(ITEMS, items(str(number)))
    held = lake.files(ITEMS)
    lake.compact(ITEMS)
    assert lake.vacuum(ITEMS) == 0
    assert all(Path(file).exists() for file in held)


def test_files_are_compressed_and_the_log_gets_checkpoints(lake: Lake) -> None:
    for number in range(25):
        lake.append(ITEMS, items(str(number)))
    assert all(".zstd." in file for file in lake.files(ITEMS))
    log = Path(lake.url, "raw/capture_items/_delta_log")
    assert len(list(log.glob("*.checkpoint.parquet"))) == 1


def test_threads_append_through_one_lake(lake: Lake) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: lake.append(ITEMS, items(str(number))), range(24)))
    assert len(stored(lake)) == 24 * 3


@pytest.mark.usefixtures("tables_made_anew")
def test_threads_open_one_new_lake_together(tmp_path: Path) -> None:
    url = str(tmp_path / "lake")
    with ThreadPoolExecutor(6) as pool:
        lakes = list(pool.map(lambda _: open_lake(url, world="sandbox"), range(6)))
    for number, lake in enumerate(lakes):
        lake.append(ITEMS, items(str(number)))
    assert len(stored(lakes[0])) == 6 * 3


def test_handle_that_slept_through_a_cleaning_of_the_log_goes_on(lake: Lake) -> None:
    sleepers = [open_lake(lake.url, world="sandbox") for _ in range(2)]
    for number in range(45):
        lake.append(ITEMS, items(str(number)))
    log = Path(lake.url, "raw/capture_items/_delta_log")
    checkpoint = max(int(path.name[:20]) for path in log.glob("*.checkpoint.parquet"))
    for path in [path for path in log.glob("*.json") if int(path.stem) < checkpoint]:
        path.unlink()
    assert checkpoint > 20
    assert len(sleepers[0].files(ITEMS)) == 45
    sleepers[1].append(ITEMS, items("late"))
    assert len(stored(lake)) == 46 * 3


@pytest.mark.usefixtures("tables_made_anew")
def test_lake_whose_place_is_taken_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("in the way")
    with pytest.raises(WarehouseUnavailableError) as caught:
        open_lake(str(tmp_path / "lake"), world="sandbox")
    assert str(tmp_path) not in caught.value.detail
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.ENOTDIR


@pytest.mark.parametrize("name", ["a%20b", "a[b]", "a*", "a?", "a|b", "a^b", "a\\b", "a\nb"])
def test_path_that_the_libraries_misread_is_refused_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(WarehouseUnavailableError, match="must not contain"):
        open_lake(str(tmp_path / name), world="sandbox")
    assert list(tmp_path.iterdir()) == []


def test_damaged_log_is_unavailable_without_telling_where(lake: Lake) -> None:
    lake.append(ITEMS, items("a"))
    log = Path(lake.url, "raw/capture_items/_delta_log")
    (log / f"{2:020}.json").write_text("no json")
    with pytest.raises(WarehouseUnavailableError) as caught:
        lake.files(ITEMS)
    assert lake.url not in f"{caught.value.detail} {caught.value.hint}"


def test_vanished_table_is_unavailable(lake: Lake) -> None:
    lake.append(ITEMS, items("a"))
    Path(lake.url, "raw/capture_items").rename(Path(lake.url, "elsewhere"))
    with pytest.raises(WarehouseUnavailableError):
        lake.files(ITEMS)
