"""What a running job has read so far, by surface and outcome.

A capture is included as soon as it is committed. Why a job stopped reading a source is in its
coverage report, written at the end.
"""

from dataclasses import dataclass

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.values import Row


@dataclass(frozen=True, slots=True)
class ReadSoFar:
    """Reads of one surface with one outcome: `ok`, `unavailable` or an error type."""

    surface: str
    outcome: str
    captures: int
    requests: int
    items: int


def read_so_far(engine: Engine, job_id: str) -> list[ReadSoFar]:
    """Return what a job has read, with surfaces in the order in which it started them."""
    found: list[Row] = engine.rows(
        """
        select surface, outcome, count(*) as captures, sum(request_count)::bigint as requests,
               coalesce(sum(item_count), 0)::bigint as items
        from raw.captures where job_id = $job_id
        group by surface, outcome order by min(observed_at), surface, outcome
        """,
        {"job_id": job_id},
    )
    return [ReadSoFar(**row) for row in found]
