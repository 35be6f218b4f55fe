"""Erase an account from a world: its stores, and the Dagster runs that mention it.

Opens the stores, refuses while a worker is alive, and cleans Dagster's storage. Not here:
searching and erasing the stores (`warehouse/maintenance/erasure.py`).
"""

import re
from contextlib import ExitStack
from dataclasses import dataclass
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from pipelines.open_stores import open_chosen_home, open_control_of, open_engine_of
from pipelines.orchestration.instance import dagster_server
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.settings import Settings
from warehouse.control import leases
from warehouse.files import translate_errors
from warehouse.home import Home
from warehouse.maintenance import erasure
from warehouse.records.errors import CapacityExhaustedError

LEASE = "erasing"
LEASE_S = 3600.0
_ROW = {"sqlite": "rowid", "postgresql": "ctid"}
"""The column that identifies a row, by database: the tables' own keys have different names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An erasure over open stores: inspect it with `find`, then `carry_out`."""

    stores: erasure.ErasureStores
    sec_uid: str
    lost_after_s: float

    def find(self) -> erasure.AccountNames:
        """Return everything that currently identifies the account."""
        return erasure.find_account_names(self.stores.engine, self.sec_uid)

    def carry_out(self) -> erasure.ErasureResult:
        """Erase the account under an exclusive lease.

        Raises:
            WarehouseUnavailableError: A worker is alive, or a store cannot be rewritten.
            CapacityExhaustedError: Another erasure is running.
        """
        control, owner = self.stores.control, uuid4().hex
        erasure.check_idle(control, within_s=self.lost_after_s)
        if not leases.acquire(control, LEASE, owner, LEASE_S):
            raise CapacityExhaustedError(
                "another erasure is under way", hint="wait until it has ended"
            )
        try:
            return erasure.erase_account(self.stores, self.sec_uid)
        finally:
            leases.release(control, LEASE, owner)


def open_erasure(settings: Settings, account: str, stack: ExitStack) -> Erasure:
    """Open the stores of the selected profile; closing `stack` closes them.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        UnresolvedIdError: `account` does not identify an account.
        WarehouseError: A store cannot be opened.
    """
    home = open_chosen_home(settings)
    engine = stack.enter_context(open_engine_of(settings, home))
    stores = erasure.ErasureStores(
        home=home,
        lake=engine.lake,
        engine=engine,
        control=stack.enter_context(open_control_of(settings, home)),
        forget_runs=lambda names: forget_runs(home, names),
    )
    return Erasure(
        stores=stores,
        sec_uid=erasure.find_sec_uid(engine, account),
        lost_after_s=settings.worker_lost_after_s,
    )


def forget_runs(home: Home, names: erasure.AccountNames) -> int:
    """Delete the Dagster runs that mention the account, with their events; return their number.

    Raises:
        WarehouseUnavailableError: Dagster's storage cannot be read or rewritten.
    """
    pattern = erasure.to_pattern(names.ids)
    with translate_errors(
        "erasing from the orchestrator's storage", causes=(SQLAlchemyError, OSError)
    ):
        # Dagster's databases: files in the home, and the server if one is set.
        files = [path for path in home.dagster_dir.rglob("*.db") if path.is_file()]
        urls = [
            sa.URL.create("sqlite", database=str(path), query={"timeout": "30"}) for path in files
        ]
        if server := dagster_server(Settings()):
            urls.append(sa.make_url(server))
        databases = [sa.create_engine(url, poolclass=sa.NullPool) for url in urls]
        # Dagster deletes a run with all its events; the rows that remain belong to no run.
        run_ids = {run_id for database in databases for run_id in _find_runs(database, pattern)}
        if run_ids:
            with open_instance(home) as instance:
                for run_id in sorted(run_ids):
                    instance.delete_run(run_id)
        for database in databases:
            _delete_rows(database, pattern)
    return len(run_ids)


def _find_runs(database: sa.Engine, pattern: re.Pattern[bytes]) -> set[str]:
    """Return the runs that rows of any table with a `run_id` mention together with the account."""
    with database.connect() as connection:
        return {
            str(row["run_id"])
            for table in sa.inspect(connection).get_table_names()
            for row in _find_rows(connection, table, pattern)
            if row.get("run_id")
        }


def _delete_rows(database: sa.Engine, pattern: re.Pattern[bytes]) -> None:
    """Delete rows that belong to no run (ticks, keys, partitions), then vacuum a file."""
    with database.begin() as connection:
        for table in sa.inspect(connection).get_table_names():
            rows = _find_rows(connection, table, pattern)
            delete = f"delete from {_quoted(connection, table)} where {_row(connection)} = :place"  # noqa: S608  # a quoted name
            if rows:
                connection.execute(sa.text(delete), [{"place": row["place"]} for row in rows])
    # Without the vacuum, deleted rows would remain readable in free pages of the file. A server
    # manages its pages itself, and overwrites them after its next vacuum.
    if database.dialect.name == "sqlite":
        with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("vacuum"))
            connection.execute(sa.text("pragma wal_checkpoint(truncate)"))


def _find_rows(
    connection: sa.Connection, table: str, pattern: re.Pattern[bytes]
) -> list[sa.RowMapping]:
    """Return the rows that mention the account in any column, with their `place`."""
    query = f"select {_row(connection)} as place, * from {_quoted(connection, table)}"  # noqa: S608  # a quoted name
    rows = []
    for row in connection.execute(sa.text(query)).mappings():
        cells = [
            bytes(cell) if isinstance(cell, bytes | memoryview) else str(cell).encode()
            for cell in row.values()
        ]
        if pattern.search(b"\n".join(cells)):
            rows.append(row)
    return rows


def _row(connection: sa.Connection) -> str:
    return _ROW[connection.dialect.name]


def _quoted(connection: sa.Connection, table: str) -> str:
    return connection.dialect.identifier_preparer.quote(table)
