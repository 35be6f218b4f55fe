"""`sametrack sql` and `sametrack database`: answers for people, files for programs."""

import csv
import io
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.full

TOP = "select rank, aweme_id, digg_count, comment_count from marts.rankings order by rank"


def test_an_answer_is_a_table_for_a_person(small_store: Any, command: Callable[..., Any]) -> None:
    small_store.add_ranking()
    said = command("sql", TOP, "--rows", "2")
    text = said.body.decode()
    assert said.status == 0
    assert "7400000000000000001" in text
    assert "—" in text
    assert "7400000000000000003" not in text
    assert "3 rows, 2 shown" in said.remarks
    assert "demo data" in said.remarks


def test_json_csv_and_stdin_are_for_programs(small_store: Any, command: Callable[..., Any]) -> None:
    small_store.add_ranking()
    document = command("sql", "-", "--json", given=TOP).document
    assert document["method"] == {"is_demo_data": "true", "row_count": "3"}
    assert document["rows"][0] == {
        "rank": 1, "aweme_id": "7400000000000000001", "digg_count": 99, "comment_count": None,
    }  # fmt: skip
    body = command("sql", TOP, "--format", "csv").body.decode()
    assert next(iter(csv.reader(io.StringIO(body)))) == [
        "rank", "aweme_id", "digg_count", "comment_count",
    ]  # fmt: skip


def test_a_file_tells_its_kind_by_its_name(
    small_store: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    small_store.add_ranking()
    assert command("sql", TOP, "--out", "answer.parquet").status == 0
    found = pq.read_table(tmp_path / "answer.parquet")
    assert found["aweme_id"].to_pylist()[0] == "7400000000000000001"
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []


def test_the_same_moment_has_the_same_bytes(small_store: Any, command: Callable[..., Any]) -> None:
    small_store.add_ranking(works=5)
    ask = ("sql", "select * from marts.rankings", "--format", "csv", "--as-of", "2026-11-01")
    before = command(*ask).body
    small_store.add_ranking(job_id="later", hour=24)
    small_store.lake.compact("marts.rankings")
    assert command(*ask).body == before
    assert before.count(b"\r\n") == 6


WRONG = (
    (("drop table marts.rankings",), "read-only"),
    (("select * from read_text('/etc/passwd')",), "file"),
    (("selec 1",), "syntax"),
    (("select 1", "--as-of", "tomorrow"), "tomorrow"),
    (("select 1", "--format", "parquet"), "file"),
    (("select 1", "--out", "/proc/none/a.csv"), "cannot be written"),
)


@pytest.mark.usefixtures("small_store")
def test_a_wrong_question_is_one_line_and_status_two(command: Callable[..., Any]) -> None:
    for arguments, message in WRONG:
        said = command("sql", *arguments)
        assert (said.status, said.body) == (2, b""), arguments
        assert message in said.remarks
        assert "Traceback" not in said.remarks


def test_a_damaged_lake_is_status_one(small_store: Any, command: Callable[..., Any]) -> None:
    small_store.add_ranking()
    for file in small_store.lake.files("marts.rankings"):
        Path(file).write_bytes(b"not parquet")
    assert command("sql", TOP).status == 1


def test_the_database_opens_elsewhere_with_comments_on_everything(
    small_store: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    small_store.add_ranking()
    summary = command("database", "--out", "a.duckdb", "--json").document
    assert summary["row_counts"]["marts.rankings"] == 3
    with duckdb.connect(str(tmp_path / "a.duckdb"), read_only=True) as database:
        assert database.execute("select count(*) from marts.rankings").fetchall() == [(3,)]
        silent = (
            "select count(*) from duckdb_columns() where schema_name = 'marts' and comment is null"
        )
        assert database.execute(silent).fetchall() == [(0,)]
        table = "select comment from duckdb_tables() where table_name = 'rankings'"
        assert "One row per job" in database.execute(table).fetchall()[0][0]
        about = dict(database.execute("select name, value from about").fetchall())
    assert (about["world"], about["is_demo_data"]) == ("sandbox", "true")


def test_a_database_that_cannot_be_made_leaves_the_one_before(
    small_store: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.duckdb"
    command("database", "--out", str(path))
    before = path.read_bytes()
    small_store.add_ranking()
    for file in small_store.lake.files("marts.rankings"):
        Path(file).write_bytes(b"not parquet")
    assert command("database", "--out", str(path)).status == 1
    assert path.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.duckdb", "data"]


def test_a_file_whose_name_would_confuse_is_refused(
    small_store: Any, command: Callable[..., Any]
) -> None:
    said = command("database", "--out", "marts.duckdb")
    assert said.status == 2
    assert "ambiguous" in said.remarks


def test_no_other_process_is_asked_for_the_file(
    small_store: Any, command: Callable[..., Any]
) -> None:
    """The default place is in the home, and the control store is not even made for it."""
    summary = command("database", "--json").document
    assert Path(summary["path"]).parent.parent == small_store.home.root
    with pytest.raises(sqlite3.OperationalError):
        sqlite3.connect(
            f"file:{small_store.home.root / 'control.sqlite'}?mode=ro", uri=True
        ).execute("select 1 from jobs")
