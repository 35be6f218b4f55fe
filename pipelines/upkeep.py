"""What is kept no longer goes: job rows, their results, runs with their events, leases, links.

One `sweep` is bounded, so that a worker can do it beside its claims; `sametrack maintain` repeats
it until nothing is left. Observations are kept for good and are not touched here.
"""

import threading
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Self

import structlog
from dagster import DagsterInstance, RunsFilter
from dagster._core.storage.dagster_run import FINISHED_STATUSES

from pipelines.reconciling import end_left_runs
from pipelines.runs import open_instance
from pipelines.settings import Settings
from pipelines.upstream.providers import choose_profile
from warehouse.arranging import arrange_lake
from warehouse.control import ControlStore, open_control
from warehouse.home import open_home
from warehouse.lake import Lake, open_lake

SWEEP_EVERY_S = 600.0
SWEEP_AGAIN_S = 10.0
FIRST_SWEEP_S = 60.0
JOBS_AT_ONCE = 200
RUNS_AT_ONCE = 50
log = structlog.get_logger(__name__)
RESULTS = "marts.job_results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What one sweep removed or ended. `is_more`: something is left for the next one."""

    jobs: int = 0
    results: int = 0
    links_and_leases: int = 0
    outbox_lines: int = 0
    runs_deleted: int = 0
    runs_ended: int = 0
    tables_arranged: int = 0
    is_more: bool = False

    def plus(self, other: "Swept") -> "Swept":
        """Both together; what is left is what the other one left."""
        mine, theirs = asdict(self), asdict(other)
        sums = {name: mine[name] + theirs[name] for name in mine if name != "is_more"}
        return Swept(**sums, is_more=other.is_more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """The stores that are swept, and how long things are kept."""

    control: ControlStore
    lake: Lake
    instance: DagsterInstance
    run_days: int
    outbox_lines: int
    jobs_at_once: int = JOBS_AT_ONCE

    def sweep(self, now: datetime | None = None) -> Swept:
        """Remove a bounded part of what is kept no longer."""
        now = now or datetime.now(UTC)
        ended = end_left_runs(self.instance, self.control, now=now)
        links_and_leases = self.control.delete_run_out(now)
        expired = self.control.expired_jobs(now, limit=self.jobs_at_once)
        # Results first: a row without its result would be a completed job that cannot be read,
        # a result without its row is found again by the next sweep of the same row.
        results = self.lake.delete(RESULTS, "job_id", expired)
        jobs = self.control.delete_jobs(expired)
        runs = self._delete_runs(now - timedelta(days=self.run_days))
        return Swept(
            jobs=jobs,
            results=results,
            links_and_leases=links_and_leases,
            outbox_lines=self.control.trim_outbox(self.outbox_lines),
            runs_deleted=runs,
            runs_ended=len(ended),
            is_more=len(expired) == self.jobs_at_once or runs == RUNS_AT_ONCE,
        )

    def sweep_all(self, now: datetime | None = None) -> Swept:
        """Sweep until nothing is left, arrange what has grown, give the disk its space back."""
        total = self.sweep(now)
        while total.is_more:
            total = total.plus(self.sweep(now))
        arranged = arrange_lake(self.lake)
        for name in {RESULTS, *arranged}:
            self.lake.vacuum(name)
        return replace(total, tables_arranged=len(arranged))

    def _delete_runs(self, before: datetime) -> int:
        """Runs that have ended, oldest first, with their events. Those of kept jobs go as well."""
        old = RunsFilter(updated_before=before, statuses=list(FINISHED_STATUSES))
        found = self.instance.get_runs(old, limit=RUNS_AT_ONCE, ascending=True)
        for run in found:
            self.instance.delete_run(run.run_id)
        return len(found)


def open_keeper(settings: Settings, stack: ExitStack) -> Keeper:
    """Open the stores of the chosen profile; `stack` closes them again.

    Raises:
        ProfileNotChosenError: None is chosen.
        WarehouseError: A store cannot be opened.
    """
    profile = choose_profile(settings)
    home = open_home(settings.data_home, profile.name)
    control = open_control(settings.control_url or home.control_url, world=home.world)
    return Keeper(
        control=stack.enter_context(closing(control)),
        lake=open_lake(settings.lake_url or home.lake_url, world=home.world),
        instance=stack.enter_context(open_instance(home)),
        run_days=settings.orchestrator_retention_days,
        outbox_lines=settings.outbox_max_lines,
    )


def sweep_once(settings: Settings) -> Swept:
    """One bounded sweep with stores of its own, for a thread beside the claims."""
    with ExitStack() as stack:
        return open_keeper(settings, stack).sweep()


class Sweeper:
    """Cleans up beside the claims, in a thread that wakes rarely and does a bounded part."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stop.set()
        self._thread.join(SWEEP_AGAIN_S)

    def _run(self) -> None:
        pause_s = FIRST_SWEEP_S
        while not self._stop.wait(pause_s):
            pause_s = SWEEP_EVERY_S
            try:
                swept = sweep_once(self._settings)
            except Exception:
                log.exception("clean-up failed")
                continue
            log.info("swept", **asdict(swept))
            pause_s = SWEEP_AGAIN_S if swept.is_more else SWEEP_EVERY_S
