"""Opening the control store, and the one object that gives all of it.

Here: composition only. Never call it on the event loop: every call waits for a disk or a server.
"""

import time

from sqlalchemy import select

from warehouse.control.backlog import BacklogRows
from warehouse.control.captures_in_flight import CapturingRows
from warehouse.control.database import Clock, Database, connect
from warehouse.control.erasure import ForgettingRows
from warehouse.control.hosts.circuits import CircuitRows
from warehouse.control.hosts.host_budgets import HostRows
from warehouse.control.hosts.host_memory import VisitRows
from warehouse.control.jobs import JobRows
from warehouse.control.migrations import migrate
from warehouse.control.queue_counts import CountRows
from warehouse.control.schema import MARKS
from warehouse.control.shared import SharedRows
from warehouse.control.watchlists.definitions import WatchlistRows
from warehouse.control.watchlists.runs import WatchRunRows


class ControlStore(
    JobRows,
    HostRows,
    CircuitRows,
    CapturingRows,
    VisitRows,
    BacklogRows,
    WatchlistRows,
    WatchRunRows,
    SharedRows,
    CountRows,
    ForgettingRows,
):
    """Everything that processes of one world share. Thread-safe; made by `open_control`."""

    def __init__(self, database: Database, *, world: str) -> None:
        super().__init__(database)
        self.world = world

    def schema_version(self) -> int:
        """Number of the newest migration in force."""
        query = select(MARKS.c.value).where(MARKS.c.name == "schema_version")
        with self._database.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def close(self) -> None:
        """Close the connections."""
        self._database.close()


def open_control(url: str, *, world: str, clock: Clock = time.time) -> ControlStore:
    """Open or create the control store at `sqlite:///<file>` or `postgresql+psycopg://…`.

    Args:
        url: Address for SQLAlchemy.
        world: Whose store it is; another world's is refused.
        clock: Unix seconds now.

    Raises:
        WrongWorldError, StoreTooNewError: See `migrations.migrate`.
        WarehouseUnavailableError: Nothing can be opened there.
    """
    database = connect(url, clock=clock)
    try:
        migrate(database, world=world)
    except BaseException:
        database.close()
        raise
    return ControlStore(database, world=world)
