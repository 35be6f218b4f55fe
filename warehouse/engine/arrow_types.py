"""Types of the database that Arrow or Python would change: their columns become text."""

import duckdb
from duckdb.sqltypes import DuckDBPyType

from warehouse.engine.quoting import sql_name

_UNLIKE_ARROW = frozenset({
    "bignum", "bit", "geometry", "interval", "time with time zone", "time_ns", "timestamp_ns",
    "uhugeint", "variant",
})  # fmt: skip
_NESTED = frozenset({"array", "list", "map", "struct", "tuple", "union"})


def like_arrow(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return the relation with text, as the database writes it, for what Arrow would change.

    That is each column of such a type, and each whose type has one within it.
    """
    are_unlike = [_is_unlike(type_) for type_ in relation.types]
    if not any(are_unlike):
        return relation
    columns = zip(relation.columns, are_unlike, strict=True)
    return relation.project(
        ", ".join(
            f"#{place}{'::varchar' if is_unlike else ''} as {sql_name(column)}"
            for place, (column, is_unlike) in enumerate(columns, start=1)
        )
    )


def _is_unlike(type_: object) -> bool:
    if not isinstance(type_, DuckDBPyType):
        return False  # the size of an array
    if type_.id in _NESTED:
        return any(_is_unlike(child) for _, child in type_.children)
    return type_.id in _UNLIKE_ARROW
