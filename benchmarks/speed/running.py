"""Runs the rows of a bench and says each figure in the moment it is known.

Every line begins with the seconds since the start and ends with what is still to come, and is
flushed by itself, so that a pipe or a log shows as much as a terminal. A row that fails is told
with its error and loses no other. What belongs here: order, printing, exit status. Not here: what
is measured (`rows.py` names it, the other modules do it).
"""

import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from rich.console import Console
from rich.table import Table

type Figure = tuple[str, str, str]
"""What was measured, the measured value, and its aim, if there is one."""
type RowOutput = Figure | str
"""A figure, or a word on what is being done now, for steps that take long."""
type Measure = Callable[[Workspace], Iterable[RowOutput]]

ALL_WELL, SOME_FAILED, NOT_UNDERSTOOD = 0, 1, 2
WIDTH = 150


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where rows work: what they write is gone afterwards, unless a folder is given to keep it."""

    folder: Path
    sounds: Path
    lake: Path
    """The data home of the large lake, written by the first row that needs it."""
    seed: int = 7
    size: float = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """One part of a bench, asked for by its name; it may yield many figures."""

    name: str
    about: str
    measure: Measure


class UnknownRowError(Exception):
    """Somebody asked for a row that there is not."""


def choose_rows(rows: Sequence[Row], names: str) -> list[Row]:
    """The rows of these comma-separated names, in the order they are declared in; all for none."""
    asked = {name.strip() for name in names.split(",")} - {""}
    unknown = sorted(asked - {row.name for row in rows})
    if unknown:
        raise UnknownRowError(", ".join(unknown))
    return [row for row in rows if not asked or row.name in asked]


def list_rows(rows: Iterable[Row]) -> str:
    """A line for each row: its name and what it measures."""
    return "\n".join(f"  {row.name:<14}{row.about}" for row in rows)


@dataclass
class Runner:
    """Measures rows one after the other. The clocks are arguments, so that tests can move them."""

    out: TextIO = field(default_factory=lambda: sys.stdout)
    clock: Callable[[], float] = time.monotonic
    processor: Callable[[], float] = field(default_factory=lambda: spent_by_all)

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._found: list[tuple[str, Figure]] = []
        self._ended = 0
        self._is_well = True

    def run(self, rows: Sequence[Row], space: Workspace) -> int:
        """Measure each row. Also when somebody breaks off, what was found is shown.

        Returns:
            The exit status: 0, or 1 if a row failed.
        """
        try:
            for place, row in enumerate(rows):
                self._measure(row, space, _still_to_come(rows[place + 1 :]))
                self._ended += 1
        finally:
            self._show_all(len(rows))
        return ALL_WELL if self._is_well else SOME_FAILED

    def _measure(self, row: Row, space: Workspace, coming: str) -> None:
        self._print(f"{row.name}: {row.about}", coming)
        clock, processor = self.clock(), self.processor()
        try:
            for output in row.measure(space):
                self._report(row, output, coming)
        except Exception as error:  # noqa: BLE001  # whatever it is, the other rows are measured
            self._is_well = False
            self._report(row, ("FAILED", _one_line(error), ""), coming)
            print(traceback.format_exc(), file=self.out, flush=True)
        spent, used = self.clock() - clock, self.processor() - processor
        self._report(row, ("row took", f"{spent:.1f} s, {used:.1f} s of processor", ""), coming)

    def _report(self, row: Row, output: RowOutput, coming: str) -> None:
        if isinstance(output, str):
            self._print(f"{row.name}: {output} …", coming)
            return
        self._found.append((row.name, output))
        what, measured, aim = output
        self._print(f"{row.name}: {what}   {measured}{f'   (aim: {aim})' if aim else ''}", coming)

    def _print(self, line: str, coming: str) -> None:
        elapsed = self.clock() - self._began
        print(f"{elapsed:5.0f} s  {line}   | {coming}", file=self.out, flush=True)

    def _show_all(self, asked: int) -> None:
        elapsed = self.clock() - self._began
        table = Table(title=f"{self._ended} of {asked} rows in {elapsed:.0f} s")
        for name in ("row", "what", "measured", "aim"):
            table.add_column(name)
        for name, figure in self._found:
            table.add_row(name, *figure)
        Console(file=self.out, width=WIDTH, markup=False, highlight=False).print(table)
        self.out.flush()


def run_alone(name: str, measure: Measure, *, lake: str = "") -> None:
    """One row by itself, for `python -m benchmarks.speed.…`; ends the process with its status."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        kept = Path(lake) if lake else root / "large"
        space = Workspace(folder=root, sounds=root / "sounds", lake=kept)
        status = Runner().run([Row(name, "alone", measure)], space)
    sys.exit(status)


def spent_by_all() -> float:
    """Processor seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def counted[T](
    items: Iterable[T],
    *,
    what: str,
    total: int,
    every_s: float = 5.0,
    clock: Callable[[], float] = time.monotonic,
    out: TextIO | None = None,
) -> Iterator[T]:
    """Hand on the items; say how many there were at most so often, and at the end."""
    began = said = clock()
    for number, item in enumerate(items, start=1):
        now = clock()
        if now - said >= every_s or number == total:
            said = now
            line = f"{now - began:8.0f} s  {what}: {number:,} of {total:,}"
            print(line, file=out or sys.stdout, flush=True)
        yield item


def _still_to_come(rows: Sequence[Row]) -> str:
    if not rows:
        return "next: nothing, this is the last"
    return f"next: {rows[0].name}" + (f", then {len(rows) - 1} more" if rows[1:] else "")


def _one_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
