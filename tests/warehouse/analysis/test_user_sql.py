"""A person's own SQL reads the tables and nothing else, and is told what is wrong with it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.user_sql import REFUSED_FUNCTIONS, run_user_sql
from warehouse.lake.store import Lake, open_lake
from warehouse.records.errors import InvalidParameterError

pytestmark = pytest.mark.full

START = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = open_lake(str(tmp_path_factory.mktemp("lake")), world="sandbox")
    for number in (3, 1, 2):
        row: dict[str, object] = {
            "job_id": f"j{number}", "surface": "music_list", "requests": number, "pages": number,
            "items": 10, "new_items": 5, "stop_reason": "exhausted", "foreign_rows": 0,
            "committed_at": START,
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
def test_user_sql_answers_read_statements(engine: Engine, settled: Engine, sql: str) -> None:
    for one in (engine, settled):
        assert [int(value) for value in run_user_sql(one, sql)["n"].to_pylist()] == [6]


@pytest.mark.parametrize(
    "sql",
    [
        "describe marts.coverage", "show tables", "explain select 1", "-- why\nexplain select 1;",
        "EXPLAIN from marts.coverage", "explain (format json) from marts.coverage",
        "explain (select 1) union all (select 2)", "summarize marts.coverage", "show all tables",
        "show tables from marts", "describe select requests from marts.coverage",
        "table marts.videos", "from memory.marts.coverage",
        "select table_name from information_schema.tables",
        'with "my rows" as (from range(2)) from "my rows", unnest([1, 2]) as u(one)',
        "from (values (1), (2)) as t(one) order by one.add(1)",
    ],
)  # fmt: skip
def test_user_sql_answers_describe_and_explain(settled: Engine, sql: str) -> None:
    assert run_user_sql(settled, sql).num_columns > 0


@pytest.mark.parametrize(
    "sql",
    [
        "", "select 1; select 2", "drop view raw.videos", "create table a (n int)",
        "insert into marts.coverage values (1)", "copy (select 1) to 'a.csv'", "attach 'a.db'",
        "install httpfs", "load httpfs", "set enable_external_access=true", "pragma version",
        "call checkpoint()", "export database 'a'", "use raw", "vacuum",
        "explain create table a (n int)", "explain analyze drop view marts.coverage",
        "explain analyze select 1", "explain (analyze) select 1",
        "explain (format json, analyze) select 1", "explain (analyze, format json) select 1",
        "explain (analyze) create or replace view marts.coverage as select 1 as n",
        "explain analyze /* /* */ select 1 --*/ drop view marts.coverage",
        "explain (analyze /* ) select 1 --*/ ) drop view marts.coverage", "explain",
    ],
)  # fmt: skip
def test_user_sql_refuses_statements_that_write(engine: Engine, sql: str) -> None:
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
def test_user_sql_reads_no_file_outside_the_lake(engine: Engine, sql: str) -> None:
    with pytest.raises(InvalidParameterError):
        run_user_sql(engine, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "from read_text('{lake}/**')", "from main.read_text('{lake}/**')",
        'from "system".main."Read_Text"(\'{lake}/**\')', "from glob('{lake}/**')",
        "from parquet_metadata('{lake}/**/*.parquet')", "from '{lake}/**/*.parquet'",
        'from "{lake}/**/*".parquet', 'show "{lake}/**/*.parquet"', "explain from glob('{lake}')",
        "explain (format json) from glob('{lake}/**')", "describe from read_blob('{lake}/**')",
        "with files as (from glob('{lake}/**')) from files", "select (select 1 from glob('a'))",
        "from range(1) semi join glob('{lake}/**') on true", "from (summarize from glob('{lake}'))",
        "from query('from glob(''{lake}/**'')')", "from query_table('{lake}/**/*.parquet')",
        "from json_execute_serialized_sql('{{}}')",
        "select json_serialize_plan('from glob(''{lake}/**'')')",
    ],
)  # fmt: skip
def test_a_file_of_the_lake_is_no_table(lake: Lake, engine: Engine, sql: str) -> None:
    with pytest.raises(InvalidParameterError, match="only the tables of this warehouse"):
        run_user_sql(engine, sql.format(lake=lake.url))


@pytest.mark.parametrize(
    "sql",
    [
        "select current_setting('allowed_directories')",
        "select system.main.\"Current_Setting\"('temp_directory')",
        "select 'temp_directory'.current_setting()",
        "select s.current_setting() from (select 'temp_directory' as s)",
        "select [s.current_setting() for s in ['temp_directory']]",
        "from range(2) order by current_setting('temp_directory')",
        "from duckdb_settings()", "from pg_settings", "from pg_catalog.pg_settings",
        "from duckdb_views()", "from duckdb_views", "from main.duckdb_views", "from pg_views",
        "from sqlite_master", "from Sqlite_Schema", "from information_schema.views",
        "select pg_get_viewdef(1)", "from duckdb_secrets()", "from duckdb_logs",
        "from duckdb_logs()", "from duckdb_logs_parsed('QueryLog')", "from enable_logging()",
        "from pragma_database_list", "from duckdb_databases()", "from duckdb_temporary_files()",
    ],
)  # fmt: skip
def test_settings_definitions_and_logs_are_not_shown(engine: Engine, sql: str) -> None:
    with pytest.raises(InvalidParameterError, match="only the tables of this warehouse"):
        run_user_sql(engine, sql)


def test_a_new_function_that_may_show_more_than_values_is_looked_at(engine: Engine) -> None:
    """A new release of the database may bring one."""
    telling = "setting|secret|env|file|path|dir|read|query|plan|viewdef|variable|_log|execute|load"
    found = engine.table(
        "select distinct function_name from duckdb_functions() where function_type not in "
        "('table', 'table_macro', 'pragma') and regexp_matches(function_name, $telling)",
        {"telling": telling},
    )
    harmless = {
        "current_query", "current_query_id", "in_search_path", "json_extract_path",
        "json_extract_path_text", "parse_dirname", "parse_dirpath", "parse_duckdb_log_message",
        "parse_filename", "parse_path", "path_join", "pg_conf_load_time",
    }  # fmt: skip
    assert set(found["function_name"].to_pylist()) - REFUSED_FUNCTIONS <= harmless


@pytest.mark.parametrize("sql", ["explain analyze select 1", "EXPLAIN (Analyze) select 1"])
def test_why_a_plan_is_not_measured_is_told(engine: Engine, sql: str) -> None:
    with pytest.raises(InvalidParameterError, match="names the files") as caught:
        run_user_sql(engine, sql)
    assert caught.value.hint == "`explain` shows the plan"


def test_a_statement_nested_too_deeply_is_refused(settled: Engine) -> None:
    with pytest.raises(InvalidParameterError, match="nested too deeply"):
        run_user_sql(settled, "select " + " + ".join(["1"] * 900))


def test_a_variable_of_the_program_is_no_table(engine: Engine) -> None:
    secret = run_user_sql(engine, "select 1 as n")
    assert secret.num_rows == 1
    with pytest.raises(InvalidParameterError, match="secret"):
        run_user_sql(engine, "select * from secret")


@pytest.mark.parametrize(
    ("sql", "reported"),
    [
        ("selec 1", "syntax error"),
        ("select nothing from marts.coverage", "nothing"),
        ("select * from marts.covrage", "covrage"),
        ("select 'a'::int", "'a'"),
    ],
)
def test_user_sql_error_is_one_line(engine: Engine, sql: str, reported: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        run_user_sql(engine, sql)
    assert reported in caught.value.detail
    assert "\n" not in caught.value.detail


def test_as_of_a_moment_rows_come_in_one_order(settled: Engine) -> None:
    found = run_user_sql(settled, "select requests, job_id from marts.coverage")
    assert found["requests"].to_pylist() == [1, 2, 3]
    kept = run_user_sql(settled, "select requests from marts.coverage order by job_id desc")
    assert kept["requests"].to_pylist() == [3, 2, 1]
