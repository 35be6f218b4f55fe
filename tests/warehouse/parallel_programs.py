"""Runs a program in several processes at the same time; the libraries are loaded once for all."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

AT_ONCE = Path(__file__).parent / "programs" / "at_once.py"


def start_together(
    module: str, program: Path, argument_lists: Sequence[tuple[str, ...]]
) -> "subprocess.Popen[str]":
    """Start a process per argument list; whole lines of their output come in any order.

    `module` is what the program imports that takes long to load.
    """
    return subprocess.Popen(
        [sys.executable, AT_ONCE, module, program, json.dumps(argument_lists)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run_together(module: str, program: Path, *argument_lists: tuple[str, ...]) -> list[str]:
    """Run the program once per argument list, all at the same time; their lines of output."""
    running = start_together(module, program, argument_lists)
    output, errors = running.communicate()
    assert running.returncode == 0, errors  # a warning about a busy store is none
    return output.splitlines()


def kill_all(running: "subprocess.Popen[str]") -> str:
    """Kill every process of a start; what they wrote and nobody has read yet."""
    os.killpg(running.pid, signal.SIGKILL)
    with running:
        assert running.stdout is not None
        return running.stdout.read()
