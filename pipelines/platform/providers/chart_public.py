"""Provider `chart-public`: issues of the public music chart, and the songs of one.

An issue comes in several forms, JSON and HTML; which of them are read, and in which order, is
declared here. Songs that may belong to another issue than requested are refused, in whichever form
they come. Bodies are parsed in `chartsrc/`.
"""

from collections.abc import Callable
from datetime import date
from functools import partial

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.chartsrc import songs
from pipelines.platform.chartsrc.bodies import ChartParseContext, parse_issues, refuse_chart_answer
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.http.host_policy import SickPolicy
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.platform.sources.planner import HostReader, Planner
from pipelines.platform.sources.table import Question, Reading, Source, SourceRequest
from warehouse.records.charts import ChartIndex, ChartPage

LATEST = "latest"
"""Entity of a request for the latest issue."""
_PLATFORM = {"ranktype": "2", "plat": "0"}

type ParseSongs = Callable[[bytes, str, ChartParseContext], ChartPage]


class ChartReader(HostReader[ChartParseContext]):
    """Reads the surfaces of the chart through one client; `dates` are those of known issues."""

    def __init__(self, client: GuestClient) -> None:
        super().__init__(client)
        self.rank = {"rankid": client.profile.chart.rank_id}
        self.dates: dict[str, date] = {}

    def build_request(self, surface: str, **params: str) -> HttpRequest:
        """Build a request to a JSON surface."""
        return HttpRequest(
            surface=surface,
            url=self.profile.address(surface),
            allowed=self.profile.links.chart,
            params=params,
        )

    def checked(
        self, request: SourceRequest, parse: Callable[..., ChartPage], *, names_issue: bool = True
    ) -> ParseSongs:
        """Return a parser of the requested page that refuses any other issue.

        `names_issue` is False if the URL is that of the latest issue, so that the response itself
        has to prove which issue it is.
        """

        def parse_checked(body: bytes, entity_id: str, context: ChartParseContext) -> ChartPage:
            page = parse(body, page=request.cursor, context=context)
            volid = None if entity_id == LATEST else entity_id
            songs.check_issue(
                page,
                volid=volid,
                chart_date=None if volid is None else self.dates.get(volid),
                is_proof_needed=not names_issue,
            )
            return page

        return parse_checked

    def interpret[T](
        self,
        response: HttpResponse,
        request: SourceRequest,
        parse: Callable[[bytes, str, ChartParseContext], T],
    ) -> T:
        """Parse a response that is no refusal."""
        refuse_chart_answer(response)
        context = ChartParseContext(
            surface=response.surface,
            observed_at=response.fetched_at,
            markers=self.profile.markers,
        )
        return parse(response.body, request.entity_id, context)


async def read_issues(reader: ChartReader, request: SourceRequest) -> Reading[ChartIndex]:
    """Read all issues that the chart lists."""
    http_request = reader.build_request("chart_issues", **reader.rank, **_PLATFORM)
    return await reader.read(
        http_request,
        request,
        lambda body, _, context: parse_issues(body, context=context),
        twice=True,
    )


async def read_songs(reader: ChartReader, request: SourceRequest) -> Reading[ChartPage]:
    """Read the songs of an issue as JSON."""
    issue = {} if request.entity_id == LATEST else {"volid": request.entity_id}
    http_request = reader.build_request(
        "chart_songs",
        **reader.rank,
        **_PLATFORM,
        version=reader.profile.chart.song_version,
        pagesize=str(songs.PAGE_SIZE),
        area_code="1",
        page=str(request.cursor),
        **issue,
    )
    return await reader.read(
        http_request, request, reader.checked(request, songs.parse_songs), twice=True
    )


async def read_latest(reader: ChartReader, request: SourceRequest) -> Reading[ChartPage]:
    """Read the songs of the latest issue as its mobile page does."""
    http_request = reader.build_request(
        "chart_latest", **reader.rank, page=str(request.cursor), json="true"
    )
    parse = reader.checked(request, songs.parse_latest, names_issue=False)
    return await reader.read(http_request, request, parse)


async def read_latest_page(reader: ChartReader, request: SourceRequest) -> Reading[ChartPage]:
    """Read the songs of the latest issue from its HTML page."""
    return await _read_html(reader, request, "chart_html", songs.HTML_PAGE_SIZE, names_issue=False)


async def read_old_page(reader: ChartReader, request: SourceRequest) -> Reading[ChartPage]:
    """Read the songs of an old issue from its HTML page."""
    return await _read_html(reader, request, "chart_html_old", songs.OLD_HTML_PAGE_SIZE)


async def _read_html(
    reader: ChartReader,
    request: SourceRequest,
    surface: str,
    page_size: int,
    *,
    names_issue: bool = True,
) -> Reading[ChartPage]:
    profile = reader.profile
    url = profile.address(
        surface,
        page=str(request.cursor),
        rank_id=profile.chart.rank_id,
        volid=request.entity_id,
    )
    http_request = HttpRequest(surface=surface, url=url, allowed=profile.links.chart)
    parse = partial(songs.parse_song_page, page_size=page_size)
    return await reader.read(
        http_request, request, reader.checked(request, parse, names_issue=names_issue)
    )


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
        Source("chart_songs", _SONG, read_songs, batch=songs.PAGE_SIZE),
        Source("chart_latest", _SONG, read_latest, prior=0.8, batch=30),
        Source("chart_html", _HTML_SONG, read_latest_page, batch=songs.HTML_PAGE_SIZE),
    ),
)
CHART_SONGS: Question[ChartReader, ChartPage] = Question(
    name="chart_songs",
    fields=_SONG,
    sources=(
        Source("chart_songs", _SONG, read_songs, batch=songs.PAGE_SIZE),
        Source("chart_html_old", _HTML_SONG, read_old_page, batch=songs.OLD_HTML_PAGE_SIZE),
    ),
)


def build(_name: str, dependencies: ProviderDependencies) -> "ChartPublic":
    """Build the chart of the platform profile."""
    return ChartPublic(dependencies.guest())


class ChartPublic:
    """The chart of the profile. Owns its client.

    Raises (all methods):
        ChartUnavailableError: The chart answered without a chart in every form tried.
        SubstitutionError: The response is another issue.
        UpstreamError: The chart's hosts refuse or cannot be reached.
    """

    def __init__(self, client: GuestClient, *, name: str = "chart-public") -> None:
        self.name = name
        self._client = client
        self._reader = ChartReader(client)
        # Single issues may be missing, and each is requested only when a user needs it.
        self._planner = Planner(self._reader, sick_policy=SickPolicy.ALWAYS)
        self._latest: str | None = None

    async def fetch_issues(self) -> Reading[ChartIndex]:
        """Fetch all issues that the chart lists. Their dates are checked against songs later."""
        rank_id = self._client.profile.chart.rank_id
        reading = await self._planner.ask(CHART_ISSUES, SourceRequest(entity_id=rank_id))
        self._reader.dates = {
            issue.volid: issue.chart_date for issue in reading.value.issues if issue.chart_date
        }
        self._latest = reading.value.latest_volid
        return reading

    async def fetch_songs(self, volid: str | None, page: int) -> Reading[ChartPage]:
        """Fetch one page (from 1) of the songs of an issue; None means the latest issue."""
        is_latest = volid is None or volid == self._latest
        request = SourceRequest(entity_id=volid or LATEST, cursor=page)
        return await self._planner.ask(CHART_LATEST if is_latest else CHART_SONGS, request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()
