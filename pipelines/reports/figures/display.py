"""Render values for a report: tables as HTML, plots as SVG, sentences. Jupyter shows the same.

Text from outside is escaped; unknown is a dash, never 0. Nothing here makes network requests.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup, escape

from warehouse.exports.export_table import ExportTable

UNKNOWN = "—"
CELL_LIMIT = 60
_MARK_CHARS = 12
_SIDES = {"whole": "number", "real": "number", "time": "time", "date": "time"}
_SMALL = 100.0
_BREAK = Markup("<wbr>")
_BREAKABLE = re.compile(r"_|[^\s_\u2e80-\uffff]{20}")
"""A break may follow an underscore, or 20 letters: ids have 19, and Chinese breaks anywhere."""


@dataclass(frozen=True, slots=True)
class DisplayOutput:
    """The output of a notebook cell, as HTML and as plain text."""

    html: Markup
    text: str

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": str(self.html), "text/plain": self.text}


def show_sentence(sentence: str) -> DisplayOutput:
    """Render one sentence."""
    return DisplayOutput(Markup('<p class="said">{}</p>').format(sentence), sentence)


def show_figure(chart: alt.TopLevelMixin, caption: str) -> DisplayOutput:
    """Render a plot as self-contained SVG with its caption."""
    picture = vl_convert.vegalite_to_svg(chart.to_json())
    return DisplayOutput(
        Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(
            Markup(picture),  # noqa: S704  # the renderer escapes what it writes
            caption,
        ),
        f"[plot] {caption}",
    )


def show_table(
    table: ExportTable,
    caption: str,
    *,
    empty: str,
    shown: int,
    only: Sequence[str] | None,
    sha256: str,
) -> DisplayOutput:
    """Render the first rows of a table with its caption and the file that has all rows."""
    file = f"{table.name}.csv"
    if not table.rows:
        none = Markup('<p class="said">{} <span class="file">{}: no rows, sha256 {}</span></p>')
        return DisplayOutput(none.format(empty, file, sha256[:_MARK_CHARS]), empty)
    at = [
        number for number, column in enumerate(table.columns) if only is None or column.name in only
    ]
    if len(table.rows) == 1:
        return _show_single(table, at, caption, file, sha256)
    head = Markup("").join(
        Markup('<th class="{}">{}</th>').format(
            _side(table, number), _with_breaks(table.columns[number].name)
        )
        for number in at
    )
    body = Markup("").join(_row(table, row, at) for row in table.rows[:shown])
    described = _count_words(len(table.rows), shown)
    html = Markup(
        "<figure><figcaption>{}</figcaption>"
        '<div class="wide"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>'
        '<p class="file">{}: {}, sha256 {}</p></figure>'
    ).format(caption, head, body, file, described, sha256[:_MARK_CHARS])
    return DisplayOutput(html, f"[table] {caption}: {described}")


def _show_single(
    table: ExportTable, at: Sequence[int], caption: str, file: str, sha256: str
) -> DisplayOutput:
    """Render a single row vertically, which is easier to read."""
    lines = Markup("").join(
        Markup("<tr><th>{}</th><td>{}</td></tr>").format(
            table.columns[number].name, show_value(table.rows[0][number])
        )
        for number in at
    )
    html = Markup(
        '<figure><figcaption>{}</figcaption><table class="upright">{}</table>'
        '<p class="file">{}: 1 row, sha256 {}</p></figure>'
    ).format(caption, lines, file, sha256[:_MARK_CHARS])
    return DisplayOutput(html, f"[table] {caption}: 1 row")


def show_value(value: object) -> str:
    """Format a value: counts with thousands separators, times in UTC to the minute."""
    if value is None:
        return UNKNOWN
    described = next((tell(value) for kind, tell in _FORMATTERS if isinstance(value, kind)), None)
    text = str(value) if described is None else described
    return text if len(text) <= CELL_LIMIT else f"{text[: CELL_LIMIT - 1]}…"


def pluralize(number: int, noun: str) -> str:
    """Format a count with its noun: `1 row`, `2,000 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _row(table: ExportTable, row: Sequence[object], at: Sequence[int]) -> Markup:
    cells = Markup("").join(
        Markup('<td class="{}">{}</td>').format(_side(table, number), _with_breaks(row[number]))
        for number in at
    )
    return Markup("<tr>{}</tr>").format(cells)


def _with_breaks(value: object) -> Markup:
    """Allow line breaks after underscores and within very long words."""
    text = show_value(value)
    ends = [0, *(found.end() for found in _BREAKABLE.finditer(text)), len(text)]
    return _BREAK.join(escape(text[start:end]) for start, end in pairwise(ends))


def _side(table: ExportTable, number: int) -> str:
    return _SIDES.get(table.columns[number].kind, "text")


def _count_words(rows: int, shown: int) -> str:
    described = pluralize(rows, "row")
    return described if rows <= shown else f"{described}, first {shown} shown"


# Each formatter takes the type beside it, which a tuple cannot express.
_FORMATTERS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (bool, lambda value: "yes" if value else "no"),
    (int, lambda value: f"{value:,}"),
    (float, lambda value: f"{value:.3g}" if abs(value) < _SMALL else f"{value:,.0f}"),
    (datetime, lambda value: f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"),
    (date, lambda value: value.isoformat()),
    (list, lambda value: ", ".join(map(str, value))),
)
"""The first match applies: in Python a bool is an int, and a datetime is a date."""
