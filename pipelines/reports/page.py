"""Render an executed notebook as one self-contained HTML page.

The page has another order than the notebook: cover, chapters with their charts, the box with method
and coverage, and all tables as appendix. Notebook texts are Markdown without raw HTML. Output HTML
comes only from the project's display classes (`pipelines/reports/figures/display.py`); everything
else is escaped. The page's content security policy allows neither scripts nor requests.
"""

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from nbformat import NotebookNode

from pipelines.documents.html_pages import PageTemplates
from pipelines.documents.messages import LANGUAGES
from pipelines.reports import PART_TYPE
from pipelines.reports.catalogue import Notebook
from pipelines.reports.texts import ReportTexts

_PAGES = PageTemplates("pipelines.reports")
_HIDDEN = frozenset({"parameters", "injected-parameters"})
_HEADING = re.compile(r"#+ (.*)\n*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A section of a notebook: its text, its charts, its tables."""

    name: str
    explanation: Markup
    charts: list[Markup] = field(default_factory=list)
    tables: list[Markup] = field(default_factory=list)

    @property
    def text(self) -> Markup:
        """The heading and the explanation."""
        return Markup("<h2>{}</h2>\n{}").format(self.name, self.explanation)


@dataclass(frozen=True, slots=True)
class ReportPage:
    """The parts of a page, in the order of the notebook."""

    cover: list[Markup] = field(default_factory=list)
    cover_charts: list[Markup] = field(default_factory=list)
    chapters: list[Chapter] = field(default_factory=list)
    boxes: list[Markup] = field(default_factory=list)
    code: list[str] = field(default_factory=list)

    def add(self, kind: str, part: Markup) -> None:
        """Put an output in its place; most outputs belong to the chapter before them."""
        places = {"cover": self.cover, "cover_chart": self.cover_charts, "box": self.boxes}
        if kind in places:
            places[kind].append(part)
        else:
            chapter = self.chapters[-1]
            (chapter.tables if kind == "table" else chapter.charts).append(part)


def render_page(
    report: Notebook, executed: NotebookNode, texts: ReportTexts, *, run_id: str, made_at: str
) -> str:
    """Render the page of an executed notebook.

    Of two equal reports only the line with `run_id` and `made_at` differs.
    """
    page = ReportPage()
    for cell in executed.cells:
        if cell.cell_type == "markdown":
            # English sections are in the notebook; their first line is the heading.
            source = texts.section(report.name, cell.id, cell.source)
            heading = _HEADING.match(source)
            explanation = source[heading.end() :] if heading else source
            markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
            chapter = Chapter(
                name=heading[1] if heading else "",
                explanation=Markup(markdown.render(explanation)),  # noqa: S704  # raw HTML is off
            )
            page.chapters.append(chapter)
        elif not _HIDDEN & set(cell.metadata.tags):
            page.code.append(cell.source)
            for output in cell.outputs:
                data = output.get("data", {})
                if PART_TYPE in data:
                    html = Markup(data["text/html"])  # noqa: S704  # our display classes escape
                    page.add(data[PART_TYPE]["kind"], html)
                else:
                    # Printed text, or the text form of another object.
                    text = output.get("text", data.get("text/plain", ""))
                    page.add("chart", Markup("<pre>{}</pre>").format(escape(text)))
    title = texts.text(f"{report.name}.title")
    return _PAGES.render(
        "page.html.j2",
        style="page.css",
        running=(title, texts.text("page.running")),
        html_language=LANGUAGES[texts.language],
        title=title,
        page=page,
        texts=texts,
        run_id=run_id,
        made_at=made_at,
    )
