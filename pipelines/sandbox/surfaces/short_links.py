"""Short links: a code leads by redirect to a share page, or astray.

Route name: `short_link`.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.addresses import FOREIGN, SHARE, SHORT, read_code
from pipelines.sandbox.platform import Platform

LEAVES, CIRCLES = 1, 2
"""Numbers of the odd codes: one leaves the platform, one leads to itself."""


def routes(platform: Platform) -> list[BaseRoute]:
    """A code with or without a slash after it, on any host."""

    async def short_link(request: Request) -> Response:
        target = _target(platform, request.path_params["code"])
        if target is None:
            return PlainTextResponse("not found", status_code=404)
        return RedirectResponse(target, status_code=302)

    return [
        Route("/{code}/", short_link, name="short_link"),
        Route("/{code}", short_link, name="short_link"),
    ]


def _target(platform: Platform, code: str) -> str | None:
    found = read_code(code)
    if found is None:
        return None
    kind, number = found
    if kind == "odd":
        return _astray(platform, code, number)
    if kind == "user":
        return _user(platform, number)
    finder = {"video": _video, "music": _music}[kind]
    return finder(platform, str(number))


def _video(platform: Platform, aweme_id: str) -> str | None:
    work = platform.world.work_of(aweme_id)
    if work is None:
        return None
    kind = "note" if work.is_photo else "video"
    music_id = platform.world.sounds.music_id[work.sound]
    query = f"region=CN&mid={music_id}&u_code=0&titleType=title&from=web_code_link"
    return platform.addresses.on(SHARE, f"/share/{kind}/{aweme_id}/?{query}")


def _music(platform: Platform, music_id: str) -> str | None:
    if platform.world.sound_of(music_id) is None:
        return None
    return platform.addresses.on(SHARE, f"/share/music/{music_id}/?from=web_code_link")


def _user(platform: Platform, index: int) -> str | None:
    if index >= platform.world.account_count:
        return None
    account = platform.world.account(index)
    return platform.addresses.on(SHARE, f"/share/user/{account.uid}?sec_uid={account.sec_uid}")


def _astray(platform: Platform, code: str, number: int) -> str | None:
    if number == LEAVES:
        return f"https://{FOREIGN}/video/1"
    if number == CIRCLES:
        return platform.addresses.on(SHORT, f"/{code}/")
    return None
