"""Pages of the console in a real Chromium, which notes what a page did and should not have done."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from pipelines.platform.browser.installation import find_chromium
from tests.deployment import wait_for

FLAGS = [
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-domain-reliability", "--no-pings", "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]  # fmt: skip
CALM = {"reduced_motion": "reduce"}
"""No animations: without a graphics card they keep a processor busy while a scan is waited for."""
AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
WATCH_RULES = """
window.brokenRules = [];
window.hasRun = false;
addEventListener('securitypolicyviolation', (event) => {
  window.brokenRules.push(`${event.effectiveDirective} ${event.blockedURI}`);
});
"""
LEAVE = """() => {
  document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close());
  location.hash = '#/nowhere';
  window.brokenRules = [];
  window.hasRun = false;
}"""
PATIENCE_MS = 240_000  # a machine may be busy with other things


class ConsolePage:
    """One page, and what it asked for."""

    def __init__(self, page: Page, base: str, *, color_scheme: Any = "light") -> None:
        self.page = page
        self.base = base
        self._color_scheme = color_scheme
        self.faults: list[str] = []
        self.hosts: set[str] = set()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._hear)
        page.on("request", self._note)
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        self._opened_at = page.viewport_size

    def restore(self) -> None:
        """Undo what a test did to the page: its size, its medium, its answers, its faults.

        A test that fails half-way, or forgets, must not redden the next one on the same page. The
        view is left, so that the next one begins anew.
        """
        self.page.unroute_all()
        self.page.emulate_media(media="null", color_scheme=self._color_scheme)
        if self._opened_at is not None:
            self.page.set_viewport_size(self._opened_at)
        self.page.evaluate(LEAVE)
        self.page.wait_for_selector("main .empty h1")
        self.faults.clear()

    def go(self, place: str, *, wait: bool = True) -> None:
        """Load an address; with `wait`, until a view of the console is there."""
        self.page.goto(f"{self.base}/{place}")
        if wait:
            self.page.wait_for_selector("main h1")

    def wait_until(self, expression: str, given: object = None) -> None:
        """Wait until an expression over the page is true.

        Playwright's own way evaluates it in the page once more, which the console's policy forbids.
        """
        wait_for(lambda: self.page.evaluate(expression, given))

    def show(self, place: str) -> None:
        """Another view of the same page, without loading it again."""
        self.page.evaluate("place => { location.hash = place; }", place)
        self.page.wait_for_selector("main h1")

    def broken_rules(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.brokenRules")
        return found

    def axe(self) -> list[str]:
        """Serious and critical findings about accessibility, as `rule: where`."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{finding['id']}: {json.dumps(finding['nodes'][0]['target'])}"
            for finding in found["violations"]
            if finding["impact"] in {"serious", "critical"}
        ]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "status of" not in message.text:
            self.faults.append(message.text)

    def _note(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")):
            self.hosts.add(urlsplit(request.url).netloc)


class ConsolePages:
    """Opens pages of one service, each in a fresh browser context."""

    def __init__(self, browser: Browser, base: str, stack: ExitStack | None = None) -> None:
        self._browser = browser
        self.base = base
        self._stack = stack or ExitStack()

    def of(self, base: str) -> "ConsolePages":
        """Pages of another service, in the same browser."""
        return ConsolePages(self._browser, base.rstrip("/"), self._stack)

    @contextmanager
    def leaving(self) -> Iterator["ConsolePages"]:
        """Pages of the same service that are closed at the end."""
        with ExitStack() as stack:
            yield ConsolePages(self._browser, self.base, stack)

    def open(self, place: str = "", *, wait: bool = True, **options: Any) -> ConsolePage:
        """A page in a fresh browser context; `options` are those of the context."""
        context = self._browser.new_context(**{"locale": "en-GB", **CALM, **options})
        self._stack.callback(context.close)
        context.add_init_script(WATCH_RULES)
        scheme = options.get("color_scheme", "light")
        view = ConsolePage(context.new_page(), self.base, color_scheme=scheme)
        view.go(place, wait=wait)
        return view


@contextmanager
def open_console_pages(base: str) -> Iterator[ConsolePages]:
    """A Chromium that reaches loopback alone."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(None), args=FLAGS)
        yield ConsolePages(browser, base.rstrip("/"))
        browser.close()
