"""Maintenance of the stores: delete expired data, sort and compact files.

One `delete_expired` is bounded, so that a worker can run it between claims. `maintain` does
everything, for
`sametrack maintain` and for Dagster's schedule. Observations are never deleted.
"""

import shutil
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dagster import DagsterInstance, RunsFilter

from pipelines.open_stores import open_control_of, open_lake_of
from pipelines.orchestration.dagster_compat import (
    delete_check_results,
    delete_runless_materializations,
)
from pipelines.orchestration.runs.reconciliation import end_orphaned_runs
from pipelines.orchestration.runs.run_identity import ENDED_STATUSES
from pipelines.settings import Settings
from warehouse.control import ControlStore, jobs, leases
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.cache_files import ExcerptFolder, open_excerpts
from warehouse.home.folder import Home
from warehouse.lake.store import Lake
from warehouse.maintenance.compaction import maintain_lake
from warehouse.maintenance.retention import PAYLOADS, SOUNDS, delete_expired
from warehouse.queries.results import read_checkpointed_jobs
from warehouse.records.jobs import Job

JOBS_AT_ONCE = 200
RUNS_AT_ONCE = 50
RESULTS = "marts.job_results"
CHECKPOINTS = "raw.scan_checkpoints"


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
        ended = end_orphaned_runs(self.instance, self.control, now=now)
        links_and_leases = leases.delete_expired(self.control, now)
        expired = jobs.expired(self.control, now, limit=self.jobs_at_once)
        # Results first: a job row without its result would be a completed job that cannot be read.
        # If this fails halfway, the next call finds the same rows again.
        results = self.lake.delete(RESULTS, "job_id", expired)
        jobs_deleted = jobs.delete_ended(self.control, expired)
        self._delete_checkpoints(now - timedelta(days=self.checkpoint_days))
        runs = self._delete_runs(now - timedelta(days=self.run_days))
        self._delete_reports(now - timedelta(days=self.run_days))
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
        payloads, sounds = self._remove_old(now)
        tidied = asdict(maintain_lake(self.lake))
        return replace(total, payloads=payloads, sounds=sounds, **tidied)

    def _remove_old(self, now: datetime) -> tuple[int, int]:
        """Delete old payloads and sounds; return both counts."""
        with closing(Engine(self.lake)) as engine:
            return (
                delete_expired(
                    self.lake, engine, PAYLOADS, now - timedelta(days=self.payload_days)
                ),
                delete_expired(self.lake, engine, SOUNDS, now - timedelta(days=self.sound_days)),
            )

    def _delete_checkpoints(self, before: datetime) -> None:
        """Delete checkpoints of jobs that ended before then, or are gone."""
        if not self.lake.files(CHECKPOINTS):
            return
        with closing(Engine(self.lake)) as engine:
            ids = read_checkpointed_jobs(engine)
        checkpointed = {job_id: jobs.get(self.control, job_id) for job_id in ids}
        self.lake.delete(
            CHECKPOINTS,
            "job_id",
            [name for name, job in checkpointed.items() if _ended(job, before)],
        )

    def _delete_runs(self, before: datetime) -> int:
        """Delete ended runs with their events, oldest first, even if their job is kept."""
        old = RunsFilter(updated_before=before, statuses=list(ENDED_STATUSES))
        found = self.instance.get_runs(old, limit=RUNS_AT_ONCE, ascending=True)
        for run in found:
            self.instance.delete_run(run.run_id)
        delete_check_results(self.instance, [run.run_id for run in found])
        delete_output(self.instance, before)
        return len(found)

    def _delete_reports(self, before: datetime) -> None:
        """Delete materializations without a run, but the newest of each table."""
        delete_runless_materializations(self.instance, before)


def delete_output(instance: DagsterInstance, before: datetime) -> None:
    """Delete the folders of runs that began before then on this machine: what their steps printed.

    By age and not by run, because another machine, or somebody in the UI, may have deleted the run.
    """
    for folder in Path(instance.storage_directory()).glob("*-*-*-*-*"):
        if folder.stat().st_mtime < before.timestamp():
            shutil.rmtree(folder, ignore_errors=True)


def _ended(job: Job | None, before: datetime) -> bool:
    return job is None or (job.finished_at is not None and job.finished_at <= before)


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
