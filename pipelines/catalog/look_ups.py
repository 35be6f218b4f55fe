"""When the sounds of a catalogue's run are looked up in the index of its references.

Each time as many tracks have ended as had before, and at the end of each run: so a sound is looked
up again about as often as the number of tracks has doubled. A process of its own does it. What was
looked up before is skipped, so a run that ended no track costs little.
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
"""Ends without a last look-up: another process makes it, or an index has no space."""
log = structlog.get_logger("catalog")


class LookUp(Protocol):
    """A look-up that has been started."""

    @property
    def exitcode(self) -> int | None: ...
    def is_alive(self) -> bool: ...
    def terminate(self) -> None: ...


class LookUps:
    """The look-ups of one catalogue, one at a time. `start` begins one in the background.

    `is_over`: the run is over, so the look-up under way or due is its last one. `has_failed`: the
    one that ended before the last `advance` has not done its work.
    """

    def __init__(self, start: Callable[[], LookUp]) -> None:
        self._start = start
        self._now: LookUp | None = None
        self._known = self._ended = 0
        self._is_last_due = False
        self.is_over = False
        self.has_failed = False

    def note(self, progress: CatalogProgress) -> None:
        """Take the tracks that have ended into account, and the end of the run."""
        self._ended += len(progress.ended)
        if not progress.is_over:
            self.is_over = False
        elif progress.stop not in _NO_LAST and not self.is_over:
            self.finish()

    def finish(self) -> None:
        """Have the last look-up begun: the run is over."""
        self.is_over = self._is_last_due = True

    def advance(self) -> bool:
        """Begin a look-up that is due; return whether one is under way."""
        if self._now is not None and self._now.is_alive():
            return True
        self.has_failed = self._now is not None and self._now.exitcode != 0
        self._now = None
        if self._is_last_due or self._ended >= max(FIRST_AFTER, self._known):
            self._is_last_due = False
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
    except (ValueError, InputError):  # another try would end in the same way
        log.exception("sounds of a catalogue not looked up", catalog=name)
        return
    if counts is not None:
        log.info(
            "sounds of a catalogue looked up", catalog=name, sounds=counts.sounds,
            compared=counts.compared, matches=counts.matches,
        )  # fmt: skip
