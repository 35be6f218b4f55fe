"""Makes sure that a worker runs while the command line waits for a job."""

from contextlib import AbstractContextManager, ExitStack
from time import monotonic
from typing import Self

from api.cli.processes.child_processes import (
    ChildProcessGroup,
    Program,
    StopSignals,
    sametrack_command,
)
from api.cli.terminal import print_message
from warehouse.records.errors import WorkerUnavailableError

POLL_INTERVAL_S = 2.0


class WorkerSupervisor:
    """Starts a worker if none is alive, and stops it at the end of the block.

    Inside the block, a stop signal raises `Interrupted`.
    """

    def __init__(self, *, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self._stack = ExitStack()
        self._process_group: ChildProcessGroup | None = None
        self._looked_at = monotonic()

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
        if self._process_group is not None and self._process_group.exited_children():
            raise WorkerUnavailableError(
                "The worker that was started for this scan has exited",
                hint="run `sametrack worker` to see its output",
            )
        is_due = monotonic() - self._looked_at >= POLL_INTERVAL_S
        if self._is_wanted and self._process_group is None and is_due:
            self._start_if_none()

    def _start_if_none(self) -> None:
        from api.cli.local_job_client import has_live_worker  # noqa: PLC0415 -- loads DuckDB and Delta
        from pipelines.settings import Settings  # noqa: PLC0415 -- pydantic costs time

        self._looked_at = monotonic()
        if has_live_worker(Settings()):
            return
        print_message("[dim]no worker is running; starting one for this scan[/]")
        self._process_group = self._stack.enter_context(ChildProcessGroup())
        self._process_group.start(
            Program(name="worker", command=sametrack_command("worker"), is_quiet=True)
        )
