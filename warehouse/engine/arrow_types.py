"""Types of the database that Arrow or Python would change: their columns become text.

An interval is text in files; analysts get a duration, which pandas and Polars can add and compare.
"""

from collections.abc import Collection

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from duckdb.sqltypes import DuckDBPyType

from warehouse.engine.quoting import sql_name

_UNLIKE_ARROW = frozenset(
    {
        "bignum",
        "bit",
        "geometry",
        "interval",
        "time with time zone",
        "time_ns",
        "timestamp_ns",
        "uhugeint",
        "variant",
    }
)
_NESTED = frozenset({"array", "list", "map", "struct", "tuple", "union"})
_DURATION = (
    "case when #{place} is not null then {{"
    "'months': datepart('year', #{place}) * 12 + datepart('month', #{place}), "
    "'us': epoch_us(#{place}), 'text': #{place}::varchar}} end"
)


def like_arrow(
    relation: duckdb.DuckDBPyRelation, *, kept: Collection[str] = ()
) -> duckdb.DuckDBPyRelation:
    """Return the relation with text, as the database writes it, for what Arrow would change.

    These are columns of such a type, and columns whose type contains one. `kept`: types that the
    reader of the Arrow table has too.
    """
    unlike = _UNLIKE_ARROW.difference(kept)
    return _projected(
        relation,
        ["#{place}::varchar" if _contains(type_, unlike) else "" for type_ in relation.types],
    )


def durations_apart(
    relation: duckdb.DuckDBPyRelation,
) -> tuple[duckdb.DuckDBPyRelation, tuple[int, ...]]:
    """Return the relation with intervals split into parts for `with_durations`, and their places.

    An interval of 1 month and 2 seconds becomes `{months: 1, us: 2000000, text: …}`.
    """
    types = relation.types
    places = tuple(place for place, type_ in enumerate(types) if type_.id == "interval")
    expressions = [_DURATION if type_.id == "interval" else "" for type_ in types]
    return _projected(relation, expressions), places


def with_durations(table: pa.Table, places: Collection[int]) -> pa.Table:
    """Return the table with these columns of `durations_apart` as durations.

    A column with months is text, because a month has no fixed length.
    """
    for place in places:
        parts = table.column(place).combine_chunks()
        months, us, texts = parts.flatten()  # with the nulls of the struct
        is_fixed = not pc.any(pc.not_equal(months, 0)).as_py()
        column = us.cast(pa.duration("us")) if is_fixed else texts
        table = table.set_column(place, table.schema.names[place], column)
    return table


def _projected(
    relation: duckdb.DuckDBPyRelation, expressions: list[str]
) -> duckdb.DuckDBPyRelation:
    """Return the relation with an expression in place of each column that has one."""
    if not any(expressions):
        return relation
    columns = zip(relation.columns, expressions, strict=True)
    return relation.project(
        ", ".join(
            f"{(expression or '#{place}').format(place=place)} as {sql_name(column)}"
            for place, (column, expression) in enumerate(columns, start=1)
        )
    )


def _contains(type_: object, names: Collection[str]) -> bool:
    """Return True for a type of these names, and for a nested type that contains one."""
    if not isinstance(type_, DuckDBPyType):
        return False  # the size of an array
    if type_.id in _NESTED:
        return any(_contains(child, names) for _, child in type_.children)
    return type_.id in names
