"""Scans that do what a test says: everything of a worker but the work."""

from dataclasses import dataclass, field

from dagster import job, op

from pipelines.orchestration.runs.local_runs import BrokenPoolError
from pipelines.orchestration.worker.job_run import ScanEnd


@op
def nothing() -> None:
    """Do nothing."""


@job(name="scan")
def empty_scan() -> None:
    """Stand in for the scan: only its run record matters."""
    nothing()


@dataclass
class FakeEnding:
    """A scan under way until `end` is set, or its process is gone."""

    end: ScanEnd | None = None
    is_gone: bool = False
    begun: bool = True
    beats_itself: bool = False
    run_number: int = 1
    fault: Exception = field(default_factory=lambda: BrokenPoolError("the process is gone"))

    def done(self) -> bool:
        return self.end is not None or self.is_gone

    def result(self) -> ScanEnd:
        if self.end is None:
            raise self.fault
        return self.end

    def abandon(self) -> None:
        self.is_gone = True

    def needs_heartbeat(self) -> bool:
        return not self.beats_itself

    def has_begun(self) -> bool:
        return self.begun


@dataclass
class FakeRuns:
    """The scan processes of one worker."""

    outlive_worker: bool = False
    begin_at_once: bool = True
    launched: list[str] = field(default_factory=list)
    endings: dict[str, FakeEnding] = field(default_factory=dict)

    def launch_scan(
        self, job_id: str, *, run_number: int, waited_for: str | None = None
    ) -> FakeEnding:
        self.launched.append(job_id)
        self.endings[job_id] = FakeEnding(begun=self.begin_at_once, run_number=run_number)
        return self.endings[job_id]

    def close(self) -> None:
        self.endings.clear()
