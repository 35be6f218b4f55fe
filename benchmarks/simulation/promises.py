"""What must hold of jobs at every moment, judged without the product's own rules."""

from collections import Counter
from typing import Any, NamedTuple

from benchmarks.simulation.clock import SimulatedClock
from benchmarks.simulation.processes import COLUMNS, SharedStore
from tests.scan.rules.job_states import ATTEMPTS, FINAL, LEGAL_MOVES
from warehouse.records.jobs import JobStatus

RETENTION_DAYS = 2
DAY_S = 86_400.0


class JobState(NamedTuple):
    """The columns of a job that its promises are about."""

    job_id: str
    status: JobStatus
    input: str
    priority: int
    cancel_requested: bool
    attempt: int
    run_number: int
    created_at: float
    finished_at: float | None
    expires_at: float | None
    error: str | None
    worker_id: str | None


_PLACES = [COLUMNS.index(name) for name in JobState._fields]


class JobPromises:
    """The promises of the queue, over each job as it was after the event before."""

    def __init__(self, store: SharedStore, clock: SimulatedClock) -> None:
        self._store = store
        self._clock = clock
        self._rows: dict[str, tuple[object, ...]] = {}
        self._seen: dict[str, JobState] = {}
        self.completed: set[str] = set()
        self._succeeded: set[tuple[str, int]] = set()
        self.gone: set[str] = set()

    def in_order(self) -> list[JobState]:
        return sorted(self._seen.values())

    def open_jobs(self) -> list[JobState]:
        return [one for one in self.in_order() if one.status not in FINAL]

    def attempts(self) -> int:
        return sum(one.attempt for one in self._seen.values())

    def check(self) -> list[JobState]:
        """Judge every job that has changed; return these as they are now."""
        changed = [self._check_one(job_id) for job_id in self._store.changed_jobs()]
        if not changed:
            return []
        wanted = [
            one.input
            for one in self._seen.values()
            if one.status not in FINAL and not one.cancel_requested
        ]
        assert all(count == 1 for count in Counter(wanted).values()), "two jobs for one wish"
        return [one for one in changed if one is not None]

    def check_all(self) -> None:
        """Compare every job, so that no change goes unnoticed."""
        self.check()
        stored = {str(row[0]): row for row in self._store.jobs()}
        assert stored == self._rows, "a job changed without a trace"

    def claimed(self, job_id: str | None) -> None:
        """A claim takes the job of the highest priority, among these the oldest."""
        queued = [one for one in map(_state, self._store.jobs()) if one.status == "queued"]
        if job_id is None:
            assert not queued, "nothing is claimed, although a job waits"
            return
        row = self._store.job(job_id)
        assert row is not None
        mine = _state(row)
        for other in queued:
            is_before = (-other.priority, other.created_at) < (-mine.priority, mine.created_at)
            assert not is_before, "a job was claimed before its turn"

    def check_claim(self, job_id: str, run_number: int, claim: str) -> None:
        """A run that holds its job learns of a cancellation; one that lost it learns that."""
        job = self._seen.get(job_id)
        if job is None or job.status != "running" or job.run_number != run_number:
            assert claim == "lost", "a run that was given up still holds its job"
        else:
            assert claim == ("cancelled" if job.cancel_requested else "held")

    def check_end(self, job_id: str, run_number: int, status: str, *, is_written: bool) -> None:
        """Only the run that holds the job writes its end."""
        job = self._seen.get(job_id)
        holds = job is not None and job.status == "running" and job.run_number == run_number
        assert is_written <= holds, "a run that was given up ended the job"
        if is_written and status == "completed":
            self.completed.add(job_id)

    def succeeded(self, job_id: str, run_number: int, *, is_certain: bool) -> None:
        """The result of this run is stored, but its process may die before it says so.

        Not `is_certain`: a worker may have judged the run already, and be about to give it up.
        """
        self.completed.add(job_id)
        if is_certain:
            self._succeeded.add((job_id, run_number))

    def check_joined(self, job_id: str, text: str, priority: int) -> None:
        """Whoever asks gets a job of its own wish, and waits no longer than it asked for."""
        row = self._store.job(job_id)
        assert row is not None, "a request without a job"
        job = _state(row)
        assert job.input == text, "the job of another wish"
        assert job.status != "queued" or job.priority >= priority, "a job of too low a priority"

    def _check_one(self, job_id: str) -> JobState | None:
        row, before = self._store.job(job_id), self._seen.get(job_id)
        if row is None:
            self._check_gone(before)
            self._rows.pop(job_id, None)
            self._seen.pop(job_id, None)
            self.gone.add(job_id)
            return None
        now = _state(row)
        assert job_id not in self.gone, "a deleted job came back"
        if before is not None:
            is_same = row == self._rows[job_id]
            assert before.status not in FINAL or is_same, "a job that had ended was changed"
            self._check_move(before, now)
        self._check_state(now)
        self._rows[job_id], self._seen[job_id] = row, now
        return now

    def _check_gone(self, before: JobState | None) -> None:
        if before is None:
            return  # created and gone within one event
        assert before.status in FINAL, "a job vanished before its end"
        now = self._clock.unix()
        assert before.expires_at is not None, "a job vanished that is kept for ever"
        assert before.expires_at <= now, "a job vanished before its time"

    def _check_state(self, one: JobState) -> None:
        assert (one.finished_at is not None) == (one.status in FINAL)
        assert one.status != "failed" or one.error, "a failure without its reason"
        assert 1 <= one.attempt <= ATTEMPTS, "more attempts than were promised"
        assert one.status != "completed" or one.job_id in self.completed, "completed by nobody"
        if one.finished_at is not None:
            assert one.expires_at is not None, "a job is kept for ever"
            kept_s = one.expires_at - one.finished_at
            assert kept_s >= (RETENTION_DAYS - 0.5) * DAY_S, "a job expires too early"

    def _check_move(self, before: JobState, now: JobState) -> None:
        assert now.status in {before.status, *LEGAL_MOVES[before.status]}
        assert now.run_number >= before.run_number, "the number of a run went down"
        if before.status == "queued" and now.status == "running":
            assert now.run_number > before.run_number, "two runs have one number"
        assert now.attempt - before.attempt <= now.run_number, "attempts without runs"
        assert now.attempt >= before.attempt, "an attempt was forgotten"
        assert now.cancel_requested >= before.cancel_requested, "a cancellation was forgotten"
        is_lost = before.status == "running" and now.status == "queued"
        assert not (is_lost and before.cancel_requested), "a cancelled job goes on"
        is_handed_back = is_lost and now.attempt == before.attempt  # it goes on from its checkpoint
        if (now.job_id, before.run_number) in self._succeeded and before.status == "running":
            is_kept = is_handed_back or now.status in {"running", "completed"}
            assert is_kept, "a stored result was thrown away"


def _state(row: tuple[Any, ...]) -> JobState:
    return JobState(*(row[place] for place in _PLACES))
