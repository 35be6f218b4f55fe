"""Look-ups by id in large tables: which rows count, and how few ids are asked for.

An observation counts once its capture's row exists. `seen.*` says so in one query; asked for a few
ids, to look at the rows first and at their captures afterwards costs a fraction of that.
"""

from collections.abc import Collection, Sequence
from typing import Any, cast

from warehouse.engine.duckdb_engine import Engine

FEW = 200
"""So many ids are written into a query; with more, planning it costs more than it saves."""

Row = dict[str, Any]

_WRITTEN = "select capture_id from raw.captures where capture_id in ({ids})"


def only_written(engine: Engine, table: str, rows: Sequence[Row]) -> list[Row]:
    """Rows of a table whose capture is written: known of older ones, looked up for the others."""
    bound = engine.whole_before(table)
    young = {
        row["capture_id"]
        for row in rows
        if row["capture_id"] is not None and (bound is None or row["committed_at"] >= bound)
    }
    lost = young - read_written(engine, young)
    return [row for row in rows if row["capture_id"] not in lost]


def read_written(engine: Engine, capture_ids: Collection[str]) -> set[str]:
    """Those of some captures that are written."""
    if not capture_ids:
        return set()
    sql, params = with_values(_WRITTEN, sorted(capture_ids))
    found = cast("list[Row]", engine.rows(sql, params))
    return {row["capture_id"] for row in found}


def with_values(
    sql: str, values: Sequence[object], *, slot: str = "ids", kind: str = "varchar"
) -> tuple[str, dict[str, object]]:
    """The query with a parameter for each value in place of `{slot}`, as long as they are few.

    As values, and not as a list that is joined, they are compared while a file is read: what does
    not match is not decoded, which over five million rows is most of the work.
    """
    place_of = f"{{{slot}}}"
    if len(values) > FEW:
        return sql.replace(place_of, f"select unnest(${slot}::{kind}[])"), {slot: list(values)}
    params: dict[str, object] = {f"{slot}{place}": value for place, value in enumerate(values)}
    return sql.replace(place_of, ", ".join(f"${name}" for name in params) or "null"), params
