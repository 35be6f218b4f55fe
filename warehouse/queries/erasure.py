"""Queries of erasures: the marks of erased accounts, and whether a view of the past has changed."""

from collections import defaultdict

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.erasure import ErasureMarks


def read_erasure_marks(engine: Engine) -> ErasureMarks:
    """Return all erasure marks of this world."""
    by_salt: dict[str, set[str]] = defaultdict(set)
    for row in engine.table("select salt, marks from raw.erasures").to_pylist():
        by_salt[row["salt"]].update(row["marks"])
    return ErasureMarks({salt: frozenset(marks) for salt, marks in by_salt.items()})


def is_history_rewritten(engine: Engine) -> bool:
    """Return True if an account was erased after the time that the engine reads as of."""
    if engine.as_of is None:
        return False
    sql = "select count(*) as n from raw.erasures where committed_at > $moment"
    return bool(engine.rows(sql, {"moment": engine.as_of})[0]["n"])
