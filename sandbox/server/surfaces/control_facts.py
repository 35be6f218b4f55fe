"""Control endpoints for surface content: hashtags, search, accounts, videos by state, chart.

All paths begin with `/_world/`, as in `control.py`, which has the ground truth of tracks.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.server.addresses import SHARE
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.pages import Document
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import Surface, read_non_negative
from sandbox.server.surfaces.lists import repeats_cursor
from sandbox.server.surfaces.search import SEARCH_DEPTH
from sandbox.server.surfaces.video_pages import is_withheld
from sandbox.world.chart import SandboxIssue
from sandbox.world.content.tables import (
    Alteration,
    SandboxVideo,
    VideoState,
)
from sandbox.world.guest_view import VideoTextIndex

_SHOWN = 50
"""Default of `limit`."""


async def _hashtags(platform: SandboxPlatform, request: Request) -> Response:
    texts = await platform.text_index()
    ids = texts.ch_ids()[: read_non_negative(request, "limit", _SHOWN)]
    return JSONResponse({"hashtags": [_hashtag_facts(platform, texts, ch_id) for ch_id in ids]})


async def _hashtag(platform: SandboxPlatform, request: Request) -> Response:
    texts, ch_id = await platform.text_index(), request.path_params["ch_id"]
    if ch_id not in texts.names:
        return JSONResponse({"error": "no such hashtag"}, status_code=404)
    return JSONResponse({
        **_hashtag_facts(platform, texts, ch_id),
        "listed": _ids(platform, texts.listed(ch_id)),
        "members": _ids(platform, texts.members(ch_id)),
    })  # fmt: skip


def _hashtag_facts(platform: SandboxPlatform, texts: VideoTextIndex, ch_id: str) -> Document:
    name, path = texts.names[ch_id], f"/share/challenge/{ch_id}/"
    return {
        "ch_id": ch_id, "name": name, "member_count": int(texts.members(ch_id).size),
        "listed_count": len(texts.listed(ch_id)), "repeats_cursor": repeats_cursor(ch_id),
        "share_link": platform.addresses.on(SHARE, path),
        "short_link": platform.addresses.short_link("hashtag", int(ch_id)),
    }  # fmt: skip


async def _search(platform: SandboxPlatform, request: Request) -> Response:
    """Return what a guest finds by a term, in order."""
    texts = await platform.text_index()
    rows = await asyncio.to_thread(texts.ranked, request.query_params.get("term", ""))
    return JSONResponse({"aweme_ids": _ids(platform, rows[:SEARCH_DEPTH])})


async def _accounts(platform: SandboxPlatform, request: Request) -> Response:
    everyone = range(platform.world.account_count)
    sizes = np.asarray([platform.world.videos_by_account(index).size for index in everyone])
    limit = read_non_negative(request, "limit", _SHOWN)
    busiest = np.argsort(-sizes, kind="stable")[:limit].tolist()
    return JSONResponse({"accounts": [_account_facts(platform, index) for index in busiest]})


def _account_facts(platform: SandboxPlatform, index: int) -> Document:
    facts, rows = platform.world.account(index), platform.world.videos_by_account(index)
    path = f"/share/user/{facts.uid}?sec_uid={facts.sec_uid}"
    return {
        "sec_uid": facts.sec_uid, "uid": facts.uid, "unique_id": facts.unique_id,
        "nickname": facts.nickname, "follower_count": facts.follower_count,
        "total_favorited": facts.total_favorited, "post_count": int(rows.size),
        "share_link": platform.addresses.on(SHARE, path),
        "short_link": platform.addresses.short_link("user", index),
    }  # fmt: skip


async def _works(platform: SandboxPlatform, request: Request) -> Response:
    """Return videos of a state.

    States are public, deleted, private, reviewing, photo, silent, pinned, the alterations of
    the sound (`muted`, ...), and the ways to withhold a page: `shell` always, `cookie` until
    the visitor sends the guest cookie.
    """
    name = request.query_params.get("state", "public")
    chosen = _STATES.get(name)
    if chosen is None:
        return JSONResponse({"error": f"states are {', '.join(_STATES)}"}, status_code=400)
    works = map(platform.world.works.row, range(len(platform.world.works)))
    found = islice(filter(chosen, works), read_non_negative(request, "limit", _SHOWN))
    return JSONResponse({"state": name, "works": [_video_facts(platform, work) for work in found]})


def _video_facts(platform: SandboxPlatform, work: SandboxVideo) -> Document:
    """Return a video, its links, and the other surfaces that show it."""
    view, sound = platform.view, work.sound
    path = f"/share/{'note' if work.is_photo else 'video'}/{work.aweme_id}/"
    return {
        "aweme_id": work.aweme_id, "music_id": str(platform.world.sounds.music_id[sound]),
        "digg_count": work.digg_count, "is_photo": work.is_photo,
        "in_music_list": work.index in view.music_list(sound),
        "in_author_screen": work.index in view.first_screen(work.account),
        "state": work.state.name.lower(), "sec_uid": platform.world.sec_uid(work.account),
        "share_link": platform.addresses.on(SHARE, path),
    }  # fmt: skip


def _ids(platform: SandboxPlatform, rows: Iterable[int]) -> list[str]:
    return [str(platform.world.works.aweme_id[row]) for row in rows]


def _is_altered(work: SandboxVideo, alteration: Alteration) -> bool:
    return work.is_public and work.alteration is alteration


_STATES: dict[str, Callable[[SandboxVideo], bool]] = {
    "public": lambda work: work.is_public,
    "deleted": lambda work: work.state is VideoState.DELETED,
    "private": lambda work: work.state is VideoState.PRIVATE,
    "reviewing": lambda work: work.state is VideoState.REVIEWING,
    "photo": lambda work: work.is_public and work.is_photo,
    "silent": lambda work: work.is_public and work.is_silent,
    "pinned": lambda work: work.is_public and work.is_pinned,
    **{
        alteration.name.lower(): partial(_is_altered, alteration=alteration)
        for alteration in Alteration
        if alteration is not Alteration.NONE
    },
    "shell": lambda work: work.is_public and is_withheld(work, has_cookie=True),
    "cookie": lambda work: (
        work.is_public
        and is_withheld(work, has_cookie=False)
        and not is_withheld(work, has_cookie=True)
    ),
}


async def _chart_issues(platform: SandboxPlatform, _: Request) -> Response:
    """Return all published issues, oldest first, including dates hidden from guests."""
    issues = map(platform.chart.calendar.at, range(platform.issue_count))
    return JSONResponse({"issues": list(map(_issue, issues))})


def _issue(issue: SandboxIssue) -> Document:
    return {
        "volid": str(issue.volid), "date": str(issue.day), "name": issue.name,
        "is_dated": issue.date_form != "none",
    }  # fmt: skip


SURFACES = (
    Surface("control", _hashtags, "/_world/hashtags", source=forms.OWN),
    Surface("control", _hashtag, "/_world/hashtags/{ch_id}", source=forms.OWN),
    Surface("control", _search, "/_world/search", source=forms.OWN),
    Surface("control", _accounts, "/_world/accounts", source=forms.OWN),
    Surface("control", _works, "/_world/works", source=forms.OWN),
    Surface("control", _chart_issues, "/_world/chart/issues", source=forms.OWN),
)
