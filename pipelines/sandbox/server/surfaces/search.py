"""Guest search on the web host: the framed first screen, later pages as one JSON, the HTML page.

Route names: `search_stream`, `search_single`, `search_page`. Only a request with the unchanged
search id (and backtrace, if sent) gets the next page; any other gets an empty result without a
reason. Results and their order come from `pipelines/sandbox/world/search.py`.
"""

from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from pipelines.sandbox.server.addresses import WEB
from pipelines.sandbox.server.documents.pages import (
    Document,
    first_screen,
    to_frames,
    to_web_page,
    with_guest_cookie,
)
from pipelines.sandbox.server.documents.search import (
    answer,
    cards,
    items,
    nothing_found,
    to_backtrace,
    to_search_id,
    verification,
)
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import HostRoute, read_non_negative
from pipelines.sandbox.world.random_streams import share_of

SEARCH_DEPTH = 300
"""Videos that a guest can page through for one term."""
MAX_SCREEN_SIZE = 15
_USUAL_SCREEN = 10
_FRAME = 4
"""Items of the first document of a first screen."""
_HESITATES = 0.15
"""Share of terms whose first document demands verification before a healthy one follows."""


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of the stream, later pages, and the HTML page that loads the stream."""
    search = _Search(platform)
    json = "/aweme/v1/web/general/search"
    return [
        HostRoute(f"{json}/stream/", search.stream, name="search_stream", hosts=(WEB,)),
        HostRoute(f"{json}/single/", search.single, name="search_single", hosts=(WEB,)),
        *(
            HostRoute(path, search.page, name="search_page", hosts=(WEB,))
            for path in ("/search/{term}", "/jingxuan/search/{term}")
        ),
    ]


def demands_verification_first(term: str) -> bool:
    """Return True for a term whose first document demands verification."""
    return share_of(term, "hesitates") < _HESITATES


@dataclass(frozen=True, slots=True)
class _SearchQuery:
    """Parameters of a request: `count` videos from `offset` on."""

    term: str
    offset: int
    count: int
    search_id: str
    backtrace: str

    @property
    def is_continued(self) -> bool:
        """True for the first page, or a continuation with the right search id and backtrace."""
        is_known = self.search_id.startswith(to_search_id(self.term, 0)[:-6])
        return self.offset == 0 or (
            is_known and self.backtrace in ("", to_backtrace(self.term, self.offset))
        )


class _Search:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform

    async def stream(self, request: Request) -> Response:
        asked = _read_query(request)
        whole_page = await self._page(asked)
        parts = _split_screen(whole_page)
        if asked.offset == 0 and demands_verification_first(asked.term):
            parts.insert(0, verification(self.platform, asked.term))
        return Response(to_frames(parts), media_type="application/json")

    async def single(self, request: Request) -> Response:
        return JSONResponse(await self._page(_read_query(request)))

    async def page(self, request: Request) -> Response:
        term = request.path_params["term"]
        given = (
            f"?keyword={quote(term, safe='')}&search_channel=aweme_general&list_type=single"
            f"&search_source=normal_search&is_filter_search=0&count={_USUAL_SCREEN}"
        )
        json = "/aweme/v1/web/general/search"
        call = first_screen(
            f"{json}/stream/{given}&search_id=&offset=0", cursor="cursor",
            more=f"{json}/single/{given}&offset=",
        )  # fmt: skip
        page = to_web_page({"app": {"keyword": term}}, calls=[call], title="搜索")
        return with_guest_cookie(request, page, entity=term)

    async def _page(self, asked: _SearchQuery) -> Document:
        """Return one complete page: videos and other cards."""
        if not asked.is_continued:
            return answer(self.platform, asked.term, asked.offset, [], following=0, has_more=False)
        directory = await self.platform.directory()
        rows = directory.finding.ranked(asked.term)[:SEARCH_DEPTH]
        if not rows:
            return nothing_found(self.platform, asked.term, is_first=asked.offset == 0)
        shown = rows[asked.offset : asked.offset + asked.count]
        following = asked.offset + len(shown)
        listed = items(self.platform, shown)
        if asked.offset == 0:
            listed = cards(self.platform, asked.term, listed)
        return answer(
            self.platform, asked.term, asked.offset, listed,
            following=following, has_more=following < len(rows),
        )  # fmt: skip


def _read_query(request: Request) -> _SearchQuery:
    query = request.query_params
    count = read_non_negative(request, "count", _USUAL_SCREEN)
    return _SearchQuery(
        term=query.get("keyword", ""), offset=read_non_negative(request, "offset", 0),
        count=min(max(1, count), MAX_SCREEN_SIZE),
        search_id=query.get("search_id", ""), backtrace=query.get("backtrace", ""),
    )  # fmt: skip


def _split_screen(page: Document) -> list[Document]:
    """Split a first screen as the platform does: a few items, then the rest with the cursor."""
    listed = page["data"]
    if not isinstance(listed, list) or len(listed) <= _FRAME:
        return [page]
    early = {**page, "data": listed[:_FRAME], "cursor": 0, "has_more": 1}
    early.pop("backtrace", None)
    return [early, {**page, "data": listed[_FRAME:]}]
