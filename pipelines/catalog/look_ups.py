"""When the sounds of a catalogue's run are looked up in the index of its references.

Each time as many tracks have ended as had before, and at the end of the run: so a sound is looked
up again about as often as the number of tracks has doubled. A process of its own does it, at low
priority.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Protocol

import structlog

from pipelines.catalog.open_service import look_up_sounds
from pipelines.catalog.run import CatalogProgress
from pipelines.forked_processes import exit_with, forking_context
from pipelines.logs import configure_logging
from pipelines.settings import Settings

FIRST_AFTER = 20
"""Ended tracks before the first look-up within a run."""
_NICENESS = 10
log = structlog.get_logger("catalog")


class LookUp(Protocol):
    """A look-up that has been started."""

    def is_alive(self) -> bool: ...
    def terminate(self) -> None: ...


class LookUps:
    """The look-ups of one catalogue, one at a time. `start` begins one in the background."""

    def __init__(self, start: Callable[[], LookUp]) -> None:
        self._start = start
        self._now: LookUp | None = None
        self._known = self._ended = 0
        self._is_over = False

    def note(self, progress: CatalogProgress) -> None:
        """Take the tracks that have ended into account."""
        self._ended += len(progress.ended)
        self._is_over = progress.is_over

    def advance(self) -> bool:
        """Begin a look-up that is due; return whether one is under way."""
        if self._now is not None and self._now.is_alive():
            return True
        self._now = None
        if self._ended and (self._is_over or self._ended >= max(FIRST_AFTER, self._known)):
            self._known, self._ended = self._known + self._ended, 0
            self._now = self._start()
        return self._now is not None

    def stop(self) -> None:
        """End what is under way; the next look-up goes on from there."""
        if self._now is not None:
            self._now.terminate()
        self._now = None


def start_look_up(settings: Settings, name: str) -> LookUp:
    """Look up the sounds of a catalogue in a process that ends with this one."""
    process = forking_context().Process(
        target=_look_up, args=(settings, name, os.getpid()), name=f"look-up-{name}", daemon=True
    )
    process.start()
    return process


def look_ups(settings: Settings, name: str) -> LookUps:
    """Return the look-ups of a catalogue."""
    return LookUps(partial(start_look_up, settings, name))


def _look_up(settings: Settings, name: str, worker_pid: int) -> None:
    exit_with(worker_pid)
    configure_logging()
    os.nice(_NICENESS)
    counts = look_up_sounds(settings, name, on_done=lambda *_: None)
    if counts is not None:
        log.info(
            "sounds of a catalogue looked up", catalog=name, sounds=counts.sounds,
            compared=counts.compared, matches=counts.matches,
        )  # fmt: skip
