"""Programs that are forked from one process, the template, which has loaded what they need.

Programs that each load the same libraries do the same work as often as there are programs, and hold
the result as often. The template is started afresh and runs no thread of ours, so no program
inherits a lock that nobody releases. When all programs run, it ends.
"""

import ctypes
import multiprocessing
import os
import runpy
import signal
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path

from setproctitle import setproctitle

PRELOADED = "api.cli.processes.preloaded_programs"
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRun:
    """`python -m MODULE ARGUMENTS`, with extra environment variables."""

    module: str
    arguments: tuple[str, ...]
    env: Mapping[str, str]


class ForkedProcess:
    """A module that runs as a program, in a session and process group of its own."""

    def __init__(self, run: ModuleRun, output: int) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([PRELOADED])
        receiver, sender = context.Pipe(duplex=False)
        with Connection(os.dup(output), readable=False) as printed:
            self._process = context.Process(target=run_module, args=(run, printed, sender))
            self._process.start()
        assert self._process.pid is not None, "it has been started"
        self.pid = self._process.pid
        self._code: int | None = None
        sender.close()
        with receiver:  # until it leads its group: a signal to the group would not reach it before
            receiver.poll(None)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while the program runs."""
        return self._look(os.WNOHANG)

    def wait(self) -> int:
        """Wait for the end of the program and return its exit code."""
        code = self._look(0)
        assert code is not None, "it has ended"
        return code

    def _look(self, options: int) -> int | None:
        if self._code is not None:
            return self._code
        try:
            pid, status = os.waitpid(self.pid, options)
        except ChildProcessError:  # the template is its parent, and tells its exit code
            if not options:
                self._process.join()
            return self._process.exitcode
        if pid:
            self._code = os.waitstatus_to_exitcode(status)
        return self._code


def end_template() -> None:
    """End the template, if there is one; its programs become children of this process.

    It has every page of memory that all of them have changed since, some 80 MB. Another program
    that is forked later needs another template. Only on Linux does a process adopt others.
    """
    server = vars(vars(forkserver)["_forkserver"])
    template = server["_forkserver_pid"]
    if template is None or sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.kill(template, signal.SIGKILL)
    os.waitpid(template, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    # As `multiprocessing` does when it finds it gone.
    os.close(server["_forkserver_alive_fd"])
    server.update(_forkserver_address=None, _forkserver_alive_fd=None, _forkserver_pid=None)


def run_module(run: ModuleRun, output: Connection, started: Connection) -> None:
    """Run the module in this process, which was forked for it; close `started` once set up.

    What it prints goes to the pipe `output`.
    """
    os.setsid()
    os.environ.update(run.env)
    with output:
        for stream in (sys.stdout, sys.stderr):
            assert isinstance(stream, TextIOWrapper)
            os.dup2(output.fileno(), stream.fileno())
            stream.reconfigure(line_buffering=True)
    started.close()
    setproctitle(" ".join((Path(sys.executable).name, "-m", run.module, *run.arguments)))
    # `python -m` runs a module that was imported before once more under its other name, too.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module="runpy")
    sys.argv = [run.module, *run.arguments]
    runpy.run_module(run.module, run_name="__main__", alter_sys=True)
