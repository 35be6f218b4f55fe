"""SQL written by users: one read-only statement, within the engine's restrictions.

It may read tables of this warehouse, and functions over their values. The database itself must read
files of the lake, since its views do; so a statement is refused that names a file, a function that
reads or lists files, or one that shows settings, definitions or logs. In `from` only the functions
that read no table pass: `query`, for one, runs a statement that may be computed.

Errors are reported in the words of the database. Typed queries of the application are in `queries`.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from warehouse.engine.duckdb_engine import Engine
from warehouse.engine.sql import READING_FUNCTIONS, nodes, parse_sql, table_path
from warehouse.records import errors
from warehouse.tables import TABLES

REFUSED_FUNCTIONS = frozenset(
    {
        "current_setting",
        "getenv",
        "getvariable",
        "json_serialize_plan",
        "pg_get_constraintdef",
        "pg_get_expr",
        "pg_get_viewdef",
        "write_log",
    }
)
"""Functions over values that return other things than values of tables, or write to a log."""
_SCHEMAS = frozenset({"seen", *(table.name.partition(".")[0] for table in TABLES)})
_CATALOG_TABLES = frozenset({"columns", "schemata", "tables"})
_PLAIN = re.compile(r"[\w -]+")  # the name of a file contains a dot or a slash
_SYSTEM = re.compile(r"(duckdb|pg|pragma|sqlite)_", re.IGNORECASE)
_LISTS = frozenset({"DESCRIBE", "SHOW_FROM", "SHOW_SPECIAL", "SHOW_UNQUALIFIED", "SUMMARY"})
"""Kinds of `show` and `describe` that name no table themselves; what they describe is below.

`SHOW_UNQUALIFIED` is what DuckDB 1.x calls `SHOW_SPECIAL`.
"""
# Comments are not allowed: one could hide the explained statement.
_EXPLAINING = re.compile(r"\s*explain\s+(?:\(\s*format\b[\w\s]*\)\s*)?", re.ASCII | re.IGNORECASE)
_ANALYZING = re.compile(r"\s*explain\W+analyze\b", re.ASCII | re.IGNORECASE)
_OUTSIDE = "only the tables of this warehouse can be read: no files, URLs, extensions or settings"
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
    """Return the statement as it is run: sorted by all columns with `as_of` if it is not sorted.

    The views that it reads exist afterwards.

    Raises:
        InvalidParameterError: It is not one read-only statement, reads other data, or is nested too
            deeply to be checked.
    """
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1:
        raise _not_one_statement()
    statement: str = statements[0].query.strip().removesuffix(";")
    is_explained = statements[0].type == duckdb.StatementType.EXPLAIN
    tree = parse_sql(_explained(statements[0].query) if is_explained else statement)
    if tree is None:
        raise errors.InvalidParameterError(
            "the statement is nested too deeply", hint="use fewer nested expressions"
        )
    if tree["error"] or len(tree["statements"]) != 1:
        raise _not_one_statement()
    refused = find_refused(tree)
    if refused is not None:
        raise errors.InvalidParameterError(_OUTSIDE, hint=f"leave out {refused!r}; {_NAMES}")
    engine.prepare(statement)
    modifiers = tree["statements"][0]["node"]["modifiers"]
    is_ordered = any(modifier["type"] == "ORDER_MODIFIER" for modifier in modifiers)
    if is_explained or engine.as_of is None or is_ordered:
        return statement
    return f"select * from (\n{statement}\n) order by all"  # noqa: S608  # the user's own query


def _not_one_statement() -> errors.InvalidParameterError:
    return errors.InvalidParameterError(
        "use one read-only statement: select, with, from, values, describe or explain",
        hint="nothing can be changed here; keep a result with `--out` or `.df()`",
    )


def _explained(statement: str) -> str:
    """Return the statement that follows `explain`."""
    if _ANALYZING.match(statement):
        raise errors.InvalidParameterError(
            "`explain analyze` names the files that it reads", hint="`explain` shows the plan"
        )
    explaining = _EXPLAINING.match(statement)
    explained = duckdb.extract_statements(statement[explaining.end() :]) if explaining else []
    if len(explained) != 1:
        raise _not_one_statement()
    query: str = explained[0].query
    return query


@contextmanager
def user_errors() -> Iterator[None]:
    """Report database errors with the first line of their message: it names the mistake best.

    Raises:
        InvalidParameterError: The query is invalid or reads other data.
        WarehouseUnavailableError: The lake cannot be read.
    """
    try:
        yield
    except errors.WarehouseError as error:
        cause = error.__cause__
        if isinstance(cause, duckdb.PermissionException):
            raise errors.InvalidParameterError(_OUTSIDE) from error
        if isinstance(error, errors.WarehouseUnavailableError):
            raise
        if isinstance(cause, duckdb.ProgrammingError | duckdb.DataError | duckdb.NotSupportedError):
            raise errors.InvalidParameterError(_line(cause), hint=_NAMES) from error
        raise
    except duckdb.Error as error:
        raise errors.InvalidParameterError(_line(error), hint=_NAMES) from error


def _line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def find_refused(tree: object) -> str | None:
    """Return the first name in a parsed statement that it may not read, if any.

    Args:
        tree: A statement, as `json_serialize_sql` returns it.
    """
    for node in nodes(tree):
        kind = node.get("type")
        if kind == "TABLE_FUNCTION":
            name = node["function"]["function_name"]
            if name.lower() not in READING_FUNCTIONS:
                return str(name)
        elif kind == "BASE_TABLE" or (kind == "SHOW_REF" and node["show_type"] not in _LISTS):
            path = table_path(node)
            if not _is_table(path):
                return ".".join(path)
        name = node.get("function_name", "")
        if name.lower() in REFUSED_FUNCTIONS:
            return str(name)
    return None


def _is_table(path: list[str]) -> bool:
    """Return True for a table of a layer, a list of tables, and a name of the statement itself."""
    if not all(_PLAIN.fullmatch(part) for part in path):
        return False
    *schemas, name = (part.lower() for part in path)
    if not schemas:
        return _SYSTEM.match(name) is None
    return schemas[-1] in _SCHEMAS or (
        schemas[-1] == "information_schema" and name in _CATALOG_TABLES
    )
