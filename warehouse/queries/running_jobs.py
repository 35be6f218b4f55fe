"""What a running job has read until now, by surface and outcome.

Here: SQL and the shape of its answer. A capture shows up once it is committed, a moment after it
was made. Not here: why a job stopped reading a source, which its coverage ledger says at the end.
"""

from dataclasses import dataclass
from typing import Any

from warehouse.engine.duckdb_engine import Engine


@dataclass(frozen=True, slots=True)
class ReadSoFar:
    """Reads of one surface with one outcome: `ok`, `unavailable` or the type of an error."""

    surface: str
    outcome: str
    captures: int
    requests: int
    items: int


def read_so_far(engine: Engine, job_id: str) -> list[ReadSoFar]:
    """Everything that a job has read, the surfaces in the order in which they were begun."""
    found: list[dict[str, Any]] = engine.rows(
        """
        select surface, outcome, count(*) as captures, sum(request_count)::bigint as requests,
               coalesce(sum(item_count), 0)::bigint as items
        from raw.captures where job_id = $job_id
        group by surface, outcome order by min(observed_at), surface, outcome
        """,
        {"job_id": job_id},
    )
    return [ReadSoFar(**row) for row in found]
