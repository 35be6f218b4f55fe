"""The music chart on its own hosts: issues and songs as JSON, the latest issue, HTML pages.

Route names: `chart_issues`, `chart_songs`, `chart_latest`, `chart_html`, `chart_html_old`,
`chart_list`. Issues send an `ETag`, songs an `ETag` and a date; the others send no validator.
"""

import json

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute

from pipelines.sandbox.server.addresses import CHART, CHART_MOBILE, CHART_OLD, CHART_WEB
from pipelines.sandbox.server.documents.charts import (
    ZONE,
    issue_years,
    latest_song,
    published_at,
    song,
    song_page,
)
from pipelines.sandbox.server.documents.pages import Document
from pipelines.sandbox.server.faults import WRONG_ID_TEXT
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import (
    HostRoute,
    ResponseVersion,
    conditional,
    read_non_negative,
    to_etag,
)
from pipelines.sandbox.server.substitution import CHART_PLACE
from pipelines.sandbox.world.chart import SONGS, ChartedSong
from pipelines.sandbox.world.chart_issues import SandboxIssue

RANK_ID = "8888"
_LATEST_SIZE, _HTML_SIZE, _OLD_SIZE, _USUAL_SIZE = 30, 22, 30, 30


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """All forms of the chart."""
    chart = _Charts(platform)
    old = "/yueku/v8/rank/home/{page:int}-{rank_id:int}-{volid:int}.html"
    table = (
        ("/api/v3/rank/vol", chart.issues, "chart_issues", CHART),
        ("/api/v3/rank/song", chart.songs, "chart_songs", CHART),
        ("/rank/info/", chart.latest, "chart_latest", CHART_MOBILE),
        ("/rank/list", chart.charts, "chart_list", CHART_MOBILE),
        ("/yy/rank/home/{page:int}-{rank_id:int}.html", chart.html, "chart_html", CHART_WEB),
        (old, chart.html_old, "chart_html_old", CHART_OLD),
    )
    return [HostRoute(path, act, name=name, hosts=(host,)) for path, act, name, host in table]


class _Charts:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform

    async def issues(self, request: Request) -> Response:
        if request.query_params.get("rankid") != RANK_ID:
            return self._no_such(request)
        count = self._latest(request).place + 1
        version = ResponseVersion(mark=to_etag(self.platform.world.seed, "issues", count))
        return conditional(request, version, lambda: _good(request, self._index(count)))

    async def songs(self, request: Request) -> Response:
        issue = self._asked(request)
        if issue is None or request.query_params.get("rankid") != RANK_ID:
            return self._no_such(request)
        page, size = (
            max(1, read_non_negative(request, "page", 1)),
            read_non_negative(request, "pagesize", _USUAL_SIZE),
        )
        size = min(max(1, size), SONGS)
        mark = to_etag(self.platform.world.seed, issue.volid, page, size)
        version = ResponseVersion(mark=mark, modified=published_at(issue))
        return conditional(
            request, version,
            lambda: _good(request, self._songs(issue, page, size), media_type="text/html"),
        )  # fmt: skip

    async def latest(self, request: Request) -> Response:
        query = request.query_params
        if query.get("rankid") != RANK_ID or query.get("json") != "true":
            return HTMLResponse(WRONG_ID_TEXT)
        issue = self._latest(request)
        page = max(1, read_non_negative(request, "page", 1))
        listed = [latest_song(charted) for charted in self._page(issue, page, _LATEST_SIZE)]
        about: Document = {
            "rankid": int(RANK_ID), "rankname": "TOP500", "imgurl": "", "ranktype": 2,
            "rank_id_publish_date": str(issue.day),
        }  # fmt: skip
        songs: Document = {
            "total": SONGS, "page": page, "pagesize": _LATEST_SIZE,
            "timestamp": self.platform.now, "list": listed,
        }  # fmt: skip
        return JSONResponse({"info": about, "songs": songs})

    async def charts(self, _: Request) -> Response:
        """Return the list of charts, which has no songs."""
        listed = [{"rankid": int(RANK_ID), "rankname": "TOP500", "ranktype": 2}]
        return JSONResponse({"rank": {"total": len(listed), "list": listed}})

    async def html(self, request: Request) -> Response:
        if str(request.path_params["rank_id"]) != RANK_ID:
            return HTMLResponse(WRONG_ID_TEXT)
        issue = self._latest(request)
        return self._html(request, issue, _HTML_SIZE)

    async def html_old(self, request: Request) -> Response:
        issue = self._found(request, str(request.path_params["volid"]))
        if issue is None or str(request.path_params["rank_id"]) != RANK_ID:
            return HTMLResponse(WRONG_ID_TEXT)
        return self._html(request, issue, _OLD_SIZE)

    def _index(self, count: int) -> Document:
        """Return all published issues, newest first."""
        at = self.platform.chart.calendar.at
        issues = [at(place) for place in range(count - 1, -1, -1)]
        is_late = self.platform.switches.is_on("chart_late")
        return {
            "timestamp": self.platform.now, "rank_cid": issues[0].volid if issues else 0,
            "zone": ZONE, "vol_format": 0, "info": issue_years(issues, is_late=is_late),
        }  # fmt: skip

    def _songs(self, issue: SandboxIssue, page: int, size: int) -> Document:
        addresses = self.platform.addresses
        listed = [song(charted, issue, addresses) for charted in self._page(issue, page, size)]
        return {"timestamp": self.platform.now, "total": SONGS, "info": listed}

    def _html(self, request: Request, issue: SandboxIssue, size: int) -> Response:
        shown = self._page(issue, max(1, request.path_params["page"]), size)
        return HTMLResponse(song_page(shown, issue))

    def _asked(self, request: Request) -> SandboxIssue | None:
        """Return the requested issue, or the latest one."""
        volid = request.query_params.get("volid")
        return self._found(request, volid) if volid else self._latest(request)

    def _latest(self, request: Request) -> SandboxIssue:
        place = request.scope.get(CHART_PLACE)
        newest = self.platform.issue_count - 1
        return self.platform.chart.calendar.at(newest if place is None else place)

    def _found(self, request: Request, volid: str) -> SandboxIssue | None:
        """Return an issue if it has been published by now."""
        if CHART_PLACE in request.scope:
            return self._latest(request)
        issue = self.platform.chart.calendar.find(volid)
        count = self.platform.issue_count
        return issue if issue is not None and issue.place < count else None

    def _page(self, issue: SandboxIssue, page: int, size: int) -> list[ChartedSong]:
        songs = self.platform.chart.songs(issue.place)
        return list(songs[(page - 1) * size : page * size])

    def _no_such(self, request: Request) -> Response:
        return _good(request, {"timestamp": self.platform.now})


def _good(request: Request, data: Document, *, media_type: str = "application/json") -> Response:
    """Return a JSON response, wrapped in comments if the request asks for them."""
    body = to_answer(data)
    if request.query_params.get("with_res_tag") == "1":
        return HTMLResponse(f"<!--KG_TAG_RES_START-->{body}<!--KG_TAG_RES_END-->")
    return Response(body, media_type=media_type)


def to_answer(data: Document) -> str:
    """Return the JSON text of a success."""
    answer = {"status": 1, "error": "", "data": data, "errcode": 0}
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
