"""Music ids, trends and hashtags: info, list of videos, and pages whose script loads both.

Surfaces: `music_info`, `music_list`, `music_page`, `trends_list`, `trends_page`, `hashtag_info`,
`hashtag_list`, `hashtag_page`, and the desktop pages `web_music_page`, `web_hashtag_page`. Music
lists are trimmed and limited in depth; the list of a trend has complete videos. One hashtag in five
repeats the cursor of the current page, as observed on the platform.
"""

from collections.abc import Callable, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.server.addresses import WEB
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.pages import (
    MAX_PAGE_SIZE,
    Document,
    PagedEntity,
    share_page,
    to_call,
)
from sandbox.server.documents.videos import (
    detail_video,
    hashtag_info,
    hashtag_list_video,
    music_info,
    music_list_video,
)
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import (
    Surface,
    page_size,
    read_non_negative,
    unknown,
    with_status,
)
from sandbox.world.content.tables import SandboxSound, SandboxVideo
from sandbox.world.random_streams import share_of

_TREND = 0x35353535
_REPEATS_CURSOR = 0.2
_TREND_LIST = "/aweme/v1/trends/aweme/"
_MUSIC = PagedEntity(
    info="/web/api/v2/music/info/", listed="/web/api/v2/music/list/aweme/", key="music_id"
)
_HASHTAG = PagedEntity(
    info="/web/api/v2/challenge/info/", listed="/web/api/v2/challenge/aweme/", key="ch_id"
)


async def _music_info(platform: SandboxPlatform, request: Request) -> Response:
    sound = _sound(platform, request)
    if sound is None:
        return unknown("music_info")
    return JSONResponse(with_status(music_info=music_info(platform, sound)))


async def _music_list(platform: SandboxPlatform, request: Request) -> Response:
    sound = _sound(platform, request)
    rows = [] if sound is None else platform.view.music_list(sound.index).tolist()
    return _listed(platform, request, rows, music_list_video)


async def _trend_list(platform: SandboxPlatform, request: Request) -> Response:
    """Return a page of a trend, by its id or by that of its music."""
    sound = _trending(platform, request)
    rows = [] if sound is None else platform.view.trends_list(sound.index).tolist()
    return _listed(platform, request, rows, detail_video)


async def _music_page(platform: SandboxPlatform, request: Request) -> Response:
    """Return the page of the id in the path, or in the query."""
    music_id = request.path_params.get("music_id") or request.query_params.get("music_id", "")
    sound = platform.world.sound_of(music_id)
    info = None if sound is None else music_info(platform, sound)
    data = {"lastPath": music_id, "musicInfoRes": with_status(music_info=info)}
    return share_page(
        request, {"music_(id)/page": data}, calls=_MUSIC.calls(music_id), entity=music_id
    )


async def _trend_page(platform: SandboxPlatform, request: Request) -> Response:
    """Return a page without data of its own; its script loads the list."""
    sound = _trending(platform, request)
    music_id = "" if sound is None else sound.music_id
    given = f"trends_id={trends_id_of(music_id)}&music_id={music_id}" if music_id else ""
    works = f"{_TREND_LIST}?{given}&count={MAX_PAGE_SIZE}&cursor="
    calls = [to_call(f"{works}0", cursor="cursor", more=works)]
    return share_page(request, {"trends_page": {}}, calls=calls, entity=music_id)


async def _hashtag_info(platform: SandboxPlatform, request: Request) -> Response:
    info = await _info_of(platform, request.query_params.get("ch_id", ""))
    if info is None:
        return unknown("ch_info")
    return JSONResponse(with_status(ch_info=info))


async def _hashtag_list(platform: SandboxPlatform, request: Request) -> Response:
    ch_id = request.query_params.get("ch_id", "")
    rows = (await platform.text_index()).listed(ch_id)
    items, cursor, has_more = _page_of(platform, request, rows, hashtag_list_video)
    following = cursor if repeats_cursor(ch_id) else cursor + len(items)
    return JSONResponse(with_status(aweme_list=items, cursor=following, has_more=has_more))


async def _hashtag_page(platform: SandboxPlatform, request: Request) -> Response:
    ch_id = request.path_params["ch_id"]
    info = await _info_of(platform, ch_id)
    data = {"lastPath": ch_id, "challengeInfoRes": with_status(ch_info=info)}
    return share_page(
        request, {"challenge_(id)/page": data}, calls=_HASHTAG.calls(ch_id), entity=ch_id
    )


SURFACES = (
    Surface("music_info", _music_info, _MUSIC.info, source=forms.WEB_LISTS),
    Surface("music_list", _music_list, _MUSIC.listed, source=forms.WEB_LISTS),
    Surface("trends_list", _trend_list, _TREND_LIST, source=forms.TRENDS),
    Surface("trends_page", _trend_page, "/share/trends/", source=forms.TRENDS),
    Surface(
        "music_page", _music_page,
        "/share/music/", "/share/music/{music_id}/", "/share/music/{music_id}",
        source=forms.SHARE_PAGE,
    ),
    Surface(
        "web_music_page", _MUSIC.desktop_page, "/music/{music_id}", hosts=(WEB,),
        source=forms.WEB_LISTS,
    ),
    Surface("hashtag_info", _hashtag_info, _HASHTAG.info, source=forms.WEB_LISTS),
    Surface("hashtag_list", _hashtag_list, _HASHTAG.listed, source=forms.WEB_LISTS),
    Surface(
        "hashtag_page", _hashtag_page,
        "/share/challenge/detail/{ch_id}", "/share/challenge/detail/{ch_id}/",
        "/share/challenge/{ch_id}/", "/share/challenge/{ch_id}", source=forms.SHARE_PAGE,
    ),
    Surface(
        "web_hashtag_page", _HASHTAG.desktop_page,
        "/challenge/detail/{ch_id}", "/challenge/{ch_id}", "/hashtag/{ch_id}", hosts=(WEB,),
        source=forms.WEB_LISTS,
    ),
)  # fmt: skip


def trends_id_of(music_id: str) -> str:
    """Return the id of the trend around a music id."""
    return str(int(music_id) ^ _TREND)


def trends_path(music_id: str) -> str:
    """Return the path of a trend's page, with the parameters that a shared link has."""
    return f"/share/trends/?trends_id={trends_id_of(music_id)}&music_id={music_id}"


def repeats_cursor(ch_id: str) -> bool:
    """Return True for a hashtag whose list repeats the cursor of the current page."""
    return share_of(ch_id, "cursor") < _REPEATS_CURSOR


def _listed(
    platform: SandboxPlatform, request: Request, rows: Sequence[int], form: "_Form"
) -> Response:
    items, cursor, has_more = _page_of(platform, request, rows, form)
    return JSONResponse(with_status(
        aweme_list=items, cursor=cursor + len(items), has_more=int(has_more)
    ))  # fmt: skip


type _Form = Callable[[SandboxPlatform, SandboxVideo], Document]


def _page_of(
    platform: SandboxPlatform, request: Request, rows: Sequence[int], form: _Form
) -> tuple[list[Document], int, bool]:
    """Return the requested page of some rows, its cursor, and whether more follow."""
    cursor = read_non_negative(request, "cursor", 0)
    end = cursor + page_size(request)
    works = map(platform.world.works.row, rows[cursor:end])
    return [form(platform, work) for work in works], cursor, end < len(rows)


def _trending(platform: SandboxPlatform, request: Request) -> SandboxSound | None:
    trend = request.query_params.get("trends_id", "")
    if trend.isascii() and trend.isdigit() and len(trend) < 20:  # noqa: PLR2004  # digits of an id
        return platform.world.sound_of(trends_id_of(trend))
    return _sound(platform, request)


def _sound(platform: SandboxPlatform, request: Request) -> SandboxSound | None:
    return platform.world.sound_of(request.query_params.get("music_id", ""))


async def _info_of(platform: SandboxPlatform, ch_id: str) -> Document | None:
    index = await platform.text_index()
    if ch_id not in index.names:
        return None
    return hashtag_info(platform, index.names[ch_id], members=int(index.members(ch_id).size))
