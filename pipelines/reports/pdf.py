"""Print a page as PDF with Chromium.

The page is passed as text and loads nothing; as a safeguard the browser's proxy is a closed port.
"""

import asyncio
from contextlib import aclosing
from pathlib import Path

from playwright.async_api import Error

from pipelines.platform.browser.installation import find_chromium
from pipelines.platform.browser.process import BrowserProcess
from warehouse.exports.atomic_files import write_atomically
from warehouse.records.errors import SametrackError

NOWHERE = "http://127.0.0.1:9"


def write_pdf(html: str, page: Path, *, chromium: Path | None) -> Path:
    """Print a page to a PDF next to it; return its path.

    Raises:
        ProviderUnsupportedError: Chromium is not installed.
        InvalidParameterError: The file cannot be written there.
        SametrackError: Chromium does not start or print.
    """
    pdf = page.with_suffix(".pdf")
    write_atomically(pdf, [print_page(html, chromium=chromium)])
    return pdf


def print_page(html: str, *, chromium: Path | None) -> bytes:
    """Return a page as PDF.

    Raises:
        ProviderUnsupportedError: Chromium is not installed.
        UnreachableError: Chromium does not start.
        SametrackError: Chromium does not print.
    """
    return asyncio.run(_print(html, find_chromium(chromium)))


async def _print(html: str, chromium: Path) -> bytes:
    async with aclosing(BrowserProcess(chromium)) as process:
        browser = await process.started(proxy=NOWHERE)
        try:
            context = await browser.new_context(
                java_script_enabled=False, service_workers="block", offline=True
            )
            page = await context.new_page()
            await page.set_content(html, wait_until="load")
            return await page.pdf(
                prefer_css_page_size=True,  # header, page numbers, landscape pages of tables
                print_background=True,
                tagged=True,
                outline=True,
            )
        except Error as error:
            raise SametrackError("the page could not be printed") from error
