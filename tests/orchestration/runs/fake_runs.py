"""Runs that do what a test says: everything of a worker but the work."""

from concurrent.futures import Future
from dataclasses import dataclass, field

from dagster import job, op

from pipelines.orchestration.worker.launch import Launched


@op
def nothing() -> None:
    """Do nothing."""


@job(name="scan")
def empty_scan() -> None:
    """Stand in for the scan: only its run record matters."""
    nothing()


@dataclass(eq=False)
class FakeRun:
    """A run under way until its process is gone; it has begun, and sends its heartbeats."""

    run_number: int = 1
    begun: bool = True
    is_gone: bool = False
    is_silent: bool = False

    def has_begun(self) -> bool:
        return self.begun

    def is_over(self) -> bool:
        return self.is_gone

    def kill(self) -> None:
        self.is_gone = True


@dataclass
class FakeLauncher:
    """Launches the runs of one worker.

    `instead`: what the next launch of a job ends with, if not with a run.
    """

    runs_outlive_worker: bool = False
    begin_at_once: bool = True
    launched: list[str] = field(default_factory=list)
    runs: dict[str, FakeRun] = field(default_factory=dict)
    instead: dict[str, Launched | Exception] = field(default_factory=dict)

    def launch(
        self, job_id: str, run_number: int, *, waited_for: str | None = None
    ) -> Future[Launched]:
        self.launched.append(job_id)
        future: Future[Launched] = Future()
        outcome = self.instead.pop(job_id, None)
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        elif outcome is not None:
            future.set_result(outcome)
        else:
            run = self.runs[job_id] = FakeRun(run_number, begun=self.begin_at_once)
            future.set_result(Launched(run=run))
        return future
