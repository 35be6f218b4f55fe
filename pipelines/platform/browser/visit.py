"""One page visit: the wanted surface, the responses that arrived, and their conversion.

Not here: opening pages (`page_loader.py`).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import Error, Request, Response

from pipelines.platform.call_trace import HttpResponse
from warehouse.records.errors import UpstreamError
from warehouse.records.times import observed_now

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
    error: UpstreamError | None = None
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
