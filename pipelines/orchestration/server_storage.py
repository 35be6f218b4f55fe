"""Dagster's storages on a PostgreSQL server (`DAGSTER_STORAGE_URL`), with the extra `postgres`.

Not here: when they are used, and the files that are used otherwise (`storage.py`).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, override

from dagster_postgres import (
    PostgresEventLogStorage,
    PostgresRunStorage,
    PostgresScheduleStorage,
)
from sqlalchemy import Connection, NullPool, create_engine, func, select

from pipelines.orchestration.dagster_compat import (
    AssetCheckExecutionsTable,
    ConfigurableClassData,
)

_OPENING = 0x5361_6D65  # any number that nothing else locks


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
    """Open a storage; one process at a time, because the first one makes its tables."""
    with _one_at_a_time(url):
        return _KINDS[kind](url, inst_data=inst_data)


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
