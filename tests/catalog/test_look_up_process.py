"""The process that looks up the sounds of a catalogue: its end, what it says."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from pipelines.catalog import look_ups as module
from pipelines.catalog.look_ups import look_ups
from pipelines.catalog.rules import DaySpending, count_states
from pipelines.catalog.run import CatalogProgress
from pipelines.settings import Settings
from warehouse.records.catalogs import CatalogSettings, CatalogTrack, ImportedTrack

SETTINGS = Settings(_env_file=None)
ENDED = CatalogProgress(
    states=count_states([], CatalogSettings(), datetime(2026, 11, 1, tzinfo=UTC)),
    due_count=0, jobs={},
    ended=(CatalogTrack(given=ImportedTrack(key="k", input="i"), position=0),),
    spent=DaySpending(), stop="nothing_due",
)  # fmt: skip


@dataclass
class Process:
    """A process that is a call: it has ended once it has started."""

    target: Callable[..., object]
    args: tuple[object, ...]
    name: str
    daemon: bool

    def start(self) -> None:
        self.target(*self.args)

    exitcode: int | None = 0

    def is_alive(self) -> bool:
        return False


@dataclass
class Machine:
    """What a process has done to itself, and what its look-up came to."""

    counts: object = None
    ends_with_parent: int = 0
    begun: list[Process] = field(default_factory=list)
    looked_up: list[tuple[Settings, str]] = field(default_factory=list)

    def exit_with_parent(self) -> None:
        self.ends_with_parent += 1

    def process(self, **parts: Any) -> Process:
        self.begun.append(Process(**parts))
        return self.begun[-1]

    def look_up(
        self, settings: Settings, name: str, *, on_done: Callable[..., object], waits: bool
    ) -> object:
        assert waits, "another process may have begun before the last sounds were there"
        on_done(1, 2)  # nobody watches
        self.looked_up.append((settings, name))
        if isinstance(self.counts, Exception):
            raise self.counts
        return self.counts

    def run(self) -> list[Any]:
        """End the run of a catalogue; return the lines of its look-up."""
        catalogue = look_ups(SETTINGS, "songs")
        catalogue.note(ENDED)
        with structlog.testing.capture_logs() as lines:
            assert catalogue.advance()
        return lines


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    context = SimpleNamespace(Process=made.process)
    monkeypatch.setattr(module, "fork_server_context", lambda: context)
    monkeypatch.setattr(module, "look_up_sounds", made.look_up)
    monkeypatch.setattr(module, "configure_process_logging", lambda: None)
    monkeypatch.setattr(module, "exit_with_parent", made.exit_with_parent)
    return made


def test_a_look_up_ends_with_the_worker_that_began_it(machine: Machine) -> None:
    machine.run()
    assert machine.looked_up == [(SETTINGS, "songs")]
    assert machine.ends_with_parent == 1
    assert [(one.name, one.daemon) for one in machine.begun] == [("look-up-songs", True)]


def test_look_up_process_logs_its_counts(machine: Machine) -> None:
    machine.counts = SimpleNamespace(sounds=30, compared=7, matches=2)
    [line] = machine.run()
    said = {name: line[name] for name in ("event", "catalog", "sounds", "compared", "matches")}
    assert said == {
        "event": "sounds of a catalogue looked up", "catalog": "songs", "sounds": 30,
        "compared": 7, "matches": 2,
    }  # fmt: skip


def test_a_look_up_that_would_fail_each_time_says_so_and_is_no_failure(machine: Machine) -> None:
    machine.counts = ValueError("more references than an index holds")
    [line] = machine.run()
    assert (line["log_level"], line["catalog"]) == ("error", "songs")
