"""Erase an account from Dagster's storage on a PostgreSQL server (`DAGSTER_STORAGE_URL`).

The rows go; the pages that held them are the server's, and overwritten after its next vacuum.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, MetaData, NullPool, Table, create_engine, literal_column, select

_ROW = "ctid"  # where the row is; the tables have keys of different names


def runs_on_server(url: str, pattern: re.Pattern[bytes]) -> set[str]:
    """Return the runs that rows of any table with a `run_id` mention together with the account."""
    with _open(url) as (connection, tables):
        named = (
            row["run_id"]
            for table in tables
            if "run_id" in table.columns
            for row in _rows_naming(connection, table, pattern)
        )
        return {str(run_id) for run_id in named if run_id}


def forget_rows_on_server(url: str, pattern: re.Pattern[bytes]) -> None:
    """Delete rows that belong to no run: ticks, keys, partitions."""
    with _open(url) as (connection, tables):
        for table in tables:
            for row in _rows_naming(connection, table, pattern):
                connection.execute(table.delete().where(literal_column(_ROW) == row[_ROW]))
        connection.commit()


@contextmanager
def _open(url: str) -> Iterator[tuple[Connection, list[Table]]]:
    engine, found = create_engine(url, poolclass=NullPool), MetaData()
    with engine.connect() as connection:
        found.reflect(connection)
        yield connection, list(found.tables.values())


def _rows_naming(
    connection: Connection, table: Table, pattern: re.Pattern[bytes]
) -> list[Mapping[str, Any]]:
    rows = connection.execute(select(literal_column(_ROW).label(_ROW), table)).mappings()
    return [dict(row) for row in rows if pattern.search(_text(row))]


def _text(row: Mapping[Any, Any]) -> bytes:
    parts = (
        bytes(one) if isinstance(one, memoryview) else str(one).encode() for one in row.values()
    )
    return b"\n".join(parts)
