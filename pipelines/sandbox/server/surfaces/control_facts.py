"""Control endpoints for surface content: hashtags, search, chart, accounts, videos by state.

All paths begin with `/_world/`, as in `control.py`, which has the ground truth of tracks.
"""

import asyncio
from collections.abc import Callable
from datetime import date
from functools import partial

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipelines.sandbox.server.addresses import SHARE, WEB
from pipelines.sandbox.server.documents.directory import Directory
from pipelines.sandbox.server.documents.videos import Document
from pipelines.sandbox.server.platform import SandboxPlatform
from pipelines.sandbox.server.routing import MAX_PAGE_SIZE, read_non_negative
from pipelines.sandbox.server.surfaces.hashtags import repeats_cursor
from pipelines.sandbox.server.surfaces.search import SEARCH_DEPTH, demands_verification_first
from pipelines.sandbox.server.surfaces.share_pages import is_withheld
from pipelines.sandbox.server.surfaces.users import LIST_FORMS, has_list
from pipelines.sandbox.world.chart_issues import SandboxIssue
from pipelines.sandbox.world.content.videos import Alteration, SandboxVideo, VideoState
from pipelines.sandbox.world.ground_truth import GroundTruth
from pipelines.sandbox.world.world import SandboxWorld

_SHOWN = 50
"""Default of `limit`."""


def routes(platform: SandboxPlatform) -> list[BaseRoute]:
    """Return the endpoints."""
    found = _ContentFacts(platform)
    chart = _ChartFacts(platform)
    table = (
        ("/_world/hashtags", found.hashtags), ("/_world/hashtags/{ch_id}", found.hashtag),
        ("/_world/search", found.search), ("/_world/search/gains", found.gains),
        ("/_world/accounts", found.accounts),
        ("/_world/accounts/{sec_uid}", found.account), ("/_world/works", found.works),
        ("/_world/chart/issues", chart.issues), ("/_world/chart/issue", chart.issue),
        ("/_world/chart/songs/{volid}", chart.songs), ("/_world/chart/tracks", chart.tracks),
    )  # fmt: skip
    return [Route(path, endpoint, name="control") for path, endpoint in table]


class _ContentFacts:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform

    @property
    def world(self) -> SandboxWorld:
        return self.platform.world

    async def hashtags(self, request: Request) -> Response:
        directory = await self.platform.directory()
        ids = list(directory.hashtags)[: read_non_negative(request, "limit", _SHOWN)]
        return JSONResponse({"hashtags": [self._hashtag(directory, ch_id) for ch_id in ids]})

    async def hashtag(self, request: Request) -> Response:
        directory, ch_id = await self.platform.directory(), request.path_params["ch_id"]
        if directory.name_of(ch_id) is None:
            return _unknown("hashtag")
        listed = [str(self.world.works.aweme_id[row]) for row in directory.listed(ch_id)]
        members = self.world.works.aweme_id[directory.members(ch_id)].astype(str).tolist()
        told = self._hashtag(directory, ch_id)
        return JSONResponse({**told, "listed": listed, "members": members})

    def _hashtag(self, directory: Directory, ch_id: str) -> Document:
        name, path = directory.name_of(ch_id), f"/share/challenge/{ch_id}/"
        return {
            "ch_id": ch_id, "name": name, "member_count": int(directory.members(ch_id).size),
            "listed_count": len(directory.listed(ch_id)), "repeats_cursor": repeats_cursor(ch_id),
            "share_link": self.platform.addresses.on(SHARE, path),
            "short_link": self.platform.addresses.short_link("hashtag", int(ch_id)),
        }  # fmt: skip

    async def search(self, request: Request) -> Response:
        """Return what a term finds, in order; `music_id` adds each video's relation to it."""
        term = request.query_params.get("term", "")
        directory = await self.platform.directory()
        rows = await asyncio.to_thread(directory.finding.ranked, term)
        tie = await asyncio.to_thread(self._tie, request.query_params.get("music_id", ""))
        shown = [
            {**self._seen(self.world.works.row(row)), **tie(row)} for row in rows[:SEARCH_DEPTH]
        ]
        return JSONResponse({
            "term": term, "hesitates": demands_verification_first(term),
            "matching_count": len(rows),
            "aweme_ids": [work["aweme_id"] for work in shown], "works": shown,
        })  # fmt: skip

    def _tie(self, music_id: str) -> Callable[[int], Document]:
        """Return a function: a video's relation to a track, and the scan round that finds it."""
        if self.world.sound_of(music_id) is None:
            return lambda _: {}
        truth = GroundTruth(self.world, music_id, view=self.platform.view)

        def tie(row: int) -> Document:
            relation = truth.relations.get(int(self.world.works.sound[row]), "none")
            return {"relation": relation, "round": truth.rounds.get(row)}

        return tie

    async def gains(self, _: Request) -> Response:
        """Return, per track, the wanted videos that only search finds, and those by its title."""
        directory = await self.platform.directory()
        return JSONResponse({"tracks": await asyncio.to_thread(self._gains, directory)})

    def _gains(self, directory: Directory) -> list[Document]:
        told: list[Document] = []
        for track in self.world.tracks:
            truth = GroundTruth(self.world, track.music_id, view=self.platform.view)
            title = self.world.title_of(track.score)
            ids = self.world.works.aweme_id
            shown = {str(ids[row]) for row in directory.finding.ranked(title)[:SEARCH_DEPTH]}
            missed = truth.wanted() - truth.reachable()
            if missed:
                told.append({
                    "music_id": track.music_id, "title": title, "unreachable": sorted(missed),
                    "found_by_title": sorted(missed & shown),
                })  # fmt: skip
        return told

    def _seen(self, work: SandboxVideo) -> Document:
        """Return a video, and the other surfaces that show it."""
        works, sound = self.world.works, work.sound
        shown = self.platform.view.first_screen(work.account)
        return {
            "aweme_id": work.aweme_id, "music_id": str(self.world.sounds.music_id[sound]),
            "digg_count": work.digg_count, "is_photo": bool(works.is_photo[work.index]),
            "in_music_list": work.index in self.platform.view.music_list(sound),
            "in_author_screen": work.index in shown,
        }  # fmt: skip

    async def accounts(self, request: Request) -> Response:
        count = min(read_non_negative(request, "limit", _SHOWN), self.world.account_count)
        sizes = np.asarray([
            self.world.videos_by_account(index).size for index in range(self.world.account_count)
        ])  # fmt: skip
        busiest = np.argsort(-sizes, kind="stable")[:count].tolist()
        return JSONResponse({"accounts": [self._account(index) for index in busiest]})

    async def account(self, request: Request) -> Response:
        index = self.world.account_of(request.path_params["sec_uid"])
        if index is None:
            return _unknown("account")
        rows = self.world.videos_by_account(index)
        listed = self.world.works.aweme_id[rows].astype(str).tolist()
        return JSONResponse({**self._account(index), "aweme_ids": listed})

    def _account(self, index: int) -> Document:
        facts, rows = self.world.account(index), self.world.videos_by_account(index)
        path = f"/share/user/{facts.uid}?sec_uid={facts.sec_uid}"
        return {
            "sec_uid": facts.sec_uid, "uid": facts.uid, "unique_id": facts.unique_id,
            "nickname": facts.nickname, "follower_count": facts.follower_count,
            "total_favorited": facts.total_favorited, "post_count": int(rows.size),
            "page_count": -(-int(rows.size) // MAX_PAGE_SIZE),
            "pinned_count": int(self.world.works.is_pinned[rows].sum()),
            "page_list_key": LIST_FORMS[index % len(LIST_FORMS)][0] if has_list(index) else None,
            "share_link": self.platform.addresses.on(SHARE, path),
            "short_link": self.platform.addresses.short_link("user", index),
        }  # fmt: skip

    async def works(self, request: Request) -> Response:
        """Return videos of a state.

        States are public, deleted, private, reviewing, photo, silent, pinned, the alterations of
        the sound (`muted`, ...), and the ways to withhold a page: `shell` always, `cookie` until
        the visitor sends the guest cookie.
        """
        name = request.query_params.get("state", "public")
        chosen = _STATES.get(name)
        if chosen is None:
            return JSONResponse({"error": f"states are {', '.join(_STATES)}"}, status_code=400)
        limit, found = read_non_negative(request, "limit", _SHOWN), list[Document]()
        for work in map(self.world.works.row, range(len(self.world.works))):
            if len(found) >= limit:
                break
            if chosen(work):
                found.append({**self._seen(work), **self._links(work)})
        return JSONResponse({"state": name, "works": found})

    def _links(self, work: SandboxVideo) -> Document:
        kind = "note" if work.is_photo else "video"
        on = self.platform.addresses.on
        return {
            "state": work.state.name.lower(), "sec_uid": self.world.sec_uid(work.account),
            "share_link": on(SHARE, f"/share/{kind}/{work.aweme_id}/"),
            "web_link": on(WEB, f"/{kind}/{work.aweme_id}"),
        }  # fmt: skip


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


class _ChartFacts:
    def __init__(self, platform: SandboxPlatform) -> None:
        self.platform = platform
        self.world = platform.world

    async def issues(self, _: Request) -> Response:
        """Return all published issues, oldest first, including dates hidden from guests."""
        at = self.platform.chart.calendar.at
        count = self.platform.issue_count
        return JSONResponse({"issues": [_issue(at(place)) for place in range(count)]})

    async def issue(self, request: Request) -> Response:
        """Return the newest issue on or before `date` whose date guests can see."""
        try:
            day = date.fromisoformat(request.query_params.get("date", ""))
        except ValueError:
            return JSONResponse({"error": "date is YYYY-MM-DD"}, status_code=400)
        calendar = self.platform.chart.calendar
        place = self.platform.issue_count - 1
        while place >= 0:
            found = calendar.at(place)
            if found.day <= day and found.date_form != "none":
                return JSONResponse({**_issue(found), "day_offset": (day - found.day).days})
            place -= 1
        return _unknown("issue on or before this day")

    async def songs(self, request: Request) -> Response:
        issue = self.platform.chart.calendar.find(request.path_params["volid"])
        if issue is None:
            return _unknown("issue")
        songs = self.platform.chart.songs(issue.place)[: read_non_negative(request, "limit", 500)]
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

    async def tracks(self, _: Request) -> Response:
        """Return the world's tracks on the chart: first and last issue, best rank."""
        told = await asyncio.to_thread(self._tracks)
        return JSONResponse({"tracks": told})

    def _tracks(self) -> list[Document]:
        chart = self.platform.chart
        count = self.platform.issue_count
        return [
            {
                "music_id": self.world.tracks[career.track].music_id,
                "title": self.world.sound_title(self.world.tracks[career.track]),
                "first": _issue(chart.calendar.at(career.places[0])),
                "last": _issue(chart.calendar.at(career.places[-1])),
                "best_rank": career.best_rank, "issue_count": len(career.places),
            }
            for career in chart.careers(count)
        ]  # fmt: skip


def _issue(issue: SandboxIssue) -> Document:
    return {
        "volid": str(issue.volid), "date": str(issue.day), "name": issue.name,
        "is_dated": issue.date_form != "none",
    }  # fmt: skip


def _unknown(what: str) -> Response:
    return JSONResponse({"error": f"no such {what}"}, status_code=404)
