"""A running report: the warehouse as of one moment, its displayed outputs and CSV files.

Not here: queries (the notebooks have them), formatting (`display.py`), drawing (`plots.py`).
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

import altair as alt
import pyarrow as pa

from pipelines.reports.drawing import plot_renderer
from pipelines.reports.figures.display import (
    DisplayOutput,
    show_cover,
    show_figure,
    show_sentence,
    show_sheet,
    show_table,
)
from pipelines.reports.figures.header import ReportFacts, read_facts, show_facts, table_sizes
from pipelines.reports.figures.headlines import Headline
from pipelines.reports.figures.plots import ReportPlots
from pipelines.reports.texts import ReportTexts, load_texts
from warehouse.analysis.address import find_address
from warehouse.analysis.warehouse import Warehouse
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.atomic_files import write_atomically
from warehouse.exports.error_sheet import SheetLanguage, fill_error_sheet, to_sheet_table
from warehouse.exports.export_table import ExportTable, to_table
from warehouse.exports.extracts import ExportScope
from warehouse.exports.method_sheet import read_newest_scans
from warehouse.exports.table_files import to_csv
from warehouse.lake.as_of import parse_as_of
from warehouse.lake.reading import open_lake_for_reading
from warehouse.lake.store import Lake
from warehouse.records.errors import InvalidParameterError
from warehouse.records.values import ReadOnlyRow

SHOWN_ROWS = 20
MARK_CHARS = 12


@dataclass(slots=True, kw_only=True)
class NotebookReport:
    """One report.

    `warehouse` answers SQL as of `moment`, the commit time of the newest visible row (None if there
    is none). `tables` is the folder for CSV files; None writes none.
    """

    name: str
    engine: Engine
    warehouse: Warehouse
    moment: datetime | None
    tables: Path | None
    texts: ReportTexts
    plots: ReportPlots
    _facts: ReportFacts | None = None
    _names: set[str] = field(default_factory=set)

    def method(self, **parameters: object) -> DisplayOutput:
        """Show method and coverage: the moment, the tables, the parameters, the limits."""
        return show_facts(self.name, parameters, self._read_facts(), self.texts)

    def cover(self, subject: str, keys: Mapping[str, object]) -> DisplayOutput:
        """Show the cover: what was asked about the subject, and the key figures by column name."""
        facts = self._read_facts()
        moment = "—" if self.moment is None else f"{self.moment.astimezone(UTC):%Y-%m-%d %H:%M}"
        return show_cover(
            kind=self.texts.text(f"{self.name}.title"),
            subject=subject,
            asked=self.texts.text(f"{self.name}.question"),
            basis=self.texts.text("page.basis", moment=moment, world=facts.world),
            banners=facts.banners(self.texts),
            keys={
                self.texts.heading(column): self.texts.key_figure(value)
                for column, value in keys.items()
            },
        )

    def span(self, first: date | None, last: date | None, *, empty: str) -> str:
        """Return a range of days as a title; without any, the text at `empty`."""
        if first is None:
            return self.texts.text(empty)
        return str(first) if first == last else f"{first} – {last}"

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
        *,
        shown: int = SHOWN_ROWS,
        only: Sequence[str] | None = None,
    ) -> DisplayOutput:
        """Show the first rows of a table, or a sentence if it is empty; the CSV has all rows.

        Args:
            name: Name of the file and of its texts, unique in the report.
            found: The rows, in order.
            shown: Number of rows on the page.
            only: Columns on the page; None shows all.
        """
        if name in self._names:
            raise InvalidParameterError(f"the report has two tables named {name}")
        self._names.add(name)
        plain = to_table(name, found)
        mark = self._write(plain)
        place = f"{self.name}.tables.{name}"
        return show_table(
            plain,
            self.texts.text(f"{place}.caption"),
            texts=self.texts,
            empty=self.texts.text(f"{place}.empty"),
            shown=shown,
            only=only,
            mark=mark,
        )

    def error_sheet(self, track: str) -> DisplayOutput:
        """Show the error sheet of the newest scan of a track, or a sentence if there is none.

        Its file is in English, because the files of a report are the same in every language.
        """
        found = next(read_newest_scans(self.engine, ExportScope(track=track)), None)
        if found is None:
            return show_sentence(self.texts.text("page.no_error_sheet"))
        language: SheetLanguage = "zh" if self.texts.language == "zh" else "en"
        sheet = fill_error_sheet(found[1], language=language)
        table = to_sheet_table(sheet)
        mark = self._write(to_sheet_table(fill_error_sheet(found[1])))
        rows = self.texts.text("page.rows", count=len(table.rows))
        return show_sheet(
            table, sheet.note, headings=sheet.columns,
            file_note=f"{table.name}.csv: {rows}, sha256 {mark}",
        )  # fmt: skip

    def chart(
        self,
        name: str,
        plot: alt.TopLevelMixin | None,
        headline: Headline | None = None,
        *,
        on_cover: bool = False,
    ) -> DisplayOutput:
        """Show a plot with its message, or a sentence if there is nothing to draw.

        Without a headline the title is neutral: it says what is drawn. `on_cover` puts the plot on
        the first page.
        """
        place = f"{self.name}.charts.{name}"
        if plot is None:
            return show_sentence(self.texts.text(f"{place}.empty"))
        title = self.texts.text(f"{place}.title")
        if headline is not None:
            title = self.texts.text(f"{place}.messages.{headline.form}", **headline.values)
        note = self.texts.text(f"{place}.note")
        return show_figure(plot, title, note, part="cover_chart" if on_cover else "chart")

    def table_sizes(self) -> pa.Table:
        """Return row count, newest commit and its age in days at the moment, for every table."""
        return self.warehouse.sql(
            f"""
            select name, row_count, last_commit,
                round(epoch($moment::timestamptz - last_commit) / 86400.0, 3) as age_days
            from ({table_sizes(self.engine)}) order by name
            """,  # noqa: S608  # the contract's names
            {"moment": self.moment},
        ).arrow()

    def _write(self, table: ExportTable) -> str:
        """Write the file of a table; return the mark of its content."""
        packed = to_csv(table, for_spreadsheets=True)
        if self.tables is not None:
            write_atomically(self.tables / f"{table.name}.csv", [packed])
        return hashlib.sha256(packed).hexdigest()[:MARK_CHARS]

    def _read_facts(self) -> ReportFacts:
        if self._facts is None:
            self._facts = read_facts(self.engine, self.moment)
        return self._facts


def open_report(
    name: str,
    *,
    home: str = "",
    lake: str = "",
    as_of: object = "",
    tables: str = "",
    language: str = "en",
) -> NotebookReport:
    """Open the warehouse for a report.

    Args:
        name: The report's name.
        home: Folder of one world, for example `warehouse/data/sandbox`; empty takes the settings.
        lake: Address of its lake if it is elsewhere.
        as_of: A date or a time; empty uses the newest commit at this time.
        tables: Folder for the tables as CSV; empty writes none.
        language: Language of the texts, `en` or `zh`.

    Raises:
        InvalidParameterError: `as_of` is not a past moment, or nothing was collected there.
        WarehouseError: The lake cannot be opened.
    """
    plot_renderer()  # loads while the queries run
    texts = load_texts(language)
    place = find_address(home or None)
    opened = open_lake_for_reading(lake or place.lake_url, world=place.world)
    # A year typed plainly arrives as a number.
    moment = parse_as_of(str(as_of), now=datetime.now(UTC)) if as_of else _newest_commit(opened)
    engine = Engine(opened, as_of=moment)
    return NotebookReport(
        name=name,
        engine=engine,
        warehouse=Warehouse(engine),
        moment=moment,
        tables=Path(tables) if tables else None,
        texts=texts,
        plots=ReportPlots(texts),
    )


def _newest_commit(lake: Lake) -> datetime | None:
    """Return the newest commit time, so that every report is as of a fixed moment."""
    newest = " union all ".join(
        f"select max(committed_at) as moment from {table.name}"  # noqa: S608  # as below
        for table in lake.tables
    )
    with closing(Engine(lake)) as engine:
        found: ReadOnlyRow = engine.rows(f"select max(moment) as moment from ({newest})")[0]  # noqa: S608  # the contract's names
    moment: datetime | None = found["moment"]
    return moment
