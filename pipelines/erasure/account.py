"""Erase an account from a world: its stores, and the Dagster runs that mention it.

Opens the stores, refuses while a worker is alive, and cleans Dagster's storage. Not here:
searching and erasing the stores (`warehouse/maintenance/erasure`).
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from uuid import uuid4

from dagster import DagsterInstance
from sqlalchemy.exc import SQLAlchemyError

from pipelines.erasure.dagster_server import forget_rows_on_server, runs_on_server
from pipelines.orchestration.runs.scan_runs import open_instance
from pipelines.orchestration.storage import dagster_server
from pipelines.platform.providers import choose_profile
from pipelines.settings import Settings
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import Home, open_home
from warehouse.lake.library_errors import translate_errors
from warehouse.lake.store import open_lake
from warehouse.maintenance.erasure.account import (
    ErasureResult,
    ErasureStores,
    check_idle,
    erase_account,
)
from warehouse.maintenance.erasure.names import (
    AccountNames,
    find_account_names,
    find_sec_uid,
    to_pattern,
)
from warehouse.records.errors import CapacityExhaustedError

LEASE = "erasing"
LEASE_S = 3600.0


class Erasure:
    """An erasure over open stores: inspect it with `find`, then `carry_out`."""

    def __init__(self, stores: ErasureStores, sec_uid: str, *, lost_after_s: float) -> None:
        self._stores = stores
        self._lost_after_s = lost_after_s
        self.sec_uid = sec_uid

    def find(self) -> AccountNames:
        """Return everything that currently identifies the account."""
        return find_account_names(self._stores.engine, self.sec_uid)

    def carry_out(self) -> ErasureResult:
        """Erase the account under an exclusive lease.

        Raises:
            WarehouseUnavailableError: A worker is alive, or a store cannot be rewritten.
            CapacityExhaustedError: Another erasure is running.
        """
        control, owner = self._stores.control, uuid4().hex
        check_idle(control, within_s=self._lost_after_s)
        if not control.acquire_lease(LEASE, owner, LEASE_S):
            raise CapacityExhaustedError(
                "another erasure is under way", hint="wait until it has ended"
            )
        try:
            return erase_account(self._stores, self.sec_uid)
        finally:
            control.release_lease(LEASE, owner)


def open_erasure(settings: Settings, account: str, stack: ExitStack) -> Erasure:
    """Open the stores of the selected profile; closing `stack` closes them.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        UnresolvedIdError: `account` does not identify an account.
        WarehouseError: A store cannot be opened.
    """
    home = open_home(settings.data_home, choose_profile(settings).name)
    lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
    engine = stack.enter_context(closing(Engine(lake)))
    control = _open_control(settings, home, stack)
    stores = ErasureStores(
        home=home,
        lake=lake,
        engine=engine,
        control=control,
        forget_runs=lambda names: forget_runs(home, names),
    )
    sec_uid = find_sec_uid(engine, account)
    return Erasure(stores, sec_uid, lost_after_s=settings.worker_lost_after_s)


def forget_runs(home: Home, names: AccountNames) -> int:
    """Delete the Dagster runs that mention the account, with their events; return their number.

    Raises:
        WarehouseUnavailableError: Dagster's storage cannot be read or rewritten.
    """
    pattern, server = to_pattern(names.ids), dagster_server()
    errors = (sqlite3.Error, SQLAlchemyError, OSError)
    with translate_errors("erasing from the orchestrator's storage", *errors):
        files = [path for path in home.dagster_dir.rglob("*.db") if path.is_file()]
        runs = {run for path in files for run in _runs_naming(path, pattern)}
        if server is not None:
            runs |= runs_on_server(server, pattern)
        if runs:
            with open_instance(home) as instance:
                _delete(instance, runs)
        for path in files:
            _forget_rows(path, pattern)
        if server is not None:
            forget_rows_on_server(server, pattern)
    return len(runs)


def _open_control(settings: Settings, home: Home, stack: ExitStack) -> ControlStore:
    control = open_control(settings.control_url or home.control_url, world=home.world)
    return stack.enter_context(closing(control))


def _delete(instance: DagsterInstance, runs: set[str]) -> None:
    for run_id in sorted(runs):
        instance.delete_run(run_id)


def _runs_naming(path: Path, pattern: re.Pattern[bytes]) -> Iterator[str]:
    with closing(sqlite3.connect(path)) as database:
        for table, columns in _tables(database):
            if "run_id" in columns:
                at = columns.index("run_id") + 1
                named = _rows_naming(database, table, pattern)
                yield from (str(row[at]) for row in named if row[at])


def _forget_rows(path: Path, pattern: re.Pattern[bytes]) -> None:
    """Delete rows that belong to no run (ticks, keys, partitions), then vacuum the file.

    Without the vacuum, deleted rows would remain readable in free pages.
    """
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as database:
        for table, _ in _tables(database):
            ids = [(row[0],) for row in _rows_naming(database, table, pattern)]
            database.executemany(f"delete from {_name(table)} where rowid = ?", ids)  # noqa: S608  # a quoted name
        database.execute("vacuum")
        database.execute("pragma wal_checkpoint(truncate)")


def _tables(database: sqlite3.Connection) -> list[tuple[str, list[str]]]:
    found = database.execute("select name from sqlite_master where type = 'table'").fetchall()
    return [
        (table, [row[1] for row in database.execute(f"pragma table_info({_name(table)})")])
        for (table,) in found
        if not table.startswith("sqlite_")
    ]


def _rows_naming(
    database: sqlite3.Connection, table: str, pattern: re.Pattern[bytes]
) -> list[tuple[object, ...]]:
    """Return the rows that mention the account, each preceded by its row id."""
    rows = database.execute(f"select rowid, * from {_name(table)}")  # noqa: S608  # a quoted name
    return [row for row in rows if pattern.search(_text(row))]


def _text(row: tuple[object, ...]) -> bytes:
    parts = (value if isinstance(value, bytes) else str(value).encode() for value in row)
    return b"\n".join(parts)


def _name(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
