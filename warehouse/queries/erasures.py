"""Typed reads of erasures: the marks that keep what was erased from coming back, and whether an
answer as of a moment is still what it was.
"""

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.erasure import Marks, gathered


def read_marks(engine: Engine) -> Marks:
    """Every mark of this world."""
    found = engine.table("select salt, marks from raw.erasures").to_pylist()
    return gathered((str(row["salt"]), row["marks"]) for row in found)


def is_history_rewritten(engine: Engine) -> bool:
    """True when an account was erased after the moment that the engine reads as of."""
    if engine.as_of is None:
        return False
    sql = "select count(*) as n from raw.erasures where committed_at > $moment"
    return bool(engine.rows(sql, {"moment": engine.as_of})[0]["n"])
