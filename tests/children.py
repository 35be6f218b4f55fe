"""Child processes of tests: whatever becomes of a test, they and what they started are ended,
reaped, and their pipes closed. What one test leaves open, a warning would blame on the next.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from api.cli.processes.parent_watchdog import signal_group
from tests.deployment import measured_environment, wait_for

GRACE_S = 10.0
KEPT = ("PATH", "HOME")


def bare_environment() -> dict[str, str]:
    """What a program needs of our environment, with no setting of the product in it."""
    return {name: os.environ[name] for name in KEPT if name in os.environ}


@contextmanager
def child(*arguments: str, **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """A Python program with these arguments, in a process group of its own."""
    with subprocess.Popen(
        [sys.executable, *arguments], text=True, start_new_session=True, **options
    ) as process:
        try:
            yield process
        finally:
            end_group(process)


def end_group(process: "subprocess.Popen[Any]") -> None:
    """End a process group as `sametrack` does: asked first, so that it writes what it measured."""
    signal_group(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    signal_group(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def platform(
    cache: Path, *options: str, seed: int, size: float, is_measured: bool = False
) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A stand-in platform that listens, and its port."""
    world = ("--seed", str(seed), "--size", str(size))
    place = ("--port", "0", "--cache", str(cache))
    command = ("-m", "sandbox", *world, *place, *options)
    environment = os.environ | (measured_environment() if is_measured else {})
    with child(*command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        yield process, int(json.loads(process.stdout.readline())["port"])


def wait_until_gone(pids: list[int]) -> None:
    """Until nothing runs under these ids; a zombie does not run."""
    wait_for(lambda: not any(map(_is_running, pids)))


def _is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
