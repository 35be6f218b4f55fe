"""Short links: a code redirects to a share page, to a desktop page, or to an error case.

Surface: `short_link`, on any host and with or without a slash at its end.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from sandbox.server.addresses import (
    FOREIGN,
    OVERSEAS,
    SHARE,
    SHORT,
    WEB,
    LinkKind,
    read_code,
    to_code,
)
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.songs import track_of
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import Surface
from sandbox.server.surfaces.lists import trends_path
from sandbox.server.surfaces.music_service import track_address

LEAVES, CIRCLES, GONE, REGION, DETOUR, VERIFIES = 1, 2, 3, 4, 5, 6
"""Numbers of the error cases: off the platform, a loop, the page for deleted videos, overseas, a
detour over two more short links, a verification page."""
_LAST_STEP = 8
MIX, COLLECTION, ARTICLE, ITEM, STORY, ESCAPED = 11, 12, 13, 14, 15, 16
"""Numbers of rarer forms: three that lead to no video, track, account or hashtag; two further forms
of a video's page; an account whose id comes after an escaped ampersand."""


async def _short_link(platform: SandboxPlatform, request: Request) -> Response:
    code = request.path_params["code"]
    found = read_code(code)
    target = None if found is None else await _target(platform, code, *found)
    if target is None:
        return PlainTextResponse("not found", status_code=404)
    return RedirectResponse(target, status_code=302)


SURFACES = (Surface("short_link", _short_link, "/{code}/", "/{code}", source=forms.SHORT_LINKS),)


async def _target(platform: SandboxPlatform, code: str, kind: LinkKind, number: int) -> str | None:
    """Return where a link leads; None if there is no such thing."""
    if kind == "odd":
        return _error_case(platform, code, number)
    if kind == "hashtag":
        is_known = str(number) in (await platform.text_index()).names
        path = f"/share/challenge/{number}/?from=web_code_link"
        return platform.addresses.on(SHARE, path) if is_known else None
    if kind == "user":
        return _user(platform, number)
    if kind in ("video", "modal"):
        return _video(platform, kind, str(number))
    return _music(platform, kind, str(number))


def _user(platform: SandboxPlatform, index: int) -> str | None:
    if index >= platform.world.account_count:
        return None
    account = platform.world.account(index)
    return platform.addresses.on(SHARE, f"/share/user/{account.uid}?sec_uid={account.sec_uid}")


def _video(platform: SandboxPlatform, kind: LinkKind, aweme_id: str) -> str | None:
    """Return the share page, or the desktop form, whose id is in the query only."""
    work = platform.world.video_of_id(aweme_id)
    if work is None:
        return None
    if kind == "modal":
        return platform.addresses.on(WEB, f"/jingxuan?modal_id={aweme_id}")
    page = "note" if work.is_photo else "video"
    music_id = platform.world.sounds.music_id[work.sound]
    query = f"region=CN&mid={music_id}&u_code=0&titleType=title&from=web_code_link"
    return platform.addresses.on(SHARE, f"/share/{page}/{aweme_id}/?{query}")


def _music(platform: SandboxPlatform, kind: LinkKind, music_id: str) -> str | None:
    if kind == "track":
        is_known = track_of(platform.world, music_id) is not None
        return track_address(platform, music_id) if is_known else None
    if platform.world.sound_of(music_id) is None:
        return None
    paths = {
        "music": f"/share/music/{music_id}/?from=web_code_link",
        "music_query": f"/share/music/?music_id={music_id}", "trends": trends_path(music_id),
    }  # fmt: skip
    return platform.addresses.on(SHARE, paths[kind])


def _error_case(platform: SandboxPlatform, code: str, number: int) -> str | None:
    on, other = platform.addresses.on, str(platform.world.works.aweme_id[0])
    account = platform.world.account(0)
    targets = {
        MIX: on(SHARE, f"/share/mix/detail/{other}/?from=web_code_link"),
        COLLECTION: on(WEB, f"/collection/{other}"),
        ARTICLE: on(WEB, f"/article/{other}"),
        ITEM: on(SHARE, f"/share/item/{other}/"),
        STORY: on(SHARE, f"/share/story/{other}/"),
        ESCAPED: on(SHARE, f"/share/user/{account.uid}?from=web&amp;sec_uid={account.sec_uid}"),
        LEAVES: f"https://{FOREIGN}/video/1",
        CIRCLES: on(SHORT, f"/{code}/"),
        GONE: platform.addresses.gone(other),
        REGION: on(OVERSEAS, "/"),
        VERIFIES: on(WEB, "/verify_page?from=short_link"),
        _LAST_STEP: platform.addresses.short_link("video", int(other)),
    }
    if DETOUR <= number < _LAST_STEP and number != VERIFIES:
        following = number + 2 if number == DETOUR else number + 1
        return on(SHORT, f"/{to_code('odd', following)}/")
    return targets.get(number)
