"""Guest search on the web host: the framed first screen, later pages as one JSON, the HTML page.

Surfaces: `search_stream`, `search_single`, `search_page`. Only a request with the unchanged search
id (and backtrace, if sent) gets the next page; any other gets an empty result without a reason.
Results and their order come from `sandbox/world/guest_view.py`.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.server.addresses import WEB
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.pages import Document, to_call, to_frames, web_page
from sandbox.server.documents.videos import detail_video
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import Surface, read_non_negative
from sandbox.world.random_streams import share_of

SEARCH_DEPTH = 300
"""Videos that a guest can page through for one term."""
MAX_SCREEN_SIZE = 15
_USUAL_SCREEN = 10
_FRAME = 4
"""Items of the first document of a first screen."""
_HESITATES = 0.15
"""Share of terms whose first document demands verification before a healthy one follows."""
_MIX = 0.08
"""Share of videos that are the first of a collection."""
_JSON = "/aweme/v1/web/general/search"


async def _stream(platform: SandboxPlatform, request: Request) -> Response:
    asked = _read_query(request)
    parts = _split_screen(await _page(platform, asked))
    if asked.offset == 0 and demands_verification_first(asked.term):
        parts.insert(0, _verification(platform, asked.term))
    return Response(to_frames(parts), media_type="application/json")


async def _single(platform: SandboxPlatform, request: Request) -> Response:
    return JSONResponse(await _page(platform, _read_query(request)))


async def _html_page(_: SandboxPlatform, request: Request) -> Response:
    """Return the page that loads the stream."""
    term = request.path_params["term"]
    given = (
        f"?keyword={quote(term, safe='')}&search_channel=aweme_general&list_type=single"
        f"&search_source=normal_search&is_filter_search=0&count={_USUAL_SCREEN}"
    )
    call = to_call(
        f"{_JSON}/stream/{given}&search_id=&offset=0", cursor="cursor",
        more=f"{_JSON}/single/{given}&offset=",
    )  # fmt: skip
    return web_page(request, {"keyword": term}, calls=[call], entity=term, title="搜索")


SURFACES = (
    Surface("search_stream", _stream, f"{_JSON}/stream/", hosts=(WEB,), source=forms.SEARCH),
    Surface("search_single", _single, f"{_JSON}/single/", hosts=(WEB,), source=forms.SEARCH),
    Surface(
        "search_page",
        _html_page,
        "/search/{term}",
        "/jingxuan/search/{term}",
        hosts=(WEB,),
        source=forms.SEARCH,
    ),
)


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
        is_known = self.search_id.startswith(_search_id(self.term, 0)[:-6])
        return self.offset == 0 or (
            is_known and self.backtrace in ("", _backtrace(self.term, self.offset))
        )


async def _page(platform: SandboxPlatform, asked: _SearchQuery) -> Document:
    """Return one complete page: videos and other cards."""
    if not asked.is_continued:
        return _answer(platform, asked.term, asked.offset)
    rows = (await platform.text_index()).ranked(asked.term)[:SEARCH_DEPTH]
    if not rows:
        return _nothing_found(platform, asked.term, is_first=asked.offset == 0)
    shown = rows[asked.offset : asked.offset + asked.count]
    following = asked.offset + len(shown)
    listed = _items(platform, shown)
    if asked.offset == 0:
        listed = _cards(platform, asked.term, listed)
    return _answer(
        platform, asked.term, asked.offset, listed,
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


def _answer(
    platform: SandboxPlatform, term: str, offset: int, listed: Sequence[Document] = (), *,
    following: int = 0, has_more: bool = False,
) -> Document:  # fmt: skip
    """Return one response: its items, the next offset, and the search id to request it with."""
    search_id = _search_id(term, offset)
    return {
        "status_code": 0, "data": list(listed), "cursor": following, "has_more": int(has_more),
        "extra": {"now": platform.now * 1000, "logid": search_id},
        "log_pb": {"impr_id": search_id}, "qc": "", "path": "/aweme/v1/web/general/search/",
        "backtrace": _backtrace(term, following), "guide_search_words": None,
        "global_doodle_config": {"keyword": term, "filter_settings": []},
    }  # fmt: skip


def _items(platform: SandboxPlatform, rows: Iterable[int]) -> list[Document]:
    """Return videos as items; some are the first of a collection of their author."""
    world = platform.world
    listed: list[Document] = []
    for row in rows:
        work = world.works.row(row)
        shown = detail_video(platform, work)
        others = [other for other in world.first_screen(work.account).tolist() if other != row]
        if share_of(work.aweme_id, "mix") < _MIX and others:
            second = detail_video(platform, world.works.row(others[0]))
            listed.append({"aweme_mix_info": {"mix_items": [shown, second]}})
        else:
            listed.append({"type": 1, "aweme_info": shown})
    return listed


def _cards(platform: SandboxPlatform, term: str, listed: list[Document]) -> list[Document]:
    """Add the other cards of a first screen: users, and related words."""
    world = platform.world
    person = world.account(int(share_of(term, "person") * world.account_count))
    people: Document = {
        "type": 4,
        "user_list": [{
            "user_info": {
                "uid": person.uid, "sec_uid": person.sec_uid, "nickname": person.nickname,
                "unique_id": person.unique_id, "follower_count": person.follower_count,
            },
        }],
    }  # fmt: skip
    words = [{"related_word": f"{term} {more}"} for more in ("原版", "翻唱")]
    related: Document = {"type": 6, "related_word_list": words}
    return [people, *listed[:3], related, *listed[3:]]


def _nothing_found(platform: SandboxPlatform, term: str, *, is_first: bool) -> Document:
    """Return a response without results that says so."""
    return {
        **_answer(platform, term, 0),
        "search_nil_info": nil_info("no_result", is_first=is_first),
    }


def _verification(platform: SandboxPlatform, term: str) -> Document:
    """Return a demand for verification, which looks like an empty result."""
    empty = _answer(platform, term, 0)
    empty.pop("backtrace")
    return {**empty, "search_nil_info": nil_info("verify_check", is_first=True)}


def _search_id(term: str, offset: int) -> str:
    """Return a search id: a date, a hash of the term, and six letters that differ by page."""
    return f"20251001180000{_mark(term)[:12]}{_mark(f'{term}:{offset}')[:6]}"


def _backtrace(term: str, following: int) -> str:
    """Return the token that a client has to send back unchanged with its offset."""
    return f"bt:{_mark(f'{term}|{following}')[:16]}=="


def nil_info(kind: str, *, is_first: bool) -> Document:
    return {
        "search_nil_type": kind, "search_nil_item": kind, "text_type": 9,
        "is_load_more": "first_flush" if is_first else "load_more",
    }  # fmt: skip


def _mark(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest().upper()
