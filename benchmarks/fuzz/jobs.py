"""The life of jobs under any order of events, over the real control store, service and worker.

`python -m benchmarks.fuzz.jobs [--operations 10000] [--seed N]`. Hypothesis draws who does what:
people ask, look and cancel; workers claim, crash, fall silent and come back; scans go on, end, hang
or wait for a twin; time passes and things expire. After each operation the promises of the queue
are looked at; at the end of each life a new worker must bring every job to its end.
"""

import argparse
import random
import tempfile
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import structlog
from dagster import DagsterInstance, DagsterRunStatus
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pipelines.orchestration.runs.reconciliation import JOB_TAG, ORIGIN_TAG, run_id
from pipelines.orchestration.worker.worker import Worker
from pipelines.parameters.scan import ScanParameters
from pipelines.scan.service.service import ResultCache, ScanConfig, ScanService
from pipelines.settings import Settings
from tests.orchestration.runs.fake_runs import FakeLauncher, FakeRun, empty_scan
from tests.scan.rules.job_states import ATTEMPTS, FINAL, LEGAL_MOVES
from warehouse.control import ControlStore, jobs, leases, open_control
from warehouse.records.errors import JobNotFoundError, WarehouseUnavailableError
from warehouse.records.jobs import Job, ProgressRecord

START = datetime(2026, 11, 1, tzinfo=UTC)
STEPS = 50
LOST_AFTER_S = 20.0
KEPT_DAYS = 30
INPUTS = tuple(str(10_000 + number) for number in range(4))


class JobLives(RuleBasedStateMachine):
    """Everything that can happen to jobs. `seen` is each job as it was after the step before."""

    instance: ClassVar[DagsterInstance]
    done: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = START
        self.control: ControlStore = open_control(
            f"sqlite:///{Path(self.folder.name) / 'control.sqlite'}",
            world="sandbox",
            clock=self._clock,
        )
        self.workers: list[Worker] = []
        self.silent: list[Worker] = []
        self.seen: dict[str, Job] = {}
        self.results: dict[str, Any] = {}
        self.scan_service = self._open_scan_service()

    @initialize()
    def first_worker(self) -> None:
        self._start_worker()

    @rule(text=st.sampled_from(INPUTS), refresh=st.booleans())
    def ask(self, text: str, refresh: bool) -> None:
        self.now += timedelta(milliseconds=1)  # no two are asked for at one moment: replays agree
        before = {name for name, one in self.seen.items() if _is_wanted(one)}
        found = self.scan_service.ask(text, ScanParameters(refresh=refresh), origin="api").job
        twins = [name for name in before if self.seen[name].fingerprint == found.fingerprint]
        assert not twins or found.job_id in twins, "an equal wish did not join"
        self._count("ask" if found.job_id not in self.seen else "join")

    @rule(pick=st.integers(0, 99))
    @precondition(lambda self: self.seen)
    def poll(self, pick: int) -> None:
        wanted = self._pick(pick)
        try:
            shown = self.scan_service.job(wanted.job_id).job
        except JobNotFoundError:
            assert wanted.expires_at is not None
            assert wanted.expires_at <= self.now
        except WarehouseUnavailableError:
            assert wanted.status == "completed"
        else:
            assert shown.job_id == wanted.job_id
        self._count("poll")

    @rule(pick=st.integers(0, 99))
    @precondition(lambda self: self.seen)
    def cancel(self, pick: int) -> None:
        wanted = self._pick(pick)
        try:
            before, _ = self.scan_service.cancel(wanted.job_id)
        except (JobNotFoundError, WarehouseUnavailableError):
            self._count("cancel of what is gone")
            return
        after = jobs.get(self.control, wanted.job_id)
        assert after is not None
        assert before in FINAL or after.cancel_requested or after.status in FINAL
        self._count("cancel")

    @rule(pick=st.integers(0, 99))
    @precondition(lambda self: self._scans())
    def terminate_in_the_ui(self, pick: int) -> None:
        name = self._run(*self._scan(pick))
        run = self.instance.get_run_by_id(name)
        if run is not None and not run.is_finished:
            self.instance.report_run_canceling(run)
        self._count("terminate")

    @rule()
    def step(self) -> None:
        for worker in self.workers:
            worker.step()
            worker.step()  # takes over what the first one has launched
            worker.beat()
        self._beat_runs()
        self._count("step")

    @rule(pick=st.integers(0, 99))
    @precondition(lambda self: self._scans())
    def scan_begins_its_run(self, pick: int) -> None:
        job_id, scan = self._scan(pick)
        name = self._run(job_id, scan)
        if self.instance.get_run_by_id(name) is None:
            self.instance.create_run_for_job(
                empty_scan,
                run_id=name,
                tags={ORIGIN_TAG: "api", JOB_TAG: job_id},
                status=DagsterRunStatus.STARTED,
            )
        self._count("run")

    @rule(pick=st.integers(0, 99), pool=st.integers(0, 2000))
    @precondition(lambda self: self._scans())
    def scan_goes_on(self, pick: int, pool: int) -> None:
        job_id, scan = self._scan(pick)
        progress = ProgressRecord(candidate_pool_count=pool)
        jobs.save_progress(self.control, job_id, progress, run_number=scan.run_number)
        self._count("progress")

    @rule(pick=st.integers(0, 99), fails=st.booleans())
    @precondition(lambda self: self._scans())
    def scan_ends(self, pick: int, fails: bool) -> None:
        """As a scan process does: the run first, then the row; cancelled where it was asked to.

        A run that was given up meanwhile changes nothing.
        """
        job_id, scan = self._scan(pick)
        before = jobs.get(self.control, job_id)
        if before is None or before.run_number != scan.run_number or before.status != "running":
            scan.is_gone = True
            assert not jobs.finish(
                self.control, job_id, "completed", run_number=scan.run_number - 1
            )
            return
        is_cancelled = jobs.is_cancel_requested(self.control, job_id)
        status = "cancelled" if is_cancelled else "failed" if fails else "completed"
        self._end_run(self._run(job_id, scan), status)
        if status == "completed":
            self.results[job_id] = {}
        error: dict[str, object] | None = None
        if status == "failed":
            error = {"type": "internal_error", "detail": "drawn"}
        jobs.finish(
            self.control,
            job_id,
            status,  # type: ignore[arg-type]  # a final one
            error=error,
            expires_at=self._kept(),
            run_number=scan.run_number,
        )
        scan.is_gone = True
        self._count(status)

    @rule(pick=st.integers(0, 99), other=st.integers(0, 99))
    @precondition(lambda self: len(self._scans()) > 1)
    def a_job_learns_of_a_twin(self, pick: int, other: int) -> None:
        """While it is prepared: it had no run yet."""
        (job_id, scan), (twin_id, _) = self._scan(pick), self._scan(other)
        has_run = self.instance.get_run_by_id(self._run(job_id, scan)) is not None
        if job_id != twin_id and not has_run:
            for worker in self.workers:
                if job_id in worker.held:
                    worker.held[job_id].run = None
                    worker.held[job_id].waits_for = twin_id
        self._count("wait")

    @rule(pick=st.integers(0, 99))
    @precondition(lambda self: self._scans())
    def scan_process_dies(self, pick: int) -> None:
        self._scan(pick)[1].is_gone = True
        self._count("process dies")

    @rule()
    @precondition(lambda self: self.workers)
    def worker_crashes(self) -> None:
        self.workers.pop(0)
        self._count("crash")

    @rule()
    @precondition(lambda self: self.workers)
    def worker_stops(self) -> None:
        self.workers.pop(0).hand_back_all("The worker was stopped")
        self._count("stop")

    @rule()
    @precondition(lambda self: len(self.workers) < 2)
    def worker_starts(self) -> None:
        self._start_worker()

    @rule()
    @precondition(lambda self: self.workers)
    def worker_falls_silent(self) -> None:
        """A machine that sleeps: nothing of it goes on, and one day it is back."""
        self.silent.append(self.workers.pop(0))
        self._count("silence")

    @rule()
    @precondition(lambda self: self.silent)
    def worker_is_back(self) -> None:
        self.workers.append(self.silent.pop(0))
        self._count("back")

    @rule(seconds=st.sampled_from((0.1, 1.0, 5.0, 16.0, 30.0, 3600.0)))
    def time_passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self._count("time")

    @rule()
    def things_expire(self) -> None:
        self.now += timedelta(days=KEPT_DAYS, seconds=1)
        expired = jobs.expired(self.control, self.now, limit=1000)
        assert all(jobs.get(self.control, name).status in FINAL for name in expired)  # type: ignore[union-attr]  # it is there
        jobs.delete_ended(self.control, expired)
        leases.delete_expired(self.control, self.now)
        for name in expired:
            self.seen.pop(name, None)
        self._count("expire")

    @invariant()
    def promises_hold(self) -> None:
        after = {one.job_id: one for one in jobs.newest(self.control, limit=1000)}
        for job_id, before in self.seen.items():
            now = after.get(job_id)
            assert now is not None, "a job vanished before its time"
            assert now.status in {before.status, *LEGAL_MOVES[before.status]}
            if before.status in FINAL:
                assert now == before, "a job that had ended was changed"
        wanted = Counter(one.fingerprint for one in after.values() if _is_wanted(one))
        assert all(times == 1 for times in wanted.values()), "two jobs for one wish"
        for one in after.values():
            assert (one.finished_at is not None) == (one.status in FINAL)
            assert one.status != "failed" or one.error
            assert 1 <= one.attempt <= ATTEMPTS, "more attempts than were promised"
        self.seen = after

    def teardown(self) -> None:
        try:
            self._everything_comes_to_an_end()
        finally:
            self.control.close()
            self.folder.cleanup()

    def _everything_comes_to_an_end(self) -> None:
        """All workers but a new one are gone: after a while no job is without an end."""
        self.workers, self.silent = [], []
        self._start_worker()
        (worker,) = self.workers
        for _ in range(200):
            self.now += timedelta(seconds=LOST_AFTER_S)
            worker.step()
            worker.beat()
            self._beat_runs()
            for job_id, scan in self._scans():
                if not scan.is_gone:
                    self._end_run(self._run(job_id, scan), "completed")
                    jobs.finish(self.control, job_id, "completed", expires_at=self._kept())
                    scan.is_gone = True
            if all(one.status in FINAL for one in jobs.newest(self.control, limit=1000)):
                break
        left = [one for one in jobs.newest(self.control, limit=1000) if one.status not in FINAL]
        assert not left, f"jobs without an end: {left}"
        self.now += timedelta(seconds=60)
        worker.step()
        for one in jobs.newest(self.control, limit=1000):
            for number in range(1, one.run_number + 1):
                run = self.instance.get_run_by_id(run_id(one.job_id, number))
                assert run is None or run.is_finished, "a run without an end"

    def _open_scan_service(self) -> ScanService:
        world = ScanConfig(
            name="sandbox", provider="public-graph", scan_providers=frozenset({"public-graph"}),
            find_target=lambda _text: None, result_cache_ttl_s=3600,
            job_retention_days=KEPT_DAYS, worker_lost_after_s=LOST_AFTER_S,
        )  # fmt: skip
        return ScanService(
            control=self.control,
            results=ResultCache(self.results.get),
            world=world,
            clock=lambda: self.now,
        )

    def _start_worker(self) -> None:
        chosen = Settings(_env_file=None, worker_runs=2, worker_lost_after_s=LOST_AFTER_S)
        name = f"worker {self.now.timestamp()} {random.random()}"
        self.workers.append(
            Worker(
                name,
                chosen,
                self.control,
                self.instance,
                FakeLauncher(),
                self._clock,
                lambda: self.now,
            )
        )
        self._count("start")

    def _scans(self) -> list[tuple[str, FakeRun]]:
        """Scans under way in workers that are there."""
        return [
            (job_id, held.run)
            for worker in self.workers
            for job_id, held in worker.held.items()
            if isinstance(held.run, FakeRun) and not held.run.is_gone
        ]

    def _beat_runs(self) -> None:
        """Each run sends its heartbeats itself."""
        for job_id, run in self._scans():
            jobs.beat_job(self.control, job_id, run_number=run.run_number)

    def _scan(self, pick: int) -> tuple[str, FakeRun]:
        found = self._scans()
        return found[pick % len(found)]

    def _run(self, job_id: str, scan: FakeRun) -> str:
        return run_id(job_id, scan.run_number)

    def _pick(self, pick: int) -> Job:
        in_order = sorted(self.seen.values(), key=lambda one: one.created_at)
        return in_order[pick % len(in_order)]

    def _end_run(self, name: str, status: str) -> None:
        run = self.instance.get_run_by_id(name)
        if run is None or run.is_finished:
            return
        if status == "cancelled":
            self.instance.report_run_canceled(run)
        else:
            self.instance.report_run_failed(run)

    def _clock(self) -> float:
        return self.now.timestamp()

    def _kept(self) -> datetime:
        return self.now + timedelta(days=KEPT_DAYS)

    def _count(self, what: str) -> None:
        type(self).done[what] += 1


def _is_wanted(one: Job) -> bool:
    return one.status not in FINAL and not one.cancel_requested


def live(*, operations: int, drawn: int) -> Counter[str]:
    """Let at least so many operations happen; returns what happened how often."""
    JobLives.done.clear()
    with structlog.testing.capture_logs(), closing(_Instance()) as opened:
        JobLives.instance = opened.instance
        while JobLives.done.total() < operations:
            lives = max(1, min(200, (operations - JobLives.done.total()) // STEPS + 1))
            chosen = settings(
                max_examples=lives,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            run_state_machine_as_test(seed(drawn)(JobLives), settings=chosen)
            drawn += 1
    return JobLives.done


class _Instance:
    """An orchestrator's instance in memory, closed like everything else."""

    def __init__(self) -> None:
        self.instance = DagsterInstance.ephemeral()

    def close(self) -> None:
        self.instance.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    done = live(operations=options.operations, drawn=options.seed)
    for what, times in done.most_common():
        print(f"{times:7,} x {what}")
    print(f"{done.total():7,} operations, every promise held")


if __name__ == "__main__":
    main()
