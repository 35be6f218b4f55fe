"""Print a page as PDF with Chromium, which starts in a thread while the page is still made.

The page is passed as text and loads nothing; as a safeguard the browser's proxy is a closed port.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from playwright.async_api import Error, Page

from pipelines.platform.browser.installation import find_chromium
from pipelines.platform.browser.process import BrowserProcess
from warehouse.exports.atomic_files import write_atomically
from warehouse.records.errors import SametrackError

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
