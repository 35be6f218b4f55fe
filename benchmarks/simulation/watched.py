"""The control store of one process, and what tells the promises what it granted and decided."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from benchmarks.simulation.clock import SimulatedClock
from benchmarks.simulation.planning import PlanningPromises
from benchmarks.simulation.politeness import PolitenessPromises
from benchmarks.simulation.processes import Process, ProcessStore, SharedStore
from benchmarks.simulation.promises import JobPromises
from warehouse.control import hosts, jobs
from warehouse.control.hosts import CircuitDecision, TokenGrant
from warehouse.records.jobs import Job


class Promises:
    """Every promise of one simulation, and where its trace goes."""

    def __init__(
        self, clock: SimulatedClock, store: SharedStore, note: Callable[[str], None]
    ) -> None:
        self.clock = clock
        self.note = note
        self.jobs = JobPromises(store, clock)
        self.politeness = PolitenessPromises(clock)
        self.planning = PlanningPromises(clock)


class WatchedStore(ProcessStore):
    """The control store of one process."""

    def __init__(self, store: SharedStore, process: Process, promises: Promises) -> None:
        super().__init__(store.engine, clock=promises.clock.unix, process=process)
        self.process = process
        self.promises = promises


def _claim(original: Any, control: WatchedStore, worker_id: str, **given: Any) -> Job | None:
    job: Job | None = original(control, worker_id, **given)
    control.promises.jobs.claimed(None if job is None else job.job_id)
    return job


def _take_token(original: Any, control: WatchedStore, host: str, **given: Any) -> TokenGrant:
    grant: TokenGrant = original(control, host, **given)
    control.promises.note(f"token {host} {grant.wait_s} {grant.waits_for}")
    if grant.waits_for == "day":
        control.promises.politeness.refused(host)
    control.promises.politeness.granted(host, grant)
    return grant


def _pause(original: Any, control: WatchedStore, host: str, wait_s: float) -> None:
    until = control.now() + wait_s
    original(control, host, wait_s)
    control.promises.note(f"pause {host} {until}")
    control.promises.politeness.paused(host, until)


def _check(
    original: Any, control: WatchedStore, host: str, surface: str, **given: Any
) -> CircuitDecision:
    decision: CircuitDecision = original(control, host, surface, **given)
    if not decision.is_allowed or decision.is_probe:
        control.promises.note(f"circuit {host} {surface} {decision}")
    control.promises.politeness.decided((host, surface), decision, control.process.name)
    return decision


def _note_failure(
    original: Any, control: WatchedStore, host: str, surface: str, **given: Any
) -> None:
    promises = control.promises
    began, cause, is_probe = promises.clock.unix(), given["cause"], given["is_probe"]
    original(control, host, surface, **given)
    promises.politeness.failed(
        (host, surface), cause, began, control.process.name, is_probe=is_probe
    )
    promises.note(f"failed {surface} {promises.politeness.state()}")


def _note_success(
    original: Any, control: WatchedStore, host: str, surface: str, **given: Any
) -> None:
    original(control, host, surface, **given)
    control.promises.politeness.answered((host, surface), is_probe=given["is_probe"])


def _release_probe(original: Any, control: WatchedStore, host: str, surface: str) -> None:
    original(control, host, surface)
    control.promises.politeness.released((host, surface))


def _note_answer(
    original: Any, control: WatchedStore, host: str, surface: str, **given: Any
) -> Any:
    answers = original(control, host, surface, **given)
    control.promises.note(f"answer {surface} {given['kind']}")
    control.promises.planning.learned(surface, given["kind"])
    return answers


_WATCHED: tuple[tuple[Any, str, Callable[..., object]], ...] = (
    (jobs, "claim", _claim),
    (hosts, "take_token", _take_token),
    (hosts, "pause_host", _pause),
    (hosts, "check_circuit", _check),
    (hosts, "note_failure", _note_failure),
    (hosts, "note_success", _note_success),
    (hosts, "release_probe", _release_probe),
    (hosts, "note_answer", _note_answer),
)


@contextmanager
def watch_stores() -> Iterator[None]:
    """Tell the promises of each store what its process was granted and decided."""
    with ExitStack() as stack:
        for module, name, watched in _WATCHED:
            stack.enter_context(patch.object(module, name, partial(watched, getattr(module, name))))
        yield
