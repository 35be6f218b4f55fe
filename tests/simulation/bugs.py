"""Bugs planted in memory: each must break a promise of the simulation."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any
from unittest.mock import patch

from pipelines.orchestration.worker.worker import Worker
from pipelines.scan.service import job_endings
from warehouse.control.hosts import circuit_rules, token_bucket
from warehouse.control.job_claims import JobClaimRows
from warehouse.control.jobs import transition_job

WORKER = "pipelines.orchestration.worker.worker.Worker."
CLAIMS = "warehouse.control.job_claims."
ENDINGS = "pipelines.scan.service.job_endings."
BUCKET = "warehouse.control.hosts.host_budgets.take"
CIRCUITS = "warehouse.control.hosts.circuits."

type Bug = Callable[[], AbstractContextManager[object]]


@contextmanager
def _attempts_unlimited() -> Any:
    with ExitStack() as stack:
        stack.enter_context(patch(CLAIMS + "MAX_ATTEMPTS", 99))
        stack.enter_context(patch(ENDINGS + "MAX_ATTEMPTS", 99))
        yield


def _same_run_number() -> AbstractContextManager[object]:
    def moved(*args: Any, **values: Any) -> bool:
        values.pop("run_number", None)
        return transition_job(*args, **values)

    return patch(CLAIMS + "transition_job", moved)


def _stop_costs() -> AbstractContextManager[object]:
    requeue = JobClaimRows.requeue

    def costly(self: JobClaimRows, job_id: str, **given: Any) -> bool:
        return requeue(self, job_id, **{**given, "costs_attempt": True})

    return patch.object(JobClaimRows, "requeue", costly)


def _ending(change: Callable[[Any, Any], Any]) -> Bug:
    original = job_endings.lost_ending

    def changed(job: Any, why: str, *, has_result: bool = False) -> Any:
        return change(job, original(job, why, has_result=has_result))

    return lambda: patch(ENDINGS + "lost_ending", changed)


def _bucket(change: Callable[[Any, dict[str, Any]], Any]) -> Bug:
    take = token_bucket.take
    return lambda: patch(BUCKET, lambda bucket, now, **p: take(change(bucket, p), now, **p))


def _faster(bucket: Any, limits: dict[str, Any]) -> Any:
    limits["rate_per_s"] *= 2
    return bucket


def _no_budget(bucket: Any, limits: dict[str, Any]) -> Any:
    limits["daily_budget"] *= 1000
    return bucket


def _failure(**changed: float) -> Bug:
    after = circuit_rules.after_failure
    return lambda: patch(
        CIRCUITS + "after_failure",
        lambda circuit, now, **p: after(circuit, now, **{**p, **changed}),
    )


def _kept_until_now(self: Worker) -> datetime:
    return self.utc()


def _two_probes() -> AbstractContextManager[object]:
    decide = circuit_rules.decide_request
    return patch(CIRCUITS + "decide_request", lambda c, now, **p: (c, decide(c, now, **p)[1]))


BUGS: dict[str, Bug] = {
    "attempts have no limit": _attempts_unlimited,
    "a new run keeps the old number": _same_run_number,
    "a stopped worker costs an attempt": _stop_costs,
    "jobs of lost workers stay there": lambda: patch(WORKER + "_requeue_lost", lambda _self: None),
    "jobs expire as they end": lambda: patch(WORKER + "_kept_until", _kept_until_now),
    "a lost run fails without a reason": _ending(lambda _job, end: (end[0], None)),
    "a lost run counts as completed": _ending(lambda _job, _end: ("completed", None)),
    "a lost run forgets its cancellation": _ending(
        lambda job, end: ("queued", None) if job.cancel_requested else end
    ),
    "tokens come twice as fast": _bucket(_faster),
    "the daily budget is not looked at": _bucket(_no_budget),
    "a spent token is not counted": _bucket(lambda bucket, _p: replace(bucket, spent=0)),
    "a bucket is always full": _bucket(lambda bucket, p: replace(bucket, tokens=p["burst"])),
    "circuits never open": _failure(threshold=10**6),
    "circuits open too early": _failure(threshold=1),
    "circuits close too early": _failure(open_s=1.0),
    "a failed probe does not open for longer": _failure(longest_s=900.0),
    "everybody is the probe": _two_probes,
    "a success leaves the circuit open": lambda: patch(
        CIRCUITS + "after_success", lambda circuit, **_p: circuit
    ),
}
