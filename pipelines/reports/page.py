"""Render an executed notebook as one self-contained HTML page.

Notebook texts are Markdown without raw HTML. Output HTML comes only from the project's display
classes (`pipelines/reports/figures/display.py`); everything else is escaped. The page's content
security policy allows neither scripts nor requests.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from nbformat import NotebookNode

from pipelines.documents.html_pages import PageTemplates
from pipelines.reports.catalogue import Notebook

_PAGES = PageTemplates("pipelines.reports")
_HIDDEN = frozenset({"parameters", "injected-parameters"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderStamp:
    """Run id and time of a report: the only line that differs between two equal reports."""

    run_id: str
    made_at: str


def render_page(report: Notebook, executed: NotebookNode, making: RenderStamp) -> str:
    """Render the page of an executed notebook."""
    cells = [_cell(cell) for cell in executed.cells if not _HIDDEN & set(cell.metadata.tags)]
    return _PAGES.render(
        "page.html.j2", style="page.css", report=report, cells=cells, making=making
    )


def _cell(cell: NotebookNode) -> Mapping[str, object]:
    if cell.cell_type == "markdown":
        text = MarkdownIt("commonmark", {"html": False}).enable("table").render(cell.source)
        return {"text": Markup(text), "code": None, "outputs": []}  # noqa: S704  # raw HTML is off
    return {"text": None, "code": cell.source, "outputs": [_output(one) for one in cell.outputs]}


def _output(output: NotebookNode) -> Markup:
    """Return the HTML of a display class if there is any, else escaped text."""
    if output.output_type == "stream":
        return Markup("<pre>{}</pre>").format(output.text)
    found = output.data.get("text/html")
    if found is not None:
        return Markup(found)  # noqa: S704  # from the display classes, which escape
    return Markup("<pre>{}</pre>").format(escape(output.data.get("text/plain", "")))
