"""Carry out the requested runs of catalogues in a worker, a few scans at a time.

A request ends when nothing is due, the day's budget is spent, or the run is cancelled. If a worker
is killed, another one continues its runs and the look-up at the end of a run.
"""

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import uuid4

import structlog

from pipelines.catalog import run_requests
from pipelines.catalog.look_ups import LookUps, look_ups
from pipelines.catalog.open_service import open_scans
from pipelines.catalog.run import CatalogRun, CatalogScans
from pipelines.settings import Settings
from warehouse.control import ControlStore, catalogs

POLL_S = 2.0
log = structlog.get_logger("catalog")


@dataclass(slots=True, kw_only=True)
class CatalogRunner:
    """Advances the requested runs of this world, each by one step at a time.

    Attributes:
        control: The control store.
        scans: The scan service.
        result_ttl: How long the scan service answers with a stored result.
        new_look_ups: Returns the look-ups of a catalogue by its name.
        clock: Returns the current time in UTC.
    """

    control: ControlStore
    scans: CatalogScans
    result_ttl: timedelta
    new_look_ups: Callable[[str], LookUps]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _owner: str = field(default_factory=lambda: uuid4().hex, init=False)
    _runs: dict[str, CatalogRun] = field(default_factory=dict, init=False)
    _requests: dict[str, str] = field(default_factory=dict, init=False)
    _look_ups: dict[str, LookUps] = field(default_factory=dict, init=False)

    def step(self) -> None:
        """Begin what is requested, advance what is under way, end what is over."""
        requests = run_requests.requested_runs(self.control)
        names = {catalog.name for catalog in catalogs.read_all(self.control)}
        for name, request in sorted(requests.items()):
            if name not in names:
                run_requests.withdraw_request(self.control, name, request)
            elif name not in self._runs:
                run = CatalogRun(
                    name=name,
                    control=self.control,
                    scans=self.scans,
                    result_ttl=self.result_ttl,
                    clock=self.clock,
                )
                if run.begin():  # no other worker has it
                    self._runs[name], self._requests[name] = run, request
                    self._look_ups.setdefault(name, self.new_look_ups(name)).is_over = False
        for name, run in list(self._runs.items()):
            if name in names:
                self._advance_run(name, run)
            else:
                self._end(name, run, is_over=True)
                self._look_ups.pop(name).stop()
        # Take over requested look-ups whose worker was killed.
        for name in run_requests.requested_look_ups(self.control):
            if name not in names:
                run_requests.withdraw_look_up(self.control, name)
            elif name not in self._look_ups and run_requests.hold_look_up(
                self.control, name, self._owner
            ):
                self._look_ups[name] = self.new_look_ups(name)
                self._look_ups[name].finish()
        for name in list(self._look_ups):
            self._advance_look_ups(name)

    def _advance_run(self, name: str, run: CatalogRun) -> None:
        progress = run.step()
        self._look_ups[name].note(progress)
        if not progress.is_over:
            return
        log.info("run of a catalogue ended", catalog=name, reason=progress.stop)
        if self._look_ups[name].is_over:
            # Request the last look-up before the request of the run is withdrawn: a worker that is
            # killed in between leaves at least one of them.
            run_requests.hold_look_up(self.control, name, self._owner)
            run_requests.request_look_up(self.control, name)
        else:
            self._look_ups.pop(name).stop()
        self._end(name, run, is_over=progress.stop != "taken_over")

    def _end(self, name: str, run: CatalogRun, *, is_over: bool) -> None:
        del self._runs[name]
        run.end()
        request = self._requests.pop(name)
        if is_over:
            run_requests.withdraw_request(self.control, name, request)

    def _advance_look_ups(self, name: str) -> None:
        catalog_look_ups = self._look_ups[name]
        if catalog_look_ups.advance():
            if catalog_look_ups.is_over:
                run_requests.hold_look_up(self.control, name, self._owner)
        elif catalog_look_ups.is_over:
            del self._look_ups[name]
            # The request of a last look-up that failed stays: it is tried again once its hold ends.
            if not catalog_look_ups.has_failed:
                run_requests.withdraw_look_up(self.control, name)
                run_requests.release_look_up(self.control, name, self._owner)

    def close(self) -> None:
        """Leave what is under way to another worker."""
        for run in self._runs.values():
            run.end()
        for name, catalog_look_ups in self._look_ups.items():
            catalog_look_ups.stop()
            run_requests.release_look_up(self.control, name, self._owner)
        self._runs.clear()
        self._requests.clear()
        self._look_ups.clear()


def run_requested_catalogs(settings: Settings, stop: threading.Event) -> None:
    """Carry out the requested runs, on stores of their own, until the event is set."""
    while not stop.wait(POLL_S):
        try:
            with open_scans(settings) as (control, scans):
                runner = CatalogRunner(
                    control=control,
                    scans=scans,
                    result_ttl=timedelta(seconds=settings.result_cache_ttl),
                    new_look_ups=partial(look_ups, settings),
                )
                with closing(runner):
                    while not stop.wait(POLL_S):
                        runner.step()
        except Exception:  # a store could not be used: open them again after a pause
            log.exception("runs of catalogues interrupted")
