"""Render the parts of a report as HTML: cover, charts, tables, box. Jupyter shows the same.

Text from outside is escaped; unknown is a dash, never 0. Nothing here makes network requests. Not
here: where the parts stand on a page (`pipelines/reports/page.py`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import altair as alt
from markupsafe import Markup, escape

from pipelines.documents.html_pages import plain_text
from pipelines.reports import PART_TYPE
from pipelines.reports.drawing import plot_renderer
from pipelines.reports.texts import ReportTexts
from warehouse.exports.export_table import ExportTable

type PartKind = Literal["cover", "cover_chart", "chart", "table", "box"]

_SIDES = {"whole": "number", "real": "number", "time": "time", "date": "time"}
_BREAK = Markup("<wbr>")
# A break may follow an underscore, or 20 letters: ids have 19, and Chinese breaks anywhere.
_BREAKABLE = re.compile(r"_|[^\s_\u2e80-\uffff]{20}")


@dataclass(frozen=True, slots=True)
class DisplayOutput:
    """The output of a notebook cell, as HTML and as plain text; `part` is its place on a page."""

    html: Markup
    text: str
    part: PartKind

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        return {
            "text/html": str(self.html),
            "text/plain": self.text,
            PART_TYPE: {"kind": self.part},
        }


def show_cover(
    *,
    kind: str,
    subject: str,
    question: str,
    basis: str,
    banners: Sequence[str],
    keys: Mapping[str, str],
) -> DisplayOutput:
    """Render the cover: question, subject, basis, banners and key figures."""
    tiles = _each(
        "<div><b>{}</b><span>{}</span></div>", ((value, label) for label, value in keys.items())
    )
    warnings = _each('<p class="banner">{}</p>', ((banner,) for banner in banners))
    html = Markup(
        '<p class="kind">{}</p><h1>{}</h1><p class="asked">{}</p><p class="basis">{}</p>{}'
        '<div class="keys">{}</div>'
    ).format(kind, subject, question, basis, warnings, tiles)
    lines = [f"{kind}: {subject}", question, basis, *banners]
    lines += [f"{label}: {value}" for label, value in keys.items()]
    return DisplayOutput(html, "\n".join(lines), "cover")


def show_sentence(sentence: str) -> DisplayOutput:
    """Render one sentence in the place of a chart."""
    return DisplayOutput(Markup('<p class="empty">{}</p>').format(sentence), sentence, "chart")


def show_figure(
    chart: alt.TopLevelMixin, message: str, note: str, *, part: PartKind = "chart"
) -> DisplayOutput:
    """Render a plot as self-contained SVG below its message."""
    # Checking a plot against the schema takes longer than drawing it; tests check each form.
    picture = plot_renderer().draw(chart.to_json(validate=False))
    html = Markup(
        '<figure class="chart"><figcaption class="message">{}</figcaption>'
        '<p class="note">{}</p>{}</figure>'
    ).format(message, note, Markup(picture))  # noqa: S704  # the renderer escapes what it writes
    return DisplayOutput(html, f"[plot] {message}", part)


def show_box(title: str, lines: Sequence[tuple[str, str]]) -> DisplayOutput:
    """Render the box with method and coverage."""
    rows = _each("<dt>{}</dt><dd>{}</dd>", lines)
    html = Markup('<section class="box"><h2>{}</h2><dl>{}</dl></section>').format(title, rows)
    text = "\n".join([title, *(f"{label}: {value}" for label, value in lines)])
    return DisplayOutput(html, text, "box")


def show_table(
    table: ExportTable,
    caption: str,
    *,
    texts: ReportTexts,
    empty: str,
    shown: int,
    only: Sequence[str] | None,
    mark: str,
) -> DisplayOutput:
    """Render the first rows of a table with its caption and the file that has all rows."""
    file = f"{table.name}.csv"
    if not table.rows:
        counted = texts.text("page.rows", count=0)
        html = Markup('<p class="empty">{} <span class="file">{}: {}, sha256 {}</span></p>').format(
            empty, file, counted, mark
        )
        return DisplayOutput(html, empty, "table")
    columns = [
        number for number, column in enumerate(table.columns) if only is None or column.name in only
    ]
    headings = [texts.heading(table.columns[number].name) for number in columns]
    cells = [
        [texts.value(texts.code(table.columns[number].name, row[number])) for number in columns]
        for row in table.rows[:shown]
    ]
    if len(table.rows) == 1:
        # A single row stands upright, which is easier to read.
        counted = texts.text("page.one_row", count=1)
        lines = _each("<tr><th>{}</th><td>{}</td></tr>", zip(headings, cells[0], strict=True))
        body = Markup('<table class="upright">{}</table>').format(lines)
    else:
        counted = texts.text("page.rows", count=len(table.rows))
        if len(table.rows) > shown:
            counted = texts.text("page.first_rows", count=len(table.rows), shown=shown)
        sides = [_SIDES.get(table.columns[number].kind, "text") for number in columns]
        head = _each('<th class="{}">{}</th>', zip(sides, headings, strict=True))
        rows = (
            _each('<td class="{}">{}</td>', zip(sides, map(_with_breaks, row), strict=True))
            for row in cells
        )
        body = Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(
            head, _each("<tr>{}</tr>", ((row,) for row in rows))
        )
    html = Markup(
        '<figure class="table"><figcaption>{}</figcaption><div class="wide">{}</div>'
        '<p class="file">{}: {}, sha256 {}</p></figure>'
    ).format(caption, body, file, counted, mark)
    return DisplayOutput(html, f"[table] {caption} {counted}", "table")


def show_sheet(
    table: ExportTable, caption: str, *, headings: Mapping[str, str], file_note: str
) -> DisplayOutput:
    """Render a table of sentences, which are shown in full, with its caption and its file."""
    head = _each("<th>{}</th>", ((headings[column.name],) for column in table.columns))
    rows = (
        _each("<td>{}</td>", ((_with_breaks(plain_text(cell)),) for cell in row))
        for row in table.rows
    )
    body = _each("<tr>{}</tr>", ((row,) for row in rows))
    html = Markup(
        '<figure class="table"><figcaption>{}</figcaption><div class="wide"><table><thead><tr>{}'
        '</tr></thead><tbody>{}</tbody></table></div><p class="file">{}</p></figure>'
    ).format(caption, head, body, file_note)
    return DisplayOutput(html, f"[table] {caption}", "table")


def _each(form: str, items: Iterable[Iterable[object]]) -> Markup:
    """Fill in a form with the values of each item, and join them."""
    return Markup("").join(Markup(form).format(*values) for values in items)  # noqa: S704  # a literal


def _with_breaks(text: str) -> Markup:
    """Allow line breaks after underscores and within very long words."""
    ends = [0, *(match.end() for match in _BREAKABLE.finditer(text)), len(text)]
    return _BREAK.join(escape(text[start:end]) for start, end in pairwise(ends))
