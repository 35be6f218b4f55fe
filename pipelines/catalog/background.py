"""Runs of catalogues that were requested: a worker makes them, a few scans at a time.

A request ends when nothing is due, the day's budget is spent, or the run is cancelled. A worker
that is killed loses nothing: another one goes on.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

import structlog

from pipelines.catalog.look_ups import LookUps, look_ups
from pipelines.catalog.open_service import open_scans
from pipelines.catalog.run import CatalogRun, CatalogScans
from pipelines.catalog.run_requests import requested_runs, withdraw_request
from pipelines.catalog.service import CatalogStore
from pipelines.settings import Settings

POLL_S = 2.0
log = structlog.get_logger("catalog")


class CatalogRunner:
    """Advances the requested runs of this world, each by one step at a time."""

    def __init__(
        self,
        control: CatalogStore,
        scans: CatalogScans,
        *,
        result_ttl: timedelta,
        look_ups: Callable[[str], LookUps],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Prepare the runner.

        Args:
            control: The control store.
            scans: The scan service.
            result_ttl: How long the scan service answers with a stored result.
            look_ups: Returns the look-ups of a catalogue by its name.
            clock: Returns the current time in UTC.
        """
        self._clock = clock
        self._control = control
        self._scans = scans
        self._result_ttl = result_ttl
        self._runs: dict[str, CatalogRun] = {}
        self._requests: dict[str, str] = {}
        self._new_look_ups = look_ups
        self._look_ups: dict[str, LookUps] = {}

    def step(self) -> None:
        """Begin what is requested, advance what is under way, end what is over."""
        requests = requested_runs(self._control)
        known = {catalog.name for catalog in self._control.catalogs()}
        for name, request in sorted(requests.items()):
            if name not in known:
                withdraw_request(self._control, name, request)
            elif name not in self._runs:
                self._begin(name, request)
        for name, run in list(self._runs.items()):
            if name in known:
                self._advance(name, run)
            else:
                self._end(name, run, is_over=True)
        for look_up in self._look_ups.values():
            look_up.advance()

    def _begin(self, name: str, request: str) -> None:
        run = CatalogRun(
            name,
            control=self._control,
            scans=self._scans,
            result_ttl=self._result_ttl,
            clock=self._clock,
        )
        if run.begin():
            self._runs[name], self._requests[name] = run, request
            self._look_ups.setdefault(name, self._new_look_ups(name))

    def _advance(self, name: str, run: CatalogRun) -> None:
        progress = run.step()
        self._look_ups[name].note(progress)
        if progress.is_over:
            log.info("run of a catalogue ended", catalog=name, reason=progress.stop)
            self._end(name, run, is_over=progress.stop != "taken_over")

    def _end(self, name: str, run: CatalogRun, *, is_over: bool) -> None:
        del self._runs[name]
        run.end()
        request = self._requests.pop(name)
        if is_over:
            withdraw_request(self._control, name, request)

    def close(self) -> None:
        """Leave what is under way to another worker."""
        for run in self._runs.values():
            run.end()
        for look_up in self._look_ups.values():
            look_up.stop()
        self._runs.clear()
        self._requests.clear()


def run_requested_catalogs(settings: Settings, stop: threading.Event) -> None:
    """Make the requested runs on stores of their own, until the event is set."""
    while not stop.wait(POLL_S):
        try:
            with ExitStack() as stack:
                runner = stack.enter_context(_open_runner(settings))
                while not stop.wait(POLL_S):
                    runner.step()
        except Exception:  # a store could not be used: again in a moment
            log.exception("runs of catalogues interrupted")


@contextmanager
def _open_runner(settings: Settings) -> Iterator[CatalogRunner]:
    with open_scans(settings) as (control, scans):
        runner = CatalogRunner(
            control,
            scans,
            result_ttl=timedelta(seconds=settings.result_cache_ttl),
            look_ups=partial(look_ups, settings),
        )
        try:
            yield runner
        finally:
            runner.close()
