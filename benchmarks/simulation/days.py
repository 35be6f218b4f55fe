"""Days of jobs and questions under faults, kills and clock jumps, drawn from one seed.

Control store, service, worker, maintenance, client, rate limit, circuits and planner are real; the
clock, ids and chance are the seed's, so a seed that fails does so again, event by event. Not here:
what scans compute (`fuzz/kills.py`), and Dagster's own records (`fuzz/jobs.py`).
"""

import hashlib
import random
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from unittest.mock import patch
from uuid import UUID

import structlog

from benchmarks.simulation.clock import SimulatedClock, SimulatedLoop
from benchmarks.simulation.job_events import JobEvents
from benchmarks.simulation.processes import SharedStore
from benchmarks.simulation.questions import Questions
from benchmarks.simulation.scans import RunRecords
from benchmarks.simulation.upstream import Platform
from benchmarks.simulation.watched import Promises, watch_stores

STEPS_S = (0.2, 2.0, 6.0, 30.0, 600.0, 7200.0, 40_000.0)
JUMPS_S = (-3600.0, -30.0, 30.0, 3600.0)
LOOK_AT_ALL_EVERY = 100
LINES_KEPT = 40


class BrokenPromiseError(AssertionError):
    """A promise was broken; the message says which, after what, and how to see it again."""


class Simulation:
    """What lives in one seed, and the events that may happen."""

    def __init__(self, seed: int, store: SharedStore, loop: SimulatedLoop) -> None:
        self.events = 0
        self._trace = hashlib.sha256()
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)
        self._chance = random.Random(seed)
        self._clock = loop.simulated
        self._promises = Promises(self._clock, store, self.note)
        self._is_nested = False
        platform = Platform(self._chance)
        self.jobs = JobEvents(
            self._chance, self._promises, store, RunRecords(), self._let_others_go_on
        )
        self.questions = Questions(self._chance, self._promises, platform, loop, self.jobs)
        self._events: tuple[tuple[Callable[[], None], int], ...] = (
            (self.jobs.ask, 8), (self.jobs.ask_again, 1), (self.jobs.cancel, 2),
            (self.jobs.terminate, 1), (self.jobs.step, 18), (self.jobs.start_worker, 5),
            (self.jobs.kill_worker, 1), (self.jobs.stop_worker, 1), (self.jobs.silence_worker, 1),
            (self.jobs.wake_worker, 2), (self.jobs.kill_scan, 2), (self.jobs.end_scan, 6),
            (self.jobs.maintain, 1), (self.questions.ask, 6), (self.questions.change_mood, 5),
            (self.pass_time, 14), (self.jump_clock, 1),
        )  # fmt: skip
        self._choices = [event for event, _ in self._events]
        self._weights = [weight for _, weight in self._events]

    def note(self, line: str) -> None:
        """Add a line to the trace."""
        self._trace.update(line.encode() + b"\n")
        self.lines.append(line)

    def trace(self) -> str:
        return self._trace.hexdigest()

    def live(self, days: float) -> None:
        """Let so many days pass, then bring every job to its end."""
        self.jobs.start_worker()
        while self._clock.passed_s < days * 86_400:
            self._happen(self._chance.choices(self._choices, self._weights)[0])
            if self.events % LOOK_AT_ALL_EVERY == 0:
                self._promises.jobs.check_all()
        self._is_nested = True  # nobody holds anybody up any more
        self.jobs.bring_to_the_end(self._look)
        self.questions.recover()
        self._promises.jobs.check_all()

    def pass_time(self) -> None:
        """Nights pass, too, but not while a process is held up between two transactions."""
        steps = STEPS_S[:-1] if self._is_nested else STEPS_S
        self._clock.passed_s += self._chance.choice(steps) * self._chance.uniform(0.5, 1.5)

    def jump_clock(self) -> None:
        self._clock.jump(self._chance.choice(JUMPS_S))

    def _happen(self, event: Callable[[], None]) -> None:
        self.events += 1
        event()
        self._look(event.__name__)

    def _look(self, name: str) -> None:
        """Judge what an event has changed, and note it."""
        changed = sorted(map(str, self._promises.jobs.check()))
        self.note(f"{name} {self._clock.passed_s} {self._clock.jumped_s} {changed}")

    def _let_others_go_on(self) -> None:
        """A process is held up between two transactions: other events come first."""
        if self._is_nested or self._chance.random() >= HELD_UP:
            return
        self._is_nested = self.jobs.is_somebody_held_up = True
        self._look("held up")
        nested = (
            self.jobs.ask, self.jobs.cancel, self.jobs.step, self.jobs.kill_worker,
            self.jobs.end_scan, self.jobs.kill_scan, self.jobs.maintain, self.pass_time,
        )  # fmt: skip
        for _ in range(self._chance.randint(1, 3)):
            self._happen(self._chance.choice(nested))
        self._is_nested = self.jobs.is_somebody_held_up = False


HELD_UP = 0.03
"""Share of the transactions before which others go on."""


@cache
def _shared_store() -> SharedStore:
    """One store for all seeds of this process: statements are compiled once."""
    return SharedStore()


def simulate(seed: int, *, days: float) -> str:
    """Live so many days of a seed; return the hash of its trace.

    Raises:
        BrokenPromiseError: A promise was broken, or the product failed.
    """
    return run_seed(seed, days=days).trace()


def run_seed(seed: int, *, days: float) -> Simulation:
    """The same; return the simulation."""
    ids = random.Random(f"ids {seed}")
    store = _shared_store()
    store.clear()
    with ExitStack() as stack:
        stack.enter_context(structlog.testing.capture_logs())
        drawn_ids = patch("warehouse.control.jobs.uuid4", lambda: UUID(int=ids.getrandbits(128)))
        stack.enter_context(drawn_ids)
        stack.enter_context(watch_stores())
        for name in ("delete_runless_materializations", "delete_check_results"):
            stack.enter_context(patch(f"{DAGSTER_COMPAT}.{name}", lambda *_: None))
        stack.enter_context(patch(SESSION, lambda **_: None))  # nothing leaves the machine
        loop = SimulatedLoop(SimulatedClock(), random.Random(f"threads {seed}"))
        stack.callback(loop.close)
        simulation = Simulation(seed, store, loop)
        try:
            simulation.live(days)
        except Exception as error:
            last = "\n  ".join(simulation.lines)
            raise BrokenPromiseError(
                f"seed {seed}, event {simulation.events}: {error!r}\n"
                f"replay: make simulate SEED={seed} DAYS={days:g}\nlast events:\n  {last}"
            ) from error
    return simulation


SESSION = "pipelines.platform.http.client.httpx2.AsyncClient"
DAGSTER_COMPAT = "pipelines.orchestration.dagster_compat"
