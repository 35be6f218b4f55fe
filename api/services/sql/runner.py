"""Runs statements of users one at a time, in a child process that is killed when one is too long.

Only a process can be killed whatever it does, and only a process has memory of its own. It is
started with the first statement and kept for the next ones.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import orjson

from api.responses.errors import QueryLimitError
from api.services.sql import query_process
from warehouse.records import errors

_START_S = 60.0
_BUSY_RETRY_S = 5.0
_AGAIN = "try again; if it ends again, change the statement, or use `sametrack sql`"
_NARROWER = "add a condition, select less, or use `sametrack sql`, which has no time limit"


class QueryCancelledError(errors.SametrackError):
    """The caller does not wait any more. Not a fault."""

    type = "cancelled"


@dataclass(frozen=True, slots=True)
class StatementLimits:
    """Limits of a statement, how many may wait, and how long the process is kept for the next."""

    seconds: float
    memory_mb: int
    waiting: int = 4
    idle_s: float = 300.0


class StatementTicket:
    """One statement in the queue. `cancel` ends it, from any thread."""

    def __init__(self, cancel: "Callable[[StatementTicket], None]") -> None:
        self._cancel = cancel
        self.is_cancelled = False

    def cancel(self) -> None:
        """Give up waiting, or end the running statement."""
        self._cancel(self)


class StatementRunner:
    """Runs statements of users. Thread-safe; one per process.

    Args:
        lake_url: The lake.
        world: World of the lake.
        limits: Limits of a statement.
    """

    def __init__(self, lake_url: str, world: str, *, limits: StatementLimits) -> None:
        self.limits = limits
        self._order: dict[str, object] = {
            "lake_url": lake_url,
            "world": world,
            "memory_mb": limits.memory_mb,
            "idle_s": limits.idle_s,
        }
        self._turns = threading.Condition()
        self._running: StatementTicket | None = None
        self._waiting = 0
        self._child: _QueryProcess | None = None
        self._is_closed = False

    def run(
        self, statement: query_process.Statement, ticket: StatementTicket | None = None
    ) -> query_process.StatementAnswer:
        """Run a statement and return its answer. Blocks: call it in a thread.

        Raises:
            InvalidParameterError: The statement is invalid.
            QueryLimitError: It exceeds a limit.
            QueryCancelledError: Its ticket was cancelled.
            CapacityExhaustedError: Too many statements wait.
            WarehouseUnavailableError: The lake cannot be read.
        """
        ticket = ticket or self.open_ticket()
        with self._turn(ticket):
            try:
                answer = self._ask(statement, ticket)
            except BaseException:
                self._end_child()
                raise
            if not isinstance(answer, query_process.StatementFault):
                return answer
            if answer.failure == "invalid":
                raise errors.InvalidParameterError(answer.detail, hint=answer.hint)
            if answer.failure == "limit":
                self._end_child()  # it would not return the memory that it took
                megabytes = f" ({self.limits.memory_mb} MB)" if answer.hint is None else ""
                raise QueryLimitError(f"{answer.detail}{megabytes}", hint=answer.hint or _NARROWER)
            raise errors.WarehouseUnavailableError(answer.detail, hint=answer.hint)

    def open_ticket(self) -> StatementTicket:
        """Return a ticket, by which a statement can be cancelled."""
        return StatementTicket(self.cancel)

    def cancel(self, ticket: StatementTicket) -> None:
        """Cancel a statement, whether it waits or runs."""
        with self._turns:
            ticket.is_cancelled = True
            if self._running is ticket and self._child is not None:
                self._child.kill()
            self._turns.notify_all()

    def close(self) -> None:
        """End the process; statements that wait or run are cancelled."""
        with self._turns:
            self._is_closed = True
            child = self._child
            if child is not None:
                child.kill()
            self._turns.notify_all()
            if self._running is None:
                self._end_child()

    @contextmanager
    def _turn(self, ticket: StatementTicket) -> Iterator[None]:
        """Wait until no other statement runs, and keep the next one waiting meanwhile."""
        with self._turns:
            if self._running is not None and self._waiting >= self.limits.waiting:
                raise errors.CapacityExhaustedError(
                    f"{self._waiting + 1} statements run or wait already",
                    hint="Try again in a moment: statements run one at a time",
                    retry_after=_BUSY_RETRY_S,
                )
            self._waiting += 1
            try:
                self._turns.wait_for(
                    lambda: self._running is None or ticket.is_cancelled or self._is_closed
                )
            finally:
                self._waiting -= 1
            self._check(ticket)
            self._running = ticket
        try:
            yield
        finally:
            with self._turns:
                self._running = None
                # A cancelled statement may have been answered just before its process was killed;
                # the next one must not be given that process.
                if self._is_closed or ticket.is_cancelled:
                    self._end_child()
                self._turns.notify_all()

    def _check(self, ticket: StatementTicket) -> None:
        if self._is_closed:
            raise errors.WarehouseUnavailableError("the service is being stopped")
        if ticket.is_cancelled:
            raise QueryCancelledError("the statement was cancelled")

    def _ask(
        self, statement: query_process.Statement, ticket: StatementTicket
    ) -> query_process.StatementAnswer | query_process.StatementFault:
        # The process may end for lack of work just when a statement arrives; then a new one is
        # started, once.
        for is_last in (False, True):
            child = self._ready_child(ticket)
            try:
                return child.ask(statement, self.limits.seconds)
            except TimeoutError as error:
                raise QueryLimitError(
                    f"the statement ran longer than {self.limits.seconds:g} s", hint=_NARROWER
                ) from error
            except (EOFError, OSError):
                self._check(ticket)
                code = child.exit_code()
                self._end_child()
                if is_last or code != 0:
                    return _fault_of_end(code)
        raise AssertionError("the loop returns or raises")

    def _ready_child(self, ticket: StatementTicket) -> "_QueryProcess":
        with self._turns:
            self._check(ticket)
            if self._child is not None and self._child.has_ended:
                self._end_child()  # it ended between two statements, so this one is not at fault
            is_new = self._child is None
            child = self._child = self._child or _QueryProcess(self._order)
        try:
            if is_new:
                child.wait_until_ready()
        except (EOFError, OSError, TimeoutError) as error:
            self._check(ticket)
            raise errors.WarehouseUnavailableError(
                "the process for statements did not start"
            ) from error
        return child

    def _end_child(self) -> None:
        with self._turns:
            child, self._child = self._child, None
        if child is not None:
            child.end()


def _fault_of_end(code: int | None) -> query_process.StatementFault:
    """Return the fault of a statement whose process ended before it answered."""
    # The system kills a process for its memory, and a failed allocation aborts it.
    if code in {-signal.SIGKILL, -signal.SIGABRT}:
        return query_process.out_of_memory()
    how = "" if code is None else f" (signal {-code})" if code < 0 else f" (code {code})"
    return query_process.StatementFault(
        "unavailable", f"the process for statements ended unexpectedly{how}", _AGAIN
    )


class _QueryProcess:
    """A child process and the connection to it. Its temporary files are deleted when it ends."""

    def __init__(self, order: dict[str, object]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sametrack-sql-")
        self._connection, theirs = Pipe()
        # Our copy of the child's end is closed: while it is open, reading never meets the end.
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 -- our own module, our own arguments
                [
                    sys.executable,
                    "-m",
                    "api.services.sql.query_process",
                    str(theirs.fileno()),
                    orjson.dumps(order).decode(),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={**os.environ, "TMPDIR": self._folder.name},
                start_new_session=True,  # Ctrl-C in a terminal is for the service, which ends it
            )

    def wait_until_ready(self) -> None:
        """Wait until the process has opened the lake."""
        message = self._receive(_START_S)
        if message != query_process.READY:
            raise errors.WarehouseUnavailableError(message.decode())

    def ask(
        self, statement: query_process.Statement, seconds: float
    ) -> query_process.StatementAnswer | query_process.StatementFault:
        """Send a statement and wait for its answer.

        Raises:
            TimeoutError: It did not come in time.
            EOFError, OSError: The process has ended.
        """
        self._connection.send_bytes(statement.to_json())
        head = orjson.loads(self._receive(seconds))
        if "fault" in head:
            return query_process.StatementFault(**head["fault"])
        fields = head["summary"]
        columns = [query_process.StatementColumn(**column) for column in fields.pop("columns")]
        # The rows follow as they are: they are sent on without being parsed here.
        body = self._connection.recv_bytes()
        return query_process.StatementAnswer(
            query_process.StatementSummary(columns=columns, **fields), body
        )

    @property
    def has_ended(self) -> bool:
        """True once the process has ended, for whatever reason."""
        return self._process.poll() is not None

    def exit_code(self) -> int | None:
        """Return the code that it ended with: 0 if it had nothing to do; negative: a signal."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout=1)
        return None

    def kill(self) -> None:
        """Kill the process; whoever reads from it sees its end."""
        self._process.kill()

    def end(self) -> None:
        """Kill the process and release what it used."""
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._folder.cleanup()

    def _receive(self, seconds: float) -> bytes:
        connection: Connection = self._connection
        if not connection.poll(seconds):
            raise TimeoutError
        return connection.recv_bytes()
