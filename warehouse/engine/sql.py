"""SQL as text: quoting, the views `seen.*`, and parsing by DuckDB's own parser."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

import duckdb
import orjson

from warehouse.models import read_model
from warehouse.tables import Table

# Names and texts as parts of a statement, for what takes no parameters.


def sql_name(name: str) -> str:
    """Return a name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(value: str) -> str:
    """Return a text in single quotes."""
    return "'" + value.replace("'", "''") + "'"


MAX_INLINE_VALUES = 200
"""Up to this many ids are passed as separate parameters.

With more, planning the query costs more than it saves.
"""


def inline_values(
    sql: str, values: Sequence[object], *, slot: str = "ids", kind: str = "varchar"
) -> tuple[str, dict[str, object]]:
    """Return a query with values in place of `{slot}`, and its parameters.

    `inline_values("… in ({ids})", ["7"])` is `("… in ($ids0)", {"ids0": "7"})`. Separate values are
    compared while a file is read, so rows that do not match are never decoded; over five million
    rows that is most of the work. Many values become one list.
    """
    placeholder = f"{{{slot}}}"
    if len(values) > MAX_INLINE_VALUES:
        return sql.replace(placeholder, f"select unnest(${slot}::{kind}[])"), {slot: list(values)}
    params: dict[str, object] = {f"{slot}{index}": value for index, value in enumerate(values)}
    return sql.replace(placeholder, ", ".join(f"${name}" for name in params) or "null"), params


# The views `seen.*`: which observations count. Their SQL; the engine creates them.
#
# An observation counts once its capture is complete, and until a replay has read the capture
# again.

CAPTURES = "raw.captures"
ITEMS = "raw.capture_items"
REPLAYED = "seen.replayed"
REPLAY_OF = "replay of "
"""Begin of the reason of a capture that reads another one again, and names it."""
REPLAYS = f"(select capture_id from {CAPTURES} where reason like '{REPLAY_OF}%')"  # noqa: S608  # names of this module
REPLAYED_SQL = f"""
    select substr(reason, {len(REPLAY_OF) + 1}) as capture_id from {CAPTURES}
    where reason like '{REPLAY_OF}%'
"""  # noqa: S608  # names of this module
IS_CURRENT = f"(capture_id is null or capture_id not in (from {REPLAYED}))"
"""A reading counts until a replay has read its capture again."""
RELEASED_SONGS = "seen.released_songs"
RELEASED_FROM = frozenset({"seen.chart_issues", "seen.chart_songs"})


def released_songs(which: str = "true") -> str:
    """Return the SQL of the songs of issues, without those that were read before the release.

    Until an issue is released, the platform serves the previous issue's songs. `listed_date` is the
    issue's date in the list of issues. `which`: a condition on `volid`, to read fewer.
    """
    return f"""(
        select songs.*, listed_date from seen.chart_songs as songs
        left join (
            select
                volid,
                max_by(scheduled_at, observed_at) as scheduled_at,
                max_by(chart_date, observed_at) as listed_date
            from seen.chart_issues where {which} group by volid
        ) using (volid)
        where volid is not null and {which}
            and (scheduled_at is null or observed_at >= scheduled_at)
    )"""  # noqa: S608  # our text


def seen_view(table: Table, complete_before: datetime | None) -> str:
    """Return the SQL of a view `seen.*`: observations whose capture is complete and current.

    The row of a capture is written last, so an observation without one belongs to a capture that is
    not finished, or never will be. Rows committed before a table's `complete_before` have their
    capture, so only later ones are checked. What a replay has read again counts as it reads today;
    the items of a page stay with its first capture.
    """
    is_current = "true" if table.name == ITEMS else IS_CURRENT
    if complete_before is None:
        is_complete = f"capture_id in (select capture_id from {CAPTURES})"  # noqa: S608  # a name
    else:
        # The capture of a later observation is later too, so earlier captures need no search.
        moment = f"timestamptz '{complete_before.isoformat()}'"
        is_complete = (
            f"committed_at < {moment} or capture_id in "  # noqa: S608  # a timestamp
            f"(select capture_id from {CAPTURES} where committed_at >= {moment})"
        )
    return (
        f"create or replace view {table.counted_name} as from {table.name} "
        f"where (capture_id is null or {is_complete}) and {is_current}"
    )


# Parsing of statements by DuckDB's own parser, and the tables and views that a query reads.
#
# `json_serialize_sql` takes every statement that selects. It resolves no name and runs nothing, so
# parameters and tables need not exist.
#
# The engine opens and lists only the tables that a query reads, which in an object store is a
# request each, and creates only these views of the star. A query that lists the tables, such as
# one of `information_schema`, or computes the name of a table reads all.

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
