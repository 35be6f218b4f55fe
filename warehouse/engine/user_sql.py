"""SQL that a person writes: one reading statement, behind the engine's fence.

Here: what may be asked, and a mistake told in the words of the database. Not here: typed reads of
our own (`queries`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import orjson
import pyarrow as pa

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.errors import InvalidParameterError, WarehouseError

_READING = frozenset({duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN})
_FENCED = "only the tables of this warehouse can be read: no file, no address, no extension"
_NAMES = "names are in docs/data-dictionary.md, or ask: select * from information_schema.columns"


def ask_freely(engine: Engine, sql: str) -> pa.Table:
    """The answer to one reading statement.

    As of a moment, a statement that names no order gets its rows in the order of all columns, so
    that the same question has the same answer.

    Raises:
        InvalidParameterError: It is no single reading statement, is wrong, or reaches outside.
        WarehouseUnavailableError: The lake cannot be read, or the answer needs too much memory.
    """
    with _told():
        question = _single(sql)
        if engine.as_of is not None:
            question = _ordered(question)
        return engine.table(question)


def _single(sql: str) -> str:
    found = duckdb.extract_statements(sql)
    if len(found) != 1 or found[0].type not in _READING:
        raise InvalidParameterError(
            "give one statement that reads: select, with, from, values, describe or explain",
            hint="nothing can be changed here; `--out` writes an answer to a file",
        )
    statement: str = found[0].query.strip().removesuffix(";")
    return statement


def _ordered(question: str) -> str:
    """In the order of all columns, where the statement itself names none."""
    text = question.replace("'", "''")
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as parser:
        told = parser.execute(f"select json_serialize_sql('{text}')").fetchall()[0][0]  # quoted
    tree = orjson.loads(told)
    if tree["error"]:  # explain, describe and the like
        return question
    node = tree["statements"][0]["node"]
    if any(one["type"] == "ORDER_MODIFIER" for one in node["modifiers"]):
        return question
    return f"select * from (\n{question}\n) order by all"  # noqa: S608  # the person's own question


@contextmanager
def _told() -> Iterator[None]:
    """The database's own first line says best where a question is wrong."""
    try:
        yield
    except WarehouseError as error:
        cause = error.__cause__
        if isinstance(cause, duckdb.PermissionException):
            raise InvalidParameterError(_FENCED) from error
        if isinstance(cause, duckdb.ProgrammingError | duckdb.DataError | duckdb.NotSupportedError):
            raise InvalidParameterError(_line(cause), hint=_NAMES) from error
        raise
    except duckdb.Error as error:
        raise InvalidParameterError(_line(error), hint=_NAMES) from error


def _line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
