"""Erasure in the control store: deletes rows of any table whose text matches a pattern.

Afterwards the file itself is rewritten, so that deleted rows are not left in free pages.
"""

import re
import sqlite3
from collections.abc import Collection
from dataclasses import replace

from sqlalchemy import Column, Connection, String, Table, and_, delete, select, update
from sqlalchemy.exc import SQLAlchemyError

from warehouse.control.database import ControlStore, from_json, to_json
from warehouse.control.schema import JOBS, METADATA, SCAN_JOURNAL, SCAN_PREVIEWS, WATCHLISTS
from warehouse.files import translate_errors
from warehouse.records.watchlists import parse_plan


def erase(
    control: ControlStore, pattern: re.Pattern[bytes], *, job_ids: Collection[str] = ()
) -> dict[str, int]:
    """Delete these jobs and every row that `pattern` matches; return row counts by table.

    A watchlist loses its matching entries; it is deleted if it has no others.

    Journals and previews of scans are deleted as a whole, because they are packed: a scan
    without its journal begins again, and writes its next preview within seconds.
    """
    row_counts: dict[str, int] = {}
    with control.write() as connection:
        for packed in (SCAN_JOURNAL, SCAN_PREVIEWS):
            connection.execute(delete(packed))
        shortened = {WATCHLISTS: _shorten_watchlists(connection, pattern)}
        for table in METADATA.sorted_tables:
            count = _delete_matching(connection, table, pattern) + shortened.get(table, 0)
            if table is JOBS and job_ids:
                named = delete(JOBS).where(JOBS.c.job_id.in_(sorted(job_ids)))
                count += connection.execute(named).rowcount
            if count:
                row_counts[table.name] = count
    if not control.is_sqlite:
        return row_counts
    # Rewrite the file: a deleted row stays in it until its space is reused.
    with translate_errors("rewriting the control store", causes=(sqlite3.Error, SQLAlchemyError)):
        # SQLite vacuums outside a transaction only, and SQLAlchemy would begin one.
        raw = control.engine.raw_connection()
        try:
            # The write-ahead log holds the erased pages too, until it is truncated.
            for statement in ("vacuum", "pragma wal_checkpoint(truncate)"):
                raw.cursor().execute(statement)
        finally:
            raw.close()
    return row_counts


def _shorten_watchlists(connection: Connection, pattern: re.Pattern[bytes]) -> int:
    """Remove the matching entries of watchlists that have others; return how many changed."""
    changed = 0
    for name, text in connection.execute(select(WATCHLISTS.c.name, WATCHLISTS.c.plan)).all():
        plan = parse_plan(from_json(text))
        kept = tuple(entry for entry in plan.entries if not pattern.search(entry.input.encode()))
        if kept and kept != plan.entries:
            shorter = to_json(replace(plan, entries=kept).to_document())
            row = WATCHLISTS.c.name == name
            connection.execute(update(WATCHLISTS).where(row).values(plan=shorter))
            changed += 1
    return changed


def _delete_matching(connection: Connection, table: Table, pattern: re.Pattern[bytes]) -> int:
    texts = [column for column in table.columns if isinstance(column.type, String)]
    keys: list[Column[object]] = list(table.primary_key.columns)
    count = 0
    for row in connection.execute(select(*keys, *texts)).all():
        # All texts of the row at once, one below the other.
        values = [str(value) for value in row[len(keys) :] if value is not None]
        if pattern.search("\n".join(values).encode("utf-8", "replace")):
            is_row = and_(*(key == value for key, value in zip(keys, row, strict=False)))
            count += connection.execute(delete(table).where(is_row)).rowcount
    return count
