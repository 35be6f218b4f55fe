"""The process that runs statements of users: its limits, its end, and who waits for it."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from api.responses.errors import QueryLimitError
from api.services.sql import runner as query_runner
from api.services.sql.query_process import Statement, StatementAnswer, StatementFault
from api.services.sql.runner import (
    QueryCancelledError,
    StatementLimits,
    StatementRunner,
    StatementTicket,
)
from tests.deployment import wait_for
from warehouse.lake.store import open_lake
from warehouse.records.errors import (
    CapacityExhaustedError,
    InvalidParameterError,
    WarehouseUnavailableError,
)

pytestmark = pytest.mark.full

ENDLESS = Statement("select count(*) from range(9000000000000)")
ONE = Statement("select 1")
type OpenRunner = Callable[..., StatementRunner]


@pytest.fixture(scope="module")
def open_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenRunner]:
    """Opens runners over an empty lake, whose temporary files are in a folder of these tests."""
    scratch = tmp_path_factory.mktemp("scratch")
    lake = open_lake(str(tmp_path_factory.mktemp("home") / "lake"), world="mock")
    opened: list[StatementRunner] = []

    def open_one(*, seconds: float = 120, waiting: int = 4, idle_s: float = 300) -> StatementRunner:
        limits = StatementLimits(seconds, memory_mb=128, waiting=waiting, idle_s=idle_s)
        opened.append(StatementRunner(lake.url, "mock", limits=limits))
        return opened[-1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tempfile.tempdir", str(scratch))
        yield open_one
        for runner in opened:
            runner.close()
    assert list(scratch.iterdir()) == []


@pytest.fixture(scope="module")
def runner(open_runner: OpenRunner) -> StatementRunner:
    """One with the usual limits, which no test closes."""
    return open_runner()


def test_a_statement_is_answered_and_an_invalid_one_named(runner: StatementRunner) -> None:
    answer = runner.run(Statement("select 7 as n, $who as who", {"who": "Lin"}))
    assert (answer.body, answer.summary.row_count) == (b'[[7,"Lin"]]', 1)
    with pytest.raises(InvalidParameterError, match="one read-only statement"):
        runner.run(Statement("drop table marts.rankings"))
    assert runner.run(Statement("from marts.rankings")).summary.row_count == 0


def test_a_statement_without_end_is_ended_and_the_next_is_answered(open_runner: OpenRunner) -> None:
    runner = open_runner(seconds=1)
    with pytest.raises(QueryLimitError, match="ran longer than 1 s"):
        runner.run(ENDLESS)
    patient = open_runner()
    assert patient.run(ONE).body == b"[[1]]"


@pytest.mark.parametrize(
    "sql",
    ["select list(i) from range(1000000000) t(i)", "select repeat('x', 1500000000) as x"],
)
def test_a_statement_that_needs_too_much_memory_is_ended(runner: StatementRunner, sql: str) -> None:
    with pytest.raises(QueryLimitError, match=r"more memory than it may have \(128 MB\)"):
        runner.run(Statement(sql))
    assert runner.run(ONE).body == b"[[1]]"


def test_a_running_and_a_waiting_statement_can_be_cancelled(runner: StatementRunner) -> None:
    runner.run(ONE)
    tickets = [runner.open_ticket(), runner.open_ticket()]
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(runner.run, ENDLESS, tickets[0])
        wait_for(lambda: runner._running is tickets[0])
        waiting = pool.submit(runner.run, ENDLESS, tickets[1])
        wait_for(lambda: runner._waiting == 1)
        for ticket, future in ((tickets[1], waiting), (tickets[0], running)):
            ticket.cancel()
            with pytest.raises(QueryCancelledError):
                future.result(timeout=240)
    assert runner.run(ONE).body == b"[[1]]"


def test_a_statement_cancelled_as_it_is_answered_leaves_the_next_one_alone(
    runner: StatementRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = runner.open_ticket()
    ask = query_runner._QueryProcess.ask

    def ask_then_cancel(
        child: query_runner._QueryProcess, statement: Statement, seconds: float
    ) -> StatementAnswer | StatementFault:
        answer = ask(child, statement, seconds)
        if runner._running is ticket:
            ticket.cancel()
        return answer

    monkeypatch.setattr(query_runner._QueryProcess, "ask", ask_then_cancel)
    assert runner.run(ONE, ticket).body == b"[[1]]"
    assert runner.run(ONE).body == b"[[1]]"


def test_a_cancelled_ticket_starts_nothing(runner: StatementRunner) -> None:
    ticket: StatementTicket = runner.open_ticket()
    ticket.cancel()
    with pytest.raises(QueryCancelledError):
        runner.run(ENDLESS, ticket)


def test_more_statements_than_may_wait_are_refused(open_runner: OpenRunner) -> None:
    runner = open_runner(waiting=0)
    ticket = runner.open_ticket()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(runner.run, ENDLESS, ticket)
        wait_for(lambda: runner._running is ticket)
        with pytest.raises(CapacityExhaustedError, match="1 statements run or wait") as refusal:
            runner.run(ONE)
        assert refusal.value.retry_after == 5
        ticket.cancel()
        with pytest.raises(QueryCancelledError):
            running.result(timeout=240)


def test_closing_ends_what_runs(open_runner: OpenRunner) -> None:
    runner = open_runner()
    ended = threading.Event()

    def run() -> None:
        with pytest.raises(WarehouseUnavailableError, match="being stopped"):
            runner.run(ENDLESS)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    wait_for(lambda: runner._running is not None)
    runner.close()
    thread.join(timeout=240)
    assert ended.is_set()


def test_a_process_that_had_nothing_to_do_is_started_again(open_runner: OpenRunner) -> None:
    runner = open_runner(idle_s=0.01)
    assert [runner.run(ONE).body for _ in range(3)] == [b"[[1]]"] * 3


def test_a_lake_that_is_missing_is_named(tmp_path: Path) -> None:
    runner = StatementRunner(
        str(tmp_path / "nowhere"), "mock", limits=StatementLimits(60, memory_mb=128)
    )
    with closing(runner), pytest.raises(WarehouseUnavailableError, match="there is no lake"):
        runner.run(ONE)
