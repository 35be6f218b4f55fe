"""Child processes that never outlive the command that started them.

Each child leads a session and process group of its own, so that stopping reaches what it started
itself. A `Household` stops all of them when its block is left, and a keeper process (`leash.py`)
does the same when this process is killed. What the children are is not known here.
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
from typing import IO, Self

from api.cli.interrupts import Interrupted
from api.cli.processes import parent_watchdog as leash

LOOPBACK = "127.0.0.1"
GRACE_S = 8.0
LOOK_EVERY_S = 0.05
LOG_TAIL_LINES = 12
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run: `sametrack` arguments or a full command line, its log file, its extra words."""

    name: str
    command: Sequence[str]
    log: Path | None = None
    env: Mapping[str, str] | None = None
    is_quiet: bool = False


class Child:
    """One running program, its process group, and what it has written."""

    def __init__(self, program: Program, process: subprocess.Popen[str]) -> None:
        self.program = program
        self.process = process
        self.started_at = time.monotonic()

    @property
    def name(self) -> str:
        """The program's name, for messages."""
        return self.program.name

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self.process.poll()

    def log_tail(self) -> str:
        """The last lines of its log; empty when it has none."""
        if self.program.log is None or not self.program.log.exists():
            return ""
        lines = self.program.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-LOG_TAIL_LINES:])


class StopSignals:
    """Turns SIGINT, SIGTERM and SIGHUP into `Interrupted`, but never inside a `held` block: a
    second Ctrl-C must not leave a child that nobody knows of, or a half-stopped household.
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
        """Let the block finish; a signal that came meanwhile raises after it."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
        if self._pending is not None and not self._holders:
            number, self._pending = self._pending, None
            raise Interrupted(number)

    def ignore(self) -> None:
        """Nothing raises any more: the stopping has begun."""
        self._holders += 1

    def _arrived(self, number: int, _frame: object) -> None:
        if self._holders:
            self._pending = number
        else:
            raise Interrupted(number)


class Household:
    """Every child of this command. Use as a context manager; leaving it leaves no process.

    Inside the block a stop signal raises `Interrupted`.
    """

    def __init__(self, *, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s
        self._children: list[Child] = []
        self._signals = StopSignals()

    def __enter__(self) -> Self:
        # The script is run by path, isolated and without site: no import of this package.
        self._keeper = subprocess.Popen(  # noqa: S603 -- our own script
            [sys.executable, "-I", "-S", str(Path(leash.__file__))],
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
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait()
        self._signals.__exit__()

    def start(self, program: Program) -> Child:
        """Start a program in a group of its own; its output goes to its log."""
        with _output(program) as stream, self._signals.held():
            process = subprocess.Popen(  # noqa: S603 -- our own command lines
                list(program.command),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                text=True,
                env={**os.environ, **(program.env or {})},
                start_new_session=True,
            )
            self._tell(f"+{process.pid}")
            child = Child(program, process)
            self._children.append(child)
        return child

    def remove_if_killed(self, folder: Path) -> None:
        """Have a folder for the time being removed even when nobody is left to do it."""
        self._tell(f"~{folder.resolve()}")

    def stop(self, *only: Child) -> None:
        """Stop these children (all, when none is named): SIGTERM to the group, then SIGKILL."""
        chosen = list(only or reversed(self._children))
        for child in chosen:
            leash.signal_group(child.process.pid, signal.SIGTERM)
        until = time.monotonic() + self._grace_s
        for child in chosen:
            _wait_for_group(child, until)
            self._children.remove(child)
            self._tell(f"-{child.process.pid}")

    @property
    def children(self) -> list[Child]:
        """Those that were started and not stopped."""
        return list(self._children)

    def held(self) -> AbstractContextManager[None]:
        """Let a block finish before a stop signal raises."""
        return self._signals.held()

    def fallen(self) -> list[Child]:
        """Children that have ended by themselves."""
        return [child for child in self._children if child.exit_code() is not None]

    def _tell(self, word: str) -> None:
        assert self._keeper.stdin is not None
        try:
            self._keeper.stdin.write(f"{word}\n")
            self._keeper.stdin.flush()
        except BrokenPipeError:
            return  # the keeper was killed; this process still stops its children itself


def sametrack(*arguments: str) -> list[str]:
    """Command line of this very installation's `sametrack`."""
    return [sys.executable, "-m", "api.cli.main", *arguments]


def find_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def is_listening(port: int) -> bool:
    """True when something accepts connections on this loopback port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((LOOPBACK, port)) == 0


@contextmanager
def _output(program: Program) -> Iterator[IO[str] | int | None]:
    if program.log is None:
        yield subprocess.DEVNULL if program.is_quiet else None
        return
    program.log.parent.mkdir(parents=True, exist_ok=True)
    with program.log.open("a", encoding="utf-8") as stream:
        yield stream


def _wait_for_group(child: Child, until: float) -> None:
    """Wait until the whole group has gone; kill what is left at the time given."""
    while time.monotonic() < until:
        child.exit_code()  # reaps the leader, which would else count as present
        if not leash.signal_group(child.process.pid, 0):
            break
        time.sleep(LOOK_EVERY_S)
    else:
        leash.signal_group(child.process.pid, signal.SIGKILL)
    child.process.wait()
