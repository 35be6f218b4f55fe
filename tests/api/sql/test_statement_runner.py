"""How statements take turns, and what an ended process means; no process is started."""

import threading
from collections.abc import Callable, Iterator
from signal import SIGABRT, SIGKILL, SIGSEGV
from typing import Any

import pytest

from api.responses.errors import QueryLimitError
from api.services.sql import runner as runners
from api.services.sql.query_process import (
    Statement,
    StatementAnswer,
    StatementFault,
    StatementSummary,
)
from api.services.sql.runner import (
    QueryCancelledError,
    StatementLimits,
    StatementRunner,
    StatementTicket,
)
from warehouse.records.errors import (
    CapacityExhaustedError,
    InvalidParameterError,
    SametrackError,
    WarehouseUnavailableError,
)

ASKED = Statement("select 1")
ANSWER = StatementAnswer(
    StatementSummary(
        columns=[], row_count=0, is_cut=False, seconds=0.0, as_of=None, is_history_rewritten=False
    ),
    b"[]",
)
type Answer = StatementAnswer | StatementFault | BaseException | Callable[[], StatementAnswer]


class FakeProcess:
    """A process that answers as scripted; `code` is how it ends. -9: killed by the system."""

    def __init__(
        self, *answers: Answer, start: BaseException | None = None, code: int | None = -9
    ) -> None:
        self._answers = list(answers)
        self._start = start
        self._code = code
        self.asked = 0
        self.has_ended = self.is_killed = self.is_ended = False

    def wait_until_ready(self) -> None:
        if self._start is not None:
            raise self._start

    def ask(self, statement: Statement, seconds: float) -> StatementAnswer | StatementFault:
        assert (statement, seconds) == (ASKED, 2.0)
        self.asked += 1
        answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer() if callable(answer) else answer

    def exit_code(self) -> int | None:
        return self._code

    def kill(self) -> None:
        self.is_killed = True

    def end(self) -> None:
        self.is_ended = True


class Stage:
    """A runner, and the processes that it will start."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left: list[FakeProcess] = []
        self.orders: list[dict[str, Any]] = []
        monkeypatch.setattr(runners, "_QueryProcess", self._start)
        limits = StatementLimits(seconds=2.0, memory_mb=64, waiting=1)
        self.runner = StatementRunner("lake", "sandbox", limits=limits)

    def run(self, *processes: FakeProcess, ticket: StatementTicket | None = None) -> Any:
        self.left.extend(processes)
        return self.runner.run(ASKED, ticket)

    def _start(self, order: dict[str, Any]) -> FakeProcess:
        self.orders.append(order)
        return self.left.pop(0)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    made = Stage(monkeypatch)
    yield made
    made.runner.close()


def test_a_process_is_kept_for_the_next_statement(stage: Stage) -> None:
    kept = FakeProcess(ANSWER, ANSWER)
    assert [stage.run(kept), stage.run()] == [ANSWER, ANSWER]
    assert len(stage.orders) == 1
    assert stage.orders[0]["memory_mb"] == 64
    assert not kept.is_ended


def test_a_process_that_ended_for_lack_of_work_is_replaced_once(stage: Stage) -> None:
    idle, next_one = FakeProcess(EOFError(), code=0), FakeProcess(ANSWER)
    assert stage.run(idle, next_one) == ANSWER
    assert (idle.is_ended, next_one.asked) == (True, 1)


def test_a_process_that_ended_between_two_statements_is_replaced(stage: Stage) -> None:
    killed = FakeProcess(ANSWER)
    stage.run(killed)
    killed.has_ended = True
    assert stage.run(FakeProcess(ANSWER)) == ANSWER
    assert (killed.is_ended, killed.asked) == (True, 1)


@pytest.mark.parametrize("signal", [SIGKILL, SIGABRT])
def test_a_process_that_was_ended_at_work_had_too_little_memory(stage: Stage, signal: int) -> None:
    process = FakeProcess(OSError(), code=-signal)
    with pytest.raises(QueryLimitError, match=r"more memory than it may have \(64 MB\)"):
        stage.run(process)
    assert (process.asked, process.is_ended) == (1, True)


@pytest.mark.parametrize(
    ("codes", "how"),
    [
        ([-SIGSEGV], " (signal 11)"),
        ([1], " (code 1)"),
        ([None], ""),
        ([0, 0], " (code 0)"),
    ],
    ids=["crashed", "failed", "unknown", "ended-twice"],
)
def test_a_process_that_crashed_at_work_is_no_lack_of_memory(
    stage: Stage, codes: list[int | None], how: str
) -> None:
    processes = [FakeProcess(EOFError(), code=code) for code in codes]
    with pytest.raises(WarehouseUnavailableError) as caught:
        stage.run(*processes)
    assert caught.value.detail == f"the process for statements ended unexpectedly{how}"
    assert [(process.asked, process.is_ended) for process in processes] == [(1, True)] * len(codes)
    assert stage.run(FakeProcess(ANSWER)) == ANSWER


def test_a_statement_that_takes_too_long_ends_its_process(stage: Stage) -> None:
    slow = FakeProcess(TimeoutError())
    with pytest.raises(QueryLimitError, match="longer than 2 s"):
        stage.run(slow)
    assert slow.is_ended


@pytest.mark.parametrize(
    ("fault", "error", "reported"),
    [
        pytest.param(
            StatementFault("invalid", "no column x", "did you mean y"),
            InvalidParameterError, "no column x", id="invalid",
        ),
        pytest.param(
            StatementFault("limit", "the answer has more than 32 MB", "select less"),
            QueryLimitError, "more than 32 MB", id="limit",
        ),
        pytest.param(
            StatementFault("unavailable", "the lake cannot be read", None),
            WarehouseUnavailableError, "the lake cannot be read", id="unavailable",
        ),
    ],
)  # fmt: skip
def test_a_fault_of_the_process_is_an_error_here(
    stage: Stage, fault: StatementFault, error: type[SametrackError], reported: str
) -> None:
    process = FakeProcess(fault)
    with pytest.raises(error, match=reported) as caught:
        stage.run(process)
    assert caught.value.hint == fault.hint
    assert process.is_ended is (fault.failure == "limit")  # its memory stays large


def test_a_process_that_does_not_start_is_no_fault_of_the_statement(stage: Stage) -> None:
    broken = FakeProcess(start=EOFError())
    with pytest.raises(WarehouseUnavailableError, match="did not start"):
        stage.run(broken)
    assert broken.is_ended
    assert stage.run(FakeProcess(ANSWER)) == ANSWER


def test_a_statement_that_is_cancelled_at_work_ends_its_process(stage: Stage) -> None:
    ticket = stage.runner.open_ticket()

    def cancel() -> StatementAnswer:
        assert stage.runner._running is ticket
        ticket.cancel()
        raise EOFError

    process = FakeProcess(cancel)
    with pytest.raises(QueryCancelledError):
        stage.run(process, ticket=ticket)
    assert (process.is_killed, process.is_ended) == (True, True)


def test_a_statement_that_was_answered_while_it_was_cancelled_leaves_no_process(
    stage: Stage,
) -> None:
    ticket = stage.runner.open_ticket()

    def answer() -> StatementAnswer:
        ticket.cancel()
        return ANSWER

    killed = FakeProcess(answer)
    assert stage.run(killed, ticket=ticket) == ANSWER
    assert killed.is_ended
    assert stage.run(FakeProcess(ANSWER)) == ANSWER


def test_statement_runner_refuses_statements_after_its_end(stage: Stage) -> None:
    process = FakeProcess(ANSWER)
    stage.run(process)
    stage.runner.close()
    assert process.is_ended
    with pytest.raises(WarehouseUnavailableError, match="being stopped"):
        stage.run()


class WatchedTurns(threading.Condition):
    """Says when somebody begins to wait for a turn."""

    def __init__(self) -> None:
        super().__init__()
        self.is_waited_for = threading.Event()

    def wait_for[T](self, predicate: Callable[[], T], timeout: float | None = None) -> T:
        if not predicate():
            self.is_waited_for.set()
        return super().wait_for(predicate, timeout)


def test_statement_runner_queues_one_statement_and_refuses_the_next(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, turns = stage.runner, WatchedTurns()
    monkeypatch.setattr(runner, "_turns", turns)
    waiting_ticket, refused = runner.open_ticket(), []

    def wait_in_line() -> None:
        with pytest.raises(QueryCancelledError):
            runner.run(ASKED, waiting_ticket)
        refused.append(waiting_ticket)

    waiting = threading.Thread(target=wait_in_line)

    def meanwhile() -> StatementAnswer:
        waiting.start()
        turns.is_waited_for.wait()
        assert runner._waiting == 1
        with pytest.raises(CapacityExhaustedError, match="2 statements run or wait already"):
            runner.run(ASKED)
        waiting_ticket.cancel()
        waiting.join()
        return ANSWER

    assert stage.run(FakeProcess(meanwhile)) == ANSWER
    assert (refused, runner._waiting) == ([waiting_ticket], 0)
