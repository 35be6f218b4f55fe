"""The table of sources of the public music chart: an issue in several forms, JSON and HTML.

Songs that may belong to another issue than requested are refused, in whichever form they come.
"""

from collections.abc import Callable
from datetime import date

from pipelines.platform.call_trace import HttpResponse, open_call_trace
from pipelines.platform.chartsrc.bodies import ChartParseContext, refuse_chart_answer
from pipelines.platform.chartsrc.issues import parse_issues
from pipelines.platform.chartsrc.songs import (
    HTML_PAGE_SIZE,
    OLD_HTML_PAGE_SIZE,
    PAGE_SIZE,
    check_issue,
    parse_latest,
    parse_song_page,
    parse_songs,
)
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.reading import Reading
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy
from pipelines.platform.sources.table import Question, Source, SourceRequest
from pipelines.platform.surfaces import HostReader, with_requests
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.errors import UpstreamError

LATEST = "latest"
"""Entity of a request for the latest issue."""
_PLATFORM = {"ranktype": "2", "plat": "0"}

type ParseSongs = Callable[[HttpResponse], ChartPage]


class ChartReader(HostReader):
    """Reads the surfaces of the chart through one client; `dates` are those of known issues."""

    def __init__(self, client: GuestClient) -> None:
        super().__init__(client)
        self.rank = {"rankid": client.profile.chart.rank_id}
        self.dates: dict[str, date] = {}

    def ask(self, surface: str, **params: str) -> HttpRequest:
        """Build a request to a JSON surface."""
        return HttpRequest(
            surface=surface,
            url=self.profile.address(surface),
            allowed=self.profile.links.chart,
            params=params,
        )

    def seen(self, answer: HttpResponse) -> ChartParseContext:
        """Build the parse context of a response."""
        return ChartParseContext(
            surface=answer.surface, observed_at=answer.fetched_at, words=self.profile.markers
        )

    def checked(
        self, request: SourceRequest, parse: ParseSongs, *, names_issue: bool = True
    ) -> ParseSongs:
        """Return a parser that refuses any other issue.

        `names_issue` is False if the URL is that of the latest issue, so that the response itself
        has to prove which issue it is.
        """
        volid = None if request.entity_id == LATEST else request.entity_id

        def parse_checked(answer: HttpResponse) -> ChartPage:
            page = parse(answer)
            check_issue(
                page,
                volid=volid,
                chart_date=None if volid is None else self.dates.get(volid),
                is_proof_needed=not names_issue,
            )
            return page

        return parse_checked

    async def read_twice[T](
        self, ask: HttpRequest, entity_id: str, parse: Callable[[HttpResponse], T]
    ) -> Reading[T]:
        """Read, and retry once where another edge node may answer better."""
        with open_call_trace() as call_trace:
            try:
                return await self.read(ask, entity_id, parse)
            except UpstreamError as error:
                if not allows_policy(error, RefusalPolicy.ONCE_MORE):
                    raise
            found = await self.read(ask, entity_id, parse)
        return with_requests(found, call_trace.request_count)

    def interpret[T](self, answer: HttpResponse, parse: Callable[[HttpResponse], T]) -> T:
        """Parse a response that is no refusal."""
        refuse_chart_answer(answer)
        return parse(answer)


async def read_issues(at: ChartReader, request: SourceRequest) -> Reading[ChartIndex]:
    """Read all issues that the chart lists."""
    ask = at.ask("chart_issues", **at.rank, **_PLATFORM)
    return await at.read_twice(
        ask, request.entity_id, lambda a: parse_issues(a.body, seen=at.seen(a))
    )


async def read_songs(at: ChartReader, request: SourceRequest) -> Reading[ChartPage]:
    """Read the songs of an issue as JSON."""
    page = request.cursor
    issue = {} if request.entity_id == LATEST else {"volid": request.entity_id}
    asked = {
        "version": at.profile.chart.song_version,
        "pagesize": str(PAGE_SIZE),
        "area_code": "1",
        "page": str(page),
    }
    ask = at.ask("chart_songs", **at.rank, **_PLATFORM, **asked, **issue)
    parse = at.checked(request, lambda a: parse_songs(a.body, page=page, seen=at.seen(a)))
    return await at.read_twice(ask, request.entity_id, parse)


async def read_latest(at: ChartReader, request: SourceRequest) -> Reading[ChartPage]:
    """Read the songs of the latest issue as its mobile page does."""
    page = request.cursor
    parse = at.checked(
        request,
        lambda a: parse_latest(a.body, page=page, seen=at.seen(a)),
        names_issue=False,
    )
    ask = at.ask("chart_latest", **at.rank, page=str(page), json="true")
    return await at.read(ask, request.entity_id, parse)


async def read_latest_page(at: ChartReader, request: SourceRequest) -> Reading[ChartPage]:
    """Read the songs of the latest issue from its HTML page."""
    return await _read_html(at, request, "chart_html", HTML_PAGE_SIZE, names_issue=False)


async def read_old_page(at: ChartReader, request: SourceRequest) -> Reading[ChartPage]:
    """Read the songs of an old issue from its HTML page."""
    return await _read_html(at, request, "chart_html_old", OLD_HTML_PAGE_SIZE)


async def _read_html(
    at: ChartReader,
    request: SourceRequest,
    surface: str,
    page_size: int,
    *,
    names_issue: bool = True,
) -> Reading[ChartPage]:
    page, profile = request.cursor, at.profile
    ids = {"page": str(page), "rank_id": profile.chart.rank_id, "volid": request.entity_id}
    ask = HttpRequest(
        surface=surface, url=profile.address(surface, **ids), allowed=profile.links.chart
    )

    def parse(answer: HttpResponse) -> ChartPage:
        return parse_song_page(answer.body, page=page, page_size=page_size, seen=at.seen(answer))

    checked = at.checked(request, parse, names_issue=names_issue)
    return await at.read(ask, request.entity_id, checked)


_ISSUE = frozenset({"volid", "chart_date"})
_HTML_SONG = frozenset({"rank", "title", "artist", "duration"})
_SONG = _HTML_SONG | {"cover", "previous_rank"}

CHART_ISSUES: Question[ChartReader, ChartIndex] = Question(
    name="chart_issues",
    fields=_ISSUE,
    sources=(Source("chart_issues", _ISSUE, read_issues),),
)
CHART_LATEST: Question[ChartReader, ChartPage] = Question(
    name="chart_latest",
    fields=_SONG,
    sources=(
        Source("chart_songs", _SONG, read_songs, batch=PAGE_SIZE),
        Source("chart_latest", _SONG, read_latest, prior=0.8, batch=30),
        Source("chart_html", _HTML_SONG, read_latest_page, batch=HTML_PAGE_SIZE),
    ),
)
CHART_SONGS: Question[ChartReader, ChartPage] = Question(
    name="chart_songs",
    fields=_SONG,
    sources=(
        Source("chart_songs", _SONG, read_songs, batch=PAGE_SIZE),
        Source("chart_html_old", _HTML_SONG, read_old_page, batch=OLD_HTML_PAGE_SIZE),
    ),
)
