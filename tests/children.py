"""Child processes of tests: whatever becomes of a test, they and what they started are ended,
reaped, and their pipes closed. What one test leaves open, a warning would blame on the next.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from api.cli.processes.parent_watchdog import signal_group
from tests.stage import wait_for


@contextmanager
def child(*arguments: str, **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """A Python program with these arguments, in a process group of its own."""
    with subprocess.Popen(
        [sys.executable, *arguments], text=True, start_new_session=True, **options
    ) as process:
        try:
            yield process
        finally:
            signal_group(process.pid, signal.SIGKILL)


@contextmanager
def platform(
    cache: Path, *options: str, seed: int, size: float
) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A stand-in platform that listens, and its port."""
    world = ("--seed", str(seed), "--size", str(size))
    place = ("--port", "0", "--cache", str(cache), "--renderers", "1")
    command = ("-m", "pipelines.sandbox", *world, *place, *options)
    with child(*command, stdout=subprocess.PIPE) as process:
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
