"""`open_warehouse` reads a store of a real scan, changes nothing, and surprises nobody."""

import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from warehouse import open_warehouse
from warehouse.analysis.description import NAMES
from warehouse.analysis.warehouse import Warehouse
from warehouse.home import open_home
from warehouse.lake.store import Lake, open_lake
from warehouse.records.errors import InvalidParameterError, SametrackError, WrongWorldError

pytestmark = pytest.mark.full

STORE = Path(__file__).parents[2] / "data" / "first_release" / "store.tar.xz"
COVERAGE: dict[str, object] = {
    "job_id": "later", "surface": "music_list", "requests": 2, "pages": 2, "items": 20,
    "new_items": 18, "stop_reason": "exhausted", "committed_at": datetime(2026, 11, 1, tzinfo=UTC),
    "foreign_rows": None,
}  # fmt: skip
TRACK: dict[str, object] = {
    "music_id": "7361729694329545668", "surface": "music_info", "capture_id": None,
    "observed_at": datetime(2026, 11, 1, tzinfo=UTC), "title": None, "author": None,
    "owner_nickname": None, "duration_s": 9, "is_original_sound": None, "cover_url": None,
    "source_aweme_id": None, "mapped_title": None, "mapped_artist": None, "created_at": None,
    "created_at_source": None, "service_track_id": None, "use_count": None,
    "use_count_exact": None, "use_count_step": None, "data_provider": "mock", "job_id": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def data_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data home of the first release: no test changes it."""
    folder = tmp_path_factory.mktemp("first")
    with tarfile.open(STORE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "home"


@pytest.fixture(scope="module")
def wh(data_home: Path) -> Iterator[Warehouse]:
    with open_warehouse(data_home / "sandbox") as opened:
        yield opened


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return open_lake(open_home(tmp_path / "data", "sandbox").lake_url, world="sandbox")


def files_of(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}


def test_opening_and_reading_an_older_store_changes_no_file(data_home: Path) -> None:
    before = files_of(data_home)
    with open_warehouse(data_home) as opened:
        assert [len(opened.table(name)) >= 0 for name in opened.tables()] == [True] * len(NAMES)
        assert opened.seen.tracks.df()["service_track_id"].isna().all()
    assert files_of(data_home) == before


def test_importing_warehouse_loads_no_heavy_library() -> None:
    heavy = ["duckdb", "pyarrow", "deltalake", "pandas", "pydantic"]
    code = f"import sys, warehouse; print([name for name in {heavy} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_frames_hold_ids_as_text_zones_and_unknown_as_null(lake: Lake) -> None:
    lake.append("raw.tracks", [TRACK, {**TRACK, "duration_s": None, "title": "a"}])
    with open_warehouse(lake.url) as opened:
        relation = opened.raw.tracks.order("duration_s nulls last")
        frame, polars = relation.df(), relation.pl()
    assert frame["music_id"].tolist() == ["7361729694329545668"] * 2
    assert str(frame.dtypes["duration_s"]) == "Int64"
    assert frame["duration_s"].tolist() == [9, pd.NA]
    assert frame["title"].tolist() == [pd.NA, "a"]
    assert frame["is_original_sound"].isna().all()
    assert str(frame.dtypes["observed_at"]) == "datetime64[us, UTC]"
    assert frame["created_at"].isna().all()
    assert polars["duration_s"].to_list() == [9, None]
    assert str(polars.schema["observed_at"]) == "Datetime(time_unit='us', time_zone='UTC')"


def test_a_sum_is_a_whole_number(wh: Warehouse) -> None:
    found = wh.sql("select sum(rank) as total, 1.5::decimal(4, 2) as price from marts.rankings")
    assert found.arrow().schema.field("total").type == pa.int64()
    assert str(found.df().dtypes["total"]) == "Int64"
    assert found.arrow().schema.field("price").type == pa.decimal128(4, 2)


def test_open_relation_shows_rows_written_later(lake: Lake) -> None:
    with open_warehouse(lake.url) as opened:
        relation = opened.marts.coverage.filter("requests > 1")
        assert len(relation) == 0
        lake.append("marts.coverage", [COVERAGE])
        lake.compact("marts.coverage")
        opened._engine.refresh()
        assert relation.rows()[0]["job_id"] == "later"


def test_a_past_time_shows_what_was_there(lake: Lake) -> None:
    lake.append("marts.coverage", [COVERAGE])
    moments = ("2026-11-01", date(2026, 11, 1), datetime(2026, 11, 1, 0, 1, tzinfo=UTC))
    for moment in moments:
        with open_warehouse(lake.url, as_of=moment) as opened:
            assert len(opened["marts.coverage"]) == 1
    with open_warehouse(lake.url, as_of="2026-10-31") as opened:
        assert len(opened.marts.coverage) == 0
        assert "as of 2026-10-31" in repr(opened)
    with pytest.raises(InvalidParameterError, match="too recent"):
        open_warehouse(lake.url, as_of=datetime.now(UTC) + timedelta(days=1))


@pytest.mark.parametrize(
    "statement",
    [
        "delete from marts.rankings", "create table t as select 1", "copy (select 1) to 'x.csv'",
        "select 1; select 2", "attach 'x.db'", "set memory_limit='1GB'", "install httpfs",
    ],
)  # fmt: skip
def test_open_warehouse_refuses_statements_that_write(wh: Warehouse, statement: str) -> None:
    with pytest.raises(InvalidParameterError, match="one read-only statement"):
        wh.sql(statement)


def test_a_mistake_is_shown_as_the_database_names_it(wh: Warehouse) -> None:
    with pytest.raises(InvalidParameterError, match="syntax error at or near"):
        wh.sql("selec 1")


@pytest.mark.parametrize("query", ["select * from read_csv('/etc/passwd')", "from 'x.parquet'"])
def test_other_files_are_not_read(wh: Warehouse, query: str) -> None:
    with pytest.raises(InvalidParameterError):
        wh.sql(query).rows()


@pytest.mark.parametrize("method", ["create", "insert_into", "to_parquet", "write_csv", "fetchone"])
def test_methods_that_write_or_leave_a_result_half_read_are_refused(
    wh: Warehouse, method: str
) -> None:
    with pytest.raises(InvalidParameterError, match=f"{method}: ") as refused:
        getattr(wh.marts.rankings, method)("x")
    assert refused.value.__notes__ == [f"Hint: {refused.value.hint}"]
    assert method not in dir(wh.marts.rankings)


def test_a_wrong_name_is_answered_with_the_nearest(wh: Warehouse) -> None:
    with pytest.raises(InvalidParameterError) as refused:
        wh.table("marts.ranking")
    assert "marts.rankings" in str(refused.value.hint)
    with pytest.raises(AttributeError, match="rankings"):
        _ = wh.marts.ranking
    with pytest.raises(KeyError):
        _ = wh["nothing"]
    with pytest.raises(KeyError):
        _ = wh.marts.rankings["nothing"]
    with pytest.raises(InvalidParameterError, match="no column"):
        _ = wh.describe("marts.rankings")["nothing"]
    with pytest.raises(InvalidParameterError, match="Referenced column"):
        wh.marts.rankings.filter("nothing = 1")


def test_a_notebook_completes_tables_and_columns(wh: Warehouse) -> None:
    completions: Any = wh
    assert "marts.rankings" in completions._ipython_key_completions_()
    assert "rankings" in dir(wh.marts)
    assert "videos" in wh.seen._ipython_key_completions_()
    assert "rank" in wh.marts.rankings._ipython_key_completions_()
    assert {"filter", "df", "pl", "arrow"} <= set(dir(wh.marts.rankings))
    assert "rank" in wh.describe("marts.rankings")._ipython_key_completions_()
    assert (len(wh), len(list(wh)), "seen.videos" in wh) == (len(NAMES), len(NAMES), True)


def test_representations_of_relations_are_readable_and_escaped(wh: Warehouse) -> None:
    assert "world 'sandbox', demo data" in repr(wh)
    assert repr(wh.marts).startswith("<marts: account_days, account_profiles, ")
    text = repr(wh.sql("select null as a, '<b>' as b, repeat('x', 99) as c"))
    assert "—" in text
    assert "(1 row)" in text
    assert "x" * 41 not in text
    page = wh.sql("select '<b>' as b from range(20)")._repr_html_()
    assert "&lt;b&gt;" in page
    assert "the first 10 rows" in page
    assert "seen.videos: one row per observation of a video" in str(wh.describe("seen.videos"))
    assert "| `digg_count` |" in wh.describe("seen.videos")._repr_markdown_()


def test_own_frames_join_by_name_and_python_variables_do_not(wh: Warehouse) -> None:
    mine = pd.DataFrame({"rank": [1], "label": ["first"]})
    sql = "select label, count(*) as n from mine join marts.rankings using (rank) group by all"
    assert wh.sql(sql, tables={"mine": mine}).rows() == [{"label": "first", "n": 2}]
    with pytest.raises(InvalidParameterError, match="plain name"):
        wh.sql("select 1", tables={"a b": mine})
    other = mine
    with pytest.raises(InvalidParameterError, match="other"):
        wh.sql("select * from other")
    assert len(other) == 1


def test_each_thread_has_relations_of_its_own(wh: Warehouse) -> None:
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.append(len(wh.marts.rankings))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [22] * 4


def test_the_settings_name_the_world(
    data_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("PROFILE", "DATA_PROVIDER", "LAKE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".env").write_text(f"DATA_HOME={data_home}\nUNKNOWN=1\n")
    assert open_warehouse().world == "sandbox"
    own = tmp_path / "own.toml"
    own.write_text('name = "sandbox"\n')
    for name, value in (
        ("PROFILE", "sandbox"),
        ("PROFILE", str(own)),
        ("LAKE_URL", str(data_home / "sandbox" / "lake")),
    ):
        monkeypatch.setenv(name, value)
        with open_warehouse() as opened:
            assert opened.address == str(data_home / "sandbox" / "lake")
    monkeypatch.setenv("DATA_PROVIDER", "mock")
    with pytest.raises(WrongWorldError, match="mock"):
        open_warehouse()
    monkeypatch.delenv("LAKE_URL")
    with pytest.raises(InvalidParameterError, match="nothing was collected"):
        open_warehouse()
    monkeypatch.delenv("DATA_PROVIDER")
    monkeypatch.setenv("PROFILE", str(tmp_path / "absent.toml"))
    with pytest.raises(InvalidParameterError, match="cannot be read"):
        open_warehouse()


def test_a_folder_without_a_warehouse_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    for folder in (tmp_path, tmp_path / "one", tmp_path / "absent"):
        with pytest.raises(SametrackError):
            open_warehouse(folder)
    open_home(tmp_path, "sandbox")
    with pytest.raises(InvalidParameterError, match="no lake"):
        open_warehouse(tmp_path)
    open_home(tmp_path, "other")
    with pytest.raises(InvalidParameterError, match="several worlds: other, sandbox"):
        open_warehouse(tmp_path)
    assert not list(tmp_path.rglob("lake"))
