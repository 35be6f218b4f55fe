"""Looking after the worker of a scan: somebody must work on the job, now and until it has ended."""

from contextlib import AbstractContextManager, ExitStack
from time import monotonic
from typing import Self

from api.cli.processes.child_processes import Household, Program, StopSignals, sametrack
from api.cli.terminal import say
from warehouse.records.errors import WorkerUnavailableError

LOOK_EVERY_S = 2.0


class WorkerCare:
    """Starts a worker when none is alive, at first or later. A context manager; what it started
    ends with it. A stop signal inside raises `Interrupted`.
    """

    def __init__(self, *, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self._stack = ExitStack()
        self._household: Household | None = None
        self._looked_at = monotonic()

    def __enter__(self) -> Self:
        self._signals = self._stack.enter_context(StopSignals())
        if self._is_wanted:
            self._start_if_none()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()

    def held(self) -> AbstractContextManager[None]:
        """Let a block finish before a stop signal raises."""
        return (self._household or self._signals).held()

    def look(self) -> None:
        """See that somebody still works.

        Raises:
            WorkerUnavailableError: The worker started here has ended.
        """
        if self._household is not None and self._household.fallen():
            raise WorkerUnavailableError(
                "The worker started for this scan has ended",
                hint="run `sametrack worker` to see what it says",
            )
        is_due = monotonic() - self._looked_at >= LOOK_EVERY_S
        if self._is_wanted and self._household is None and is_due:
            self._start_if_none()

    def _start_if_none(self) -> None:
        from api.cli.local_job_client import has_live_worker  # noqa: PLC0415 -- loads DuckDB and Delta
        from pipelines.settings import Settings  # noqa: PLC0415 -- pydantic costs time

        self._looked_at = monotonic()
        if has_live_worker(Settings()):
            return
        say("[dim]no worker is running: starting one for the duration of this scan[/]")
        self._household = self._stack.enter_context(Household())
        self._household.start(Program(name="worker", command=sametrack("worker"), is_quiet=True))
