"""Why a statement has no answer: its size, its memory, or a lake that cannot be read."""

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime

import duckdb
import pytest

from api.services.sql import query_process
from api.services.sql.query_process import (
    Statement,
    StatementAnswer,
    StatementFault,
    answer_statement,
)
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.store import open_lake
from warehouse.records.errors import WarehouseUnavailableError


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    lake = open_lake(str(tmp_path_factory.mktemp("lake")), world="sandbox")
    with closing(Engine(lake)) as opened:
        yield opened


def answered(engine: Engine, sql: str) -> StatementAnswer | StatementFault:
    def never(as_of: datetime | None) -> Engine:
        raise AssertionError(f"nobody asked for {as_of}")

    return answer_statement(engine, never, Statement(sql))


def test_a_statement_with_an_error_is_invalid(engine: Engine) -> None:
    found = answered(engine, "select nothing from marts.rankings")
    assert isinstance(found, StatementFault)
    assert (found.failure, "nothing" in found.detail) == ("invalid", True)


@pytest.mark.parametrize(
    ("most", "sql"),
    [
        pytest.param(1000, "select repeat('x', 2000) as text", id="rows"),
        # eight bytes of a number become nineteen characters and more
        pytest.param(1000, "select 9007199254740993 as n from range(100)", id="encoded"),
    ],
)
def test_an_answer_that_is_too_large_to_be_sent_is_refused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, most: int, sql: str
) -> None:
    monkeypatch.setattr(query_process, "MAX_ANSWER_BYTES", most)
    found = answered(engine, sql)
    assert isinstance(found, StatementFault)
    assert (found.failure, found.detail) == ("limit", "the answer has more than 0 MB")
    assert "sametrack sql --out" in str(found.hint)


@pytest.mark.parametrize(
    ("error", "failure", "message"),
    [
        pytest.param(
            duckdb.OutOfMemoryException("out of memory"), "limit", "needs more memory", id="engine"
        ),
        pytest.param(MemoryError(), "limit", "needs more memory", id="python"),
        pytest.param(
            OSError("the disk is gone"), "unavailable", "the lake cannot be read", id="lake"
        ),
    ],
)
def test_statement_fault_names_the_cause_of_a_failure_below_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, error: Exception, failure: str, message: str
) -> None:
    def fail(*_: object, **__: object) -> object:
        if isinstance(error, MemoryError):
            raise error
        raise WarehouseUnavailableError("the lake cannot be read") from error

    monkeypatch.setattr(query_process, "run_user_sql", fail)
    found = answered(engine, "select 1")
    assert isinstance(found, StatementFault)
    assert found.failure == failure
    assert message in found.detail


def test_an_answer_within_the_limits_has_its_rows(engine: Engine) -> None:
    found = answered(engine, "select 1 as n")
    assert isinstance(found, StatementAnswer)
    assert (found.body, found.summary.row_count) == (b"[[1]]", 1)
