"""Decide when the sounds of a catalogue's run are looked up in the index of its references.

A look-up begins each time the number of ended tracks has doubled, and at the end of each run. It
runs in a process of its own, and skips what was looked up before, so it costs little after a run
that ended no track.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol

import structlog

from pipelines.catalog.open_service import look_up_sounds
from pipelines.catalog.run import CatalogProgress
from pipelines.fork_server import exit_with_parent, fork_server_context
from pipelines.logs import configure_process_logging
from pipelines.settings import Settings
from warehouse.records.errors import InputError

FIRST_AFTER = 20
"""Ended tracks before the first look-up within a run."""
_NO_LAST = ("taken_over", "disk_full")
"""Ends without a last look-up: another process makes it, or the disk has no space for an index."""
log = structlog.get_logger("catalog")


class LookUp(Protocol):
    """A look-up that has been started."""

    @property
    def exitcode(self) -> int | None: ...
    def is_alive(self) -> bool: ...
    def terminate(self) -> None: ...


class LookUps:
    """The look-ups of one catalogue, one at a time. `start` begins one in the background.

    Attributes:
        is_over: The run is over, so the look-up that is due or under way is its last one.
        has_failed: The process of the look-up that had ended at the last `advance` failed.
    """

    def __init__(self, start: Callable[[], LookUp]) -> None:
        self._start = start
        self._running: LookUp | None = None
        self._covered = 0  # ended tracks that earlier look-ups covered
        self._ended = 0  # tracks that have ended since
        self._is_last_due = False
        self.is_over = False
        self.has_failed = False

    def note(self, progress: CatalogProgress) -> None:
        """Count the tracks that have ended, and notice the end of the run."""
        self._ended += len(progress.ended)
        if not progress.is_over:
            self.is_over = False
        elif progress.stop not in _NO_LAST and not self.is_over:
            self.finish()

    def finish(self) -> None:
        """Make the last look-up due: the run is over."""
        self.is_over = self._is_last_due = True

    def advance(self) -> bool:
        """Begin a look-up that is due; return whether one is under way."""
        if self._running is not None and self._running.is_alive():
            return True
        # The process has ended: a failed last look-up is to be repeated by its caller.
        self.has_failed = self._running is not None and self._running.exitcode != 0
        self._running = None
        # As many tracks as all look-ups before have covered: their number has doubled.
        if self._is_last_due or self._ended >= max(FIRST_AFTER, self._covered):
            self._is_last_due = False
            self._covered, self._ended = self._covered + self._ended, 0
            self._running = self._start()
        return self._running is not None

    def stop(self) -> None:
        """End the look-up under way; the next one goes on from there."""
        if self._running is not None:
            self._running.terminate()
        self._running = None


def start_look_up(settings: Settings, name: str) -> LookUp:
    """Look up the sounds of a catalogue in a process that ends with this one."""
    process = fork_server_context().Process(
        target=_look_up, args=(settings, name), name=f"look-up-{name}", daemon=True
    )
    process.start()
    return process


def look_ups(settings: Settings, name: str) -> LookUps:
    """Return the look-ups of a catalogue."""
    return LookUps(partial(start_look_up, settings, name))


def _look_up(settings: Settings, name: str) -> None:
    exit_with_parent()
    configure_process_logging()
    try:
        counts = look_up_sounds(settings, name, waits=True, on_done=lambda *_: None)
    except (ValueError, InputError):  # a retry would fail in the same way
        log.exception("sounds of a catalogue not looked up", catalog=name)
        return
    if counts is not None:
        log.info(
            "sounds of a catalogue looked up",
            catalog=name,
            sounds=counts.sounds,
            compared=counts.compared,
            matches=counts.matches,
        )
