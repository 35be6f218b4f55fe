"""Runs of catalogues that were requested: a worker makes them, a few scans at a time.

A request ends when nothing is due, the day's budget is spent, or the run is cancelled. A worker
that is killed loses nothing: another one goes on, with the look-up at the end of a run, too.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import uuid4

import structlog

from pipelines.catalog.look_ups import LookUps, look_ups
from pipelines.catalog.open_service import open_scans
from pipelines.catalog.run import CatalogRun, CatalogScans
from pipelines.catalog.run_requests import (
    hold_look_up,
    release_look_up,
    request_look_up,
    requested_look_ups,
    requested_runs,
    withdraw_look_up,
    withdraw_request,
)
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
        requests = requested_runs(self.control)
        known = {catalog.name for catalog in catalogs.read_all(self.control)}
        for name, request in sorted(requests.items()):
            if name not in known:
                withdraw_request(self.control, name, request)
            elif name not in self._runs:
                self._begin(name, request)
        for name, run in list(self._runs.items()):
            if name in known:
                self._advance(name, run)
            else:
                self._end(name, run, is_over=True)
                self._look_ups.pop(name).stop()
        self._take_look_ups(known)
        for name in list(self._look_ups):
            self._advance_look_ups(name)

    def _begin(self, name: str, request: str) -> None:
        run = CatalogRun(
            name=name,
            control=self.control,
            scans=self.scans,
            result_ttl=self.result_ttl,
            clock=self.clock,
        )
        if run.begin():
            self._runs[name], self._requests[name] = run, request
            self._look_ups.setdefault(name, self.new_look_ups(name)).is_over = False

    def _advance(self, name: str, run: CatalogRun) -> None:
        progress = run.step()
        self._look_ups[name].note(progress)
        if not progress.is_over:
            return
        log.info("run of a catalogue ended", catalog=name, reason=progress.stop)
        if self._look_ups[name].is_over:
            hold_look_up(self.control, name, self._owner)
            request_look_up(self.control, name)  # before the request of the run goes
        else:
            self._look_ups.pop(name).stop()
        self._end(name, run, is_over=progress.stop != "taken_over")

    def _end(self, name: str, run: CatalogRun, *, is_over: bool) -> None:
        del self._runs[name]
        run.end()
        request = self._requests.pop(name)
        if is_over:
            withdraw_request(self.control, name, request)

    def _take_look_ups(self, known: set[str]) -> None:
        """Take over the requested look-ups that no worker makes."""
        for name in requested_look_ups(self.control):
            if name not in known:
                withdraw_look_up(self.control, name)
            elif name not in self._look_ups and hold_look_up(self.control, name, self._owner):
                self._look_ups[name] = self.new_look_ups(name)
                self._look_ups[name].finish()

    def _advance_look_ups(self, name: str) -> None:
        """Begin what is due. A last look-up that failed is tried again once its hold has ended."""
        of_catalog = self._look_ups[name]
        if of_catalog.advance():
            if of_catalog.is_over:
                hold_look_up(self.control, name, self._owner)
        elif of_catalog.is_over:
            del self._look_ups[name]
            if not of_catalog.has_failed:
                withdraw_look_up(self.control, name)
                release_look_up(self.control, name, self._owner)

    def close(self) -> None:
        """Leave what is under way to another worker."""
        for run in self._runs.values():
            run.end()
        for name, of_catalog in self._look_ups.items():
            of_catalog.stop()
            release_look_up(self.control, name, self._owner)
        self._runs.clear()
        self._requests.clear()
        self._look_ups.clear()


def run_requested_catalogs(settings: Settings, stop: threading.Event) -> None:
    """Make the requested runs on stores of their own, until the event is set."""
    while not stop.wait(POLL_S):
        try:
            with _open_runner(settings) as runner:
                while not stop.wait(POLL_S):
                    runner.step()
        except Exception:  # a store could not be used: again in a moment
            log.exception("runs of catalogues interrupted")


@contextmanager
def _open_runner(settings: Settings) -> Iterator[CatalogRunner]:
    with open_scans(settings) as (control, scans):
        runner = CatalogRunner(
            control=control,
            scans=scans,
            result_ttl=timedelta(seconds=settings.result_cache_ttl),
            new_look_ups=partial(look_ups, settings),
        )
        try:
            yield runner
        finally:
            runner.close()
