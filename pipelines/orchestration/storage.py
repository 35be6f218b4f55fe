"""Where the orchestrator keeps runs and events: its own SQLite storages, on connections that stay.

Named in `dagster.yaml`, so every process of the orchestrator loads it. Dagster opens, checkpoints
and closes the file for each event, which took a third of the time that a scan spends on itself.
Not here: what is stored; that is Dagster's.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, override

from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log import ConsolidatedSqliteEventLogStorage
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable
from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from sqlalchemy import Connection, Engine, create_engine, event

type Watch = Callable[[EventLogEntry, str], None]


class KeptEventLog(ConsolidatedSqliteEventLogStorage):
    """All events in one file. Who watches a run looks for new rows: the file itself is written
    only now and then, because what is new stands in its write-ahead log.
    """

    @cached_property
    def _engine(self) -> Engine:
        return _open_engine(self._conn_string)

    @cached_property
    def _watcher(self) -> SqlPollingEventWatcher:
        return SqlPollingEventWatcher(self)

    @contextmanager
    @override
    def _connect(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection

    @override
    def watch(self, run_id: str, cursor: str | None, callback: Watch) -> None:
        """Call `callback` for each event of a run after `cursor`."""
        self._watcher.watch_run(run_id, cursor, callback)

    @override
    def end_watch(self, run_id: str, handler: Watch) -> None:
        """Stop calling it."""
        self._watcher.unwatch_run(run_id, handler)

    @override
    def delete_events_for_run(self, conn: Connection, run_id: str) -> None:
        """What its checks found goes along; Dagster alone would keep that for good."""
        super().delete_events_for_run(conn, run_id)
        of_run = AssetCheckExecutionsTable.c.run_id == run_id
        conn.execute(AssetCheckExecutionsTable.delete().where(of_run))

    @override
    def dispose(self) -> None:
        """Close what is open."""
        self._watcher.close()
        self._engine.dispose()


class KeptRunStorage(SqliteRunStorage):
    """The runs, in a file of their own."""

    @classmethod
    @override
    def from_config_value(cls, inst_data: Any, config_value: Any) -> "KeptRunStorage":
        """As Dagster builds it from `dagster.yaml`, but of this class."""
        return cls.from_local(inst_data=inst_data, **config_value)

    @cached_property
    def _engine(self) -> Engine:
        return _open_engine(self._conn_string)

    @contextmanager
    @override
    def connect(self) -> Iterator[Connection]:
        """A connection in a transaction of its own."""
        with self._engine.begin() as connection:
            yield connection

    @override
    def dispose(self) -> None:
        """Close what is open."""
        self._engine.dispose()


def _open_engine(conn_string: str) -> Engine:
    engine = create_engine(conn_string, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})
    event.listen(engine, "connect", _trust_the_log)
    return engine


def _trust_the_log(connection: sqlite3.Connection, _record: object) -> None:
    """A commit need not wait for the disk: in WAL mode a killed process loses nothing by that, and
    a machine without power at most its last events, never the file.
    """
    connection.execute("pragma synchronous=normal").close()
