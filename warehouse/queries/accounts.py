"""Queries of accounts, of the marks of erased ones, and of the last outcome of a surface."""

from collections.abc import Sequence
from datetime import datetime

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import account_from_row
from warehouse.queries.committed_rows import inline_values, keep_committed
from warehouse.records.erasure import ErasureMarks, merge_marks
from warehouse.records.videos import Account


def read_profile(engine: Engine, sec_uid: str) -> tuple[Account, str] | None:
    """Return the newest observation of an account and its data provider, or None."""
    sql = """
        select * from raw.accounts where sec_uid = $sec_uid
        order by observed_at desc, committed_at desc
    """
    rows = keep_committed(engine, "raw.accounts", engine.rows(sql, sec_uid=sec_uid))
    return (account_from_row(rows[0]), rows[0]["data_provider"]) if rows else None


def read_last_outcome(
    engine: Engine, *, surfaces: Sequence[str], entity_id: str, outcome: str
) -> datetime | None:
    """Return when a surface last had this outcome for an entity, or None."""
    sql = """
        select max(observed_at) as observed_at from raw.captures
        where entity_id = $entity_id and surface in ({surfaces}) and outcome = $outcome
    """
    sql, params = inline_values(sql, surfaces, slot="surfaces")
    rows = engine.rows(sql, **params, entity_id=entity_id, outcome=outcome)
    observed_at: datetime | None = rows[0]["observed_at"]
    return observed_at


def read_marks(engine: Engine) -> ErasureMarks:
    """Return all erasure marks of this world."""
    rows = engine.table("select salt, marks from raw.erasures").to_pylist()
    return merge_marks((str(row["salt"]), row["marks"]) for row in rows)


def is_history_rewritten(engine: Engine) -> bool:
    """Return True if an account was erased after the time that the engine reads as of."""
    if engine.as_of is None:
        return False
    sql = "select count(*) as n from raw.erasures where committed_at > $moment"
    return bool(engine.rows(sql, {"moment": engine.as_of})[0]["n"])
