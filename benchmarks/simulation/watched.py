"""The control store of one process, which tells the promises what it granted and decided."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from benchmarks.simulation.clock import SimulatedClock
from benchmarks.simulation.planning import PlanningPromises
from benchmarks.simulation.politeness import PolitenessPromises
from benchmarks.simulation.processes import Process, ProcessDatabase, SharedStore
from benchmarks.simulation.promises import JobPromises
from warehouse.control import ControlStore
from warehouse.control.records import CircuitDecision, TokenGrant
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


class WatchedStore(ControlStore):
    """The control store of one process."""

    def __init__(self, store: SharedStore, process: Process, promises: Promises) -> None:
        clock = promises.clock.unix
        super().__init__(
            ProcessDatabase(store.engine, clock=clock, process=process), world="sandbox"
        )
        self._process = process
        self._promises = promises

    def claim(self, worker_id: str, **given: Any) -> Job | None:
        job = super().claim(worker_id, **given)
        self._promises.jobs.claimed(None if job is None else job.job_id)
        return job

    def take_token(self, host: str, **given: Any) -> TokenGrant:
        grant = super().take_token(host, **given)
        self._promises.note(f"token {host} {grant.wait_s} {grant.spent}")
        if grant.spent:
            self._promises.politeness.refused(host)
        self._promises.politeness.granted(host, grant)
        return grant

    def pause_host(self, host: str, until: datetime) -> None:
        super().pause_host(host, until)
        self._promises.note(f"pause {host} {until}")
        self._promises.politeness.paused(host, until.timestamp())

    def check_circuit(self, host: str, surface: str, *, probe_s: float) -> CircuitDecision:
        decision = super().check_circuit(host, surface, probe_s=probe_s)
        if not decision.is_allowed or decision.is_probe:
            self._promises.note(f"circuit {host} {surface} {decision}")
        self._promises.politeness.decided((host, surface), decision, self._process.name)
        return decision

    def note_failure(self, host: str, surface: str, **given: Any) -> None:
        began, cause, is_probe = self._promises.clock.unix(), given["cause"], given["is_probe"]
        super().note_failure(host, surface, **given)
        self._promises.politeness.failed(
            (host, surface), cause, began, self._process.name, is_probe=is_probe
        )
        self._promises.note(f"failed {surface} {self._promises.politeness.state()}")

    def note_success(self, host: str, surface: str, *, is_probe: bool, with_data: bool) -> None:
        super().note_success(host, surface, is_probe=is_probe, with_data=with_data)
        self._promises.politeness.answered((host, surface), is_probe=is_probe)

    def release_probe(self, host: str, surface: str) -> None:
        super().release_probe(host, surface)
        self._promises.politeness.released((host, surface))

    def note_answer(self, host: str, surface: str, **given: Any) -> Sequence[str]:  # type: ignore[override]
        answers = super().note_answer(host, surface, **given)
        self._promises.note(f"answer {surface} {given['kind']}")
        self._promises.planning.learned(surface, given["kind"])
        return answers
