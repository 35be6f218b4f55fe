"""Events of jobs: who asks, which worker steps, stops or is killed, and how scans end."""

import random
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from dagster import DagsterInstance, DagsterRunStatus

from benchmarks.simulation.processes import Killed, Process, SharedStore
from benchmarks.simulation.promises import RETENTION_DAYS
from benchmarks.simulation.scans import FakeLake, RunRecords, SimulatedScan
from benchmarks.simulation.watched import Promises, WatchedStore
from pipelines.orchestration.worker.launch import Launched
from pipelines.orchestration.worker.maintenance import StoreMaintainer
from pipelines.orchestration.worker.worker import Worker
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.service.service import ResultCache, ScanConfig, ScanService
from pipelines.settings import Settings
from warehouse.control import jobs
from warehouse.records.errors import JobNotFoundError
from warehouse.records.jobs import JobStatus, Origin

LOST_AFTER_S = 20.0
SETTINGS = Settings(
    _env_file=None, worker_runs=2, worker_lost_after_s=LOST_AFTER_S,
    job_retention_days=RETENTION_DAYS,
)  # fmt: skip
CONFIG = ScanConfig(
    name="sandbox", provider="public-graph", scan_providers=frozenset({"public-graph"}),
    find_target=lambda _text: None, result_cache_ttl_s=3600,
    job_retention_days=RETENTION_DAYS, worker_lost_after_s=LOST_AFTER_S,
)  # fmt: skip
ROUNDS_TO_THE_END = 120
PRIORITY = {"api": 100, "schedule": 10}
"""Whoever waits comes before what is scheduled."""
POINTS = 10
"""A kill comes within so many points."""


@dataclass(eq=False)
class WorkerProcess:
    """A worker, its process and its scans."""

    worker: Worker
    process: Process
    is_busy: bool = False

    def scans(self) -> list[tuple[str, SimulatedScan]]:
        """Return the scans under way."""
        runs = ((job_id, held.run) for job_id, held in self.worker.held.items())
        return [
            (job_id, run)
            for job_id, run in runs
            if isinstance(run, SimulatedScan) and not run.is_gone
        ]


@dataclass
class SimulatedLauncher:
    """Launches the runs of one worker."""

    begin: Callable[[str, int, str | None], Launched]
    runs_outlive_worker: bool = False

    def launch(
        self, job_id: str, run_number: int, *, waited_for: str | None = None
    ) -> Future[Launched]:
        future: Future[Launched] = Future()
        future.set_result(self.begin(job_id, run_number, waited_for))
        return future


@dataclass(eq=False)
class JobEvents:
    """The events of jobs. `held_up` is called between the transactions of each process."""

    chance: random.Random
    promises: Promises
    store: SharedStore
    records: RunRecords
    held_up: Callable[[], None]
    workers: list[WorkerProcess] = field(default_factory=list)
    silent: list[WorkerProcess] = field(default_factory=list)
    lake: FakeLake = field(default_factory=FakeLake)
    is_somebody_held_up: bool = False
    _started: int = 0

    def process(self, what: str) -> tuple[Process, WatchedStore]:
        """Start a process with its own view of the store."""
        self._started += 1
        process = Process(f"{what} {self._started}", lambda _one: self.held_up())
        return process, WatchedStore(self.store, process, self.promises)

    def scans(self) -> list[tuple[str, SimulatedScan]]:
        return [found for one in (*self.workers, *self.silent) for found in one.scans()]

    def ask(self, job_id: str | None = None) -> None:
        """Somebody asks, a service answers; now and then it is killed at it."""
        process, control = self.process("service")
        text = str(self.chance.randrange(10_000, 10_006))
        origin: Origin = self.chance.choice(("api", "api", "schedule"))
        if self.chance.random() < 0.05:
            process.dies_in = self.chance.randrange(POINTS)
        try:
            asked = _service(control, self.promises).ask(
                text, ScanParameters(refresh=True), origin=origin, job_id=job_id
            )
        except Killed:
            return
        if job_id is None:
            self.promises.jobs.check_joined(asked.job.job_id, text, PRIORITY[origin])

    def ask_again(self) -> None:
        """A caller with an id of its own repeats its request: the job is the same, once."""
        job_id = str(UUID(int=self.chance.getrandbits(128)))
        self.ask(job_id)
        self.ask(job_id)

    def cancel(self) -> None:
        if open_jobs := self.promises.jobs.open_jobs():
            process, control = self.process("service")
            if self.chance.random() < 0.1:
                process.dies_in = self.chance.randrange(4)
            try:
                _service(control, self.promises).cancel(self.chance.choice(open_jobs).job_id)
            except (Killed, JobNotFoundError):
                return

    def terminate(self) -> None:
        """A run is terminated in the user interface of the orchestrator."""
        if found := self.scans():
            job_id, scan = self.chance.choice(found)
            self.records.mark(job_id, scan.run_number, DagsterRunStatus.CANCELED)

    def step(self) -> None:
        for one in [one for one in self.workers if not one.is_busy]:
            self._run(one, one.worker.step)
            self._run(one, one.worker.beat)
            for job_id, scan in one.scans():
                try:  # each run sends its heartbeats itself
                    jobs.beat_job(scan.control, job_id, run_number=scan.run_number)
                except Killed:
                    scan.kill()

    def start_worker(self) -> None:
        if len(self.workers) > 1:
            return
        process, control = self.process("worker")
        clock = self.promises.clock
        worker = Worker(
            process.name, SETTINGS, control, cast("DagsterInstance", self.records),
            SimulatedLauncher(self._begin_scan), clock.monotonic, clock.now,
        )  # fmt: skip
        self.workers.append(WorkerProcess(worker, process))

    def kill_worker(self) -> None:
        """At once, or at one of its next points; its scans die with it."""
        if self.workers:
            chosen = self.chance.choice(self.workers)
            chosen.process.dies_in = self.chance.choice((0, self.chance.randrange(POINTS)))

    def stop_worker(self) -> None:
        """A worker that is stopped hands its jobs back, which costs no attempt."""
        idle = [one for one in self.workers if not one.is_busy]
        if not idle:
            return
        chosen = self.chance.choice(idle)
        before, started = self.promises.jobs.attempts(), self._started
        self._run(chosen, lambda: chosen.worker.hand_back_all("The worker was stopped"))
        self._drop(chosen)
        self.promises.jobs.check()
        if self._started == started and chosen.process.dies_in is None:
            assert self.promises.jobs.attempts() <= before, "a stopped worker cost an attempt"

    def silence_worker(self) -> None:
        if self.workers and not self.workers[0].is_busy:
            self.silent.append(self.workers.pop(0))

    def wake_worker(self) -> None:
        if self.silent:
            self.workers.append(self.silent.pop(0))

    def kill_scan(self) -> None:
        if found := self.scans():
            self.chance.choice(found)[1].kill()

    def end_scan(self) -> None:
        """Any run may end, once, also one of a silent worker that was given up meanwhile."""
        found = [one for one in self.scans() if not one[1].is_ending]
        if not found:
            return
        job_id, scan = self.chance.choice(found)
        if self.chance.random() < 0.1:
            scan.process.dies_in = self.chance.randrange(4)
        try:
            self._end(job_id, scan)
        except Killed:
            scan.is_gone = True

    def maintain(self) -> None:
        """Delete what has expired, and nothing else; results go before their jobs."""
        process, control = self.process("maintenance")
        if self.chance.random() < 0.1:
            process.dies_in = self.chance.randrange(6)
        now = self.promises.clock.now()
        days = {"run_days": 2, "payload_days": 2, "checkpoint_days": 2, "sound_days": 2}
        maintainer = StoreMaintainer(
            control=control, lake=cast("Any", self.lake), instance=cast("Any", self.records),
            excerpts=cast("Any", None), **days,
        )  # fmt: skip
        try:
            maintainer.delete_expired(now)
        except Killed:
            return
        finally:
            self.promises.jobs.check()
            left = self.promises.jobs.gone - set(self.lake.deleted)
            assert not left, "a job was deleted before its result"
        for job in self.promises.jobs.in_order():
            is_over = job.expires_at is not None and job.expires_at <= now.timestamp()
            assert not is_over, "a job is kept although its time is over"
        self.records.forget_ended(self.promises.jobs.gone)

    def bring_to_the_end(self, look: Callable[[str], None]) -> None:
        """Of all workers one new one is left: it ends every job, and every record of a run."""
        self.workers.clear()
        self.silent.clear()
        self.start_worker()
        for _ in range(ROUNDS_TO_THE_END):
            self.promises.clock.passed_s += LOST_AFTER_S
            self.step()
            look("step")
            for job_id, scan in self.scans():
                self._end(job_id, scan, is_last=True)
            look("end")
            if not self.promises.jobs.open_jobs() and not self.records.open_jobs():
                return
        raise AssertionError("jobs or runs without an end")

    def _run(self, one: WorkerProcess, action: Callable[[], object]) -> None:
        if not one.process.is_alive:
            return
        one.is_busy = True
        try:
            action()
        except Killed:
            self._drop(one)
        finally:
            one.is_busy = False

    def _drop(self, one: WorkerProcess) -> None:
        """A worker is gone, and so are its scans."""
        one.process.is_alive = False
        for _, scan in one.scans():
            scan.process.is_alive = False
        self.workers = [other for other in self.workers if other is not one]

    def _begin_scan(self, job_id: str, run_number: int, waited_for: str | None) -> Launched:
        """Begin a run, unless another open job scans the same."""
        is_equal = waited_for is None and self.chance.random() < 0.1
        if is_equal and (twin := self._twin(job_id)) is not None:
            return Launched(waits_for=twin)
        process, control = self.process("scan")
        self.records.begin(job_id, run_number)
        return Launched(run=SimulatedScan(run_number=run_number, process=process, control=control))

    def _twin(self, job_id: str) -> str | None:
        """Return another open job that does not wait itself: an equal scan to wait for."""
        waiting = any(
            held.waits_for is not None
            for one in (*self.workers, *self.silent)
            for held in one.worker.held.values()
        )
        found = [one.job_id for one in self.promises.jobs.open_jobs() if one.job_id != job_id]
        return self.chance.choice(found) if found and not waiting else None

    def _end(self, job_id: str, scan: SimulatedScan, *, is_last: bool = False) -> None:
        """The scan writes its end itself; it may die when its result is stored already."""
        scan.is_ending = True
        claim = jobs.check(scan.control, job_id, scan.run_number)
        self.promises.jobs.check_claim(job_id, scan.run_number, claim)
        status: JobStatus = self.chance.choice(("completed", "completed", "failed"))
        if claim == "cancelled":
            status = "cancelled"
        if status == "completed" and claim == "held":
            self.records.mark(job_id, scan.run_number, DagsterRunStatus.SUCCESS)
            self.promises.jobs.succeeded(
                job_id, scan.run_number, is_certain=not self.is_somebody_held_up
            )
            if not is_last and self.chance.random() < 0.1:
                scan.kill()
                return
        error: dict[str, object] | None = {"type": "internal_error"} if status == "failed" else None
        expires_at = self.promises.clock.now() + timedelta(days=RETENTION_DAYS)
        is_written = jobs.finish(
            scan.control,
            job_id,
            status,
            error=error,
            expires_at=expires_at,
            run_number=scan.run_number,
        )
        self.promises.jobs.check_end(job_id, scan.run_number, status, is_written=is_written)
        scan.kill()


def _service(control: WatchedStore, promises: Promises) -> ScanService:
    def result(job_id: str) -> Any:
        return {"job_id": job_id} if job_id in promises.jobs.completed else None

    return ScanService(
        control=control,
        results=ResultCache(result),
        world=CONFIG,
        clock=promises.clock.now,
    )
