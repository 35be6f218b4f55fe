"""Dagster's storages on a PostgreSQL server (`DAGSTER_STORAGE_URL`), with the extra `postgres`.

Not here: when they are used, and the files that are used otherwise (`storage.py`).
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Literal, override

from dagster_postgres import (
    PostgresEventLogStorage,
    PostgresRunStorage,
    PostgresScheduleStorage,
)
from sqlalchemy import Connection, Engine, NullPool, create_engine, func, select

from pipelines.orchestration.dagster_compat import (
    AssetCheckExecutionsTable,
    ConfigurableClassData,
)

_OPENING = 0x5361_6D65  # any number that nothing else locks
KEPT_CONNECTIONS = 2
MORE_CONNECTIONS = 20
"""Opened when Dagster uses several threads at once, and closed after use."""


class ServerEventLogStorage(PostgresEventLogStorage):
    """Events in PostgreSQL."""

    @override
    def delete_events_for_run(self, conn: Connection, run_id: str) -> None:
        """Delete the run's check results too; Dagster alone would keep them forever."""
        super().delete_events_for_run(conn, run_id)
        of_run = AssetCheckExecutionsTable.c.run_id == run_id
        conn.execute(AssetCheckExecutionsTable.delete().where(of_run))


type ServerStorage = ServerEventLogStorage | PostgresRunStorage | PostgresScheduleStorage


def open_server_storage(
    kind: Literal["events", "runs", "schedules"], url: str, inst_data: ConfigurableClassData | None
) -> ServerStorage:
    """Open a storage; one process at a time, because the first one makes its tables.

    Dagster would connect anew for each statement, which took most of the server's processor time.
    Kept connections are checked before use, so that a restart of the server ends no statement.
    """
    with _one_at_a_time(url):
        opened = _KINDS[kind](url, inst_data=inst_data)
    opened._engine = _pool(url)  # noqa: SLF001 -- what `optimize_for_webserver` does
    return opened


@cache
def _pool(url: str) -> Engine:
    """Return the connections of this process, which all storages share."""
    engine = create_engine(
        url, isolation_level="AUTOCOMMIT", pool_pre_ping=True,
        pool_size=KEPT_CONNECTIONS, max_overflow=MORE_CONNECTIONS,
    )  # fmt: skip
    # A process that is forked would use the connections of this one.
    os.register_at_fork(after_in_child=lambda: engine.dispose(close=False))
    return engine


_KINDS: Mapping[str, Callable[..., ServerStorage]] = {
    "events": ServerEventLogStorage,
    "runs": PostgresRunStorage,
    "schedules": PostgresScheduleStorage,
}


@contextmanager
def _one_at_a_time(url: str) -> Iterator[None]:
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(select(func.pg_advisory_lock(_OPENING)))
        yield  # closing the connection ends the lock
