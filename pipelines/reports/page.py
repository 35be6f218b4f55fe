"""Render an executed notebook as one self-contained HTML page.

The page has another order than the notebook: cover, chapters with their charts, the box with method
and coverage, and all tables as appendix. Notebook texts are Markdown without raw HTML. Output HTML
comes only from the project's display classes (`pipelines/reports/figures/display.py`); everything
else is escaped. The page's content security policy allows neither scripts nor requests.
"""

import asyncio
import re
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from nbformat import NotebookNode
from playwright.async_api import Error, Page

from pipelines.documents.html_pages import PageTemplates
from pipelines.documents.messages import LANGUAGES
from pipelines.platform.browser.process import BrowserProcess, find_chromium
from pipelines.reports import PART_TYPE
from pipelines.reports.catalogue import Notebook
from pipelines.reports.texts import ReportTexts
from warehouse.exports.atomic_files import write_atomically
from warehouse.records.errors import SametrackError

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


# Print a page as PDF with Chromium, which starts in a thread while the page is still made.
#
# The page is passed as text and loads nothing; as a safeguard the browser's proxy is a closed
# port.

NOWHERE = "http://127.0.0.1:9"  # no program listens there
_FIRST_LINE = "<p style=\"font-family: 'Noto Sans', 'Noto Sans CJK SC'\">Aa <b>Aa 中</b> 中</p>"


class PdfPrinter:
    """A Chromium that starts in the background; see `open_printer`."""

    def __init__(self, chromium: Path) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pdf-printer")
        # Only that thread uses the loop, because the browser belongs to it.
        self._runner = asyncio.Runner()
        self._process = BrowserProcess(chromium)
        self._opening = self._thread.submit(self._runner.run, _open_page(self._process))

    def print_page(self, html: str) -> bytes:
        """Return a page as PDF.

        Raises:
            UnreachableError: Chromium does not start.
            SametrackError: Chromium does not print.
        """
        return self._run(_print(self._opening.result(), html))

    def write(self, html: str, page: Path) -> Path:
        """Print a page to a PDF next to it; return its path.

        Raises:
            InvalidParameterError: The file cannot be written there.
            UnreachableError: Chromium does not start.
            SametrackError: Chromium does not print.
        """
        pdf = page.with_suffix(".pdf")
        write_atomically(pdf, [self.print_page(html)])
        return pdf

    def close(self) -> None:
        """End Chromium."""
        try:
            self._run(self._process.aclose())
        finally:
            self._thread.submit(self._runner.close).result()
            self._thread.shutdown()

    def _run[T](self, work: Coroutine[object, object, T]) -> T:
        return self._thread.submit(self._runner.run, work).result()


@contextmanager
def open_printer(chromium: Path | None) -> Iterator[PdfPrinter]:
    """Start Chromium in the background, and end it with the block.

    Raises:
        ProviderUnsupportedError: Chromium is not installed.
    """
    printer = PdfPrinter(find_chromium(chromium))
    try:
        yield printer
    finally:
        printer.close()


async def _open_page(process: BrowserProcess) -> Page:
    """Start the browser and print a line: the first page loads fonts, which takes a second."""
    browser = await process.started(proxy=NOWHERE)
    try:
        context = await browser.new_context(
            java_script_enabled=False, service_workers="block", offline=True
        )
        page = await context.new_page()
    except Error as error:
        raise SametrackError("the page could not be printed") from error
    # A regular and a bold weight, Latin and Chinese: the fonts that a page needs.
    await _print(page, _FIRST_LINE)
    return page


async def _print(page: Page, html: str) -> bytes:
    try:
        await page.set_content(html, wait_until="load")
        return await page.pdf(
            prefer_css_page_size=True,  # header, page numbers, landscape pages of tables
            print_background=True,
            tagged=True,
            outline=True,
        )
    except Error as error:
        raise SametrackError("the page could not be printed") from error
