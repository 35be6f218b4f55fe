"""Queries of erasures: their marks, and whether one changed the answers as of an earlier time."""

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.erasure import ErasureMarks, merge_marks


def read_marks(engine: Engine) -> ErasureMarks:
    """Return all erasure marks of this world."""
    found = engine.table("select salt, marks from raw.erasures").to_pylist()
    return merge_marks((str(row["salt"]), row["marks"]) for row in found)


def is_history_rewritten(engine: Engine) -> bool:
    """Return True if an account was erased after the time that the engine reads as of."""
    if engine.as_of is None:
        return False
    sql = "select count(*) as n from raw.erasures where committed_at > $moment"
    return bool(engine.rows(sql, {"moment": engine.as_of})[0]["n"])
