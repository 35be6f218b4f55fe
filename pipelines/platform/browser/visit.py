"""One visit of a page: what is wanted of it, what has come, and the answers that a page loaded.

Not here: opening pages (`browser.py`).
"""

import asyncio
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import Error, Request, Response

from pipelines.platform.call_trace import Answer
from warehouse.records.errors import UpstreamError
from warehouse.records.times import observed_now


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One page to open. `wanted` names the surface that it must load, `paths` all that are kept.

    Attributes:
        surface: Surface of the page itself.
        url: Its address.
        wanted: Surface whose answer ends the visit; the page's own for its document alone.
        paths: Path of each surface of interest, by its name.
    """

    surface: str
    url: str
    wanted: str
    paths: dict[str, str]


@dataclass(slots=True)
class Loaded:
    """What a visit brought: the document, and the last answer of each surface."""

    document: Answer
    answers: dict[str, Answer] = field(default_factory=dict)


@dataclass(slots=True)
class Watch:
    """A visit while it goes. `error`: a turn that was not to be had; `went_to`: the last address
    that the page itself went to, redirects included.
    """

    visit: Visit
    answers: dict[str, Answer] = field(default_factory=dict)
    reading: set[asyncio.Task[None]] = field(default_factory=set)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    error: UpstreamError | None = None
    requests: int = 0
    went_to: str = ""

    def note_request(self, request: Request) -> None:
        """Where the page goes."""
        if request.is_navigation_request():
            self.went_to = request.url

    def note_response(self, response: Response) -> None:
        """Keep the bodies of the surfaces of interest, the last of each."""
        path = urlsplit(response.url).path
        for surface, known in self.visit.paths.items():
            if path == known:
                self.reading.add(asyncio.create_task(self._read(surface, response)))

    async def _read(self, surface: str, response: Response) -> None:
        try:
            body = await response.body()
        except Error:
            if response.ok:
                return  # the page went on before its answer was complete
            body = b""  # the browser keeps no body of a refusal that has none
        self.answers[surface] = to_answer(surface, response, body)
        if surface == self.visit.wanted:
            self.came.set()


def to_answer(surface: str, response: Response, body: bytes) -> Answer:
    """What the browser got, as our own client would have noted it."""
    headers = response.headers
    return Answer(
        surface=surface,
        url=response.url,
        status=response.status,
        content_type=headers.get("content-type"),
        body=body,
        fetched_at=observed_now(),
        retry_after=headers.get("retry-after"),
    )
