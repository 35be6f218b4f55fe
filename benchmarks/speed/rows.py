"""The rows of `make bench`: name, what it measures, and the function that does it, in one table.

A row's module is loaded when the row is measured, so that the first line appears at once and a
module that cannot be loaded fails its own row alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module

from benchmarks.speed.running import Measure, Row, RowOutput, Workspace


@dataclass(frozen=True, slots=True)
class Late:
    """A function of a module of benches, loaded when it is called."""

    module: str
    function: str

    def load(self) -> Measure:
        found: Measure = getattr(import_module(f"benchmarks.speed.{self.module}"), self.function)
        return found

    def __call__(self, space: Workspace) -> Iterable[RowOutput]:
        return self.load()(space)


ROWS = (
    Row(
        "stores",
        "one commit, one video by key, one progress row written and read",
        Late("lake.stores", "measure_stores"),
    ),
    Row(
        "audio",
        "decoding and measuring a clip, comparing a pair",
        Late("audio", "measure_audio"),
    ),
    Row(
        "parsers",
        "one body of a usual size through each parser",
        Late("parsers", "measure_parsers"),
    ),
    Row(
        "ranking",
        "the view of a result with 100,000 confirmed works",
        Late("large", "measure_ranking"),
    ),
    Row(
        "cached",
        "repeated reads, answered from memory, beside a bare route",
        Late("service.cached_reads", "measure_cached_reads"),
    ),
    Row(
        "scan",
        "a whole scan, its stored result, the first step, the answer to POST",
        Late("scans", "measure_scans"),
    ),
    Row(
        "polls",
        "looking at jobs and stopping them while two scans run",
        Late("service.polls", "measure_polls"),
    ),
    Row(
        "reads",
        "uncached pages of a music id, of posts, of the chart, from a large lake",
        Late("service.reads", "measure_reads"),
    ),
    Row(
        "maintenance",
        "look-ups after a week of small commits, with and without upkeep",
        Late("lake.maintenance", "measure_maintenance"),
    ),
    Row(
        "twelve-weeks",
        "how large daily scans make a lake, and uncached pages from it",
        Late("lake.twelve_weeks", "measure_twelve_weeks"),
    ),
    Row(
        "chart",
        "a back-fill of three years of the chart, a second one, years of it",
        Late("service.chart_history", "measure_chart_history"),
    ),
    Row(
        "start",
        "starting a command, the service, everything together; memory when idle",
        Late("start", "measure_start"),
    ),
    Row(
        "console",
        "first paint and five hundred rows, in Chromium",
        Late("service.console", "measure_console"),
    ),
)
"""Measured in this order."""
