"""Scans of a simulation: processes of workers that do what the events say, and records of runs."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from dagster import DagsterRunStatus

from benchmarks.simulation.processes import Process
from benchmarks.simulation.upstream import ReadingProcess
from benchmarks.simulation.watched import WatchedStore
from pipelines.orchestration.runs.reconciliation import JOB_TAG, ORIGIN_TAG, run_id
from tests.orchestration.runs.fake_runs import FakeRun

ENDED = {DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED}


@dataclass(eq=False)
class SimulatedScan(FakeRun):
    """A scan under way in a process of its own."""

    process: Process = field(default_factory=lambda: Process("scan"))
    control: WatchedStore = None  # type: ignore[assignment]  # always given
    reads: ReadingProcess | None = None
    is_ending: bool = False

    def kill(self) -> None:
        super().kill()
        self.process.is_alive = False


class RunRecord(SimpleNamespace):
    """The record of one run, with what the product asks of it."""

    run_id: str
    tags: dict[str, str]
    status: DagsterRunStatus
    parent_run_id: str | None = None
    job_name = "scan"

    @property
    def is_finished(self) -> bool:
        return self.status in ENDED

    @property
    def is_success(self) -> bool:
        return self.status is DagsterRunStatus.SUCCESS


class RunRecords:
    """Records of runs in memory, in place of Dagster's instance."""

    def __init__(self) -> None:
        self._runs: dict[str, RunRecord] = {}

    def storage_directory(self) -> str:
        """Return a folder that no run has written to: nothing is printed here."""
        return "no-output-of-simulated-runs"

    def begin(self, job_id: str, run_number: int) -> None:
        name = run_id(job_id, run_number)
        tags = {JOB_TAG: job_id, ORIGIN_TAG: "api"}
        record = RunRecord(run_id=name, tags=tags, status=DagsterRunStatus.STARTED)
        self._runs.setdefault(name, record)

    def mark(self, job_id: str, run_number: int, status: DagsterRunStatus) -> None:
        self._runs[run_id(job_id, run_number)].status = status

    def open_jobs(self) -> set[str]:
        """Return the jobs with a run that has not ended."""
        return {one.tags[JOB_TAG] for one in self._runs.values() if not one.is_finished}

    def get_run_by_id(self, name: str) -> RunRecord | None:
        return self._runs.get(name)

    def get_runs(
        self, filters: Any, limit: int | None = None, *, ascending: bool = False
    ) -> list[RunRecord]:
        wanted = set(filters.statuses or DagsterRunStatus)
        if filters.run_ids is not None:
            found = [self._runs[name] for name in filters.run_ids if name in self._runs]
        elif filters.updated_before is not None:
            return []  # records are kept here
        else:
            found = list(self._runs.values())
        assert ascending or limit is None
        return [one for one in found if one.status in wanted][:limit]

    def report_run_failed(self, run: RunRecord, message: str) -> None:
        assert message
        run.status = DagsterRunStatus.FAILURE

    def report_run_canceled(self, run: RunRecord, message: str) -> None:
        assert message
        run.status = DagsterRunStatus.CANCELED

    def report_dagster_event(self, _event: object, run_id: str) -> None:
        self._runs[run_id].status = DagsterRunStatus.SUCCESS

    def forget_ended(self, job_ids: set[str]) -> None:
        """Drop ended records of jobs that are gone: nobody asks for them again."""
        self._runs = {
            name: one
            for name, one in self._runs.items()
            if not (one.is_finished and one.tags[JOB_TAG] in job_ids)
        }


class FakeLake:
    """The lake of a maintenance round: results are deleted, nothing else is there."""

    def __init__(self) -> None:
        self.deleted: list[str] = []

    def delete(self, _table: str, _column: str, names: list[str]) -> int:
        self.deleted.extend(names)
        return len(names)

    def files(self, _table: str) -> list[str]:
        return []
