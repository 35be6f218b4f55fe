"""The header of every report: the moment, the contents of the lake then, method and limits.

It does not depend on when or by whom a report is made, so that equal reports are equal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from pipelines.reports.figures.display import DisplayOutput, show_value
from warehouse.engine.duckdb_engine import ALWAYS_CURRENT, Engine
from warehouse.exports.method_sheet import COVERAGE_NOTE, METHOD_NOTE
from warehouse.queries.accounts import is_history_rewritten
from warehouse.records.evidence import ALGORITHM, VERDICT_REVISION
from warehouse.records.worlds import is_demo_world

DEMO = "Demo data: invented on this machine. Nothing in this report is real."
REWRITTEN = (
    "history_rewritten: an account was erased after this moment, so a report that was made before "
    "the erasure showed more."
)
NOTHING_YET = "Nothing was committed to this warehouse yet."


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


def read_facts(engine: Engine, moment: datetime | None) -> ReportFacts:
    """Read the contents of the header."""
    found = engine.rows(
        "select algorithm from marts.audio_comparisons group by algorithm order by algorithm"
    )
    world = engine.lake.world
    return ReportFacts(
        world=world,
        is_demo=is_demo_world(world),
        is_rewritten=is_history_rewritten(engine),
        moment=moment,
        tables=read_tables(engine),
        algorithms=tuple(str(row["algorithm"]) for row in found),
    )


def read_tables(engine: Engine) -> tuple[TableVersion, ...]:
    """Return row count and newest commit of every table, sorted by name.

    Without erasure marks: erased rows are missing at every moment.
    """
    names = sorted(table.name for table in engine.lake.tables if table.name not in ALWAYS_CURRENT)
    each = " union all ".join(
        f"select '{name}' as name, count(*) as row_count, max(committed_at) as last_commit "  # noqa: S608  # the contract's names
        f"from {name}"
        for name in names
    )
    found = engine.table(f"select * from ({each}) order by name").to_pylist()  # noqa: S608  # as above
    return tuple(TableVersion(**row) for row in found)


def show_facts(name: str, parameters: Mapping[str, object], facts: ReportFacts) -> DisplayOutput:
    """Render the header."""
    warnings = [
        *([DEMO] if facts.is_demo else []),
        *([REWRITTEN] if facts.is_rewritten else []),
        *([NOTHING_YET] if facts.moment is None else []),
    ]
    banners = Markup("").join(Markup('<p class="banner">{}</p>').format(one) for one in warnings)
    rows = Markup("").join(
        Markup("<tr><th>{}</th><td>{}</td></tr>").format(label, value)
        for label, value in _lines(name, parameters, facts)
    )
    html = Markup('{}<table class="facts">{}</table>{}').format(banners, rows, _versions(facts))
    return DisplayOutput(
        html, "\n".join([*warnings, *(f"{a}: {b}" for a, b in _lines(name, parameters, facts))])
    )


def _lines(
    name: str, parameters: Mapping[str, object], facts: ReportFacts
) -> list[tuple[str, str]]:
    listed = ", ".join(f"{key} = {value}" for key, value in parameters.items() if value != "")
    moment = "" if facts.moment is None else facts.moment.isoformat()
    again = " ".join(
        ["sametrack report", name]
        + [f"-p {_quoted(f'{key}={value}')}" for key, value in parameters.items() if value != ""]
        + ([f"--as-of {moment}"] if moment else [])
    )
    judged = ", ".join(facts.algorithms) or f"{ALGORITHM} (no comparisons yet)"
    return [
        ("As of", f"{moment or '—'} (data committed until then)"),
        ("World", f"{facts.world}{', demo data' if facts.is_demo else ''}"),
        ("Parameters", listed or "none"),
        ("The same again", again),
        ("Algorithm", f"{judged}, judging revision {VERDICT_REVISION}"),
        ("Method", METHOD_NOTE),
        ("Limits", f"{COVERAGE_NOTE} Unknown values are a dash or a gap, never 0."),
    ]


def _quoted(text: str) -> str:
    """Quote for a shell unless the text is plain."""
    is_plain = all(sign.isalnum() or sign in "=_.,:-" for sign in text)
    return text if is_plain else "'" + text.replace("'", "'\\''") + "'"


def _versions(facts: ReportFacts) -> Markup:
    """Render the list of tables with rows, collapsed on screen and complete in print."""
    rows = Markup("").join(
        Markup('<tr><td>{}</td><td class="number">{}</td><td>{}</td></tr>').format(
            table.name,
            show_value(table.row_count),
            "—" if table.last_commit is None else table.last_commit.isoformat(),
        )
        for table in facts.tables
        if table.row_count
    )
    empty = ", ".join(table.name for table in facts.tables if not table.row_count) or "none"
    return Markup(
        '<details class="versions"><summary>Tables used: rows and last commit'
        "</summary><table><thead><tr><th>table</th><th>rows</th><th>last commit (UTC)</th></tr>"
        "</thead><tbody>{}</tbody></table><p>Without rows: {}.</p></details>"
    ).format(rows, empty)
