"""Execute runs on this machine (`RUNS=local`), each in a process of its own.

The processes are forked from a server that has loaded what a run needs, so a run begins within a
second. Two runs in threads of one process would deadlock.
"""

from multiprocessing.context import ForkServerProcess

from setproctitle import setproctitle

from pipelines.fork_server import exit_with_parent, fork_server_context
from pipelines.logs import configure_process_logging
from pipelines.open_stores import open_chosen_home
from pipelines.orchestration.dagster_compat import execute_run
from pipelines.orchestration.runs.open_instance import open_instance
from pipelines.settings import Settings


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
