"""Bugs planted in memory: each must break a promise of the simulation."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from pipelines.orchestration.worker.worker import Worker
from pipelines.parameters.scan import fingerprint
from pipelines.platform.http.circuit_breaker import CircuitBreaker
from pipelines.platform.sources import planner, rules
from pipelines.scan.service import service
from warehouse.control import ControlStore, hosts, jobs
from warehouse.control.jobs import transition_job

WORKER = "pipelines.orchestration.worker.worker.Worker."
CLAIMS = "warehouse.control.jobs."
ENDINGS = "pipelines.scan.service.service."
BUCKET = "warehouse.control.hosts.take"
CIRCUITS = "warehouse.control.hosts."
PLANNER = "pipelines.platform.sources.planner."

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
    requeue = jobs.requeue

    def costly(control: ControlStore, job_id: str, **given: Any) -> bool:
        return requeue(control, job_id, **{**given, "costs_attempt": True})

    return patch.object(jobs, "requeue", costly)


def _ending(change: Callable[[Any, Any], Any]) -> Bug:
    original = service.outcome_of_lost_run

    def changed(job: Any, why: str, *, has_result: bool = False) -> Any:
        return change(job, original(job, why, has_result=has_result))

    return lambda: patch(ENDINGS + "outcome_of_lost_run", changed)


def _results_forgotten() -> AbstractContextManager[object]:
    original = service.outcome_of_lost_run
    return patch(ENDINGS + "outcome_of_lost_run", lambda job, why, **_: original(job, why))


def _anybody_ends() -> AbstractContextManager[object]:
    finish = jobs.finish

    def ended(control: ControlStore, job_id: str, status: Any, **given: Any) -> bool:
        return finish(control, job_id, status, **{**given, "run_number": None})

    return patch.object(jobs, "finish", ended)


def _any_wish_is_new() -> AbstractContextManager[object]:
    count = iter(range(10**9))
    return patch(
        "pipelines.scan.service.service.fingerprint",
        lambda *given: f"{fingerprint(*given)}{next(count)}",
    )


def _deleted_early() -> AbstractContextManager[object]:
    expired = jobs.expired

    def early(control: ControlStore, now: datetime, *, limit: int) -> list[str]:
        return expired(control, now + timedelta(days=1), limit=limit)

    return patch.object(jobs, "expired", early)


def _bucket(change: Callable[[Any, dict[str, Any]], Any]) -> Bug:
    take = hosts.take
    return lambda: patch(BUCKET, lambda bucket, now, **p: take(change(bucket, p), now, **p))


def _faster(bucket: Any, limits: dict[str, Any]) -> Any:
    limits["rate_per_s"] *= 2
    return bucket


def _no_budget(bucket: Any, limits: dict[str, Any]) -> Any:
    limits["daily_budget"] *= 1000
    return bucket


def _failure(**changed: float) -> Bug:
    after = hosts.after_failure
    return lambda: patch(
        CIRCUITS + "after_failure",
        lambda circuit, now, **p: after(circuit, now, **{**p, **changed}),
    )


def _kept_until_now(self: Worker) -> datetime:
    return self.utc()


def _two_probes() -> AbstractContextManager[object]:
    decide = hosts.decide_request
    return patch(CIRCUITS + "decide_request", lambda c, now, **p: (c, decide(c, now, **p)[1]))


async def _yes(*_args: Any, **_given: Any) -> bool:
    return True


def _demands_evaded() -> AbstractContextManager[object]:
    def follows(source: Any, refused: Any) -> bool:
        demands = rules.RefusalScope.NOT_INSTEAD
        return rules.may_follow(source, [pair for pair in refused if pair[1] is not demands])

    return patch(PLANNER + "may_follow", follows)


def _same_host_asked() -> AbstractContextManager[object]:
    scope, of_host = planner.refusal_scope, rules.RefusalScope.OTHER_HOST

    def wider(error: Any) -> Any:
        return rules.RefusalScope.ANY if scope(error) is of_host else scope(error)

    return patch(PLANNER + "refusal_scope", wider)


@contextmanager
def _pauses_forgotten() -> Any:
    take = hosts.take

    def take_although_paused(bucket: Any, now: float, **rules: Any) -> Any:
        return take(replace(bucket, paused_until=None), now, **rules)

    with (
        patch(BUCKET, take_although_paused),
        patch.object(hosts, "paused_until", return_value=None),
    ):
        yield


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
    "a lost run forgets its stored result": _results_forgotten,
    "a run that was given up ends the job": _anybody_ends,
    "an equal request makes a second job": _any_wish_is_new,
    "jobs are deleted a day early": _deleted_early,
    "tokens come twice as fast": _bucket(_faster),
    "the daily budget is not looked at": _bucket(_no_budget),
    "a spent token is not counted": _bucket(lambda bucket, _p: replace(bucket, spent=0)),
    "a bucket is always full": _bucket(lambda bucket, p: replace(bucket, tokens=p["burst"])),
    "a pause is forgotten": _pauses_forgotten,
    "circuits never open": _failure(threshold=10**6),
    "circuits open too early": _failure(threshold=1),
    "circuits close too early": _failure(open_s=1.0),
    "a failed probe does not open for longer": _failure(longest_s=900.0),
    "everybody is the probe": _two_probes,
    "a success leaves the circuit open": lambda: patch(
        CIRCUITS + "after_success", lambda circuit, **_p: circuit
    ),
    "a client goes on in spite of a demand": lambda: patch.object(
        CircuitBreaker, "recheck", lambda *_: None
    ),
    "two demands leave the host open": lambda: patch(
        "pipelines.platform.http.circuit_breaker.closes_host", lambda _surfaces: False
    ),
    "a later source of the host evades a demand": _demands_evaded,
    "a host that wants a pause is asked elsewhere": _same_host_asked,
    "sick sources are asked each time": lambda: patch.object(planner.Planner, "_asks_sick", _yes),
    "a list goes on at another source": lambda: patch.object(
        planner.Planner, "_keep_walk", lambda *_: None
    ),
    "the first answer is enough, however incomplete": lambda: patch(
        PLANNER + "_Attempt.wants", lambda self, _source: self.reading is None
    ),
}
