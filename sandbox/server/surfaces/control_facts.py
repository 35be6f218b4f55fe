"""Control endpoints for surface content: hashtags, search, chart, accounts, videos by state.

All paths begin with `/_world/`, as in `control.py`, which has the ground truth of tracks.
"""

import asyncio
from collections.abc import Callable, Iterable
from datetime import date
from functools import partial
from itertools import islice

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.server.addresses import SHARE, WEB
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.pages import MAX_PAGE_SIZE, Document
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import Surface, read_non_negative
from sandbox.server.surfaces.lists import repeats_cursor
from sandbox.server.surfaces.search import SEARCH_DEPTH, demands_verification_first
from sandbox.server.surfaces.users import LIST_FORMS, has_list
from sandbox.server.surfaces.video_pages import is_withheld
from sandbox.world.chart import ChartCareer, SandboxIssue
from sandbox.world.content.tables import (
    Alteration,
    SandboxSound,
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
        return _unknown("hashtag")
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
    """Return what a term finds, in order; `music_id` adds each video's relation to it."""
    term = request.query_params.get("term", "")
    texts = await platform.text_index()
    rows = await asyncio.to_thread(texts.ranked, term)
    tie = await asyncio.to_thread(_tie, platform, request.query_params.get("music_id", ""))
    row_of = platform.world.works.row
    shown = [{**_seen(platform, row_of(row)), **tie(row)} for row in rows[:SEARCH_DEPTH]]
    return JSONResponse({
        "term": term, "hesitates": demands_verification_first(term), "matching_count": len(rows),
        "aweme_ids": [work["aweme_id"] for work in shown], "works": shown,
    })  # fmt: skip


def _tie(platform: SandboxPlatform, music_id: str) -> Callable[[int], Document]:
    """Return a function: a video's relation to a track, and the scan round that finds it."""
    world = platform.world
    if world.sound_of(music_id) is None:
        return lambda _: {}
    truth = platform.ground_truth(music_id)

    def tie(row: int) -> Document:
        relation = truth.relations.get(int(world.works.sound[row]), "none")
        return {"relation": relation, "round": truth.rounds.get(row)}

    return tie


async def _gains(platform: SandboxPlatform, _: Request) -> Response:
    """Return, per track, the wanted videos that only search finds, and those by its title."""
    texts = await platform.text_index()
    found = await asyncio.to_thread(
        lambda: [_gain(platform, texts, track) for track in platform.world.tracks]
    )
    return JSONResponse({"tracks": [gain for gain in found if gain["unreachable"]]})


def _gain(platform: SandboxPlatform, texts: VideoTextIndex, track: SandboxSound) -> Document:
    truth = platform.ground_truth(track.music_id)
    title = platform.world.title_of(track.score)
    missed = truth.wanted() - truth.reachable()
    shown = _ids(platform, texts.ranked(title)[:SEARCH_DEPTH])
    return {
        "music_id": track.music_id, "title": title, "unreachable": sorted(missed),
        "found_by_title": sorted(missed.intersection(shown)),
    }  # fmt: skip


def _seen(platform: SandboxPlatform, work: SandboxVideo) -> Document:
    """Return a video, and the other surfaces that show it."""
    view, sound = platform.view, work.sound
    return {
        "aweme_id": work.aweme_id, "music_id": str(platform.world.sounds.music_id[sound]),
        "digg_count": work.digg_count, "is_photo": work.is_photo,
        "in_music_list": work.index in view.music_list(sound),
        "in_author_screen": work.index in view.first_screen(work.account),
    }  # fmt: skip


async def _accounts(platform: SandboxPlatform, request: Request) -> Response:
    everyone = range(platform.world.account_count)
    sizes = np.asarray([platform.world.videos_by_account(index).size for index in everyone])
    limit = read_non_negative(request, "limit", _SHOWN)
    busiest = np.argsort(-sizes, kind="stable")[:limit].tolist()
    return JSONResponse({"accounts": [_account_facts(platform, index) for index in busiest]})


async def _account(platform: SandboxPlatform, request: Request) -> Response:
    index = platform.world.account_of(request.path_params["sec_uid"])
    if index is None:
        return _unknown("account")
    listed = _ids(platform, platform.world.videos_by_account(index))
    return JSONResponse({**_account_facts(platform, index), "aweme_ids": listed})


def _account_facts(platform: SandboxPlatform, index: int) -> Document:
    facts, rows = platform.world.account(index), platform.world.videos_by_account(index)
    path = f"/share/user/{facts.uid}?sec_uid={facts.sec_uid}"
    return {
        "sec_uid": facts.sec_uid, "uid": facts.uid, "unique_id": facts.unique_id,
        "nickname": facts.nickname, "follower_count": facts.follower_count,
        "total_favorited": facts.total_favorited, "post_count": int(rows.size),
        "page_count": -(-int(rows.size) // MAX_PAGE_SIZE),
        "pinned_count": int(platform.world.works.is_pinned[rows].sum()),
        "page_list_key": LIST_FORMS[index % len(LIST_FORMS)][0] if has_list(index) else None,
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
    listed = [{**_seen(platform, work), **_links(platform, work)} for work in found]
    return JSONResponse({"state": name, "works": listed})


def _links(platform: SandboxPlatform, work: SandboxVideo) -> Document:
    kind, on = "note" if work.is_photo else "video", platform.addresses.on
    return {
        "state": work.state.name.lower(), "sec_uid": platform.world.sec_uid(work.account),
        "share_link": on(SHARE, f"/share/{kind}/{work.aweme_id}/"),
        "web_link": on(WEB, f"/{kind}/{work.aweme_id}"),
    }  # fmt: skip


def _ids(platform: SandboxPlatform, rows: Iterable[int]) -> list[str]:
    return [str(platform.world.works.aweme_id[row]) for row in rows]


def _is_public(work: SandboxVideo) -> bool:
    return work.state is VideoState.PUBLIC


def _is_altered(work: SandboxVideo, alteration: Alteration) -> bool:
    return _is_public(work) and work.alteration is alteration


_STATES: dict[str, Callable[[SandboxVideo], bool]] = {
    "public": _is_public,
    "deleted": lambda work: work.state is VideoState.DELETED,
    "private": lambda work: work.state is VideoState.PRIVATE,
    "reviewing": lambda work: work.state is VideoState.REVIEWING,
    "photo": lambda work: _is_public(work) and work.is_photo,
    "silent": lambda work: _is_public(work) and work.is_silent,
    "pinned": lambda work: _is_public(work) and work.is_pinned,
    **{
        alteration.name.lower(): partial(_is_altered, alteration=alteration)
        for alteration in Alteration
        if alteration is not Alteration.NONE
    },
    "shell": lambda work: _is_public(work) and is_withheld(work, has_cookie=True),
    "cookie": lambda work: (
        _is_public(work)
        and is_withheld(work, has_cookie=False)
        and not is_withheld(work, has_cookie=True)
    ),
}


async def _chart_issues(platform: SandboxPlatform, _: Request) -> Response:
    """Return all published issues, oldest first, including dates hidden from guests."""
    issues = map(platform.chart.calendar.at, range(platform.issue_count))
    return JSONResponse({"issues": list(map(_issue, issues))})


async def _chart_issue(platform: SandboxPlatform, request: Request) -> Response:
    """Return the newest issue on or before `date` whose date guests can see."""
    try:
        day = date.fromisoformat(request.query_params.get("date", ""))
    except ValueError:
        return JSONResponse({"error": "date is YYYY-MM-DD"}, status_code=400)
    for found in map(platform.chart.calendar.at, reversed(range(platform.issue_count))):
        if found.day <= day and found.date_form != "none":
            return JSONResponse({**_issue(found), "day_offset": (day - found.day).days})
    return _unknown("issue on or before this day")


async def _chart_songs(platform: SandboxPlatform, request: Request) -> Response:
    issue = platform.chart.calendar.find(request.path_params["volid"])
    if issue is None:
        return _unknown("issue")
    songs = platform.chart.songs(issue.place)[: read_non_negative(request, "limit", 500)]
    listed = [
        {
            "rank": song.rank, "title": song.title, "artist": "、".join(song.artists),
            "duration_s": song.duration_s, "previous_rank": song.previous_rank or None,
            "rank_count": song.issue_count, "song_hash": song.song_hash,
            "music_id": song.music_id,
        }
        for song in songs
    ]  # fmt: skip
    return JSONResponse({**_issue(issue), "songs": listed})


async def _chart_tracks(platform: SandboxPlatform, _: Request) -> Response:
    """Return the world's tracks on the chart: first and last issue, best rank."""
    careers = await asyncio.to_thread(platform.chart.careers, platform.issue_count)
    return JSONResponse({"tracks": [_career(platform, career) for career in careers]})


def _career(platform: SandboxPlatform, career: ChartCareer) -> Document:
    track, at = platform.first.tracks[career.track], platform.chart.calendar.at
    return {
        "music_id": track.music_id, "title": platform.first.sound_title(track),
        "first": _issue(at(career.places[0])), "last": _issue(at(career.places[-1])),
        "best_rank": career.best_rank, "issue_count": len(career.places),
    }  # fmt: skip


def _issue(issue: SandboxIssue) -> Document:
    return {
        "volid": str(issue.volid), "date": str(issue.day), "name": issue.name,
        "is_dated": issue.date_form != "none",
    }  # fmt: skip


def _unknown(what: str) -> Response:
    return JSONResponse({"error": f"no such {what}"}, status_code=404)


SURFACES = (
    Surface("control", _hashtags, "/_world/hashtags", source=forms.OWN),
    Surface("control", _hashtag, "/_world/hashtags/{ch_id}", source=forms.OWN),
    Surface("control", _search, "/_world/search", source=forms.OWN),
    Surface("control", _gains, "/_world/search/gains", source=forms.OWN),
    Surface("control", _accounts, "/_world/accounts", source=forms.OWN),
    Surface("control", _account, "/_world/accounts/{sec_uid}", source=forms.OWN),
    Surface("control", _works, "/_world/works", source=forms.OWN),
    Surface("control", _chart_issues, "/_world/chart/issues", source=forms.OWN),
    Surface("control", _chart_issue, "/_world/chart/issue", source=forms.OWN),
    Surface("control", _chart_songs, "/_world/chart/songs/{volid}", source=forms.OWN),
    Surface("control", _chart_tracks, "/_world/chart/tracks", source=forms.OWN),
)
