"""Which tables and views of the star a query reads.

Only these tables are opened and looked at, which in an object store is a request each, and only
these views are made. A query that lists the tables, such as one of `information_schema`, or
computes the name of one, reads all.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

from warehouse.engine.parsed_sql import READING_FUNCTIONS, nodes, parse_sql, table_path
from warehouse.engine.seen_views import CAPTURES, RELEASED_FROM, RELEASED_SONGS, REPLAYED
from warehouse.models import read_model
from warehouse.tables import Table

_CATALOG_SCHEMAS = frozenset({"information_schema", "pg_catalog"})
_CATALOG_VIEWS = ("duckdb_", "pg_", "pragma_", "sqlite_")


def mentions_of(tables: Sequence[Table], star: Sequence[Table]) -> Callable[[str], frozenset[str]]:
    """Return a function from a query to the names of what it reads.

    These are tables, and views of the star with all that those read.
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
    """Return schema and name of each table in a query; None: it may read any.

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
