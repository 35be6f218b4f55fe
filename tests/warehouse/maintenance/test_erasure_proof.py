"""A name is found in every form in which a store may still hold it."""

import gzip
import re
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.record_rows import pack_bytes
from warehouse.lake.store import open_lake
from warehouse.maintenance.erasure import ErasureProof, file_contains, search_files, search_tables
from warehouse.records.errors import WarehouseUnavailableError
from warehouse.tables import BY_NAME

NAME = re.compile(rb"MS4wLjABAAAAgone")
BODY = b'{"sec_uid": "MS4wLjABAAAAgone"}'
SPREAD = "x" * 10_000 + "MS4wLjABAAAAgone" + "y" * 10_000
"""Longer than a page of SQLite."""


def rows(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute('create table "odd ""name" (a text, b blob)')
        database.execute('insert into "odd ""name" values (?, ?)', (SPREAD, b"other"))
        database.commit()


def packed_rows(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table bodies (body blob)")
        database.execute("insert into bodies values (?)", (pack_bytes(BODY),))
        database.commit()


def nested_cells(path: Path) -> None:
    cells = [{"names": [["other"], ["MS4wLjABAAAAgone"]], "body": None}]
    pq.write_table(pa.table({"cell": cells}), path, compression="zstd")


def packed_cells(path: Path) -> None:
    pq.write_table(pa.table({"body": [pack_bytes(b"other"), pack_bytes(BODY)]}), path)


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("table.csv", BODY * 10)


def archive_of_a_name(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("MS4wLjABAAAAgone.csv", b"")


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("plain.json", lambda path: path.write_bytes(BODY)),
        ("body.zst", lambda path: path.write_bytes(pack_bytes(BODY))),
        ("body.gz", lambda path: path.write_bytes(gzip.compress(BODY))),
        ("table.zip", archive),
        ("names.zip", archive_of_a_name),
        ("store.sqlite", rows),
        ("packed.sqlite", packed_rows),
        ("nested.parquet", nested_cells),
        ("packed.parquet", packed_cells),
    ],
)
def test_a_name_is_found_however_it_is_kept(
    tmp_path: Path, name: str, write: Callable[[Path], Any]
) -> None:
    path = tmp_path / name
    write(path)
    assert file_contains(path, NAME)
    assert not file_contains(path, re.compile(rb"MS4wLjABAAAAkept"))


@pytest.mark.parametrize(
    "data",
    [gzip.compress(BODY, mtime=0)[:20], pack_bytes(BODY)[:10], b"PK\x03\x04"],
    ids=["gzip", "zstd", "zip"],
)
def test_erasure_proof_searches_truncated_archives_as_bytes(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "half").write_bytes(data)
    assert not file_contains(tmp_path / "half", NAME)


def test_a_file_that_went_meanwhile_holds_nothing(tmp_path: Path) -> None:
    assert not file_contains(tmp_path / "gone", NAME)


@pytest.mark.parametrize(
    ("name", "data"), [("a.parquet", b"broken"), ("a.sqlite", b"SQLite format 3\x00broken")]
)
def test_a_file_that_cannot_be_read_proves_nothing(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(WarehouseUnavailableError, match="nothing is proven"):
        file_contains(tmp_path / name, NAME)


def test_files_are_searched_by_their_names_too_and_some_folders_not(tmp_path: Path) -> None:
    for name in ("a/MS4wLjABAAAAgone.txt", "b/other.txt", "left/plain.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(BODY if name.startswith("left") else b"other")
    found = search_files(tmp_path, NAME, but=(tmp_path / "left",))
    assert found == ErasureProof(2, 10, ("a/MS4wLjABAAAAgone.txt",))
    assert not found.is_clean
    both = found.plus(search_files(tmp_path / "b", NAME))
    assert (both.file_count, both.places) == (3, found.places)
    assert search_files(tmp_path / "b", NAME).is_clean


def test_a_lake_whose_files_are_out_of_reach_is_searched_by_its_rows(tmp_path: Path) -> None:
    lake = open_lake(open_home(tmp_path, "sandbox").lake_url, world="sandbox")
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
    row: dict[str, object] = dict.fromkeys(one.name for one in BY_NAME["raw.accounts"].columns)
    row |= {
        "sec_uid": "MS4wLjABAAAAgone", "surface": "user_info", "observed_at": moment,
        "data_provider": "public-graph",
    }  # fmt: skip
    del row["committed_at"]
    with closing(Engine(lake)) as engine:
        assert search_tables(engine, NAME).is_clean
        lake.append("raw.accounts", [row])
        engine.refresh()
        assert search_tables(engine, NAME).places == ("raw.accounts",)
