"""A statement as DuckDB's own parser sees it: `json_serialize_sql`, which takes whatever selects.

It resolves no name and runs nothing, so parameters and tables need not exist.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import duckdb
import orjson

READING_FUNCTIONS = frozenset({
    "duckdb_functions", "generate_series", "json_each", "json_tree", "pg_timezone_names", "range",
    "repeat", "repeat_row", "unnest",
})  # fmt: skip
"""Functions in `from` that read no table, and list none."""


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """Return an empty database that parses statements; opening one for each costs 0.1 s."""
    return duckdb.connect(config={"autoinstall_known_extensions": "false"})


def parse_sql(text: str) -> dict[str, Any] | None:
    """Return the parsed statements; its `error` is true unless all of them only select.

    None: it is nested too deeply to be decoded.
    """
    with _parser().cursor() as parser:
        parsed = parser.execute("select json_serialize_sql($1)", [text]).fetchall()
    try:
        tree: dict[str, Any] = orjson.loads(parsed[0][0])
    except orjson.JSONDecodeError:
        return None
    return tree


def nodes(tree: object) -> Iterator[Mapping[str, Any]]:
    """Yield every node of a parsed statement."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def table_path(node: Mapping[str, Any]) -> list[str]:
    """Return the name of a table as it is written: database and schema, if given, and table."""
    if "qualified_name" in node:
        return list(node["qualified_name"]["path"])
    # DuckDB 1.x has a key for each part
    parts = (node.get(f"{kind}_name") for kind in ("catalog", "schema", "table"))
    return [part for part in parts if part]
