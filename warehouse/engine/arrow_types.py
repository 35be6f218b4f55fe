"""Types of the database that Arrow or Python would change: their columns become text.

An interval is text in files; analysts get a duration, which pandas and Polars can add and compare.
"""

from collections.abc import Collection

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from duckdb.sqltypes import DuckDBPyType

from warehouse.engine.quoting import sql_name

_UNLIKE_ARROW = frozenset({
    "bignum", "bit", "geometry", "interval", "time with time zone", "time_ns", "timestamp_ns",
    "uhugeint", "variant",
})  # fmt: skip
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

    That is each column of such a type, and each whose type has one within it. `kept`: types that
    the reader of the Arrow table has, too.
    """
    unlike = _UNLIKE_ARROW.difference(kept)
    return _projected(
        relation, ["#{place}::varchar" if _has(type_, unlike) else "" for type_ in relation.types]
    )


def durations_apart(
    relation: duckdb.DuckDBPyRelation,
) -> tuple[duckdb.DuckDBPyRelation, tuple[int, ...]]:
    """Return the relation with each interval taken apart for `with_durations`, and their places."""
    are = [type_.id == "interval" for type_ in relation.types]
    places = tuple(place for place, is_interval in enumerate(are) if is_interval)
    return _projected(relation, [_DURATION if is_interval else "" for is_interval in are]), places


def with_durations(table: pa.Table, places: Collection[int]) -> pa.Table:
    """Return the table with these columns of `durations_apart` as durations.

    Text if one of the column has months: a month has no fixed length.
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


def _has(type_: object, names: Collection[str]) -> bool:
    """Return True for one of these types, and for one that has it within."""
    if not isinstance(type_, DuckDBPyType):
        return False  # the size of an array
    if type_.id in _NESTED:
        return any(_has(child, names) for _, child in type_.children)
    return type_.id in names
