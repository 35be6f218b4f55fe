"""What every report rests on: the moment, the contents of the lake then, method and limits.

It does not depend on when or by whom a report is made, so that equal reports are equal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pipelines.reports.figures.display import DisplayOutput, show_box
from pipelines.reports.texts import ReportTexts
from warehouse.engine.duckdb_engine import ALWAYS_CURRENT, Engine
from warehouse.queries.accounts import is_history_rewritten
from warehouse.records.evidence import ALGORITHM, VERDICT_REVISION
from warehouse.records.times import to_utc_text
from warehouse.records.worlds import is_demo_world


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
        """Return what a reader has to know first."""
        return [
            *([texts.text("facts.demo")] if self.is_demo else []),
            *([texts.text("facts.rewritten")] if self.is_rewritten else []),
            *([texts.text("facts.nothing_yet")] if self.moment is None else []),
        ]


def read_facts(engine: Engine, moment: datetime | None) -> ReportFacts:
    """Read what a report rests on."""
    found = engine.rows(
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
        algorithms=tuple(str(row["algorithm"]) for row in found),
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
) -> DisplayOutput:
    """Render the box with method and coverage."""
    return show_box(texts.text("facts.title"), _lines(name, parameters, facts, texts))


def _lines(
    name: str, parameters: Mapping[str, object], facts: ReportFacts, texts: ReportTexts
) -> list[tuple[str, str]]:
    given = {key: value for key, value in parameters.items() if value != ""}
    moment = "" if facts.moment is None else to_utc_text(facts.moment)
    again = " ".join(
        ["sametrack report", name]
        + [f"-p {_quoted(f'{key}={value}')}" for key, value in given.items()]
        + ([f"--as-of {moment}"] if moment else [])
        + ([f"--language {texts.language}"] if texts.language != "en" else [])
    )
    judged = ", ".join(facts.algorithms) or texts.text("facts.no_comparisons", algorithm=ALGORITHM)
    lines = {
        "method": texts.text("facts.method"),
        "coverage": texts.text("facts.coverage"),
        "as_of": texts.text("facts.committed", moment=moment or "—"),
        "world": texts.text("facts.demo_world", world=facts.world)
        if facts.is_demo
        else facts.world,
        "tables": _tables(facts, texts),
        "parameters": ", ".join(f"{key} = {value}" for key, value in given.items())
        or texts.text("facts.none"),
        "algorithm": texts.text("facts.judged", algorithm=judged, revision=VERDICT_REVISION),
        "again": again,
    }
    return [(texts.text(f"facts.labels.{key}"), value) for key, value in lines.items()]


def _tables(facts: ReportFacts, texts: ReportTexts) -> str:
    """Name the tables with rows; those without are counted."""
    parts = [
        texts.text(
            "facts.table", name=one.name, count=one.row_count,
            at=one.last_commit,
        )
        for one in facts.tables
        if one.row_count
    ]  # fmt: skip
    empty = sum(not one.row_count for one in facts.tables)
    return "; ".join([*parts, texts.text("facts.without_rows", count=empty)])


def _quoted(text: str) -> str:
    """Quote for a shell unless the text is plain."""
    is_plain = all(sign.isalnum() or sign in "=_.,:-" for sign in text)
    return text if is_plain else "'" + text.replace("'", "'\\''") + "'"
