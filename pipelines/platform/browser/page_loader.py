"""Page loader: Chromium opens one page at a time and returns the responses that the page loaded.

All traffic goes through `proxy.py`; nothing else can be reached. The browser starts without state,
uses our own user agent and only reads. Cookies that the platform sets live until it is closed.
What a response means is decided elsewhere.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import structlog
from playwright.async_api import Browser, BrowserContext, Error, Page, Request, Response, Route

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.browser.process import CLOSE_S, BrowserProcess
from pipelines.platform.browser.proxy import GateProxy, end_tasks
from pipelines.platform.call_trace import HttpResponse, current_trace
from pipelines.platform.http.client import USER_AGENT
from pipelines.platform.http.host_policy import HostRateLimiter
from pipelines.platform.http.link_gate import Dialler
from pipelines.platform.parsers.links import host_matches
from pipelines.platform.profiles import PlatformProfile
from warehouse.records import errors
from warehouse.records.times import observed_now

# One page visit: the wanted surface, the responses that arrived, and their conversion.

_HOSTS_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One page to open.

    Attributes:
        surface: Surface of the page itself.
        url: Its address.
        wanted: Surface whose response ends the visit; the page's own for its document alone.
        paths: Path of each surface of interest, by its name.
        is_enough: Returns True for a document with the data itself, which ends the visit, too.
    """

    surface: str
    url: str
    wanted: str
    paths: dict[str, str]
    is_enough: Callable[[HttpResponse], bool] = lambda _document: False


@dataclass(slots=True)
class LoadedPage:
    """Result of a visit: the document, and the last response of each surface.

    `refused` counts the requests to hosts that the profile does not list. A page whose scripts are
    on one of them stays empty.
    """

    document: HttpResponse
    answers: dict[str, HttpResponse] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)

    def describe_refused(self) -> str:
        """Return the refused hosts as text, most requested first; empty if there are none."""
        by_count = sorted(self.refused.items(), key=lambda entry: (-entry[1], entry[0]))
        texts = [f"{host} ({count})" for host, count in by_count[:_HOSTS_SHOWN]]
        more = len(by_count) - len(texts)
        return ", ".join([*texts, f"and {more} more"] if more else texts)


@dataclass(slots=True)
class VisitState:
    """State of a visit in progress.

    `error` is the rate limit or budget error that ended it; `went_to` the last address that the
    page itself navigated to, redirects included.
    """

    visit: Visit
    answers: dict[str, HttpResponse] = field(default_factory=dict)
    reading: set[asyncio.Task[None]] = field(default_factory=set)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    error: errors.UpstreamError | None = None
    requests: int = 0
    went_to: str = ""

    def note_request(self, request: Request) -> None:
        """Record navigation of the page."""
        if request.is_navigation_request():
            self.went_to = request.url

    def note_response(self, response: Response) -> None:
        """Read the bodies of the surfaces of interest; the last response of each is kept."""
        path = urlsplit(response.url).path
        for surface, surface_path in self.visit.paths.items():
            if path == surface_path:
                self.reading.add(asyncio.create_task(self._read(surface, response)))

    async def _read(self, surface: str, response: Response) -> None:
        try:
            body = await response.body()
        except Error:
            if response.ok:
                return  # the page navigated away before the response was complete
            body = b""  # the browser keeps no body of an error response without one
        self.answers[surface] = to_http_response(surface, response, body)
        if surface == self.visit.wanted:
            self.came.set()


def to_http_response(surface: str, response: Response, body: bytes) -> HttpResponse:
    """Convert a browser response to the form that our own client returns."""
    headers = response.headers
    return HttpResponse(
        surface=surface,
        url=response.url,
        status=response.status,
        content_type=headers.get("content-type"),
        body=body,
        fetched_at=observed_now(),
        retry_after=headers.get("retry-after"),
    )


_log = structlog.get_logger("browser")
_RATE_LIMITED_TYPES = frozenset({"document", "xhr", "fetch"})
_ALLOWED_TYPES = _RATE_LIMITED_TYPES | {"script"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserLimits:
    """Limits of one page; times in seconds.

    `answer_s` is how long a page may take to load the wanted surface, `settle_s` how long a later
    response may still replace the first one.
    """

    page_s: float = 20.0
    answer_s: float = 10.0
    settle_s: float = 0.5
    page_bytes: int = 16 * 1024 * 1024


class PageLoader:
    """Opens pages one after another; the browser starts with the first. Close it after use.

    Args:
        profile: The platform.
        turns: Rate limiter of its hosts; documents and JSON wait for their turn.
        chromium: Path of the browser's executable.
        allowed: Rules of the hosts that pages may reach.
        limits: Times and sizes.
        dialler: Turns a host into the address to dial.
        clock: Measures `settle_s`.
    """

    def __init__(
        self,
        profile: PlatformProfile,
        limiter: HostRateLimiter,
        *,
        chromium: Path,
        allowed: Collection[str],
        limits: BrowserLimits | None = None,
        dialler: Dialler | None = None,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        self.limits = limits or BrowserLimits()
        self._clock = clock
        self._profile = profile
        self._limiter = limiter
        self._allowed = tuple(allowed)
        self._process = BrowserProcess(chromium)
        self._proxy = GateProxy(
            profile, allowed=allowed, limit_bytes=self.limits.page_bytes, dialler=dialler
        )
        self._refused: Counter[str] = Counter()
        self._one_at_a_time = asyncio.Lock()

    @property
    def refused_hosts(self) -> dict[str, int]:
        """Hosts that the gate refused to the last page, with counts.

        What the browser itself tries to reach is counted by the proxy alone.
        """
        return dict(self._refused)

    async def load(self, visit: Visit) -> LoadedPage:
        """Open a page and wait for the surface that is wanted of it.

        Raises:
            UnreachableError: The page or the browser failed, or took too long.
            StructureChangedError: The page exceeds `page_bytes`.
            RegionBlockedError: It redirects to the site of another region.
            SubstitutionError: It leads off the platform.
            RateLimitedError: The wait for a host would exceed the limit.
            BudgetSpentError: Today's budget for the host is used up.
        """
        async with self._one_at_a_time:
            state = VisitState(visit)
            try:
                await self._proxy.start()
                browser = await self._process.started(proxy=self._proxy.address)
                self._proxy.begin()
                self._refused.clear()
                page = await (await _context(browser)).new_page()
                try:
                    return await self._within_limits(self._open(page, state))
                finally:
                    await end_tasks(state.reading)
                    with suppress(Error, TimeoutError):
                        async with asyncio.timeout(CLOSE_S):
                            await page.close()
            except Error as error:
                raise self._named(state, error) from error
            finally:
                # The browser's events run in other tasks, which know nothing of the caller's trace.
                for _ in range(state.requests):
                    current_trace().request_count += 1
                last = state.answers.get(visit.wanted) or state.answers.get(visit.surface)
                if last is not None:
                    current_trace().last = last

    async def aclose(self) -> None:
        """End the browser, its driver and the proxy."""
        try:
            await self._process.aclose()
        finally:
            await self._proxy.aclose()

    async def _within_limits(self, opening: Coroutine[Any, Any, LoadedPage]) -> LoadedPage:
        """Await a visit, and end it as soon as the page exceeds its size limit."""
        opened = asyncio.create_task(opening)
        over = asyncio.create_task(self._proxy.traffic.over.wait())
        try:
            await asyncio.wait({opened, over}, return_when=asyncio.FIRST_COMPLETED)
            if not opened.done():
                raise Error("the page is too large")
            return opened.result()
        finally:
            await end_tasks({opened, over})

    async def _open(self, page: Page, state: VisitState) -> LoadedPage:
        timeout_ms = self.limits.page_s * 1000
        # Routes and listeners come before `goto`: the first request must not pass unseen.
        await page.route("**/*", lambda route: self._route(route, state))
        # Playwright marks the object of a bound method, and this one has slots.
        page.on("request", lambda request: state.note_request(request))  # noqa: PLW0108
        page.on("response", lambda response: state.note_response(response))  # noqa: PLW0108
        response = await page.goto(state.visit.url, wait_until="commit", timeout=timeout_ms)
        if response is None:
            raise Error("the page has no document")
        await page.wait_for_load_state("domcontentloaded", timeout=timeout_ms)
        document = to_http_response(state.visit.surface, response, await response.body())
        state.answers[state.visit.surface] = document
        visit = state.visit
        if visit.wanted != visit.surface and not visit.is_enough(document):
            await self._wait(page, state)
        if state.error is not None:
            raise state.error
        loaded = LoadedPage(document, dict(state.answers), self.refused_hosts)
        # Without the hosts of its scripts a page may stay empty, and nothing else would say why.
        if loaded.refused:
            _log.info(
                "browser_hosts_refused", surface=visit.surface, hosts=loaded.describe_refused()
            )
        return loaded

    async def _wait(self, page: Page, state: VisitState) -> None:
        """Wait for the wanted response plus `settle_s`, or until the page is idle without it."""
        quiet = asyncio.create_task(page.wait_for_load_state("networkidle", timeout=0))
        came = asyncio.create_task(state.came.wait())
        try:
            async with asyncio.timeout(self.limits.answer_s):
                await asyncio.wait({quiet, came}, return_when=asyncio.FIRST_COMPLETED)
                if quiet.done():
                    quiet.result()  # raises when the page or the browser has ended
                if state.came.is_set() or state.reading:
                    await self._clock.sleep(self.limits.settle_s)
                await asyncio.gather(*state.reading)
        except TimeoutError:
            return  # the page shows what has arrived by now
        finally:
            await end_tasks({quiet, came})

    async def _route(self, route: Route, state: VisitState) -> None:
        """Let a request through at the host's rate if it only reads and a first screen needs it."""
        request = route.request
        kind, host = request.resource_type, urlsplit(request.url).hostname or ""
        try:
            # The proxy refuses it, too; here it is counted for the page that asked.
            if not host_matches(host, self._allowed):
                self._refused[host] += 1
                await route.abort()
                return
            if request.method != "GET" or kind not in _ALLOWED_TYPES or state.error is not None:
                await route.abort()
                return
            # Scripts are static files, which the rate limit does not count.
            if kind in _RATE_LIMITED_TYPES:
                await self._limiter.wait(host, surface=state.visit.surface)
                state.requests += 1
            await route.continue_()
        except errors.UpstreamError as error:
            state.error = error
            await route.abort()
        except Error:
            return  # the page was closed while its request waited

    def _named(self, state: VisitState, error: Error) -> errors.UpstreamError:
        """Return the upstream error for a failed visit."""
        surface, host = state.visit.surface, urlsplit(state.went_to).hostname or ""
        if state.error is not None:
            return state.error
        if self._proxy.traffic.over.is_set():
            return errors.StructureChangedError(
                f"the page loaded more than {self.limits.page_bytes} bytes",
                surface=surface,
                reason="body_too_large",
            )
        if host and not host_matches(host, self._allowed):
            if host_matches(host, self._profile.links.region):
                detail = "the platform sends this region elsewhere"
                return errors.RegionBlockedError(detail, surface=surface)
            return errors.SubstitutionError(
                f"the page leads to {host!r}, which is not on the allow-list",
                surface=surface,
                reason="foreign_host",
            )
        if self._process.has_ended:
            return errors.UnreachableError(
                "the browser has ended", surface=surface, reason="browser_gone"
            )
        # Chromium's own code, such as ERR_CONNECTION_RESET, stands after "net::" in the first line.
        word = error.message.partition("\n")[0].rpartition("net::")[2].partition(" ")[0]
        return errors.UnreachableError(
            "the page could not be opened in the browser", surface=surface, reason=word[:60]
        )


async def _context(browser: Browser) -> BrowserContext:
    """Return the browser's only context. Pop-ups and other pages are closed at once."""
    if browser.contexts:
        return browser.contexts[0]
    context = await browser.new_context(
        service_workers="block", user_agent=USER_AGENT, locale="zh-CN", accept_downloads=False
    )
    # Routes of a page come before those of its context, so this reaches other pages alone.
    await context.route("**/*", lambda route: route.abort())
    return context
