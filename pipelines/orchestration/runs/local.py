"""Execute runs on this machine (`RUNS=local`), each in a process of its own.

The processes are forked from a server that has loaded what a run needs, so a run begins within a
second. Two runs in threads of one process would deadlock.
"""

from multiprocessing.context import ForkServerProcess
from typing import override

from dagster import DagsterInstance, DefaultRunLauncher
from setproctitle import setproctitle

from pipelines.fork_server import exit_with_parent, fork_server_context
from pipelines.logs import configure_process_logging
from pipelines.open_stores import open_chosen_home
from pipelines.orchestration.dagster_compat import execute_run
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.orchestration.runs.reconciliation import ORIGIN_TAG
from pipelines.settings import Settings

# The launcher of runs in Dagster's code server, with our own "Terminate".
#
# `dagster.yaml` configures it, so every Dagster process loads it. Killing a scan's process would
# lose the reason of its end, so "Terminate" requests its end at a safe point.


class JobRunLauncher(DefaultRunLauncher):
    """Dagster's default launcher; "Terminate" marks the run of a job as canceling."""

    @override
    def terminate(self, run_id: str) -> bool:
        """Request the end of a job's run, or terminate another run; return whether that worked."""
        is_requested = request_end(self._instance, run_id)
        return bool(super().terminate(run_id)) if is_requested is None else is_requested  # type: ignore[no-untyped-call]  # Dagster's own


def request_end(instance: DagsterInstance, run_id: str) -> bool | None:
    """Mark the run of a job as canceling, which its heartbeat notices.

    Returns:
        True if it was marked, False if the run has ended or is unknown, None if it is not the run
        of a job and nothing was done.
    """
    run = instance.get_run_by_id(run_id)
    if run is None or run.is_finished:
        return False
    if ORIGIN_TAG not in run.tags:
        return None
    instance.report_run_canceling(run)
    return True


class LocalRun:
    """A run in a process of its own. It sends heartbeats from the beginning."""

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process

    def has_begun(self) -> bool:
        """Return True: the worker need not send heartbeats for it."""
        return True

    def is_over(self) -> bool:
        """Whether its process has ended."""
        return not self._process.is_alive()

    def kill(self) -> None:
        """Kill its process."""
        self._process.kill()


class LocalExecutor:
    """Starts a process for each run."""

    outlives_worker = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._context = fork_server_context()
        self.warm_up()

    def warm_up(self) -> None:
        """Wait until the fork server has loaded everything."""
        first = self._context.Process(target=int)
        first.start()
        first.join()

    def start(self, run_id: str) -> LocalRun:
        """Start the process of a run whose record exists."""
        process = self._context.Process(target=run_here, args=(self._settings, run_id))
        process.start()
        return LocalRun(process)


def run_here(settings: Settings, run_id: str) -> None:
    """Execute a run in this process, which ends with the worker that started it."""
    configure_process_logging()
    setproctitle(f"sametrack: run {run_id}")  # for `ps`: forked processes have no command line
    exit_with_parent()
    with open_instance(open_chosen_home(settings)) as instance:
        execute_run(instance, run_id)
