"""Provider `chart-public`: issues of the public music chart, and the songs of one.

Here: which form (JSON or HTML page) is read first, and which form replaces it if the policy of a
refusal (`refusal_table.py`) allows another source. The forms are parsed in `chartsrc/`. Songs that
may belong to another issue than requested are refused.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from pipelines.platform.call_trace import open_call_trace
from pipelines.platform.chartsrc.bodies import (
    ChartParseContext,
    ChartRefusalTexts,
    refuse_chart_answer,
)
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
from pipelines.platform.reading import PARSER_VERSION, Reading
from pipelines.platform.refusal_table import RefusalPolicy, allows_policy
from pipelines.platform.surfaces import with_requests
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.errors import UpstreamError

LATEST = "latest"
"""Entity of a request for the latest issue."""
_PLATFORM = {"ranktype": "2", "plat": "0"}

type ParseSongs = Callable[[bytes, ChartParseContext], ChartPage]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChartForm:
    """One way to read the songs of an issue.

    `names_issue` is False if the URL is that of the latest issue, so that the response itself has
    to prove which issue it is.
    """

    ask: HttpRequest
    parse: ParseSongs
    names_issue: bool


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
        self._profile = client.profile
        self._rank = {"rankid": client.profile.chart.rank_id}
        self._words = ChartRefusalTexts(
            denied=client.profile.markers.chart_denied, unknown=client.profile.markers.chart_unknown
        )
        self._dates: dict[str, date] = {}
        self._latest: str | None = None

    async def fetch_issues(self) -> Reading[ChartIndex]:
        """Fetch all issues that the chart lists. Their dates are checked against songs later."""
        ask = self._ask("chart_issues", **self._rank, **_PLATFORM)
        found = await self._read_twice(
            ask, self._profile.chart.rank_id, lambda body, seen: parse_issues(body, seen=seen)
        )
        index = found.value
        self._dates = {issue.volid: issue.chart_date for issue in index.issues if issue.chart_date}
        self._latest = index.latest_volid
        return found

    async def fetch_songs(self, volid: str | None, page: int) -> Reading[ChartPage]:
        """Fetch one page (from 1) of the songs of an issue; None means the latest issue."""
        first, *others = self._forms(volid, page)
        with open_call_trace() as call_trace:
            try:
                return await self._read_twice(*self._checked(first, volid))
            except UpstreamError as error:
                if not allows_policy(error, RefusalPolicy.OTHER_SOURCE):
                    raise
                found = await self._read_others(others, volid, error)
        return with_requests(found, call_trace.request_count)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def _read_others(
        self, forms: list[_ChartForm], volid: str | None, error: UpstreamError
    ) -> Reading[ChartPage]:
        """Return the songs of the first form that works, or raise the usual form's error."""
        for form in forms:
            try:
                return await self._read(*self._checked(form, volid))
            except UpstreamError:
                continue  # the usual form's error is more useful to the operator
        raise error

    def _forms(self, volid: str | None, page: int) -> Iterator[_ChartForm]:
        yield self._songs(volid, page)
        if volid is not None and volid != self._latest:
            yield self._old_page(volid, page)
        else:
            yield self._latest_json(page)
            yield self._latest_page(page)

    def _songs(self, volid: str | None, page: int) -> _ChartForm:
        issue = {} if volid is None else {"volid": volid}
        asked = {
            "version": self._profile.chart.song_version,
            "pagesize": str(PAGE_SIZE),
            "area_code": "1",
            "page": str(page),
        }
        return _ChartForm(
            ask=self._ask("chart_songs", **self._rank, **_PLATFORM, **asked, **issue),
            parse=lambda body, seen: parse_songs(body, page=page, seen=seen),
            names_issue=True,
        )

    def _latest_json(self, page: int) -> _ChartForm:
        return _ChartForm(
            ask=self._ask("chart_latest", **self._rank, page=str(page), json="true"),
            parse=lambda body, seen: parse_latest(body, page=page, seen=seen),
            names_issue=False,
        )

    def _latest_page(self, page: int) -> _ChartForm:
        return _ChartForm(
            ask=self._ask_page("chart_html", page),
            parse=lambda body, seen: parse_song_page(
                body, page=page, page_size=HTML_PAGE_SIZE, seen=seen
            ),
            names_issue=False,
        )

    def _old_page(self, volid: str, page: int) -> _ChartForm:
        return _ChartForm(
            ask=self._ask_page("chart_html_old", page, volid=volid),
            parse=lambda body, seen: parse_song_page(
                body, page=page, page_size=OLD_HTML_PAGE_SIZE, seen=seen
            ),
            names_issue=True,
        )

    def _checked(self, form: _ChartForm, volid: str | None) -> tuple[HttpRequest, str, ParseSongs]:
        """Return a request and its parser, which refuses any other issue."""

        def parse(body: bytes, seen: ChartParseContext) -> ChartPage:
            page = form.parse(body, seen)
            check_issue(
                page,
                volid=volid,
                chart_date=None if volid is None else self._dates.get(volid),
                is_proof_needed=not form.names_issue,
            )
            return page

        return form.ask, volid or LATEST, parse

    def _ask(self, surface: str, **params: str) -> HttpRequest:
        return HttpRequest(
            surface=surface,
            url=self._profile.address(surface),
            allowed=self._profile.links.chart,
            params=params,
        )

    def _ask_page(self, surface: str, page: int, **ids: str) -> HttpRequest:
        rank_id = self._profile.chart.rank_id
        return HttpRequest(
            surface=surface,
            url=self._profile.address(surface, page=str(page), rank_id=rank_id, **ids),
            allowed=self._profile.links.chart,
        )

    async def _read_twice[T](
        self, ask: HttpRequest, entity_id: str, parse: Callable[[bytes, ChartParseContext], T]
    ) -> Reading[T]:
        """Read, and retry once where another edge node may answer better."""
        with open_call_trace() as call_trace:
            try:
                return await self._read(ask, entity_id, parse)
            except UpstreamError as error:
                if not allows_policy(error, RefusalPolicy.ONCE_MORE):
                    raise
            found = await self._read(ask, entity_id, parse)
        return with_requests(found, call_trace.request_count)

    async def _read[T](
        self, ask: HttpRequest, entity_id: str, parse: Callable[[bytes, ChartParseContext], T]
    ) -> Reading[T]:
        with open_call_trace() as call_trace:
            async with self._client.circuit(ask):
                answer = await self._client.fetch(ask)
                refuse_chart_answer(answer)
                value = parse(
                    answer.body,
                    ChartParseContext(
                        surface=answer.surface, observed_at=answer.fetched_at, words=self._words
                    ),
                )
        return Reading(
            surface=ask.surface,
            entity_id=entity_id,
            value=value,
            payload=answer.body,
            content_type=answer.content_type,
            http_status=answer.wire_status,
            source_path=answer.path,
            fetched_at=answer.fetched_at,
            request_count=call_trace.request_count,
            parser_version=PARSER_VERSION,
        )
