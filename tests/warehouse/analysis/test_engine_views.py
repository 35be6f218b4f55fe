"""SQL over the lake sees what the log names: all of it, once, and nothing else."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from tests.fake_clock import FakeClock
from warehouse.analysis.warehouse import Warehouse
from warehouse.engine import duckdb_engine
from warehouse.engine.duckdb_engine import RELIST_AFTER_S, Engine
from warehouse.lake.store import Lake, TableListing, open_lake
from warehouse.records.errors import (
    InvalidParameterError,
    WarehouseError,
    WarehouseUnavailableError,
)
from warehouse.tables import TABLES, Table

pytestmark = pytest.mark.full

COUNT = "select count(*) as n from raw.capture_items"


@pytest.fixture(scope="module")
def lake_of_an_address(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every table without a row, made at an address; making them takes longer than copying them."""
    root = tmp_path_factory.mktemp("address") / "lake"
    open_lake(f"file://{root}", world="sandbox")
    return root


@pytest.fixture
def address(lake_of_an_address: Path, tmp_path: Path) -> str:
    """An address as an object store has one, with a lake."""
    shutil.copytree(lake_of_an_address, tmp_path / "lake")
    return f"file://{tmp_path}/lake"


@pytest.fixture(params=["folder", "address"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    """A folder with a difficult name, and an address as an object store has one."""
    root = tmp_path / "it's 中 lake"
    root.mkdir()
    url = str(root) if request.param == "folder" else request.getfixturevalue("address")
    return open_lake(url, world="sandbox")


@pytest.fixture
def folder_lake(tmp_path: Path) -> Lake:
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


def test_every_table_without_a_file_is_empty_and_typed(lake: Lake) -> None:
    engine = Engine(lake)
    for table in TABLES:
        found = engine.table(f"select * from {table.name}")
        assert found.num_rows == 0
        assert [kind_of(found.schema, table, name) for name in found.schema.names] == [
            str(column.type) for column in table.columns
        ]


def kind_of(schema: pa.Schema, table: Table, name: str) -> str:
    """The Arrow type as the contract writes it: a list's items have no name of interest."""
    assert name in {column.name for column in table.columns}
    return (
        str(schema.field(name).type).replace("list<l:", "list<item:").replace("element:", "item:")
    )


def test_rows_come_back_as_they_were_written(lake: Lake) -> None:
    now = datetime(2026, 11, 1, 23, 30, tzinfo=UTC)
    row: dict[str, object] = {
        "job_id": "j",
        "round": 2,
        "music_ids": ["1", "2"],
        "new_confirmed_count": 5,
        "committed_at": now,
    }
    engine = Engine(lake)
    lake.append("marts.expansion_rounds", [row])
    engine.refresh()
    assert engine.rows("select * from marts.expansion_rounds") == [row]
    day = "select committed_at::date::varchar as day from marts.expansion_rounds where round = $n"
    assert engine.rows(day, {"n": 2}) == [{"day": "2026-11-01"}]


def test_new_commits_are_seen_without_asking(lake: Lake) -> None:
    clock = FakeClock()
    engine = Engine(lake, clock=clock.monotonic)
    assert engine.rows(COUNT) == [{"n": 0}]
    other = open_lake(lake.url, world="sandbox")
    other.append("raw.capture_items", items("a"))
    assert engine.rows(COUNT) == [{"n": 0}], "the log was read a moment ago"
    clock.advance(RELIST_AFTER_S)
    assert engine.rows(COUNT) == [{"n": 3}]


class CountingLake:
    """An address whose looks at tables are counted: in an object store each is a request."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self.looks: list[str] = []

    def newer_listing(self, name: str, version: int | None) -> TableListing | None:
        self.looks.append(name)
        return self._lake.newer_listing(name, version)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lake, name)


def test_of_an_object_store_only_the_tables_of_a_query_are_looked_at(address: str) -> None:
    lake = CountingLake(open_lake(address, world="sandbox"))
    clock = FakeClock()
    engine = Engine(cast("Lake", lake), clock=clock.monotonic)
    assert lake.looks == []
    lake.append("raw.capture_items", items("a"))
    assert engine.rows(COUNT) == [{"n": 3}]
    assert engine.rows("select count(*) as n from seen.capture_items") == [{"n": 0}]
    assert lake.looks == ["raw.capture_items", "raw.captures", "raw.capture_items"]


def test_of_an_object_store_no_capture_is_seen_before_its_observations(address: str) -> None:
    lake = open_lake(address, world="sandbox")
    clock = FakeClock()
    engine = Engine(lake, clock=clock.monotonic)
    captures = "select count(*) as n from raw.captures"
    assert engine.rows(captures) == [{"n": 0}]
    clock.advance(RELIST_AFTER_S / 2)
    assert engine.rows(COUNT) == [{"n": 0}]
    lake.append("raw.capture_items", items("a"))
    lake.append("raw.captures", [capture("a")])
    clock.advance(RELIST_AFTER_S / 2)
    assert engine.rows(captures) == [{"n": 1}]
    assert engine.rows(COUNT) == [{"n": 0}], "looked at a moment ago"
    seen = "select count(*) as n from seen.capture_items"
    assert engine.rows(seen) == [{"n": 3}], "looked at again, because the capture is newer"


def test_refresh_sees_every_commit_at_once(lake: Lake) -> None:
    engine = Engine(lake)
    for number in range(5):
        lake.append("raw.capture_items", items(str(number)))
        engine.refresh()
        assert engine.rows(COUNT) == [{"n": 3 * (number + 1)}]


def test_files_that_a_compaction_replaced_are_not_read(lake: Lake) -> None:
    for number in range(5):
        lake.append("raw.capture_items", items(str(number)))
    lake.compact("raw.capture_items")
    lake.append("raw.capture_items", items("after"))
    assert Engine(lake).rows(COUNT) == [{"n": 18}]


def test_observation_is_seen_once_its_capture_is_complete(lake: Lake) -> None:
    engine = Engine(lake)
    lake.append("raw.capture_items", items("c-1"))
    engine.refresh()
    assert engine.rows("select * from seen.capture_items") == []
    assert len(engine.rows("select * from raw.capture_items")) == 3
    lake.append("raw.captures", [capture("c-1")])
    engine.refresh()
    assert len(engine.rows("select * from seen.capture_items")) == 3


def capture(capture_id: str) -> dict[str, object]:
    return {
        "capture_id": capture_id,
        "surface": "music_list",
        "entity_id": "1",
        "sequence": 1,
        "outcome": "ok",
        "reason": None,
        "notice": None,
        "detail_msg": None,
        "http_status": 200,
        "request_count": 1,
        "item_count": 3,
        "cursor_in": None,
        "cursor_out": None,
        "has_more": False,
        "payload_sha256": None,
        "source_path": None,
        "parser_version": "1",
        "data_provider": "mock",
        "job_id": None,
        "observed_at": datetime(2026, 11, 1, tzinfo=UTC),
    }


def test_threads_query_the_engine_while_rows_are_written(lake: Lake) -> None:
    engine = Engine(lake)

    def ask(_: int) -> int:
        return int(str(engine.rows(COUNT)[0]["n"]))

    def write() -> None:
        for number in range(10):
            lake.append("raw.capture_items", items(str(number)))

    with ThreadPoolExecutor(6) as pool:
        writing = pool.submit(write)
        counts = list(pool.map(ask, range(30)))
        writing.result()
    assert all(count % 3 == 0 for count in counts)
    engine.refresh()
    assert ask(0) == 30


def test_a_cursor_opened_before_a_table_has_rows_reads_the_view_made_after(lake: Lake) -> None:
    engine = Engine(lake)
    cursor = engine.open_cursor()
    lake.append("raw.capture_items", items("1"))
    engine.refresh()
    assert cursor.sql(COUNT).fetchall() in ([(0,)], [(3,)])
    engine.refresh_cursor(cursor)
    assert cursor.sql(COUNT).fetchall() == [(3,)]


MISTAKEN = (
    "select nothing from raw.videos",
    "selec 1",
    "select * from raw.nothing",
    "select 'a'::bigint",
    "select * from raw.videos where aweme_id = $id",
    "",
)
REACHING_OUT = (
    "select * from read_text('/etc/hostname')",
    "copy (select 1) to '{outside}/table.csv'",
    "attach '{outside}/other.duckdb' as other",
    "select * from read_csv('http://127.0.0.1:1/x.csv')",
    "install httpfs",
    "set enable_external_access=true",
)


def test_mistaken_query_says_so(folder_lake: Lake) -> None:
    engine = Engine(folder_lake)
    for sql in MISTAKEN:
        with pytest.raises(WarehouseError) as caught:
            engine.rows(sql)
        assert not isinstance(caught.value, WarehouseUnavailableError), sql


def test_sql_reaches_nothing_but_the_lake(
    folder_lake: Lake, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    engine = Engine(folder_lake)
    for sql in REACHING_OUT:
        with pytest.raises(WarehouseError):
            engine.rows(sql.format(outside=outside))
        assert list(outside.iterdir()) == [], sql


def test_missing_file_is_unavailable_without_telling_its_path(folder_lake: Lake) -> None:
    folder_lake.append("raw.capture_items", items("a"))
    engine = Engine(folder_lake)
    for file in folder_lake.files("raw.capture_items"):
        Path(file).unlink()
    with pytest.raises(WarehouseUnavailableError) as caught:
        engine.rows("select * from raw.capture_items")
    assert folder_lake.url not in f"{caught.value.detail} {caught.value.hint}"


def test_an_analyst_hears_of_a_missing_file_and_of_a_mistake_apart(folder_lake: Lake) -> None:
    folder_lake.append("raw.capture_items", items("a"))
    with Warehouse(Engine(folder_lake)) as wh:
        found = wh.raw.capture_items
        with pytest.raises(InvalidParameterError, match="no_column"):
            found.filter("no_column = 1")
        for file in folder_lake.files("raw.capture_items"):
            Path(file).unlink()
        for read in (
            found.rows,
            lambda: wh.sql("select * from raw.capture_items").rows(),
            lambda: found.query("one", "select count(*) as n from one").rows(),
            lambda: found.filter("position = 1").fetchall(),
        ):
            with pytest.raises(WarehouseUnavailableError) as caught:
                read()
            assert folder_lake.url not in f"{caught.value.detail} {caught.value.hint}"


def test_query_beyond_the_memory_is_unavailable_and_litters_nowhere(
    folder_lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "standing").mkdir()
    monkeypatch.chdir(tmp_path / "standing")
    engine = Engine(folder_lake, memory_limit="20MB")
    words = "select distinct hash(range)::varchar || repeat('x', 30) as word from range(2000000)"
    with pytest.raises(WarehouseUnavailableError):
        engine.rows(f"select count(*) as n from ({words} order by word)")
    engine.close()
    assert list((tmp_path / "standing").iterdir()) == []


def test_closed_engine_is_unavailable(folder_lake: Lake) -> None:
    engine = Engine(folder_lake)
    engine.close()
    engine.close()
    with pytest.raises(WarehouseUnavailableError):
        engine.rows(COUNT)


def test_footers_of_files_that_are_gone_are_forgotten(
    folder_lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb_engine, "REOPEN_AFTER_FILES", 10)
    clock = FakeClock()
    engine = Engine(folder_lake, clock=clock.monotonic)
    engine.prepare("show tables")  # all of them, and the star
    kept: list[int] = []
    for number in range(30):
        folder_lake.append("raw.capture_items", items(str(number)))
        folder_lake.compact("raw.capture_items")
        clock.advance(2 * RELIST_AFTER_S)
        assert engine.rows(COUNT) == [{"n": 3 * (number + 1)}]
        kept.append(cached_bytes(engine))
    assert 0 < kept[0] < max(kept) < 12 * kept[0]
    assert engine.rows("select count(*) as n from marts.days") == [{"n": 0}]
    assert engine.rows("select count(*) as n from seen.capture_items") == [{"n": 0}]


def test_a_query_goes_on_while_the_database_is_opened_anew(
    folder_lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb_engine, "REOPEN_AFTER_FILES", 1)
    engine = Engine(folder_lake)
    folder_lake.append("raw.capture_items", items("a"))
    engine.refresh()
    with engine.reading("from raw.capture_items, range(20000)") as reader:
        for number in range(5):
            folder_lake.append("raw.capture_items", items(str(number)))
            folder_lake.compact("raw.capture_items")
            engine.refresh()
        assert sum(batch.num_rows for batch in reader) == 60_000


def cached_bytes(engine: Engine) -> int:
    """What the database keeps of files that it has read."""
    sql = "select memory_usage_bytes as n from duckdb_memory() where tag = 'OBJECT_CACHE'"
    return int(engine.rows(sql)[0]["n"])


def test_views_of_a_capture_and_of_its_items_change_at_once(folder_lake: Lake) -> None:
    engine = Engine(folder_lake)
    reader = engine.open_cursor()
    folder_lake.append("raw.captures", [capture("c")])
    folder_lake.append("raw.capture_items", items("c"))
    Path(*folder_lake.files("raw.capture_items")).write_bytes(b"no table")
    engine.refresh()
    with pytest.raises(WarehouseUnavailableError):
        engine.rows("select * from raw.captures join raw.capture_items using (capture_id)")
    assert reader.sql("select capture_id from raw.captures").fetchall() == []
    assert engine.rows("select capture_id from raw.captures") == [{"capture_id": "c"}]
