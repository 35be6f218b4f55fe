"""Days of jobs under faults, kills and clock jumps, drawn from one seed.

The control store, the service and the worker are real; clock, ids and chance are the seed's, so a
seed that fails does so again, event by event. Scans are only requests to one host. Not here:
records of runs in Dagster (`tests/fuzz/jobs.py`), and scans themselves.
"""

import hashlib
import random
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

import structlog
from dagster import DagsterInstance

from pipelines.orchestration.worker.job_run import ScanEnd
from pipelines.orchestration.worker.worker import Worker
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.service.result_cache import ResultCache
from pipelines.scan.service.service import ScanConfig, ScanService
from pipelines.settings import Settings
from tests.fake_runs import FakeEnding, FakeRuns
from tests.simulation.promises import JobPromises, PolitenessPromises
from warehouse.control import ControlStore, open_control
from warehouse.records.jobs import FINAL_STATUSES, JobStatus

START = datetime(2026, 11, 1, tzinfo=UTC)
LOST_AFTER_S = 20.0
ROUNDS_TO_THE_END = 400
HOST, SURFACE = "host", "surface"
STEPS_S = (0.2, 2.0, 6.0, 30.0, 600.0, 7200.0)
JUMPS_S = (-3600.0, -30.0, 30.0, 3600.0)


@dataclass(slots=True)
class Simulation:
    """What lives in one seed."""

    chance: random.Random
    control: ControlStore
    instance: DagsterInstance
    jobs: JobPromises
    politeness: PolitenessPromises = field(default_factory=PolitenessPromises)
    passed_s: float = 0.0
    jumped_s: float = 0.0
    workers: list[Worker] = field(default_factory=list)
    silent: list[Worker] = field(default_factory=list)
    started: int = 0
    trace: list[str] = field(default_factory=list)

    def now(self) -> datetime:
        return START + timedelta(seconds=self.passed_s + self.jumped_s)

    def live(self, days: float) -> None:
        """Let so many days pass, then bring every job to its end."""
        self.start_worker()
        while self.passed_s < days * 86_400:
            event = self.chance.choices(EVENTS, WEIGHTS)[0]
            attempts = self.jobs.attempts()
            event(self)
            self.look(event.__name__)
            if event is Simulation.stop_worker:
                assert self.jobs.attempts() == attempts, "a stopped worker cost an attempt"
        self._bring_to_the_end()

    def look(self, event: str) -> None:
        """Check every promise, and note the event with the states it led to."""
        found = self.control.jobs(limit=1000)
        self.jobs.check(found)
        states = sorted(f"{one.job_id}{one.status}{one.attempt}{one.run_number}" for one in found)
        self.trace.append(f"{event} {self.passed_s} {self.jumped_s} {states}")

    def ask(self) -> None:
        service = _service(self)
        text = str(self.chance.randrange(10_000, 10_006))
        service.ask(text, ScanParameters(refresh=True), origin="api")

    def cancel(self) -> None:
        open_jobs = [one for one in self.jobs.in_order() if one.status not in FINAL_STATUSES]
        if open_jobs:
            _service(self).cancel(self.chance.choice(open_jobs).job_id)

    def step(self) -> None:
        for worker in self.workers:
            worker.step()
            worker.beat()

    def pass_time(self) -> None:
        self.passed_s += self.chance.choice(STEPS_S) * self.chance.uniform(0.5, 1.5)

    def jump_clock(self) -> None:
        self.jumped_s += self.chance.choice(JUMPS_S)

    def start_worker(self) -> None:
        if len(self.workers) > 1:
            return
        self.started += 1
        chosen = Settings(_env_file=None, worker_runs=2, worker_lost_after_s=LOST_AFTER_S)
        name, clock = f"worker {self.started}", lambda: self.passed_s
        self.workers.append(
            Worker(name, chosen, self.control, self.instance, FakeRuns(), clock, self.now)
        )

    def kill_worker(self) -> None:
        if self.workers:
            self.workers.pop(0)

    def stop_worker(self) -> None:
        if self.workers:
            self.workers.pop(0).hand_back_all("The worker was stopped")

    def silence_worker(self) -> None:
        if self.workers:
            self.silent.append(self.workers.pop(0))

    def wake_worker(self) -> None:
        if self.silent:
            self.workers.append(self.silent.pop(0))

    def kill_scan(self) -> None:
        if found := self._scans():
            self.chance.choice(found)[1].is_gone = True

    def end_scan(self) -> None:
        """Any run may end, also one of a silent worker that was given up meanwhile."""
        if not (found := self._scans()):
            return
        job_id, scan = self.chance.choice(found)
        claim = self.control.check_claim(job_id, scan.run_number)
        self.jobs.check_claim(job_id, scan.run_number, claim)
        status: JobStatus = self.chance.choice(("completed", "completed", "failed"))
        if claim == "cancelled":
            status = "cancelled"
        self._finish(job_id, scan, status)

    def request(self) -> None:
        """One request of a scan, answered or refused; some are sent in twos, as two scans would."""
        limits = self.politeness
        for _ in range(self.chance.choice((1, 1, 2))):
            decision = self.control.check_circuit(HOST, SURFACE, probe_s=limits.probe_s)
            limits.decided(self.now().timestamp(), decision)
            if not decision.is_allowed:
                return
            grant = self.control.take_token(
                HOST, rate_per_s=limits.rate_per_s, burst=limits.burst, daily_budget=limits.budget
            )
            limits.granted(self.now().timestamp(), grant)
            self._answer(is_probe=decision.is_probe)

    def _answer(self, *, is_probe: bool) -> None:
        drawn, limits = self.chance.random(), self.politeness
        if drawn < 0.1:  # the process is killed with its request in the air
            return
        if drawn < 0.6:
            self.control.note_success(HOST, SURFACE, is_probe=is_probe, with_data=True)
            limits.answered(is_probe=is_probe)
            return
        self.control.note_failure(
            HOST, SURFACE, cause="forbidden", is_probe=is_probe,
            threshold=limits.threshold, open_s=limits.open_s, longest_s=limits.open_s * 8,
        )  # fmt: skip
        limits.failed(self.now().timestamp(), is_probe=is_probe)

    def _finish(self, job_id: str, scan: FakeEnding, status: JobStatus) -> None:
        error: dict[str, object] | None = {"type": "internal_error"} if status == "failed" else None
        is_written = self.control.finish(
            job_id, status, error=error, expires_at=self.now() + timedelta(days=30),
            run_number=scan.run_number,
        )  # fmt: skip
        self.jobs.check_end(job_id, scan.run_number, status, is_written=is_written)
        scan.end = ScanEnd(status)

    def _scans(self) -> list[tuple[str, FakeEnding]]:
        return [
            (job_id, ending)
            for worker in (*self.workers, *self.silent)
            for job_id, ending in worker.running.items()
            if isinstance(ending, FakeEnding) and not ending.done()
        ]

    def _bring_to_the_end(self) -> None:
        """Of all workers one new one is left: it ends every job."""
        self.workers.clear()
        self.silent.clear()
        self.start_worker()
        for _ in range(ROUNDS_TO_THE_END):
            self.passed_s += LOST_AFTER_S
            self.step()
            self.look("step")
            for job_id, scan in self._scans():
                claim = self.control.check_claim(job_id, scan.run_number)
                self._finish(job_id, scan, "cancelled" if claim == "cancelled" else "completed")
            self.look("end")
            if all(one.status in FINAL_STATUSES for one in self.jobs.in_order()):
                return
        raise AssertionError("jobs without an end")


EVENTS: tuple[Callable[[Simulation], None], ...] = (
    Simulation.ask, Simulation.cancel, Simulation.step, Simulation.pass_time,
    Simulation.jump_clock, Simulation.start_worker, Simulation.kill_worker, Simulation.stop_worker,
    Simulation.silence_worker, Simulation.wake_worker, Simulation.kill_scan, Simulation.end_scan,
    Simulation.request,
)  # fmt: skip
WEIGHTS = (8, 2, 20, 12, 1, 5, 1, 1, 1, 2, 2, 5, 15)


def simulate(seed: int, *, days: float) -> str:
    """Live so many days of a seed; return the hash of its trace.

    Raises:
        AssertionError: A promise was broken.
    """
    chance = random.Random(seed)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(structlog.testing.capture_logs())
        drawn_ids = patch("warehouse.control.jobs.uuid4", lambda: UUID(int=chance.getrandbits(128)))
        stack.enter_context(drawn_ids)
        simulation: Simulation
        control = open_control(
            f"sqlite:///{folder / 'control.sqlite'}",
            world="sandbox",
            clock=lambda: simulation.now().timestamp() if is_open else START.timestamp(),
        )
        stack.callback(control.close)
        instance = DagsterInstance.ephemeral()
        stack.callback(instance.dispose)
        is_open = False
        simulation = Simulation(chance, control, instance, JobPromises())
        is_open = True
        simulation.live(days)
        return hashlib.sha256("\n".join(simulation.trace).encode()).hexdigest()


def _service(simulation: Simulation) -> ScanService:
    world = ScanConfig(
        name="sandbox", provider="public-graph", scan_providers=frozenset({"public-graph"}),
        find_target=lambda _text: None, result_cache_ttl_s=3600,
        job_retention_days=30, worker_lost_after_s=LOST_AFTER_S,
    )  # fmt: skip
    return ScanService(
        control=simulation.control,
        results=ResultCache(lambda _job_id: None),
        world=world,
        clock=simulation.now,
    )
