"""Count the launches that a sensor repeats for the same work, and pause longer after each.

Dagster launches a run key only once, so the key of a repeated launch contains how many have ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from dagster import DagsterInstance, RunsFilter

from pipelines.orchestration.runs.run_identity import ENDED_STATUSES

_FIRST_PAUSE = timedelta(seconds=20)
_LONGEST_PAUSE = timedelta(hours=1)
_LAST_DOUBLING = 8  # beyond it the longest pause applies


@dataclass(frozen=True, slots=True)
class EndedLaunches:
    """The launches for a piece of work that have ended.

    Attributes:
        count: How many there are, however they ended.
        newest_at: End of the newest one in UTC; None if `count` is 0.
    """

    count: int
    newest_at: datetime | None

    def is_pausing(self, now: datetime) -> bool:
        """Whether the next launch has to wait: 0 s after the first, then 20 s, 60 s, to 1 h."""
        if self.newest_at is None:
            return False
        # 0, 1, 3, 7, … times the first pause.
        factor = (1 << min(self.count - 1, _LAST_DOUBLING)) - 1
        return now < self.newest_at + min(factor * _FIRST_PAUSE, _LONGEST_PAUSE)


def find_ended_launches(
    instance: DagsterInstance, job_name: str, tags: Mapping[str, str]
) -> EndedLaunches:
    """Find the ended launches of a job that carry these tags."""
    ended = RunsFilter(job_name=job_name, tags=dict(tags), statuses=list(ENDED_STATUSES))
    newest = instance.get_run_records(ended, limit=1)
    if not newest:
        return EndedLaunches(0, None)
    return EndedLaunches(instance.get_runs_count(ended), newest[0].update_timestamp)
