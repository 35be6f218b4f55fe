"""Child processes that never outlive the command that started them.

Each child leads its own session and process group, so that a stop signal also reaches its own
children. `ChildProcessGroup` stops all of them when its block ends; a watchdog process
(`parent_watchdog.py`) does the same if this process is killed. `Supervisor` keeps
programs running, `WorkerSupervisor` the worker that a command waits for.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import IO, Self

from api.cli.interrupts import Interrupted
from api.cli.processes import parent_watchdog
from api.cli.terminal import err, print_message, safe
from pipelines.logs import to_log_lines, to_plain_text
from pipelines.settings import Settings
from warehouse.records.errors import SametrackError, WorkerUnavailableError

LOOPBACK = "127.0.0.1"
DAGSTER_PORT = 8781
"""Where Dagster's UI is, unless an option or `DAGSTER_URL` names another port."""
GRACE_S = 8.0
POLL_INTERVAL_S = 0.05
LOG_TAIL_LINES = 12
OUTPUT_CHUNK = 1 << 16
OUTPUT_WAIT_S = 1.0
SUPERVISE_EVERY_S = 0.2
LOOK_FOR_WORKER_EVERY_S = 2.0
BACK_OFF_S = (0.5, 2.0, 5.0, 15.0)
STEADY_AFTER_S = 60.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program to run: command line, log file and extra environment variables.

    It is started when `can_start` is true, at once without it; without `is_ready` it is ready as
    soon as it runs.
    """

    name: str
    command: Sequence[str]
    log: Path | None = None
    env: Mapping[str, str] | None = None
    is_quiet: bool = False
    is_ready: Callable[[], bool] | None = None
    can_start: Callable[[], bool] | None = None


class Child:
    """A running program with its process group and its log."""

    def __init__(
        self, program: Program, process: "subprocess.Popen[bytes]", output: Thread | None = None
    ) -> None:
        self.program = program
        self.process = process
        self._output = output
        self.started_at = time.monotonic()

    @property
    def name(self) -> str:
        """Name of the program, for messages."""
        return self.program.name

    def exit_code(self) -> int | None:
        """Return the exit code; None while the program runs."""
        return self.process.poll()

    def wait_for_log(self) -> None:
        """Wait until its log is complete, at most a second: its own children may still print."""
        if self._output is not None:
            self._output.join(OUTPUT_WAIT_S)

    def log_tail(self) -> str:
        """Return the last lines of the log as readable text; empty without a log."""
        self.wait_for_log()
        if self.program.log is None or not self.program.log.exists():
            return ""
        lines = self.program.log.read_text(encoding="utf-8", errors="replace").splitlines()
        texts = list(to_plain_text(lines[-LOG_TAIL_LINES:]))  # a traceback has several lines
        return "\n".join(texts[-LOG_TAIL_LINES:])


class StopSignals:
    """Turns SIGINT, SIGTERM and SIGHUP into `Interrupted`, except inside a `held` block.

    Otherwise a second Ctrl-C could leave an unregistered child, or stop only some of them.
    """

    def __init__(self) -> None:
        self._holders = 0
        self._pending: int | None = None

    def __enter__(self) -> Self:
        def on_signal(number: int, _frame: object) -> None:
            if not self._holders:
                raise Interrupted(number)
            self._pending = number

        self._before = {number: signal.signal(number, on_signal) for number in STOP_SIGNALS}
        return self

    def __exit__(self, *_exc: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Delay stop signals until the block ends."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
        # A signal that arrived within the outermost block is raised at its end.
        if self._pending is not None and not self._holders:
            number, self._pending = self._pending, None
            raise Interrupted(number)

    def ignore(self) -> None:
        """Ignore further signals: the children are being stopped."""
        self._holders += 1


class ChildProcessGroup:
    """All children of this command, as a context manager that stops them at its end.

    Inside the block, a stop signal raises `Interrupted`.
    """

    def __init__(self, *, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s
        self._children: list[Child] = []
        self._signals = StopSignals()

    def __enter__(self) -> Self:
        # Run by path, isolated and without site, so that it imports nothing of this package.
        self._watchdog = subprocess.Popen(  # noqa: S603 -- our own script
            [sys.executable, "-I", "-S", str(Path(parent_watchdog.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._signals.__enter__()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._signals.ignore()
        self.stop()
        self._notify_watchdog("done")
        assert self._watchdog.stdin is not None
        self._watchdog.stdin.close()
        self._watchdog.wait()
        self._signals.__exit__()

    def start(self, program: Program) -> Child:
        """Start a program in its own process group, with its output in its log file."""
        unread = subprocess.DEVNULL if program.is_quiet else None
        # Inside `held`: a signal in between would leave a child that is never stopped.
        with self._signals.held():
            process = subprocess.Popen(  # noqa: S603 -- our own command lines
                list(program.command),
                stdin=subprocess.DEVNULL,
                stdout=unread if program.log is None else subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                env={**os.environ, **(program.env or {})},
                start_new_session=True,
            )
            self._notify_watchdog(f"+{process.pid}")
            writing = None
            if program.log is not None and process.stdout is not None:
                program.log.parent.mkdir(parents=True, exist_ok=True)
                log = program.log.open("ab", buffering=0)
                # It ends when all processes that inherited the output have ended.
                arguments = (process.stdout, log, program.name)
                writing = Thread(target=_write_log, args=arguments, daemon=True)
                writing.start()
            child = Child(program, process, writing)
            self._children.append(child)
        return child

    def remove_on_kill(self, folder: Path) -> None:
        """Register a temporary folder that the watchdog removes if this process is killed."""
        self._notify_watchdog(f"~{folder.resolve()}")

    def stop(self, *only: Child) -> None:
        """Stop some children, or all: SIGTERM to their groups, then SIGKILL."""
        # The last one started stops first. All get the signal before the first is waited for.
        children = list(only or reversed(self._children))
        for child in children:
            parent_watchdog.signal_group(child.process.pid, signal.SIGTERM)
        until = time.monotonic() + self._grace_s
        for child in children:
            while time.monotonic() < until:
                child.exit_code()  # reaps the leader; a zombie would count as alive
                if not parent_watchdog.signal_group(child.process.pid, 0):
                    break
                time.sleep(POLL_INTERVAL_S)
            else:
                parent_watchdog.signal_group(child.process.pid, signal.SIGKILL)
            child.process.wait()
            child.wait_for_log()
            self._children.remove(child)
            self._notify_watchdog(f"-{child.process.pid}")

    @property
    def children(self) -> list[Child]:
        """Children that were started and not stopped."""
        return list(self._children)

    def held(self) -> AbstractContextManager[None]:
        """Delay stop signals until the block ends."""
        return self._signals.held()

    def exited_children(self) -> list[Child]:
        """Return the children that exited on their own."""
        return [child for child in self._children if child.exit_code() is not None]

    def _notify_watchdog(self, line: str) -> None:
        assert self._watchdog.stdin is not None
        try:
            self._watchdog.stdin.write(f"{line}\n")
            self._watchdog.stdin.flush()
        except BrokenPipeError:
            return  # the watchdog was killed; this process still stops its children


class ProgramFailedError(SametrackError):
    """A program exited repeatedly."""

    type = "process_failed"


@dataclass(slots=True)
class _Supervised:
    """A program, and its child while it runs."""

    program: Program
    child: Child | None = None
    exits: int = 0
    start_at: float = 0.0
    has_been_ready: bool = False


@dataclass(slots=True)
class Supervisor:
    """Keeps programs running: restarts them with back-off, and gives up on repeated exits.

    `on_ready` is called once, when all of them have been ready.
    """

    process_group: ChildProcessGroup
    programs: Iterable[Program]
    on_ready: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.monotonic
    _supervised: list[_Supervised] = field(default_factory=list)
    _was_ready: bool = False

    def __post_init__(self) -> None:
        self._supervised = [_Supervised(program) for program in self.programs]

    def run(self) -> None:
        """Run until a stop signal.

        Raises:
            Interrupted: A stop signal arrived.
            ProgramFailedError: A program exited repeatedly.
        """
        while True:
            self.step()
            time.sleep(SUPERVISE_EVERY_S)

    def step(self) -> None:
        """Look at every program once: start it, or start it again.

        Raises:
            ProgramFailedError: See `run`.
        """
        # A program waits until it may start, runs until it is ready, and is restarted if it exits.
        for supervised in self._supervised:
            program, child, now = supervised.program, supervised.child, self.clock()
            if child is None:
                may_start = program.can_start is None or program.can_start()
                if now >= supervised.start_at and may_start:
                    supervised.child = self.process_group.start(program)
            elif child.exit_code() is not None:
                self._restart_later(supervised, child, now)
            elif not supervised.has_been_ready:
                supervised.has_been_ready = program.is_ready is None or program.is_ready()
        # Ready once is enough: a later restart is not announced again.
        are_ready = (each.child and each.has_been_ready for each in self._supervised)
        if not self._was_ready and all(are_ready):
            self._was_ready = True
            self.on_ready()

    def _restart_later(self, supervised: _Supervised, child: Child, now: float) -> None:
        code = child.exit_code()
        self.process_group.stop(child)  # also stops what it has started
        supervised.child = None
        if now - child.started_at >= STEADY_AFTER_S:
            supervised.exits = 0
        for line in child.log_tail().splitlines():
            err.print(f"[dim]  {safe(child.name)} │ {safe(line)}[/]", soft_wrap=True)
        if supervised.exits >= len(BACK_OFF_S):
            raise ProgramFailedError(
                f"{child.name} exited {supervised.exits + 1} times in a row (exit code {code})",
                hint=f"see its log: {child.program.log}",
            )
        wait_s = BACK_OFF_S[supervised.exits]
        supervised.exits += 1
        supervised.start_at = now + wait_s
        print_message(
            f"[red]{safe(child.name)} exited[/] (exit code {code}); restarting in {wait_s:g} s"
        )


class WorkerSupervisor:
    """Starts a worker if none is alive, and stops it at the end of the block.

    Inside the block, a stop signal raises `Interrupted`.
    """

    def __init__(self, *, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self._stack = ExitStack()
        self._process_group: ChildProcessGroup | None = None
        self._looked_at = time.monotonic()

    def __enter__(self) -> Self:
        self._signals = self._stack.enter_context(StopSignals())
        if self._is_wanted:
            self._start_if_none()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()

    def held(self) -> AbstractContextManager[None]:
        """Delay stop signals until the block ends."""
        return (self._process_group or self._signals).held()

    def look(self) -> None:
        """Check that a worker is running.

        Raises:
            WorkerUnavailableError: The worker started here has exited.
        """
        # The worker that was started here ended: its scan would wait forever.
        if self._process_group is not None and self._process_group.exited_children():
            raise WorkerUnavailableError(
                "The worker that was started for this scan has exited",
                hint="run `sametrack worker` to see its output",
            )
        # A worker of another command may end while this scan waits.
        is_due = time.monotonic() - self._looked_at >= LOOK_FOR_WORKER_EVERY_S
        if self._is_wanted and self._process_group is None and is_due:
            self._start_if_none()

    def _start_if_none(self) -> None:
        from api.cli.local_job_client import has_live_worker  # noqa: PLC0415 -- loads SQLAlchemy, 0.4 s

        self._looked_at = time.monotonic()
        if has_live_worker(Settings()):
            return
        print_message("[dim]no worker is running; starting one for this scan[/]")
        self._process_group = self._stack.enter_context(ChildProcessGroup())
        self._process_group.start(
            Program(name="worker", command=sametrack_command("worker"), is_quiet=True)
        )


def sametrack_command(*arguments: str) -> list[str]:
    """Return the command line of `sametrack` with these arguments in this installation."""
    return [sys.executable, "-m", "api.cli.main", *arguments]


def find_port() -> int:
    """Return a free loopback port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def is_listening(port: int, host: str = LOOPBACK) -> bool:
    """Return True if a program listens on this port of this address, by default on loopback."""
    try:
        with socket.create_connection((local_address(host), port), timeout=0.5):
            return True
    except OSError:
        return False


def is_accepting(path: Path) -> bool:
    """Return True if a program listens on the socket file."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(path))
        except OSError:
            return False
        return True


def local_address(host: str) -> str:
    """Return the address at which this machine reaches a program that listens on `host`."""
    return {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104 -- only compared


def service_url(host: str, port: int) -> str:
    """Return the URL at which this machine reaches a service that listens on `host`."""
    here = local_address(host)
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


def _write_log(output: IO[bytes], log: IO[bytes], name: str) -> None:
    """Write what a program prints to its log as JSON lines, until its output ends."""
    # A chunk may end within a line; the rest of it waits for the next chunk.
    rest = b""
    with log, output:
        while chunk := output.read(OUTPUT_CHUNK):
            whole, end, rest = (rest + chunk).rpartition(b"\n")
            log.write(b"".join(to_log_lines(whole + end, logger=name)))
        log.write(b"".join(to_log_lines(rest, logger=name)))
