"""Queue statistics for monitoring: counts and ages, never rows."""

from sqlalchemy import func, select

from warehouse.control.database import Database
from warehouse.control.schema import JOBS


class QueueCountRows:
    """Queue statistics of the control store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def job_counts(self) -> dict[str, int]:
        """Return the number of jobs by status; a status without jobs is absent."""
        query = select(JOBS.c.status, func.count()).group_by(JOBS.c.status)
        with self._database.reading() as connection:
            return {str(status): int(count) for status, count in connection.execute(query)}

    def queue_age_s(self) -> float:
        """Return how many seconds the oldest queued job has waited; 0 if the queue is empty."""
        query = select(func.min(JOBS.c.created_at)).where(JOBS.c.status == "queued")
        with self._database.reading() as connection:
            oldest = connection.execute(query).scalar()
        return 0.0 if oldest is None else max(0.0, self._database.now() - float(oldest))
