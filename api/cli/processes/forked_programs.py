"""Programs that are forked from one process which has loaded what they need.

Six programs that each load the same libraries do the same work six times and hold the result six
times. That one process is started afresh and runs no thread of ours, so no program inherits a lock
that nobody releases.
"""

import multiprocessing
import os
import runpy
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from multiprocessing.connection import Connection
from pathlib import Path

from setproctitle import setproctitle

PRELOADED = "api.cli.processes.preloaded_programs"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRun:
    """`python -m MODULE ARGUMENTS`, with its log file and extra environment variables."""

    module: str
    arguments: tuple[str, ...]
    log: Path
    env: Mapping[str, str]


class ForkedProcess:
    """A module that runs as a program, in a session and process group of its own."""

    def __init__(self, run: ModuleRun) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([PRELOADED])
        receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=run_module, args=(run, sender))
        self._process.start()
        assert self._process.pid is not None, "it has been started"
        self.pid = self._process.pid
        sender.close()
        with receiver:  # until it leads its group: a signal to the group would not reach it before
            receiver.poll(None)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while the program runs."""
        return self._process.exitcode

    def wait(self) -> int:
        """Wait for the end of the program and return its exit code."""
        self._process.join()
        assert self._process.exitcode is not None, "it has ended"
        return self._process.exitcode


def run_module(run: ModuleRun, started: Connection) -> None:
    """Run the module in this process, which was forked for it; close `started` once set up."""
    os.setsid()
    os.environ.update(run.env)
    with run.log.open("ab") as log:
        for stream in (sys.stdout, sys.stderr):
            assert isinstance(stream, TextIOWrapper)
            os.dup2(log.fileno(), stream.fileno())
            stream.reconfigure(line_buffering=True)
    started.close()
    setproctitle(" ".join((Path(sys.executable).name, "-m", run.module, *run.arguments)))
    # `python -m` runs a module that was imported before once more under its other name, too.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module="runpy")
    sys.argv = [run.module, *run.arguments]
    runpy.run_module(run.module, run_name="__main__", alter_sys=True)
