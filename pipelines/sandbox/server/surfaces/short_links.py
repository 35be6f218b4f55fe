"""Short links: a code redirects to a share page, to a desktop page, or to an error case.

Route name: `short_link`.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.addresses import (
    FOREIGN,
    OVERSEAS,
    SHARE,
    SHORT,
    WEB,
    LinkKind,
    read_code,
    to_code,
)
from pipelines.sandbox.server.documents.songs import track_of
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.surfaces.music import trends_path
from pipelines.sandbox.server.surfaces.music_service import track_address

LEAVES, CIRCLES, GONE, REGION, DETOUR, VERIFIES = 1, 2, 3, 4, 5, 6
"""Numbers of the error cases: off the platform, a loop, the page for deleted videos, overseas, a
detour over two more short links, a verification page."""
_LAST_STEP = 8
MIX, COLLECTION, ARTICLE, ITEM, STORY, ESCAPED = 11, 12, 13, 14, 15, 16
"""Numbers of rarer forms: three that lead to no video, track, account or hashtag; two further forms
of a video's page; an account whose id comes after an escaped ampersand."""


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the routes of a code, with or without a slash after it, on any host."""

    async def short_link(request: Request) -> Response:
        target = await _target(platform, request.path_params["code"])
        if target is None:
            return PlainTextResponse("not found", status_code=404)
        return RedirectResponse(target, status_code=302)

    return [
        Route("/{code}/", short_link, name="short_link"),
        Route("/{code}", short_link, name="short_link"),
    ]


async def _target(platform: SandboxPlatform, code: str) -> str | None:
    found = read_code(code)
    if found is None:
        return None
    kind, number = found
    if kind == "hashtag":
        return await _hashtag(platform, str(number))
    if kind == "track":
        known = track_of(platform.world, str(number)) is not None
        return track_address(platform, str(number)) if known else None
    if kind in ("odd", "user"):
        return _error_case(platform, code, number) if kind == "odd" else _user(platform, number)
    return _of_work(platform, kind, str(number))


def _of_work(platform: SandboxPlatform, kind: LinkKind, number: str) -> str | None:
    if kind in ("music", "music_query", "trends"):
        return _music(platform, number, kind)
    return _modal(platform, number) if kind == "modal" else _video(platform, number)


async def _hashtag(platform: SandboxPlatform, ch_id: str) -> str | None:
    if (await platform.directory()).name_of(ch_id) is None:
        return None
    return platform.addresses.on(SHARE, f"/share/challenge/{ch_id}/?from=web_code_link")


def _modal(platform: SandboxPlatform, aweme_id: str) -> str | None:
    """Return the desktop form, whose id is in the query only."""
    if platform.world.video_of_id(aweme_id) is None:
        return None
    return platform.addresses.on(WEB, f"/jingxuan?modal_id={aweme_id}")


def _video(platform: SandboxPlatform, aweme_id: str) -> str | None:
    work = platform.world.video_of_id(aweme_id)
    if work is None:
        return None
    kind = "note" if work.is_photo else "video"
    music_id = platform.world.sounds.music_id[work.sound]
    query = f"region=CN&mid={music_id}&u_code=0&titleType=title&from=web_code_link"
    return platform.addresses.on(SHARE, f"/share/{kind}/{aweme_id}/?{query}")


def _music(platform: SandboxPlatform, music_id: str, kind: LinkKind) -> str | None:
    if platform.world.sound_of(music_id) is None:
        return None
    paths = {
        "music": f"/share/music/{music_id}/?from=web_code_link",
        "music_query": f"/share/music/?music_id={music_id}", "trends": trends_path(music_id),
    }  # fmt: skip
    return platform.addresses.on(SHARE, paths[kind])


def _user(platform: SandboxPlatform, index: int) -> str | None:
    if index >= platform.world.account_count:
        return None
    account = platform.world.account(index)
    return platform.addresses.on(SHARE, f"/share/user/{account.uid}?sec_uid={account.sec_uid}")


def _error_case(platform: SandboxPlatform, code: str, number: int) -> str | None:
    other = platform.world.works.aweme_id[0]
    gone = f"/jingxuan?previous_page=web_video_404_link&modal_id={other}"
    account = platform.world.account(0)
    targets = {
        MIX: platform.addresses.on(SHARE, f"/share/mix/detail/{other}/?from=web_code_link"),
        COLLECTION: platform.addresses.on(WEB, f"/collection/{other}"),
        ARTICLE: platform.addresses.on(WEB, f"/article/{other}"),
        ITEM: platform.addresses.on(SHARE, f"/share/item/{other}/"),
        STORY: platform.addresses.on(SHARE, f"/share/story/{other}/"),
        ESCAPED: platform.addresses.on(
            SHARE, f"/share/user/{account.uid}?from=web&amp;sec_uid={account.sec_uid}"
        ),
        LEAVES: f"https://{FOREIGN}/video/1",
        CIRCLES: platform.addresses.on(SHORT, f"/{code}/"),
        GONE: platform.addresses.on(WEB, gone),
        REGION: platform.addresses.on(OVERSEAS, "/"),
        VERIFIES: platform.addresses.on(WEB, "/verify_page?from=short_link"),
        _LAST_STEP: platform.addresses.short_link("video", int(other)),
    }
    if DETOUR <= number < _LAST_STEP and number != VERIFIES:
        following = number + 2 if number == DETOUR else number + 1
        return platform.addresses.on(SHORT, f"/{to_code('odd', following)}/")
    return targets.get(number)
