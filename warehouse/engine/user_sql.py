"""SQL written by users: one read-only statement, within the engine's restrictions.

Errors are reported in the words of the database. Typed queries of the application are in `queries`.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

import duckdb
import orjson
import pyarrow as pa

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.errors import (
    InvalidParameterError,
    WarehouseError,
    WarehouseUnavailableError,
)

# Analyzing runs what it explains. No comment is let in: in one, what is explained could be hidden.
_EXPLAINING = re.compile(
    r"\s*explain\s+(?:analyze\s+)?(?:\(\s*(?:analyze|format)\b[\w\s,]*\)\s*)?",
    re.ASCII | re.IGNORECASE,
)
_OUTSIDE = "only the tables of this warehouse can be read: no files, URLs or extensions"
_NAMES = "names are in docs/data-dictionary.md, or: select * from information_schema.columns"


def run_user_sql(
    engine: Engine,
    sql: str,
    params: Mapping[str, object] | None = None,
    *,
    limit: int | None = None,
) -> pa.Table:
    """Run one read-only statement; `$name` in it stands for a parameter.

    Returns at most `limit` rows, in the order of the statement.

    With `as_of`, a statement without `order by` is sorted by all columns, so that the same query
    always returns the same rows.

    Raises:
        InvalidParameterError: It is not one read-only statement, is invalid, or reads other data.
        WarehouseUnavailableError: The lake cannot be read, or the query needs too much memory.
    """
    with user_errors():
        return engine.table(checked_statement(engine, sql), params, limit=limit)


def checked_statement(engine: Engine, sql: str) -> str:
    """Return the statement as it is run: alone, in a stable order with `as_of`, with the star.

    Raises:
        InvalidParameterError: It is not one read-only statement.
    """
    statement = _single(sql)
    engine.show_star()
    return statement if engine.as_of is None else _ordered(statement)


def _single(sql: str) -> str:
    found = duckdb.extract_statements(sql)
    if len(found) != 1 or not _only_reads(found[0]):
        raise InvalidParameterError(
            "use one read-only statement: select, with, from, values, describe or explain",
            hint="nothing can be changed here; keep a result with `--out` or `.df()`",
        )
    statement: str = found[0].query.strip().removesuffix(";")
    return statement


def _only_reads(statement: duckdb.Statement) -> bool:
    if statement.type != duckdb.StatementType.EXPLAIN:
        return statement.type == duckdb.StatementType.SELECT
    explaining = _EXPLAINING.match(statement.query)
    if explaining is None:
        return False
    explained = duckdb.extract_statements(statement.query[explaining.end() :])
    return [one.type for one in explained] == [duckdb.StatementType.SELECT]


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """Return an empty database that parses statements; opening one for each costs 0.1 s."""
    return duckdb.connect(config={"autoinstall_known_extensions": "false"})


def _ordered(question: str) -> str:
    """Sort by all columns, unless the statement has its own `order by`."""
    text = question.replace("'", "''")
    with _parser().cursor() as parser:
        parsed = parser.execute(f"select json_serialize_sql('{text}')").fetchall()  # quoted
    tree = orjson.loads(parsed[0][0])
    if tree["error"]:  # explain, describe and the like
        return question
    node = tree["statements"][0]["node"]
    if any(one["type"] == "ORDER_MODIFIER" for one in node["modifiers"]):
        return question
    return f"select * from (\n{question}\n) order by all"  # noqa: S608  # the user's own query


@contextmanager
def user_errors() -> Iterator[None]:
    """Report database errors with the first line of their message: it names the mistake best.

    Raises:
        InvalidParameterError: The query is invalid or reads other data.
        WarehouseUnavailableError: The lake cannot be read.
    """
    try:
        yield
    except WarehouseError as error:
        cause = error.__cause__
        if isinstance(cause, duckdb.PermissionException):
            raise InvalidParameterError(_OUTSIDE) from error
        if isinstance(error, WarehouseUnavailableError):
            raise
        if isinstance(cause, duckdb.ProgrammingError | duckdb.DataError | duckdb.NotSupportedError):
            raise InvalidParameterError(_line(cause), hint=_NAMES) from error
        raise
    except duckdb.Error as error:
        raise InvalidParameterError(_line(error), hint=_NAMES) from error


def _line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
