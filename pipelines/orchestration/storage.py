"""Dagster's storages: SQLite in the home of a world, or PostgreSQL with `DAGSTER_STORAGE_URL`.

Configured in `dagster.yaml`, so every Dagster process loads it. SQLite gets persistent connections:
by default Dagster opens, checkpoints and closes the file for each event, which took a third of a
scan's own time.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from signal import SIG_SETMASK, SIG_UNBLOCK, SIGINT, SIGTERM, pthread_sigmask
from typing import cast, override

from dagster import EventLogEntry
from sqlalchemy import Connection, Engine, create_engine, event, make_url

from pipelines.orchestration.dagster_compat import (
    SQLITE_BUSY_TIMEOUT_SECONDS,
    AssetCheckExecutionsTable,
    CapturedLogContext,
    ConfigurableClass,
    ConfigurableClassData,
    ConsolidatedSqliteEventLogStorage,
    LocalArtifactStorage,
    LocalComputeLogManager,
    SqliteRunStorage,
    SqliteScheduleStorage,
    SqlPollingEventWatcher,
    UserConfigSchema,
)
from pipelines.platform.providers import choose_profile, has_chosen_world
from pipelines.settings import Settings
from warehouse.control.database import tune_sqlite
from warehouse.extras import need_extra
from warehouse.home.folder import open_home
from warehouse.records.errors import WarehouseUnavailableError

type EventCallback = Callable[[EventLogEntry, str], None]


FOLDER_VARIABLE = "SAMETRACK_DAGSTER_DIR"
"""Set by processes that have opened a home, for those that they start."""


def dagster_folder() -> str:
    """Return the folder of Dagster's files: of the home that is open, else of the settings.

    Dagster's own commands (`dagster dev`) set no variable and need no world; without one they show
    the sandbox.
    """
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        return given
    settings = Settings()
    world = choose_profile(settings).name if has_chosen_world(settings) else "sandbox"
    return str(open_home(settings.data_home, world).dagster_dir)


def dagster_server() -> str | None:
    """Return the address of Dagster's database in PostgreSQL, as its driver reads it, or None.

    Raises:
        WarehouseUnavailableError: It is no address of PostgreSQL, it is the control store's too
            (both have a table `jobs`), or the extra `postgres` is missing.
    """
    settings = Settings()
    if not settings.dagster_storage_url:
        return None
    if not settings.dagster_storage_url.startswith("postgresql"):
        raise WarehouseUnavailableError(
            "DAGSTER_STORAGE_URL is no address of PostgreSQL",
            hint="DAGSTER_STORAGE_URL is postgresql://<user>:<password>@<host>/<database>",
        )
    need_extra("postgres", "DAGSTER_STORAGE_URL", error=WarehouseUnavailableError)
    url = make_url(settings.dagster_storage_url).set(drivername="postgresql")
    if settings.control_url and make_url(settings.control_url).set(drivername="postgresql") == url:
        raise WarehouseUnavailableError(
            "DAGSTER_STORAGE_URL and CONTROL_URL are the same database",
            hint="Give Dagster a database of its own: both have a table `jobs`",
        )
    return url.render_as_string(hide_password=False)


class HomeStorage(ConfigurableClass):
    """What all storages here share: settings say where they are, `dagster.yaml` nothing."""

    @classmethod
    @override
    def config_type(cls) -> UserConfigSchema:
        """Return the configuration: none."""
        return {}


class PooledEventLogStorage(HomeStorage, ConsolidatedSqliteEventLogStorage):
    """Event log in one file, on a persistent connection.

    Watchers poll for new rows: the file itself changes rarely, because new rows are in its
    write-ahead log.
    """

    @classmethod
    @override
    def from_config_value(
        cls, inst_data: ConfigurableClassData, config_value: Mapping[str, object]
    ) -> "PooledEventLogStorage":
        """Build the storage from `dagster.yaml`."""
        if server := dagster_server():
            from pipelines.orchestration.server_storage import open_server_storage  # noqa: PLC0415  # an extra

            return cast("PooledEventLogStorage", open_server_storage("events", server, inst_data))
        return cls(dagster_folder(), inst_data=inst_data)

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
    def watch(self, run_id: str, cursor: str | None, callback: EventCallback) -> None:
        """Call `callback` for each event of a run after `cursor`."""
        self._watcher.watch_run(run_id, cursor, callback)

    @override
    def end_watch(self, run_id: str, handler: EventCallback) -> None:
        """Stop calling the handler."""
        self._watcher.unwatch_run(run_id, handler)

    @override
    def delete_events_for_run(self, conn: Connection, run_id: str) -> None:
        """Delete the run's check results too; Dagster alone would keep them forever."""
        super().delete_events_for_run(conn, run_id)
        of_run = AssetCheckExecutionsTable.c.run_id == run_id
        conn.execute(AssetCheckExecutionsTable.delete().where(of_run))

    @override
    def dispose(self) -> None:
        """Close the open connections."""
        self._watcher.close()
        self._engine.dispose()


class PooledRunStorage(HomeStorage, SqliteRunStorage):
    """Run storage on a persistent connection."""

    @classmethod
    @override
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, object]
    ) -> "PooledRunStorage":
        """Build the storage from `dagster.yaml`, as an instance of this class."""
        if server := dagster_server():
            from pipelines.orchestration.server_storage import open_server_storage  # noqa: PLC0415  # an extra

            return cast("PooledRunStorage", open_server_storage("runs", server, inst_data))
        return cls.from_local(dagster_folder(), inst_data)

    @cached_property
    def _engine(self) -> Engine:
        return _open_engine(self._conn_string)

    @contextmanager
    @override
    def connect(self) -> Iterator[Connection]:
        """Yield a connection in its own transaction."""
        with self._engine.begin() as connection:
            yield connection

    @override
    def dispose(self) -> None:
        """Close the open connections."""
        self._engine.dispose()


class HomeScheduleStorage(HomeStorage, SqliteScheduleStorage):
    """Schedules and their ticks."""

    @classmethod
    @override
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, object]
    ) -> "HomeScheduleStorage":
        """Build the storage from `dagster.yaml`; Dagster builds one of its own class."""
        if server := dagster_server():
            from pipelines.orchestration.server_storage import open_server_storage  # noqa: PLC0415  # an extra

            return cast("HomeScheduleStorage", open_server_storage("schedules", server, inst_data))
        return cast("HomeScheduleStorage", cls.from_local(dagster_folder(), inst_data))


class HomeArtifactStorage(HomeStorage, LocalArtifactStorage):
    """Files of runs."""

    @classmethod
    @override
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, object]
    ) -> "HomeArtifactStorage":
        """Build the storage from `dagster.yaml`."""
        return cls(dagster_folder(), inst_data)


class HomeComputeLogManager(HomeStorage, LocalComputeLogManager):
    """What steps print: files beside those of their run, on the machine that executes it."""

    @classmethod
    @override
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, object]
    ) -> "HomeComputeLogManager":
        """Build it from `dagster.yaml`, where Dagster would put it itself."""
        return cls(str(Path(dagster_folder()) / "storage"), inst_data=inst_data)

    @contextmanager
    @override
    def capture_logs(self, log_key: Sequence[str]) -> Iterator[CapturedLogContext]:
        """Capture what a step prints.

        Dagster copies it by a process that it ends by SIGTERM, which would inherit blocked signals.
        """
        with ExitStack() as stack:
            blocked = pthread_sigmask(SIG_UNBLOCK, (SIGTERM, SIGINT))
            try:
                captured = stack.enter_context(super().capture_logs(log_key))
            finally:
                pthread_sigmask(SIG_SETMASK, blocked)
            yield captured


def _open_engine(conn_string: str) -> Engine:
    engine = create_engine(conn_string, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})
    event.listen(engine, "connect", lambda connection, _record: tune_sqlite(connection))
    return engine
