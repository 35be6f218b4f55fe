"""A running report: the warehouse as of one moment, its displayed outputs and CSV files.

The box with method and coverage says what a report is based on. It does not depend on when or by
whom a report is made, so that equal reports are equal. Not here: queries (the notebooks have them),
formatting (`display.py`), drawing (`plots.py`).
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
from pipelines.reports.figures import display
from pipelines.reports.figures.headlines import Headline
from pipelines.reports.figures.plots import ReportPlots
from pipelines.reports.texts import ReportTexts, load_texts
from warehouse.analysis.address import find_address
from warehouse.analysis.warehouse import Warehouse
from warehouse.engine.duckdb_engine import ALWAYS_CURRENT, Engine
from warehouse.exports.atomic_files import write_atomically
from warehouse.exports.error_sheet import SheetLanguage, fill_error_sheet, to_sheet_table
from warehouse.exports.export_table import ExportTable, to_table
from warehouse.exports.extracts import ExportScope
from warehouse.exports.method_sheet import read_newest_scans
from warehouse.exports.table_files import to_csv
from warehouse.home import is_demo_world
from warehouse.lake.reading import open_lake_for_reading, parse_as_of
from warehouse.queries.erasure import is_history_rewritten
from warehouse.records.errors import InvalidParameterError
from warehouse.records.evidence import ALGORITHM, VERDICT_REVISION
from warehouse.records.times import to_utc_text

SHOWN_ROWS = 20
MARK_CHARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TableVersion:
    """A table as a report sees it: its row count and newest commit."""

    name: str
    row_count: int
    last_commit: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFacts:
    """The data that a report is based on."""

    world: str
    is_demo: bool
    is_rewritten: bool
    moment: datetime | None
    tables: tuple[TableVersion, ...]
    algorithms: tuple[str, ...]

    def banners(self, texts: ReportTexts) -> list[str]:
        """Return the warnings at the top: demo data, erased rows, an empty warehouse."""
        return [
            *([texts.text("facts.demo")] if self.is_demo else []),
            *([texts.text("facts.rewritten")] if self.is_rewritten else []),
            *([texts.text("facts.nothing_yet")] if self.moment is None else []),
        ]


def read_facts(engine: Engine, moment: datetime | None) -> ReportFacts:
    """Read what a report is based on."""
    rows = engine.rows(
        "select algorithm from marts.audio_comparisons group by algorithm order by algorithm"
    )
    sizes = engine.table(f"select * from ({table_sizes(engine)}) order by name")  # noqa: S608  # the contract's names
    world = engine.lake.world
    return ReportFacts(
        world=world,
        is_demo=is_demo_world(world),
        is_rewritten=is_history_rewritten(engine),
        moment=moment,
        tables=tuple(TableVersion(**row) for row in sizes.to_pylist()),
        algorithms=tuple(str(row["algorithm"]) for row in rows),
    )


def table_sizes(engine: Engine) -> str:
    """Return the query for row count and newest commit of every table.

    Without erasure marks: erased rows are missing at every moment.
    """
    return " union all ".join(
        f"select '{table.name}' as name, count(*) as row_count, "  # noqa: S608  # the contract's names
        f"max(committed_at) as last_commit from {table.name}"
        for table in engine.lake.tables
        if table.name not in ALWAYS_CURRENT
    )


def show_facts(
    name: str, parameters: Mapping[str, object], facts: ReportFacts, texts: ReportTexts
) -> display.DisplayOutput:
    """Render the box with method and coverage."""
    parameters = {key: value for key, value in parameters.items() if value != ""}
    moment = "" if facts.moment is None else to_utc_text(facts.moment)
    # The command that makes the same report again.
    command = ["sametrack report", name]
    for key, value in parameters.items():
        pair = f"{key}={value}"
        is_plain = all(sign.isalnum() or sign in "=_.,:-" for sign in pair)
        quoted = pair if is_plain else "'" + pair.replace("'", "'\\''") + "'"
        command.append(f"-p {quoted}")
    if moment:
        command.append(f"--as-of {moment}")
    if texts.language != "en":
        command.append(f"--language {texts.language}")
    # Tables without rows are only counted.
    tables = [
        texts.text("facts.table", name=table.name, count=table.row_count, at=table.last_commit)
        for table in facts.tables
        if table.row_count
    ]
    empty = sum(not table.row_count for table in facts.tables)
    judged = ", ".join(facts.algorithms) or texts.text("facts.no_comparisons", algorithm=ALGORITHM)
    lines = {
        "method": texts.text("facts.method"),
        "coverage": texts.text("facts.coverage"),
        "as_of": texts.text("facts.committed", moment=moment or "—"),
        "world": texts.text("facts.demo_world", world=facts.world)
        if facts.is_demo
        else facts.world,
        "tables": "; ".join([*tables, texts.text("facts.without_rows", count=empty)]),
        "parameters": ", ".join(f"{key} = {value}" for key, value in parameters.items())
        or texts.text("facts.none"),
        "algorithm": texts.text("facts.judged", algorithm=judged, revision=VERDICT_REVISION),
        "again": " ".join(command),
    }
    return display.show_box(
        texts.text("facts.title"),
        [(texts.text(f"facts.labels.{key}"), value) for key, value in lines.items()],
    )


@dataclass(slots=True, kw_only=True)
class NotebookReport:
    """One report.

    `warehouse` answers SQL as of `moment`, the commit time of the newest visible row (None in an
    empty warehouse). `tables` is the folder for CSV files; None writes no files.
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

    def method(self, **parameters: object) -> display.DisplayOutput:
        """Show method and coverage: the moment, the tables, the parameters, the limits."""
        return show_facts(self.name, parameters, self._read_facts(), self.texts)

    def cover(self, subject: str, keys: Mapping[str, object]) -> display.DisplayOutput:
        """Show the cover: the question about the subject, and the key figures by column name."""
        facts = self._read_facts()
        moment = "—" if self.moment is None else f"{self.moment.astimezone(UTC):%Y-%m-%d %H:%M}"
        return display.show_cover(
            kind=self.texts.text(f"{self.name}.title"),
            subject=subject,
            question=self.texts.text(f"{self.name}.question"),
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
        rows: pa.Table,
        *,
        shown: int = SHOWN_ROWS,
        only: Sequence[str] | None = None,
    ) -> display.DisplayOutput:
        """Show the first rows of a table, or a sentence if it is empty; the CSV has all rows.

        Args:
            name: Name of the file and of its texts, unique in the report.
            rows: The rows, in order.
            shown: Number of rows on the page.
            only: Columns on the page; None shows all.
        """
        if name in self._names:
            raise InvalidParameterError(f"the report has two tables named {name}")
        self._names.add(name)
        plain = to_table(name, rows)
        mark = self._write(plain)
        place = f"{self.name}.tables.{name}"
        return display.show_table(
            plain,
            self.texts.text(f"{place}.caption"),
            texts=self.texts,
            empty=self.texts.text(f"{place}.empty"),
            shown=shown,
            only=only,
            mark=mark,
        )

    def error_sheet(self, track: str) -> display.DisplayOutput:
        """Show the error sheet of the newest scan of a track, or a sentence without a scan.

        Its file is in English, because the files of a report are the same in every language.
        """
        newest = next(read_newest_scans(self.engine, ExportScope(track=track)), None)
        if newest is None:
            return display.show_sentence(self.texts.text("page.no_error_sheet"))
        _, scan = newest
        language: SheetLanguage = "zh" if self.texts.language == "zh" else "en"
        sheet = fill_error_sheet(scan, language=language)
        table = to_sheet_table(sheet)
        mark = self._write(to_sheet_table(fill_error_sheet(scan)))
        rows = self.texts.text("page.rows", count=len(table.rows))
        file_note = f"{table.name}.csv: {rows}, sha256 {mark}"
        return display.show_sheet(table, sheet.note, headings=sheet.columns, file_note=file_note)

    def chart(
        self,
        name: str,
        plot: alt.TopLevelMixin | None,
        headline: Headline | None = None,
        *,
        on_cover: bool = False,
    ) -> display.DisplayOutput:
        """Show a plot with its message, or a sentence if there is nothing to draw.

        Without a headline the title is neutral: it says what is drawn. `on_cover` puts the plot on
        the first page.
        """
        place = f"{self.name}.charts.{name}"
        if plot is None:
            return display.show_sentence(self.texts.text(f"{place}.empty"))
        title = self.texts.text(f"{place}.title")
        if headline is not None:
            title = self.texts.text(f"{place}.messages.{headline.form}", **headline.values)
        note = self.texts.text(f"{place}.note")
        return display.show_figure(plot, title, note, part="cover_chart" if on_cover else "chart")

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
        """Write the file of a table; return the start of its SHA-256."""
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
        tables: Folder for the tables as CSV; empty writes no files.
        language: Language of the texts, `en` or `zh`.

    Raises:
        InvalidParameterError: `as_of` is not a past moment, or nothing was collected there.
        WarehouseError: The lake cannot be opened.
    """
    plot_renderer()  # loads while the queries run
    texts = load_texts(language)
    place = find_address(home or None)
    opened = open_lake_for_reading(lake or place.lake_url, world=place.world)
    moment: datetime | None
    if as_of:
        # A year that is typed without quotes arrives as a number.
        moment = parse_as_of(str(as_of), now=datetime.now(UTC))
    else:
        # The newest commit, so that every report is as of a fixed moment.
        commits = " union all ".join(
            f"select max(committed_at) as moment from {table.name}"  # noqa: S608  # the contract's names
            for table in opened.tables
        )
        with closing(Engine(opened)) as unbounded:
            [row] = unbounded.rows(f"select max(moment) as moment from ({commits})")  # noqa: S608  # as above
        moment = row["moment"]
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
