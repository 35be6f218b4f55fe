"""Lakes of an older schema get what is new; lakes of a newer one are refused."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import open_lake
from warehouse.records.errors import ContractBrokenError, StoreTooNewError
from warehouse.tables import TABLES, Column, Table
from warehouse.tables.column import INTEGER, TEXT, TEXT_LIST

pytestmark = pytest.mark.full

OLD = Table(
    "raw.songs",
    "song",
    ("song_id",),
    (Column("song_id", TEXT, "song", required=True), Column("title", TEXT, "title")),
)
MOOD, WORDS = Column("mood", TEXT, "how it feels"), Column("words", TEXT_LIST, "what it says")
NEW = replace(OLD, version=2, columns=(*OLD.columns, MOOD, WORDS))
NEWEST = replace(NEW, version=3, columns=(*NEW.columns, Column("plays", INTEGER, "how often")))
FIRST = {"song_id": "1", "title": "old"}
SECOND = {"song_id": "2", "title": "new", "mood": "blue", "words": ["a"]}
ALL = "select * from raw.songs order by song_id"


@pytest.fixture
def url(tmp_path: Path) -> str:
    address = str(tmp_path / "lake")
    open_lake(address, world="sandbox", tables=[OLD]).append("raw.songs", [FIRST])
    return address


def test_older_lake_gets_the_columns_that_came_later(url: str) -> None:
    lake = open_lake(url, world="sandbox", tables=[NEW])
    engine = Engine(lake)
    assert engine.rows(ALL) == [{**FIRST, "mood": None, "words": None}]
    lake.append("raw.songs", [SECOND])
    engine.refresh()
    assert engine.rows(ALL) == [{**FIRST, "mood": None, "words": None}, SECOND]
    assert engine.rows("select song_id from raw.songs where mood = 'blue'") == [{"song_id": "2"}]


def test_migration_survives_compaction_and_a_second_step(url: str) -> None:
    lake = open_lake(url, world="sandbox", tables=[NEW])
    lake.append("raw.songs", [SECOND])
    lake.compact("raw.songs")
    newest = open_lake(url, world="sandbox", tables=[NEWEST])
    newest.append("raw.songs", [{**SECOND, "song_id": "3", "plays": 7}])
    rows = Engine(newest).rows(ALL)
    assert [(row["song_id"], row["mood"], row["plays"]) for row in rows] == [
        ("1", None, None),
        ("2", "blue", None),
        ("3", "blue", 7),
    ]


def test_lake_of_the_current_schema_is_opened_without_a_commit(url: str) -> None:
    open_lake(url, world="sandbox", tables=[NEW])
    version = DeltaTable(f"{url}/raw/songs").version()
    open_lake(url, world="sandbox", tables=[NEW])
    assert DeltaTable(f"{url}/raw/songs").version() == version


def test_half_done_migration_is_finished(url: str) -> None:
    half = replace(NEW, columns=(*OLD.columns, MOOD), version=1)
    table = DeltaTable(f"{url}/raw/songs")
    table.alter.add_columns([Field("mood", PrimitiveType("string"))])
    assert open_lake(url, world="sandbox", tables=[half]).tables == (half,)
    lake = open_lake(url, world="sandbox", tables=[NEW])
    lake.append("raw.songs", [SECOND])
    assert len(Engine(lake).rows(ALL)) == 2


def test_newer_lake_is_refused_by_name_and_version(url: str) -> None:
    open_lake(url, world="sandbox", tables=[NEW])
    with pytest.raises(StoreTooNewError, match=r"raw\.songs has schema version 2.* supports 1"):
        open_lake(url, world="sandbox", tables=[OLD])


def test_process_that_runs_through_a_migration_is_told(url: str) -> None:
    running = open_lake(url, world="sandbox", tables=[OLD])
    open_lake(url, world="sandbox", tables=[NEW])
    with pytest.raises(StoreTooNewError):
        running.append("raw.songs", [FIRST])
    assert Engine(open_lake(url, world="sandbox", tables=[NEW])).rows(
        "select count(*) as n from raw.songs"
    ) == [{"n": 1}]


def test_openers_that_meet_migrate_once(url: str) -> None:
    with ThreadPoolExecutor(5) as pool:
        lakes = list(pool.map(lambda _: open_lake(url, world="sandbox", tables=[NEW]), range(5)))
    for lake in lakes:
        lake.append("raw.songs", [SECOND])
    assert Engine(lakes[0]).rows("select count(*) as n from raw.songs") == [{"n": 6}]


def test_columns_that_change_without_a_version_are_refused(url: str) -> None:
    silent = replace(OLD, columns=(*OLD.columns, MOOD))
    retyped = replace(OLD, columns=(OLD.columns[0], Column("title", INTEGER, "title")))
    for table in (silent, retyped):
        lake = open_lake(url, world="sandbox", tables=[table])
        with pytest.raises(ContractBrokenError, match="same schema version"):
            lake.version("raw.songs")


def test_later_column_must_not_be_required(url: str) -> None:
    strict = replace(OLD, version=2, columns=(*OLD.columns, replace(MOOD, required=True)))
    with pytest.raises(ContractBrokenError, match="must be nullable"):
        open_lake(url, world="sandbox", tables=[strict])


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_could_have_begun_without_its_last_optional_column(
    table: Table, tmp_path: Path
) -> None:
    later = [column for column in table.columns if not column.required][-1:]
    before = replace(table, columns=tuple(c for c in table.columns if c not in later))
    after = replace(table, version=table.version + 1)
    open_lake(str(tmp_path), world="sandbox", tables=[before])
    engine = Engine(open_lake(str(tmp_path), world="sandbox", tables=[after]))
    names = [row["column_name"] for row in engine.rows(f"describe {table.name}")]
    assert set(names) == {column.name for column in table.columns}
