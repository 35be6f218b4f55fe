"""Removing from the control store whatever names somebody, in any of its tables.

Here: rows with a text that a pattern finds. Afterwards the file itself holds nothing of them.
"""

import re
import sqlite3
from collections.abc import Collection

from sqlalchemy import Column, Connection, String, Table, and_, delete, select
from sqlalchemy.exc import SQLAlchemyError

from warehouse.control.database import Database
from warehouse.control.schema import JOBS, METADATA
from warehouse.lake.library_errors import translated


class ForgettingRows:
    """The part of the control store that forgets."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def forget(
        self, pattern: re.Pattern[bytes], *, job_ids: Collection[str] = ()
    ) -> dict[str, int]:
        """Delete every row of every table in which `pattern` finds something, and these jobs.

        Returns the number of rows by table.
        """
        found: dict[str, int] = {}
        with self._database.writing() as connection:
            for table in METADATA.sorted_tables:
                gone = _forget(connection, table, pattern)
                if table is JOBS and job_ids:
                    these = JOBS.c.job_id.in_(sorted(job_ids))
                    gone += connection.execute(delete(JOBS).where(these)).rowcount
                if gone:
                    found[table.name] = gone
        self._rewrite()
        return found

    def _rewrite(self) -> None:
        """A deleted row stays in a file of SQLite until its place is needed."""
        if not self._database.is_sqlite:
            return
        with translated("rewriting the control store", sqlite3.Error, SQLAlchemyError):
            raw = self._database.engine.raw_connection()
            try:
                for statement in ("vacuum", "pragma wal_checkpoint(truncate)"):
                    raw.cursor().execute(statement)
            finally:
                raw.close()


def _forget(connection: Connection, table: Table, pattern: re.Pattern[bytes]) -> int:
    texts = [column for column in table.columns if isinstance(column.type, String)]
    keys: list[Column[object]] = list(table.primary_key.columns)
    gone = 0
    for row in connection.execute(select(*keys, *texts)).all():
        shown = [str(value) for value in row[len(keys) :] if value is not None]
        if pattern.search("\n".join(shown).encode("utf-8", "replace")):
            one = and_(*(key == value for key, value in zip(keys, row, strict=False)))
            gone += connection.execute(delete(table).where(one)).rowcount
    return gone
