"""What must hold at every moment of a simulation, judged without the product's own rules."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.job_states import ATTEMPTS, FINAL, LEGAL_MOVES
from warehouse.control.records import CircuitDecision, TokenGrant
from warehouse.records.jobs import Job

ROUNDING = 1e-3


class JobPromises:
    """The promises of the queue, over each job as it was after the event before."""

    def __init__(self) -> None:
        self._seen: dict[str, Job] = {}
        self._completed: set[str] = set()

    def in_order(self) -> list[Job]:
        return sorted(self._seen.values(), key=lambda one: one.job_id)

    def attempts(self) -> int:
        return sum(one.attempt for one in self._seen.values())

    def check(self, found: Sequence[Job]) -> None:
        after = {one.job_id: one for one in found}
        for job_id, before in self._seen.items():
            assert job_id in after, "a job vanished"
            _check_move(before, after[job_id])
        for one in found:
            self._check_state(one)
        wanted = [x.fingerprint for x in found if x.status not in FINAL and not x.cancel_requested]
        assert all(count == 1 for count in Counter(wanted).values()), "two jobs for one wish"
        self._seen = after

    def check_claim(self, job_id: str, run_number: int, claim: str) -> None:
        """A run that holds its job learns of a cancellation; one that lost it learns that."""
        job = self._seen[job_id]
        if job.status != "running" or job.run_number != run_number:
            assert claim == "lost", "a run that was given up still holds its job"
        else:
            assert claim == ("cancelled" if job.cancel_requested else "held")

    def check_end(self, job_id: str, run_number: int, status: str, *, is_written: bool) -> None:
        """Only the run that holds the job writes its end."""
        job = self._seen[job_id]
        holds = job.status == "running" and job.run_number == run_number
        assert is_written <= holds, "a run that was given up ended the job"
        if is_written and status == "completed":
            self._completed.add(job_id)

    def _check_state(self, one: Job) -> None:
        assert (one.finished_at is not None) == (one.status in FINAL)
        assert one.status != "failed" or one.error, "a failure without its reason"
        assert 1 <= one.attempt <= ATTEMPTS, "more attempts than were promised"
        assert one.status != "completed" or one.job_id in self._completed, "completed by nobody"
        if one.finished_at is not None:
            assert one.expires_at is not None, "a job is kept for ever"
            assert (one.expires_at - one.finished_at).days >= 29, "a job expires too early"


def _check_move(before: Job, now: Job) -> None:
    assert now.status in {before.status, *LEGAL_MOVES[before.status]}
    assert now.run_number >= before.run_number, "the number of a run went down"
    if before.status == "queued" and now.status == "running":
        assert now.run_number > before.run_number, "two runs have one number"
    assert before.status not in FINAL or now == before, "a job that had ended was changed"
    assert now.attempt - before.attempt <= now.run_number, "attempts without runs"


@dataclass(slots=True)
class PolitenessPromises:
    """A model of what one host sees: how many requests are sent, and when none may be."""

    rate_per_s: float = 0.01
    burst: float = 3
    budget: int = 60
    threshold: int = 3
    open_s: float = 900.0
    probe_s: float = 60.0
    _latest: float = 0.0
    _sent_at: deque[float] = field(default_factory=lambda: deque(maxlen=200))
    _sent_on: Counter[int] = field(default_factory=Counter)
    _failures: int = 0
    _open_until: float | None = None
    _probe_until: float = 0.0

    def granted(self, now: float, grant: TokenGrant) -> None:
        """No day has more requests than its budget, no window more than rate and burst allow."""
        if grant.spent:
            return
        self._latest = max(self._latest, now)  # the clock may have jumped back
        self._sent_on[int(self._latest // 86_400)] += 1
        assert max(self._sent_on.values()) <= self.budget, "more requests than the daily budget"
        self._sent_at.append(self._latest + grant.wait_s)
        last = self._sent_at[-1]
        for back, sent_at in enumerate(reversed(self._sent_at)):
            allowed = self.burst + (last - sent_at) * self.rate_per_s
            assert back + 1 <= allowed + ROUNDING, "more requests than the rate allows"

    def decided(self, now: float, decision: CircuitDecision) -> None:
        """While a circuit is open, no request but one probe."""
        if self._open_until is None:
            assert decision.is_allowed, "a closed circuit refuses"
            return
        is_busy = now < max(self._open_until, self._probe_until)
        assert decision.is_allowed != is_busy, "an open circuit lets a request pass, or none"
        if decision.is_allowed:
            assert decision.is_probe, "a request that is no probe"
            self._probe_until = now + self.probe_s

    def answered(self, *, is_probe: bool) -> None:
        if self._open_until is None or is_probe:
            self._failures, self._open_until, self._probe_until = 0, None, 0.0
            self._openings = 0

    def failed(self, now: float, *, is_probe: bool) -> None:
        """`threshold` failures in a row open the circuit; a failed probe opens it for longer."""
        if self._open_until is not None and not is_probe:
            return
        self._failures += 1
        if is_probe or self._failures >= self.threshold:
            self._open_until = now + min(8, 2**self._openings) * self.open_s
            self._openings += 1
            self._probe_until = 0.0

    _openings: int = 0
