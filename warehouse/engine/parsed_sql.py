"""Parsing of statements by DuckDB's own parser, and the tables and views that a query reads.

`json_serialize_sql` takes every statement that selects. It resolves no name and runs nothing, so
parameters and tables need not exist.

The engine opens and lists only the tables that a query reads, which in an object store is a request
each, and creates only these views of the star. A query that lists the tables, such as one of
`information_schema`, or computes the name of a table reads all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import duckdb
import orjson

from warehouse.engine.seen_views import CAPTURES, RELEASED_FROM, RELEASED_SONGS, REPLAYED
from warehouse.models import read_model
from warehouse.tables import Table

READING_FUNCTIONS = frozenset(
    {
        "duckdb_functions",
        "generate_series",
        "json_each",
        "json_tree",
        "pg_timezone_names",
        "range",
        "repeat",
        "repeat_row",
        "unnest",
    }
)
"""Functions in `from` that read no table, and list no tables."""
_CATALOG_SCHEMAS = frozenset({"information_schema", "pg_catalog"})
_CATALOG_VIEWS = ("duckdb_", "pg_", "pragma_", "sqlite_")


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """Return an empty database that parses statements; opening one for each costs 0.1 s."""
    return duckdb.connect(config={"autoinstall_known_extensions": "false"})


def parse_sql(text: str) -> dict[str, Any] | None:
    """Return the parsed statements, or None if they are nested too deeply to be decoded.

    The key `error` is true unless all of them only select.
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
    waiting = [tree]  # a statement may be nested deeper than Python's recursion
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
    # DuckDB 1.x has a key for each part.
    parts = (node.get(f"{kind}_name") for kind in ("catalog", "schema", "table"))
    return [part for part in parts if part]


def mentions_of(tables: Sequence[Table], star: Sequence[Table]) -> Callable[[str], frozenset[str]]:
    """Return a function from a query to the names of what it reads.

    These are tables, and views of the star with all that those read. For example
    `select * from seen.videos` reads `raw.videos` and `raw.captures`.
    """
    reads = {table.name: frozenset({table.name}) for table in tables}
    views = {view.name: view for view in star}
    everything = frozenset({*reads, *views})
    for table in tables:
        if table.name.startswith("raw."):
            reads[table.counted_name] = frozenset({table.name, CAPTURES}) & everything
    reads[REPLAYED] = frozenset({CAPTURES}) & everything
    reads[RELEASED_SONGS] = frozenset().union(*(reads.get(name, ()) for name in RELEASED_FROM))

    @lru_cache(maxsize=512)
    def mentions(sql: str) -> frozenset[str]:
        names = named_tables(sql)
        if names is None:
            return everything
        return frozenset().union(
            *(
                {name, *mentions(read_model(views[name]))} if name in views else reads.get(name, ())
                for name in names
            )
        )

    return mentions


@lru_cache(maxsize=512)
def named_tables(sql: str) -> frozenset[str] | None:
    """Return schema and name of each table in a query, or None if it may read any table.

    A table without a schema is a name of the query itself: no other schema is searched.
    """
    tree = parse_sql(sql)
    if tree is None or tree["error"]:
        return None
    names = set[str]()
    for node in nodes(tree):
        match node.get("type"):
            case "BASE_TABLE":
                *schemas, name = (part.lower() for part in table_path(node))
                if name.startswith(_CATALOG_VIEWS) or not _CATALOG_SCHEMAS.isdisjoint(schemas):
                    return None
                names.update(f"{schema}.{name}" for schema in schemas[-1:])
            case "TABLE_FUNCTION":
                if node["function"]["function_name"].lower() not in READING_FUNCTIONS:
                    return None
            case "SHOW_REF":
                if node["show_type"] not in {"DESCRIBE", "SUMMARY"} or table_path(node):
                    return None
    return frozenset(names)
