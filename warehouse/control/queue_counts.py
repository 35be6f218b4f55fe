"""Figures of the queue, for whoever watches over the service.

Here: counts, never rows. Not here: moving jobs (`jobs`).
"""

from sqlalchemy import func, select

from warehouse.control.database import Database
from warehouse.control.schema import JOBS


class CountRows:
    """The part of the control store that counts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def job_counts(self) -> dict[str, int]:
        """How many jobs are kept in each status; a status without any is absent."""
        query = select(JOBS.c.status, func.count()).group_by(JOBS.c.status)
        with self._database.reading() as connection:
            return {str(status): int(count) for status, count in connection.execute(query)}

    def queue_age_s(self) -> float:
        """How long the oldest queued job has waited, in seconds; 0 when none waits."""
        query = select(func.min(JOBS.c.created_at)).where(JOBS.c.status == "queued")
        with self._database.reading() as connection:
            oldest = connection.execute(query).scalar()
        return 0.0 if oldest is None else max(0.0, self._database.now() - float(oldest))
