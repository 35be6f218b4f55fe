"""What a statement of a user may read: tables of this warehouse, and functions over their values.

The database itself must read files of the lake, since its views do. So a statement is refused that
names a file, a function that reads or lists files, or one that shows settings, definitions or logs.
`json_serialize_sql` names what a statement reads, however it is written.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.tables import TABLES

TABLE_FUNCTIONS = frozenset({
    "duckdb_functions", "generate_series", "json_each", "json_tree", "pg_timezone_names", "range",
    "repeat", "repeat_row", "unnest",
})  # fmt: skip
"""Every other function in `from` is refused: also `query`, whose statement may be computed."""
REFUSED_FUNCTIONS = frozenset({
    "current_setting", "getenv", "getvariable", "json_serialize_plan", "pg_get_constraintdef",
    "pg_get_expr", "pg_get_viewdef", "write_log",
})  # fmt: skip
"""Functions over values that show what is no value of a table, or write to a log."""
_SCHEMAS = frozenset({"seen", *(table.name.partition(".")[0] for table in TABLES)})
_CATALOG_TABLES = frozenset({"columns", "schemata", "tables"})
_PLAIN = re.compile(r"[\w -]+")  # a file has a dot, or a place
_SYSTEM = re.compile(r"(duckdb|pg|pragma|sqlite)_", re.IGNORECASE)
_LISTS = frozenset({"DESCRIBE", "SHOW_FROM", "SHOW_SPECIAL", "SUMMARY"})
"""Kinds of `show` and `describe` that name no table themselves; what they describe is below."""


def find_refused(tree: object) -> str | None:
    """Return the first name in a parsed statement that it may not read, if any.

    Args:
        tree: A statement, as `json_serialize_sql` returns it.
    """
    for node in _nodes(tree):
        kind = node.get("type")
        if kind == "TABLE_FUNCTION":
            name = node["function"]["function_name"]
            if name.lower() not in TABLE_FUNCTIONS:
                return str(name)
        elif kind == "BASE_TABLE" or (kind == "SHOW_REF" and node["show_type"] not in _LISTS):
            path = node["qualified_name"]["path"]
            if not _is_table(path):
                return ".".join(path)
        name = node.get("function_name", "")
        if name.lower() in REFUSED_FUNCTIONS:
            return str(name)
    return None


def _nodes(tree: object) -> Iterator[Mapping[str, Any]]:
    waiting = [tree]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            yield found
            waiting += found.values()
        elif isinstance(found, list):
            waiting += found


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
