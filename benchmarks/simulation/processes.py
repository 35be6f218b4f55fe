"""Simulated processes, and the store that they share: in memory, with a point to die at each side.

A process reaches a point before each transaction begins and before it commits, and where a request
is sent. At a point others may go on first, and it may be killed there; a killed process never
changes anything again, whatever its handlers try.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine

from warehouse.control import ControlStore, open_control
from warehouse.control.schema import JOBS

COLUMNS = tuple(column.name for column in JOBS.columns)


class Killed(BaseException):
    """The process was killed; none of its handlers changes anything any more."""


@dataclass(eq=False, slots=True)
class Process:
    """One process. `dies_in`: how many points it still passes; `held_up` lets others go on."""

    name: str
    held_up: Callable[["Process"], None] = lambda _process: None
    is_alive: bool = True
    dies_in: int | None = None

    def reach(self, *, may_wait: bool = True) -> None:
        """Pass a point.

        Raises:
            Killed: The process dies here, or is dead already.
        """
        if self.is_alive and may_wait:
            self.held_up(self)
        if self.is_alive and self.dies_in is not None:
            self.is_alive = self.dies_in > 0
            self.dies_in -= 1
        if not self.is_alive:
            raise Killed(self.name)


class ProcessStore(ControlStore):
    """The store as one process reaches it."""

    def __init__(self, engine: Engine, *, clock: Callable[[], float], process: Process) -> None:
        super().__init__(engine, clock=clock)
        self._process = process

    @contextmanager
    def write(self) -> Iterator[Connection]:
        self._process.reach()
        with super().write() as connection:
            yield connection
            self._process.reach(may_wait=False)  # killed here, it leaves nothing behind

    @contextmanager
    def read(self) -> Iterator[Connection]:
        self._process.reach()
        with super().read() as connection:
            yield connection


class SharedStore:
    """An empty control store in memory, whose tables tell which jobs have changed."""

    def __init__(self) -> None:
        self._control = open_control("sqlite://", world="sandbox")
        self.engine = self._control.engine  # its processes share it
        self._raw: sqlite3.Connection = self.engine.raw_connection().driver_connection  # type: ignore[assignment]
        self._raw.execute("create table changed_jobs (job_id text primary key)")
        for when, row in (("insert", "new"), ("update", "new"), ("delete", "old")):
            self._raw.execute(
                f"create trigger on_{when} after {when} on jobs begin "
                f"insert or ignore into changed_jobs values ({row}.job_id); end"
            )
        self._empty = self._raw.serialize()
        self._changes = 0

    def clear(self) -> None:
        """Begin again with an empty store."""
        self._raw.deserialize(self._empty)
        self._changes = self._raw.total_changes

    def changed_jobs(self) -> list[str]:
        """Return the ids of the jobs that were created, changed or deleted since the last call."""
        if self._raw.total_changes == self._changes:
            return []
        found = self._raw.execute("delete from changed_jobs returning job_id").fetchall()
        self._changes = self._raw.total_changes
        return sorted(row[0] for row in found)

    def job(self, job_id: str) -> tuple[object, ...] | None:
        """Return the columns of a job as stored."""
        return self._raw.execute(_ONE_JOB, (job_id,)).fetchone()  # type: ignore[no-any-return]

    def jobs(self) -> list[tuple[object, ...]]:
        """Return the columns of every job."""
        return self._raw.execute(_ALL_JOBS).fetchall()


_ALL_JOBS = f"select {', '.join(COLUMNS)} from jobs"  # names of our own columns
_ONE_JOB = f"{_ALL_JOBS} where job_id = ?"
