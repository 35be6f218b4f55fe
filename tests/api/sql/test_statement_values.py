"""Every value that SQL can make is answered in every form: what a form lacks is text in it."""

import io
import json
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from typing import Any

import pyarrow.parquet as pq
import pytest

from api.services.sql.query_process import (
    Statement,
    StatementAnswer,
    StatementFault,
    StatementForm,
    answer_statement,
)
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports import table_files
from warehouse.lake.store import open_lake

FAR = "170141183460469231731687303715884105727"
DAY = "date '2026-11-01'"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    lake = open_lake(str(tmp_path_factory.mktemp("lake")), world="sandbox")
    with closing(Engine(lake)) as opened:
        yield opened


@pytest.fixture
def eastern_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def answered(
    engine: Engine, sql: str, form: StatementForm = "rows"
) -> StatementAnswer | StatementFault:
    def never(as_of: datetime | None) -> Engine:
        raise AssertionError(f"nobody asked for {as_of}")

    return answer_statement(engine, never, Statement(sql, form=form))


def body(engine: Engine, sql: str, form: StatementForm = "rows") -> bytes:
    found = answered(engine, sql, form)
    assert isinstance(found, StatementAnswer), found
    return found.body


def sheet_of(workbook: bytes) -> tuple[str, str]:
    """Return the cells of the first sheet, and the texts that they refer to."""
    book = zipfile.ZipFile(io.BytesIO(workbook))
    cells = book.read("xl/worksheets/sheet1.xml").decode()
    return cells, book.read("xl/sharedStrings.xml").decode()


def values_of(engine: Engine, expression: str) -> tuple[Any, Any, Any, str]:
    """Return a value as a row, in JSON and in Parquet, and the texts of its workbook."""
    sql = f"select {expression} as x"
    parquet = pq.read_table(io.BytesIO(body(engine, sql, "parquet")))
    return (
        json.loads(body(engine, sql))[0][0],
        json.loads(body(engine, sql, "json"))["rows"][0]["x"],
        parquet["x"].to_pylist()[0],
        sheet_of(body(engine, sql, "xlsx"))[1],
    )


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("timestamptz 'infinity'", "infinity"),
        ("timestamp '-infinity'", "-infinity"),
        ("date 'infinity'", "infinity"),
        ("date '-infinity'", "-infinity"),
        ("date '12000-02-29'", "12000-02-29"),
        ("date '0044-03-15 (BC)'", "0044-03-15 (BC)"),
        ("timestamptz '12000-01-01 08:00:00.5+08'", "12000-01-01T00:00:00.500000Z"),
        ("timestamp '0044-03-15 (BC) 12:00:00'", "0044-03-15T12:00:00Z (BC)"),
        ("timestamp_s '12000-01-01 00:00:00'", "12000-01-01T00:00:00Z"),
        ("timestamp_ns '2026-01-01 00:00:00.123456789'", "2026-01-01 00:00:00.123456789"),
        ("time_ns '12:00:00.123456789'", "12:00:00.123456789"),
        ("'12:00:00+08'::timetz", "12:00:00+08"),
        ("time '12:00'", "12:00:00"),
        ("interval '14 months 3 days'", "1 year 2 months 3 days"),
        ("[interval 1 day]", "[1 day]"),
        ("'101'::bit", "101"),
        ("{'a': '101'::bit}", "{'a': 101}"),
        (f"{FAR}::hugeint", FAR),
        (f"-{FAR}::hugeint", f"-{FAR}"),
        ("340282366920938463463374607431768211455::uhugeint", str(2**128 - 1)),
        ("18446744073709551615::ubigint", str(2**64 - 1)),
        ("(select sum(n) from (values (9223372036854775807), (1)) as t(n))", str(2**63)),
        ("'ab'::blob", "6162"),
        ("uuid '00000000-0000-0000-0000-000000000001'", "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_sql_value_that_a_format_lacks_is_written_as_text(
    engine: Engine, expression: str, text: str
) -> None:
    row, document, column, workbook = values_of(engine, expression)
    assert (row, document, column) == (text, text, text)
    assert f">{text}<" in workbook


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_a_real_number_that_is_none_is_text_where_only_numbers_are(
    engine: Engine, text: str
) -> None:
    row, document, column, workbook = values_of(engine, f"'{text}'::double")
    assert (row, document, str(column)) == (text, text, text)
    assert f">{text}<" in workbook


def test_a_division_by_zero_is_answered_in_a_workbook(engine: Engine) -> None:
    assert ">inf<" in sheet_of(body(engine, "select 1.0::double / 0 as x", "xlsx"))[1]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("[1.5]", [1.5]),
        ("[18446744073709551615::ubigint, 1]", [str(2**64 - 1), 1]),
        ("['nan'::double, 1]", ["nan", 1]),
        ("[timestamp '2026-11-01 08:00:00']", ["2026-11-01T08:00:00Z"]),
        ("{'a': 'ab'::blob, 'd': date '2026-11-01'}", {"a": "6162", "d": "2026-11-01"}),
        ("map {1: time '12:00'}", [[1, "12:00:00"]]),
    ],
)
def test_nested_values_stay_nested(engine: Engine, expression: str, value: Any) -> None:
    row, document, column, _ = values_of(engine, expression)
    assert (row, document, json.loads(column)) == (value, value, value)


def test_unknown_and_usual_values_beside_an_uncommon_one_stay_what_they_are(
    engine: Engine,
) -> None:
    sql = f"select * from (values ({DAY}), (null), (date '12000-01-01')) as t(x)"
    assert json.loads(body(engine, sql)) == [["2026-11-01"], [None], ["12000-01-01"]]
    usual = pq.read_table(io.BytesIO(body(engine, f"select {DAY} as x, 1 as n", "parquet")))
    assert usual.to_pylist() == [{"x": date(2026, 11, 1), "n": 1}]
    mixed = pq.read_table(io.BytesIO(body(engine, sql, "parquet")))
    assert mixed["x"].to_pylist() == ["2026-11-01", None, "12000-01-01"]


@pytest.mark.usefixtures("eastern_machine")
def test_a_time_without_a_zone_is_in_utc_wherever_the_machine_is(engine: Engine) -> None:
    row, document, column, _ = values_of(engine, "timestamp '2026-11-01 08:00:00'")
    assert (row, document) == ("2026-11-01T08:00:00Z", "2026-11-01T08:00:00Z")
    assert column == datetime(2026, 11, 1, 8, tzinfo=UTC)
    cells, _ = sheet_of(body(engine, "select timestamp '2026-11-01 12:00:00' as x", "xlsx"))
    assert ">46327.5<" in cells  # noon, in days since 1899-12-30


def test_a_sheet_has_no_number_for_a_time_before_its_calendar(engine: Engine) -> None:
    assert ">1850-01-01T00:00:00Z<" in values_of(engine, "timestamp '1850-01-01'")[3]


def test_equal_names_and_the_order_survive_a_column_that_becomes_text(engine: Engine) -> None:
    sql = "select i, interval (i) day as i from range(3) t(i) order by 1 desc"
    assert json.loads(body(engine, sql)) == [[2, "2 days"], [1, "1 day"], [0, "00:00:00"]]


@pytest.mark.parametrize("form", ["rows", "csv", "json", "xlsx", "parquet"])
def test_a_value_that_nothing_can_hold_is_a_mistake_of_the_statement(
    engine: Engine, form: StatementForm
) -> None:
    found = answered(engine, "select [date 'infinity'] as x", form)
    assert isinstance(found, StatementFault)
    assert (found.failure, found.hint) == ("invalid", "make its column text: x::varchar")


def test_sql_value_that_cannot_be_encoded_makes_the_statement_invalid(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise TypeError("not serializable")

    monkeypatch.setattr(table_files, "json_value", fail)
    found = answered(engine, "select 1 as x")
    assert isinstance(found, StatementFault)
    assert (found.failure, found.detail) == (
        "invalid",
        "the answer has a value that cannot be sent",
    )
