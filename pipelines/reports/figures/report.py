"""A running report: the lake as of one moment, its displayed outputs and CSV files.

Not here: queries (`tracks.py` and its siblings), formatting (`display.py`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import altair as alt
import pyarrow as pa

from pipelines.reports.figures.display import DisplayOutput, show_figure, show_sentence, show_table
from pipelines.reports.figures.header import read_facts, show_facts
from warehouse.analysis.address import find_address
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.atomic_files import write_atomically
from warehouse.exports.export_table import to_table
from warehouse.exports.table_files import to_csv
from warehouse.lake.as_of import parse_as_of
from warehouse.lake.reading import open_lake_for_reading
from warehouse.lake.store import Lake
from warehouse.records.errors import InvalidParameterError
from warehouse.records.values import ReadOnlyRow

SHOWN_ROWS = 20


@dataclass(slots=True)
class NotebookReport:
    """One report.

    `moment` is the commit time of the newest visible row, None if there is none. `tables` is the
    folder for CSV files; None writes none.
    """

    name: str
    engine: Engine
    moment: datetime | None
    tables: Path | None
    _names: set[str] = field(default_factory=set)

    def header(self, **parameters: object) -> DisplayOutput:
        """Show the header: the moment, the tables, the method, the limits."""
        return show_facts(self.name, parameters, read_facts(self.engine, self.moment))

    def within(self, name: str, value: int, least: int, most: int) -> int:
        """Return `value` if it is within the limits.

        Raises:
            InvalidParameterError: The value is too small or too large.
        """
        if not least <= value <= most:
            raise InvalidParameterError(f"{name}: {value} is not between {least} and {most}")
        return value

    def table(
        self,
        name: str,
        found: pa.Table,
        caption: str,
        *,
        empty: str,
        shown: int = SHOWN_ROWS,
        only: Sequence[str] | None = None,
    ) -> DisplayOutput:
        """Show the first rows of a table, or a sentence if it is empty; the CSV has all rows.

        Args:
            name: Name of the file, unique in the report.
            found: The rows, in order.
            caption: The caption of the table.
            empty: The sentence for an empty table.
            shown: Number of rows on the page.
            only: Columns on the page; None shows all.
        """
        if name in self._names:
            raise InvalidParameterError(f"the report has two tables named {name}")
        self._names.add(name)
        plain = to_table(name, found)
        packed = to_csv(plain, with_mark=True)
        if self.tables is not None:
            write_atomically(self.tables / f"{name}.csv", [packed])
        mark = hashlib.sha256(packed).hexdigest()
        return show_table(plain, caption, empty=empty, shown=shown, only=only, sha256=mark)

    def figure(
        self, chart: alt.TopLevelMixin | None, caption: str, *, empty: str = "Nothing to draw."
    ) -> DisplayOutput:
        """Show a plot, or a sentence if there is nothing to draw."""
        return show_sentence(empty) if chart is None else show_figure(chart, caption)

    def say(self, sentence: str) -> DisplayOutput:
        """Show a sentence."""
        return show_sentence(sentence)


def open_report(
    name: str, *, home: str = "", lake: str = "", as_of: str = "", tables: str = ""
) -> NotebookReport:
    """Open the warehouse for a report.

    Args:
        name: The report's name.
        home: Folder of one world, for example `warehouse/data/sandbox`; empty takes the settings.
        lake: Address of its lake if it is elsewhere.
        as_of: A date or a time; empty uses the newest commit at this time.
        tables: Folder for the tables as CSV; empty writes none.

    Raises:
        InvalidParameterError: `as_of` is not a past moment, or nothing was collected there.
        WarehouseError: The lake cannot be opened.
    """
    place = find_address(home or None)
    opened = open_lake_for_reading(lake or place.lake_url, world=place.world)
    moment = parse_as_of(as_of, now=datetime.now(UTC)) if as_of else _newest_commit(opened)
    engine = Engine(opened, as_of=moment)
    return NotebookReport(name, engine, moment, Path(tables) if tables else None)


def _newest_commit(lake: Lake) -> datetime | None:
    """Return the newest commit time, so that every report is as of a fixed moment."""
    engine = Engine(lake)
    try:
        newest = " union all ".join(
            f"select max(committed_at) as moment from {table.name}"  # noqa: S608  # as below
            for table in lake.tables
        )
        found: ReadOnlyRow = engine.rows(f"select max(moment) as moment from ({newest})")[0]  # noqa: S608  # the contract's names
        moment: datetime | None = found["moment"]
        return moment
    finally:
        engine.close()
