"""Whatever order the calls come in, a job makes legal moves only."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from tests.scan.rules.job_states import ATTEMPTS, FINAL, LEGAL_MOVES, STATES
from warehouse.control import jobs, open_control
from warehouse.control.jobs import NewJob
from warehouse.records.jobs import Job, JobStatus

pytestmark = pytest.mark.full


class JobLife(RuleBasedStateMachine):
    """Random calls on one store; `before` is what each job was after the call before."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        url = f"sqlite:///{Path(self.folder.name) / 'control.sqlite'}"
        self.control = open_control(url, world="sandbox")
        self.before: dict[str, Job] = {}

    @rule(target=ids, fingerprint=st.sampled_from("abc"), priority=st.integers(0, 2))
    def create(self, fingerprint: str, priority: int) -> str:
        job, created = jobs.create_or_join(
            self.control,
            NewJob(
                kind="scan",
                input="x",
                target="x",
                music_id=None,
                parameters={},
                fingerprint=fingerprint,
                scan_key=None,
                origin="api",
                priority=priority,
            ),
        )
        assert created != (job.job_id in self.before)
        assert job.status in {"queued", "running"}
        return job.job_id

    @rule(worker=st.sampled_from("vw"))
    def claim(self, worker: str) -> None:
        queued = [job for job in self.before.values() if job.status == "queued"]
        job = jobs.claim(self.control, worker)
        assert (job is None) == (not queued)
        if job is not None:
            assert job.priority == max(job.priority for job in queued)
            assert job.run_number == self.before[job.job_id].run_number + 1

    @rule(job_id=ids, status=st.sampled_from(STATES))
    def finish(self, job_id: str, status: JobStatus) -> None:
        before = self.before[job_id].status
        moved = jobs.finish(self.control, job_id, status)
        assert moved == (status in FINAL and status in LEGAL_MOVES[before])

    @rule(job_id=ids, is_lost=st.booleans(), is_late=st.booleans())
    def put_back(self, job_id: str, is_lost: bool, is_late: bool) -> None:
        """A worker is lost, or hands its job back; a run given up before changes nothing."""
        before = self.before[job_id]
        number = before.run_number - is_late
        moved = jobs.requeue(self.control, job_id, run_number=number, costs_attempt=is_lost)
        may_move = before.status == "running" and not before.cancel_requested and not is_late
        assert moved == (may_move and (before.attempt < ATTEMPTS or not is_lost))
        after = jobs.get(self.control, job_id)
        assert after is not None
        assert after.attempt == before.attempt + (moved and is_lost)

    @rule(job_id=ids, is_late=st.booleans())
    def finish_a_run(self, job_id: str, is_late: bool) -> None:
        before = self.before[job_id]
        number = before.run_number - is_late
        moved = jobs.finish(self.control, job_id, "completed", run_number=number)
        # In the queue no run holds the job, also not the one whose number it still has.
        assert moved == (before.status == "running" and not is_late)

    @rule(job_id=ids)
    def cancel(self, job_id: str) -> None:
        job = jobs.request_cancel(self.control, job_id)
        assert job is not None
        assert job.status != "queued"

    @rule(job_id=ids)
    def beat(self, job_id: str) -> None:
        jobs.beat(self.control, "w", [job_id])

    @invariant()
    def moves_are_legal(self) -> None:
        after = {job.job_id: job for job in jobs.newest(self.control, limit=1000)}
        for job_id, job in self.before.items():
            status = after[job_id].status
            assert status == job.status or status in LEGAL_MOVES[job.status]
        self.before = after

    @invariant()
    def times_agree_with_the_state(self) -> None:
        for job in self.before.values():
            assert (job.finished_at is not None) == (job.status in FINAL)
            assert job.status != "running" or job.started_at is not None
            assert 1 <= job.attempt <= ATTEMPTS

    def teardown(self) -> None:
        self.control.close()
        self.folder.cleanup()


JobLife.TestCase.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
TestJobLife = JobLife.TestCase
