"""Lookups by id in large tables: which rows are committed, and how ids are passed to a query.

An observation counts once the row of its capture exists. The views `seen.*` check this in one
query; for a few ids it is much cheaper to read the rows first and check their captures afterwards.
"""

from collections.abc import Collection, Sequence

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.values import Row

MAX_INLINE_VALUES = 200
"""Up to this many ids are passed as separate parameters.

With more, planning the query costs more than it saves.
"""


_WRITTEN = "select capture_id from raw.captures where capture_id in ({ids})"


def keep_committed(engine: Engine, table: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose capture is complete; only recent rows need a lookup."""
    bound = engine.complete_before(table)
    young = {
        row["capture_id"]
        for row in rows
        if row["capture_id"] is not None and (bound is None or row["committed_at"] >= bound)
    }
    lost = young - read_committed_ids(engine, young)
    return [row for row in rows if row["capture_id"] not in lost]


def read_committed_ids(engine: Engine, capture_ids: Collection[str]) -> set[str]:
    """Return which of these captures are complete."""
    if not capture_ids:
        return set()
    sql, params = inline_values(_WRITTEN, sorted(capture_ids))
    return {row["capture_id"] for row in engine.rows(sql, params)}


def inline_values(
    sql: str, values: Sequence[object], *, slot: str = "ids", kind: str = "varchar"
) -> tuple[str, dict[str, object]]:
    """Replace `{slot}` in the query by one parameter per value, or by a list if there are many.

    Separate values are compared while a file is read, so rows that do not match are never decoded;
    over five million rows that is most of the work.
    """
    placeholder = f"{{{slot}}}"
    if len(values) > MAX_INLINE_VALUES:
        return sql.replace(placeholder, f"select unnest(${slot}::{kind}[])"), {slot: list(values)}
    params: dict[str, object] = {f"{slot}{index}": value for index, value in enumerate(values)}
    return sql.replace(placeholder, ", ".join(f"${name}" for name in params) or "null"), params
