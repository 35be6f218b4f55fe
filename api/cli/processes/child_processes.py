"""Child processes that never outlive the command that started them.

Each child leads its own session and process group, so that a stop signal also reaches its own
children. `ChildProcessGroup` stops all of them when its block ends; a watchdog process
(`parent_watchdog.py`) does the same if this process is killed.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO, Protocol, Self

from api.cli.interrupts import Interrupted
from api.cli.processes import parent_watchdog

LOOPBACK = "127.0.0.1"
DAGSTER_PORT = 8781
"""Where Dagster's UI is, unless an option or `DAGSTER_URL` names another port."""
GRACE_S = 8.0
POLL_INTERVAL_S = 0.05
LOG_TAIL_LINES = 12
OUTPUT_CHUNK = 1 << 16
OUTPUT_WAIT_S = 1.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program to run: command line, log file and extra environment variables.

    With `is_forked` it is forked from a process that has loaded what our programs need. It has a
    log, and its command is `python -m MODULE ...`.
    """

    name: str
    command: Sequence[str]
    log: Path | None = None
    env: Mapping[str, str] | None = None
    is_quiet: bool = False
    is_forked: bool = False


class RunningProcess(Protocol):
    """A process as `subprocess` has it; `wait` and `poll` return a negative signal, too."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


class Child:
    """A running program with its process group and its log."""

    def __init__(
        self, program: Program, process: RunningProcess, output: Thread | None = None
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
        """Wait until its log has what it printed, but a second at most: what it started goes on."""
        if self._output is not None:
            self._output.join(OUTPUT_WAIT_S)

    def log_tail(self) -> str:
        """Return the last lines of the log as text for a person; empty if there is none."""
        self.wait_for_log()
        if self.program.log is None or not self.program.log.exists():
            return ""
        from pipelines.logs import to_plain_text  # noqa: PLC0415 -- loads structlog

        lines = self.program.log.read_text(encoding="utf-8", errors="replace").splitlines()
        shown = list(to_plain_text(lines[-LOG_TAIL_LINES:]))
        return "\n".join(shown[-LOG_TAIL_LINES:])


class StopSignals:
    """Turns SIGINT, SIGTERM and SIGHUP into `Interrupted`, except inside a `held` block.

    Otherwise a second Ctrl-C could leave an unregistered child, or stop only some of them.
    """

    def __init__(self) -> None:
        self._holders = 0
        self._pending: int | None = None

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._arrived) for number in STOP_SIGNALS}
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
        if self._pending is not None and not self._holders:
            number, self._pending = self._pending, None
            raise Interrupted(number)

    def ignore(self) -> None:
        """Ignore further signals: the children are being stopped."""
        self._holders += 1

    def _arrived(self, number: int, _frame: object) -> None:
        if self._holders:
            self._pending = number
        else:
            raise Interrupted(number)


class ChildProcessGroup:
    """All children of this command, as a context manager that stops them at its end.

    Inside the block, a stop signal raises `Interrupted`.
    """

    def __init__(self, *, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s
        self._children: list[Child] = []
        self._has_template = False
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
        self._tell("done")
        assert self._watchdog.stdin is not None
        self._watchdog.stdin.close()
        self._watchdog.wait()
        self._signals.__exit__()

    def start(self, program: Program) -> Child:
        """Start a program in its own process group, with its output in its log file."""
        with self._signals.held():
            self._has_template |= program.is_forked
            reader, writer = os.pipe()
            process = _fork(program, writer) if program.is_forked else _execute(program, writer)
            os.close(writer)
            # Inside `held`: a signal in between would leave a child that nobody stops.
            self._tell(f"+{process.pid}")
            child = Child(program, process, _keep_log(program, reader))
            self._children.append(child)
        return child

    def end_template(self) -> None:
        """End the process that programs are forked from; another fork starts another one."""
        if self._has_template:
            from api.cli.processes.forked_programs import end_template  # noqa: PLC0415 -- loads multiprocessing

            with self._signals.held():
                end_template()
            self._has_template = False

    def remove_on_kill(self, folder: Path) -> None:
        """Register a temporary folder that the watchdog removes if this process is killed."""
        self._tell(f"~{folder.resolve()}")

    def stop(self, *only: Child) -> None:
        """Stop the given children, or all: SIGTERM to their groups, then SIGKILL."""
        chosen = list(only or reversed(self._children))
        for child in chosen:
            parent_watchdog.signal_group(child.process.pid, signal.SIGTERM)
        until = time.monotonic() + self._grace_s
        for child in chosen:
            _wait_for_group(child, until)
            child.wait_for_log()
            self._children.remove(child)
            self._tell(f"-{child.process.pid}")

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

    def _tell(self, word: str) -> None:
        assert self._watchdog.stdin is not None
        try:
            self._watchdog.stdin.write(f"{word}\n")
            self._watchdog.stdin.flush()
        except BrokenPipeError:
            return  # the watchdog was killed; this process still stops its children


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


def local_address(host: str) -> str:
    """Return the address at which this machine reaches a program that listens on `host`."""
    return {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104 -- only compared


def service_url(host: str, port: int) -> str:
    """Return the URL at which this machine reaches a service that listens on `host`."""
    here = local_address(host)
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


def _fork(program: Program, output: int) -> RunningProcess:
    from api.cli.processes.forked_programs import ForkedProcess, ModuleRun  # noqa: PLC0415 -- loads multiprocessing

    python, option, module, *arguments = program.command
    assert (python, option) == (sys.executable, "-m"), "a module of this environment"
    assert program.log is not None
    run = ModuleRun(module=module, arguments=tuple(arguments), env=program.env or {})
    return ForkedProcess(run, output)


def _execute(program: Program, output: int) -> RunningProcess:
    unread = subprocess.DEVNULL if program.is_quiet else None
    stream = unread if program.log is None else output
    return subprocess.Popen(  # noqa: S603 -- our own command lines
        list(program.command),
        stdin=subprocess.DEVNULL,
        stdout=stream,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **(program.env or {})},
        start_new_session=True,
    )


def _keep_log(program: Program, reader: int) -> Thread | None:
    """Write what a program prints to its log as JSON lines, in a thread, until nobody prints."""
    if program.log is None:
        os.close(reader)
        return None
    program.log.parent.mkdir(parents=True, exist_ok=True)
    log = program.log.open("ab", buffering=0)
    writing = Thread(target=_write_log, args=(reader, log, program.name), daemon=True)
    writing.start()
    return writing


def _write_log(reader: int, log: IO[bytes], name: str) -> None:
    from pipelines.logs import to_log_lines  # noqa: PLC0415 -- loads structlog

    rest = b""
    with log, os.fdopen(reader, "rb", buffering=0) as output:
        while chunk := output.read(OUTPUT_CHUNK):
            whole, end, rest = (rest + chunk).rpartition(b"\n")
            log.write(b"".join(to_log_lines(whole + end, logger=name)))
        log.write(b"".join(to_log_lines(rest, logger=name)))


def _wait_for_group(child: Child, until: float) -> None:
    """Wait until the process group has ended; kill what is left at `until`."""
    while time.monotonic() < until:
        child.exit_code()  # reaps the leader; a zombie would count as alive
        if not parent_watchdog.signal_group(child.process.pid, 0):
            break
        time.sleep(POLL_INTERVAL_S)
    else:
        parent_watchdog.signal_group(child.process.pid, signal.SIGKILL)
    child.process.wait()
