"""Maintenance of the stores: delete expired data, sort and compact files.

A thread of the worker deletes a bounded part of the expired data every few minutes; `maintain` does
everything, for `sametrack maintain` and for Dagster's schedule. Observations are never deleted.
"""

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from dagster import DagsterInstance, RunsFilter

from pipelines.open_stores import open_chosen_home, open_control_of, open_lake_of
from pipelines.orchestration import dagster_compat
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.orchestration.runs.reconciliation import ENDED_STATUSES, end_orphaned_runs
from pipelines.settings import Settings
from warehouse.caches import ExcerptFolder, open_excerpts
from warehouse.control import ControlStore, jobs, leases
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import Home
from warehouse.lake.store import Lake
from warehouse.maintenance.compaction import maintain_lake
from warehouse.maintenance.retention import PAYLOADS, SOUNDS, delete_expired
from warehouse.queries.results import read_checkpointed_jobs

JOBS_AT_ONCE = 200
RUNS_AT_ONCE = 50
MAINTENANCE_EVERY_S = 600.0
MAINTENANCE_RETRY_S = 10.0
FIRST_MAINTENANCE_S = 60.0
RESULTS = "marts.job_results"
CHECKPOINTS = "raw.scan_checkpoints"
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """The counts of one maintenance step; `is_more` if work is left for the next one."""

    jobs: int = 0
    results: int = 0
    links_and_leases: int = 0
    runs_deleted: int = 0
    runs_ended: int = 0
    payloads: int = 0
    sounds: int = 0
    files_merged: int = 0
    tables_arranged: int = 0
    works_indexed: int = 0
    files_deleted: int = 0
    is_more: bool = False

    def plus(self, other: "MaintenanceReport") -> "MaintenanceReport":
        """Add the counts of a later step; `is_more` is that of the later one."""
        mine, theirs = asdict(self), asdict(other)
        sums = {name: mine[name] + theirs[name] for name in mine if name != "is_more"}
        return MaintenanceReport(**sums, is_more=other.is_more)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMaintainer:
    """Deletes expired data and compacts the stores, with their retention settings."""

    control: ControlStore
    lake: Lake
    instance: DagsterInstance
    excerpts: ExcerptFolder
    run_days: int
    payload_days: int
    checkpoint_days: int
    sound_days: int
    jobs_at_once: int = JOBS_AT_ONCE

    def delete_expired(self, now: datetime | None = None) -> MaintenanceReport:
        """Delete a bounded part of the expired data."""
        now = now or datetime.now(UTC)
        # First, because a run has to be ended before it can expire.
        ended = end_orphaned_runs(self.instance, self.control, now=now)
        links_and_leases = leases.delete_expired(self.control, now)
        expired = jobs.expired(self.control, now, limit=self.jobs_at_once)
        # Results first: a job row without its result would be a completed job that cannot be read.
        # If this fails halfway, the next call finds the same rows again.
        results = self.lake.delete(RESULTS, "job_id", expired)
        jobs_deleted = jobs.delete_ended(self.control, expired)
        self._delete_checkpoints(now - timedelta(days=self.checkpoint_days))
        runs_before = now - timedelta(days=self.run_days)
        runs = self._delete_runs(runs_before)
        # Materializations that no run reported, except for the newest of each table.
        dagster_compat.delete_runless_materializations(self.instance, runs_before)
        return MaintenanceReport(
            jobs=jobs_deleted,
            results=results,
            links_and_leases=links_and_leases,
            runs_deleted=runs,
            runs_ended=len(ended),
            is_more=len(expired) == self.jobs_at_once or runs == RUNS_AT_ONCE,
        )

    def maintain(self, now: datetime | None = None) -> MaintenanceReport:
        """Delete all expired data, old payloads and sounds, then sort and compact the lake.

        Raises:
            WarehouseUnavailableError: A store cannot be read or written.
        """
        now = now or datetime.now(UTC)
        total = self.delete_expired(now)
        while total.is_more:
            total = total.plus(self.delete_expired(now))
        self.excerpts.delete_surplus()
        payloads_before = now - timedelta(days=self.payload_days)
        sounds_before = now - timedelta(days=self.sound_days)
        with closing(Engine(self.lake)) as engine:
            payloads = delete_expired(self.lake, engine, PAYLOADS, payloads_before)
            sounds = delete_expired(self.lake, engine, SOUNDS, sounds_before)
        compacted = asdict(maintain_lake(self.lake))
        return replace(total, payloads=payloads, sounds=sounds, **compacted)

    def _delete_checkpoints(self, before: datetime) -> None:
        """Delete checkpoints of jobs that ended before then, or were deleted."""
        if not self.lake.files(CHECKPOINTS):
            return
        with closing(Engine(self.lake)) as engine:
            job_ids = read_checkpointed_jobs(engine)
        ended = []
        for job_id in job_ids:
            job = jobs.get(self.control, job_id)
            if job is None or (job.finished_at is not None and job.finished_at <= before):
                ended.append(job_id)
        self.lake.delete(CHECKPOINTS, "job_id", ended)

    def _delete_runs(self, before: datetime) -> int:
        """Delete ended runs with their events, oldest first, even if their job is kept."""
        old = RunsFilter(updated_before=before, statuses=list(ENDED_STATUSES))
        runs = self.instance.get_runs(old, limit=RUNS_AT_ONCE, ascending=True)
        for run in runs:
            self.instance.delete_run(run.run_id)
        dagster_compat.delete_check_results(self.instance, [run.run_id for run in runs])
        delete_output(self.instance, before)
        return len(runs)


def delete_output(instance: DagsterInstance, before: datetime) -> None:
    """Delete the captured output of runs that began before then on this machine."""
    # By age and not by run: another machine, or a user in the UI, may have deleted the run.
    for folder in Path(instance.storage_directory()).glob("*-*-*-*-*"):
        if folder.stat().st_mtime < before.timestamp():
            shutil.rmtree(folder, ignore_errors=True)


def open_maintainer(
    settings: Settings, home: Home, instance: DagsterInstance, stack: ExitStack
) -> StoreMaintainer:
    """Open the stores of a home for maintenance; closing `stack` closes them.

    Raises:
        WarehouseError: A store cannot be opened.
    """
    return StoreMaintainer(
        control=stack.enter_context(open_control_of(settings, home)),
        lake=open_lake_of(settings, home),
        instance=instance,
        excerpts=open_excerpts(
            home, max_mb=settings.excerpts_max_mb, days=settings.excerpt_retention_days
        ),
        run_days=settings.orchestrator_retention_days,
        payload_days=settings.payload_retention_days,
        checkpoint_days=settings.checkpoint_retention_days,
        sound_days=settings.sound_retention_days,
    )


def maintain_once(settings: Settings) -> MaintenanceReport:
    """Run all maintenance on newly opened stores, for the command line.

    Raises:
        ProfileNotChosenError: No platform profile is selected.
        WarehouseError: A store cannot be opened, read or written.
    """
    with _open_stores(settings) as maintainer:
        return maintainer.maintain()


def run_maintenance(settings: Settings, stop: threading.Event) -> None:
    """Delete expired data every few minutes, a bounded part each time, until the event is set.

    For a thread of the worker; the stores are open only meanwhile.
    """
    pause_s = FIRST_MAINTENANCE_S
    while not stop.wait(pause_s):
        pause_s = MAINTENANCE_EVERY_S
        try:
            with _open_stores(settings) as maintainer:
                report = maintainer.delete_expired()
        except Exception:
            log.exception("clean-up failed")
            continue
        log.info("expired data deleted", **asdict(report))
        pause_s = MAINTENANCE_RETRY_S if report.is_more else MAINTENANCE_EVERY_S


@contextmanager
def _open_stores(settings: Settings) -> Iterator[StoreMaintainer]:
    home = open_chosen_home(settings)
    with ExitStack() as stack:
        yield open_maintainer(settings, home, stack.enter_context(open_instance(home)), stack)
