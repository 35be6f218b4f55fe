"""A person's own SQL reads the tables and nothing else, and is told what is wrong with it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.user_sql import run_user_sql
from warehouse.lake.store import Lake, open_lake
from warehouse.records.errors import InvalidParameterError

START = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = open_lake(str(tmp_path_factory.mktemp("lake")), world="sandbox")
    for number in (3, 1, 2):
        row: dict[str, object] = {
            "job_id": f"j{number}", "surface": "music_list", "requests": number, "pages": number,
            "items": 10, "new_items": 5, "stop_reason": "exhausted", "committed_at": START,
        }  # fmt: skip
        lake.append("marts.coverage", [row])
    return lake


@pytest.fixture(scope="module")
def engine(lake: Lake) -> Iterator[Engine]:
    engine = Engine(lake)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def settled(lake: Lake) -> Iterator[Engine]:
    engine = Engine(lake, as_of=START + timedelta(hours=1))
    yield engine
    engine.close()


@pytest.mark.parametrize(
    "sql",
    [
        "select sum(requests) as n from marts.coverage",
        "with a as (select 6 as n) select * from a;",
        "from (values (6)) as t(n) -- said with a remark",
        "select 6 as n where 'a;b' <> ''",
    ],
)
def test_what_reads_is_answered(engine: Engine, settled: Engine, sql: str) -> None:
    for one in (engine, settled):
        assert [int(value) for value in run_user_sql(one, sql)["n"].to_pylist()] == [6]


@pytest.mark.parametrize(
    "sql",
    [
        "describe marts.coverage", "show tables", "explain select 1", "-- why\nexplain select 1;",
        "EXPLAIN ANALYZE from marts.coverage", "explain (analyze, format json) select 1",
        "explain (select 1) union all (select 2)",
    ],
)  # fmt: skip
def test_what_describes_is_answered(settled: Engine, sql: str) -> None:
    assert run_user_sql(settled, sql).num_columns > 0


@pytest.mark.parametrize(
    "sql",
    [
        "", "select 1; select 2", "drop view raw.videos", "create table a (n int)",
        "insert into marts.coverage values (1)", "copy (select 1) to 'a.csv'", "attach 'a.db'",
        "install httpfs", "load httpfs", "set enable_external_access=true", "pragma version",
        "call checkpoint()", "export database 'a'", "use raw", "vacuum",
        "explain create table a (n int)", "explain analyze drop view marts.coverage",
        "explain (analyze) create or replace view marts.coverage as select 1 as n",
        "explain analyze /* /* */ select 1 --*/ drop view marts.coverage",
        "explain (analyze /* ) select 1 --*/ ) drop view marts.coverage", "explain",
    ],
)  # fmt: skip
def test_what_does_not_read_is_refused(engine: Engine, sql: str) -> None:
    with pytest.raises(InvalidParameterError):
        run_user_sql(engine, sql)
    read = run_user_sql(engine, "select sum(requests) as n from marts.coverage")
    assert [int(value) for value in read["n"].to_pylist()] == [6]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_text('/etc/passwd')", "select * from '/etc/passwd'",
        "select * from read_csv('/etc/passwd')", "select * from glob('/*')",
        "select * from read_parquet('http://127.0.0.1:1/a.parquet')",
        "select * from read_text('../../secret')",
    ],
)  # fmt: skip
def test_nothing_outside_the_lake_can_be_read(engine: Engine, sql: str) -> None:
    with pytest.raises(InvalidParameterError):
        run_user_sql(engine, sql)


def test_a_variable_of_the_program_is_no_table(engine: Engine) -> None:
    secret = run_user_sql(engine, "select 1 as n")
    assert secret.num_rows == 1
    with pytest.raises(InvalidParameterError, match="secret"):
        run_user_sql(engine, "select * from secret")


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("selec 1", "syntax error"),
        ("select nothing from marts.coverage", "nothing"),
        ("select * from marts.covrage", "covrage"),
        ("select 'a'::int", "'a'"),
    ],
)
def test_a_mistake_is_told_in_one_line(engine: Engine, sql: str, told: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        run_user_sql(engine, sql)
    assert told in caught.value.detail
    assert "\n" not in caught.value.detail


def test_as_of_a_moment_rows_come_in_one_order(settled: Engine) -> None:
    found = run_user_sql(settled, "select requests, job_id from marts.coverage")
    assert found["requests"].to_pylist() == [1, 2, 3]
    kept = run_user_sql(settled, "select requests from marts.coverage order by job_id desc")
    assert kept["requests"].to_pylist() == [3, 2, 1]
