"""Events of questions: scans and services ask the planner, and the platform changes its moods."""

import asyncio
import random
from dataclasses import dataclass
from typing import Any

from benchmarks.simulation.clock import SimulatedLoop
from benchmarks.simulation.job_events import JobEvents
from benchmarks.simulation.processes import Killed
from benchmarks.simulation.upstream import (
    DETAIL_QUESTION,
    LIST_QUESTION,
    Platform,
    ReadingProcess,
    asked_question,
    open_reader,
)
from benchmarks.simulation.watched import Promises
from pipelines.platform.call_trace import CallTrace, open_call_trace
from pipelines.platform.sources.table import SourceRequest
from warehouse.records.errors import BudgetSpentError, InputError, UpstreamError

QUESTIONS: dict[str, Any] = {"detail": DETAIL_QUESTION, "list": LIST_QUESTION}
POINTS = 30
type Result = tuple[str, frozenset[str]] | UpstreamError | None


@dataclass(eq=False)
class Questions:
    """The events of questions."""

    chance: random.Random
    promises: Promises
    platform: Platform
    loop: SimulatedLoop
    jobs: JobEvents
    _asked: int = 0
    _service: ReadingProcess | None = None

    def change_mood(self) -> None:
        self.platform.change()

    def ask(self) -> None:
        """One or two processes ask one or two questions each, at the same time."""
        readers = [self._reader() for _ in range(self.chance.choice((1, 1, 2)))]
        if self.chance.random() < 0.1:
            readers[0].process.dies_in = self.chance.randrange(POINTS)
        asks = [
            self._ask(one, self.chance.choice(("detail", "detail", "list")))
            for one in dict.fromkeys(readers)
            for _ in range(self.chance.choice((1, 1, 2)))
        ]
        self._run(asks)

    def recover(self) -> None:
        """When every surface answers again and every pause is over, questions are answered."""
        self.platform.recover()
        clock = self.promises.clock
        result: Result = None
        for _ in range(2):
            ends = (self.promises.politeness.latest_end(), self.promises.planning.latest_end())
            clock.passed_s += max(0.0, max(ends) - clock.unix()) + 1.0
            result = self._run([self._ask(self._open("service"), "detail")])[0]
        is_answered = not isinstance(result, UpstreamError) or isinstance(result, BudgetSpentError)
        assert is_answered, f"a platform that has recovered is not read: {result!r}"

    def _reader(self) -> ReadingProcess:
        """A scan under way, or else the service."""
        scans = [scan for _, scan in self.jobs.scans() if scan.process.is_alive]
        if scans and self.chance.random() < 0.7:
            scan = self.chance.choice(scans)
            scan.reads = scan.reads or open_reader(
                scan.process, scan.control, self.promises, self.platform
            )
            return scan.reads
        if self._service is None or not self._service.process.is_alive:
            self._service = self._open("service")
        return self._service

    def _open(self, what: str) -> ReadingProcess:
        process, control = self.jobs.process(what)
        return open_reader(process, control, self.promises, self.platform)

    def _run(self, asks: list[Any]) -> list[Result]:
        """Run until all have ended; one may be cancelled, and the clock may jump meanwhile."""
        held_up, self.jobs.held_up = self.jobs.held_up, lambda: None
        tasks = self.loop.run_until_complete(self._together(asks))
        self.jobs.held_up = held_up
        for _, scan in self.jobs.scans():
            scan.is_gone = scan.is_gone or not scan.process.is_alive
        return [_result(task) for task in tasks]

    async def _together(self, asks: list[Any]) -> list[asyncio.Task[Result]]:
        tasks = [asyncio.create_task(one) for one in asks]
        timers = []
        if self.chance.random() < 0.1:
            after_s = self.chance.uniform(0, 30)
            timers.append(self.loop.call_later(after_s, self.chance.choice(tasks).cancel))
        if self.chance.random() < 0.05:
            seconds = self.chance.choice((-600.0, 600.0))
            timers.append(self.loop.call_later(10, self.promises.clock.jump, seconds))
        await asyncio.wait(tasks)
        for timer in timers:
            timer.cancel()
        await asyncio.sleep(0.1)  # what threads were still doing
        return tasks

    async def _ask(self, one: ReadingProcess, name: str) -> Result:
        self._asked += 1
        entity, begun_at = str(self._asked), None
        if name == "list" and one.lists and self.chance.random() < 0.5:
            entity, begun_at = one.lists.popitem()
        asked = asked_question(name, begun_at)
        one.reader.questions[entity] = asked
        request = SourceRequest(entity_id=entity, cursor=20 if begun_at else 0)
        try:
            with open_call_trace() as call_trace:
                result = await _answer(one, name, request)
        finally:
            del one.reader.questions[entity]
        if result is not None:
            self._judge(asked, call_trace, result)
        if name == "list" and isinstance(result, tuple):
            one.lists[entity] = begun_at or result[0]
        return result

    def _judge(self, asked: Any, call_trace: CallTrace, result: Any) -> None:
        verdicts = {surface: verdict for _, surface, verdict in call_trace.verdicts}
        outcome = result if isinstance(result, tuple) else f"{result.type} {result.reason}"
        self.promises.note(f"plan {asked.name} {sorted(verdicts.items())} {_describe(outcome)}")
        self.promises.planning.judge(asked, verdicts, result)


async def _answer(one: ReadingProcess, name: str, request: SourceRequest) -> Result:
    try:
        found = await one.planner.ask(QUESTIONS[name], request)
    except UpstreamError as error:
        return error
    except InputError:
        return None  # "no such id" ends a question
    return found.surface, found.value


def _describe(result: Any) -> str:
    return result if isinstance(result, str) else f"{result[0]} {sorted(result[1])}"


def _result(task: asyncio.Task[Result]) -> Result:
    """Return the answer; None for what was cancelled or killed."""
    if task.cancelled() or isinstance(task.exception(), Killed):
        return None
    return task.result()
