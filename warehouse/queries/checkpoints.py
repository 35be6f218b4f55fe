"""Queries for a scan that goes on: its last checkpoint, and what it has written."""

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.values import Row
from warehouse.tables.marts import MARTS

_OF_A_JOB = tuple(
    table.noun for table in MARTS if any(column.name == "job_id" for column in table.columns)
)


def read_checkpoints(engine: Engine, job_id: str) -> list[Row]:
    """Return the checkpoints of a job, the last one first."""
    return engine.rows(
        """
        select * from raw.scan_checkpoints where job_id = $job_id
        order by number desc, run_number desc
        """,
        job_id=job_id,
    )


def read_marts_of_job(engine: Engine, job_id: str) -> list[str]:
    """Return the marts that have rows of a job."""
    each = " union all ".join(
        f"select '{name}' as mart where exists (select 1 from marts.{name} where job_id = $job_id)"  # noqa: S608  # names of our own tables
        for name in _OF_A_JOB
    )
    return [str(row["mart"]) for row in engine.rows(each, job_id=job_id)]


def read_checkpointed_jobs(engine: Engine) -> list[str]:
    """Return the jobs that have checkpoints."""
    found = engine.rows("select distinct job_id from raw.scan_checkpoints order by job_id")
    return [str(row["job_id"]) for row in found]
