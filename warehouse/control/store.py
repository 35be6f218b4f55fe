"""The control store: one object composed of all its parts.

Do not call it on the event loop: every call waits for a disk or a server.
"""

import time

from sqlalchemy import select

from warehouse.control.captures import BacklogRows, CaptureInFlightRows
from warehouse.control.catalogs import CatalogRows
from warehouse.control.database import Clock, Database, connect
from warehouse.control.erasure import ErasureRows
from warehouse.control.hosts.circuits import CircuitRows
from warehouse.control.hosts.host_budgets import HostBudgetRows
from warehouse.control.hosts.host_memory import HostMemoryRows
from warehouse.control.hosts.surface_answers import SurfaceAnswerRows
from warehouse.control.job_claims import JobClaimRows
from warehouse.control.jobs import JobRows
from warehouse.control.migrations import migrate
from warehouse.control.notes import NoteRows
from warehouse.control.scan_journal import ScanJournalRows
from warehouse.control.schema import MARKS
from warehouse.control.sessions import SessionRows
from warehouse.control.shared import SharedRows
from warehouse.control.watchlists.definitions import WatchlistRows
from warehouse.control.watchlists.runs import WatchlistRunRows


class ControlStore(
    JobRows,
    JobClaimRows,
    ScanJournalRows,
    HostBudgetRows,
    CircuitRows,
    SurfaceAnswerRows,
    CaptureInFlightRows,
    HostMemoryRows,
    BacklogRows,
    WatchlistRows,
    WatchlistRunRows,
    CatalogRows,
    NoteRows,
    SessionRows,
    SharedRows,
    ErasureRows,
):
    """State shared by the processes of one world. Thread-safe; opened by `open_control`."""

    def __init__(self, database: Database, *, world: str) -> None:
        super().__init__(database)
        self.world = world

    def schema_version(self) -> int:
        """Return the number of the newest applied migration."""
        query = select(MARKS.c.value).where(MARKS.c.name == "schema_version")
        return int(self._database.scalar(query))

    def close(self) -> None:
        """Close the connections."""
        self._database.close()


def open_control(
    url: str, *, world: str, clock: Clock = time.time, wait_s: float = 0.0
) -> ControlStore:
    """Open or create the control store at `sqlite:///<file>` or `postgresql+psycopg://…`.

    Args:
        url: URL for SQLAlchemy.
        world: World of the store; a store of another world is refused.
        clock: Returns the current Unix time in seconds.
        wait_s: How long a transaction waits for a server that cannot be reached.

    Raises:
        WrongWorldError, StoreTooNewError: See `migrations.migrate`.
        WarehouseUnavailableError: The store cannot be opened.
    """
    database = connect(url, clock=clock, wait_s=wait_s)
    try:
        migrate(database, world=world)
    except BaseException:
        database.close()
        raise
    return ControlStore(database, world=world)
