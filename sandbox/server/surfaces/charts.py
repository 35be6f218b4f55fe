"""The music chart on its own hosts: issues and songs as JSON, the latest issue, HTML pages.

Surfaces: `chart_issues`, `chart_songs`, `chart_latest`, `chart_html`, `chart_html_old`,
`chart_list`. Issues send an `ETag`, songs an `ETag` and a date; the others send no validator.
Songs have a newer and an older form.
"""

import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from itertools import groupby

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from sandbox.server.addresses import (
    CHART,
    CHART_DOMAIN,
    CHART_MOBILE,
    CHART_OLD,
    CHART_WEB,
    SandboxUrls,
)
from sandbox.server.documents import form_sources as forms
from sandbox.server.documents.pages import Document, to_json
from sandbox.server.faults import WRONG_ID_TEXT
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import (
    CHART_PLACE,
    Surface,
    conditional,
    read_non_negative,
    to_etag,
)
from sandbox.world.chart import (
    SONGS,
    ChartedSong,
    SandboxIssue,
    issue_publication_time,
    issue_release_time,
)

RANK_ID = "8888"
NAMED_SINCE = date(2022, 1, 1)
"""Songs of issues before this day have little more than a file name."""
ZONE = "tx6_gz_kmr"
_SHANGHAI = timezone(timedelta(hours=8))
_LATEST_SIZE, _HTML_SIZE, _OLD_SIZE, _USUAL_SIZE = 30, 22, 30, 30


async def _issues(platform: SandboxPlatform, request: Request) -> Response:
    if request.query_params.get("rankid") != RANK_ID:
        return _answer(request, {"timestamp": platform.now})
    count = _latest(platform, request).place + 1
    mark = to_etag(platform.world.seed, "issues", count)
    return conditional(request, lambda: _answer(request, _index(platform, count)), mark=mark)


async def _songs(platform: SandboxPlatform, request: Request) -> Response:
    issue = _asked(platform, request)
    if issue is None or request.query_params.get("rankid") != RANK_ID:
        return _answer(request, {"timestamp": platform.now})
    page = max(1, read_non_negative(request, "page", 1))
    size = min(max(1, read_non_negative(request, "pagesize", _USUAL_SIZE)), SONGS)

    def make() -> Response:
        addresses = platform.addresses
        listed = [_song(charted, issue, addresses) for charted in _cut(platform, issue, page, size)]
        found = {"timestamp": platform.now, "total": SONGS, "info": listed}
        return _answer(request, found, media_type="text/html")

    mark = to_etag(platform.world.seed, issue.volid, page, size)
    return conditional(request, make, mark=mark, modified=issue_publication_time(issue.day))


async def _mobile(platform: SandboxPlatform, request: Request) -> Response:
    """Return the latest issue."""
    query = request.query_params
    if query.get("rankid") != RANK_ID or query.get("json") != "true":
        return HTMLResponse(WRONG_ID_TEXT)
    issue = _latest(platform, request)
    page = max(1, read_non_negative(request, "page", 1))
    about: Document = {
        "rankid": int(RANK_ID), "rankname": "TOP500", "imgurl": "", "ranktype": 2,
        "rank_id_publish_date": str(issue.day),
    }  # fmt: skip
    songs: Document = {
        "total": SONGS, "page": page, "pagesize": _LATEST_SIZE, "timestamp": platform.now,
        "list": list(map(_latest_song, _cut(platform, issue, page, _LATEST_SIZE))),
    }  # fmt: skip
    return JSONResponse({"info": about, "songs": songs})


async def _charts(_: SandboxPlatform, __: Request) -> Response:
    """Return the list of charts, which has no songs."""
    listed = [{"rankid": int(RANK_ID), "rankname": "TOP500", "ranktype": 2}]
    return JSONResponse({"rank": {"total": len(listed), "list": listed}})


async def _html(platform: SandboxPlatform, request: Request) -> Response:
    return _html_page(platform, request, _latest(platform, request), _HTML_SIZE)


async def _html_old(platform: SandboxPlatform, request: Request) -> Response:
    issue = _found(platform, request, str(request.path_params["volid"]))
    return _html_page(platform, request, issue, _OLD_SIZE)


SURFACES = (
    Surface("chart_issues", _issues, "/api/v3/rank/vol", hosts=(CHART,), source=forms.CHART),
    Surface("chart_songs", _songs, "/api/v3/rank/song", hosts=(CHART,), source=forms.CHART),
    Surface(
        "chart_latest", _mobile, "/rank/info/", hosts=(CHART_MOBILE,),
        source=forms.CHART_PAGES,
    ),
    Surface("chart_list", _charts, "/rank/list", hosts=(CHART_MOBILE,), source=forms.CHART_PAGES),
    Surface(
        "chart_html", _html, "/yy/rank/home/{page:int}-{rank_id:int}.html", hosts=(CHART_WEB,),
        source=forms.CHART_PAGES,
    ),
    Surface(
        "chart_html_old", _html_old,
        "/yueku/v8/rank/home/{page:int}-{rank_id:int}-{volid:int}.html", hosts=(CHART_OLD,),
        source=forms.CHART_PAGES,
    ),
)  # fmt: skip


def _asked(platform: SandboxPlatform, request: Request) -> SandboxIssue | None:
    """Return the requested issue, or the latest one."""
    volid = request.query_params.get("volid")
    return _found(platform, request, volid) if volid else _latest(platform, request)


def _latest(platform: SandboxPlatform, request: Request) -> SandboxIssue:
    newest = platform.issue_count - 1
    return platform.chart.calendar.at(request.scope.get(CHART_PLACE, newest))


def _found(platform: SandboxPlatform, request: Request, volid: str) -> SandboxIssue | None:
    """Return an issue if it has been published by now."""
    if CHART_PLACE in request.scope:
        return _latest(platform, request)
    issue = platform.chart.calendar.find(volid)
    return issue if issue is not None and issue.place < platform.issue_count else None


def _cut(
    platform: SandboxPlatform, issue: SandboxIssue, page: int, size: int
) -> tuple[ChartedSong, ...]:
    return platform.chart.songs(issue.place)[(page - 1) * size : page * size]


def _html_page(
    platform: SandboxPlatform, request: Request, issue: SandboxIssue | None, size: int
) -> Response:
    if issue is None or str(request.path_params["rank_id"]) != RANK_ID:
        return HTMLResponse(WRONG_ID_TEXT)
    page = max(1, request.path_params["page"])
    return HTMLResponse(_song_page(_cut(platform, issue, page, size), issue))


def _answer(request: Request, data: Document, *, media_type: str = "application/json") -> Response:
    """Return a JSON response, wrapped in comments if the request asks for them."""
    body = to_json({"status": 1, "error": "", "data": data, "errcode": 0})
    if request.query_params.get("with_res_tag") == "1":
        return HTMLResponse(f"<!--KG_TAG_RES_START-->{body}<!--KG_TAG_RES_END-->")
    return Response(body, media_type=media_type)


def _index(platform: SandboxPlatform, count: int) -> Document:
    """Return the first issues, grouped by year, newest first."""
    issues = [platform.chart.calendar.at(place) for place in range(count - 1, -1, -1)]
    is_late = platform.switches.is_on("chart_late")
    years = [
        {"year": year, "vols": [_issue_entry(issue, is_late=is_late) for issue in found]}
        for year, found in groupby(issues, key=lambda issue: issue.day.year)
    ]
    return {
        "timestamp": platform.now, "rank_cid": issues[0].volid if issues else 0, "zone": ZONE,
        "vol_format": 0, "info": years,
    }  # fmt: skip


def _issue_entry(issue: SandboxIssue, *, is_late: bool) -> Document:
    """Return one issue; some have no date, and some ids are text.

    A late one appears after its `voltime`, at the time of day that its schedule names.
    """
    volid: object = str(issue.volid) if issue.volid % 97 == 0 else issue.volid
    entry: Document = {"volid": volid, "volname": issue.name}
    if issue.date_form == "both":
        entry["voltime"] = f"{issue.day} 08:30:00"
    if issue.date_form != "none":
        entry["outer_text"] = f"{issue.day} 第{issue.name}"
    if is_late and issue.date_form != "none":
        released = datetime.fromtimestamp(issue_release_time(issue), _SHANGHAI)
        schedule = {
            "scheduled_release_time": f"{released:%H:%M:%S}", "latest_rank_cid": issue.volid,
            "latest_rank_cid_publish_date": f"{issue.day} 08:30:00",
        }  # fmt: skip
        entry["extra"] = {"resp": {"scheduled_release_conf": schedule}}
    return entry


def _song(charted: ChartedSong, issue: SandboxIssue, addresses: SandboxUrls) -> Document:
    """Return a song of an issue, in the form used at the issue's date."""
    if issue.day < NAMED_SINCE:
        return _old_song(charted)
    return {
        **_old_song(charted), "songname": charted.title, **_singers(charted),
        "album_audio_id": charted.number * 10 + 7, **_covers(charted, addresses),
        "sort": charted.rank + charted.rank // 60, "last_sort": charted.previous_rank,
        "rank_cid": issue.volid, "issue": issue.number, "rank_count": charted.issue_count,
        "rank_id_publish_date": f"{issue.day} 08:30:00",
        "isfirst": int(charted.issue_count == 1), "zone": ZONE,
        "trans_obj": {"rank_show_sort": charted.rank},
    }  # fmt: skip


def _old_song(charted: ChartedSong) -> Document:
    """Return a song in the form of older issues: artist and title in one text."""
    return {
        "filename": _file_name(charted), "hash": charted.song_hash, "duration": charted.duration_s,
        "album_id": str(charted.number // 3), "remark": "", "extname": "mp3", "bitrate": 128,
        "addtime": "2021-01-01 00:00:00", "filesize": charted.duration_s * 16_000, "inlist": 1,
    }  # fmt: skip


def _latest_song(charted: ChartedSong) -> Document:
    """Return a song in the form of the mobile pages."""
    return {
        **_old_song(charted), "last_sort": charted.previous_rank, "sort": charted.rank,
        "rank_count": charted.issue_count, "topic_url": "", "privilege": 10,
    }  # fmt: skip


def _page_song(charted: ChartedSong) -> Document:
    """Return a song in the form of the script in HTML pages."""
    return {
        "Hash": charted.song_hash, "FileName": _file_name(charted),
        "timeLen": charted.duration_s + 0.37, "privilege": 10,
        "size": charted.duration_s * 16_000, "album_id": charted.number // 3, "encrypt_id": "",
    }  # fmt: skip


def _song_page(songs: Sequence[ChartedSong], issue: SandboxIssue) -> str:
    """Return an HTML page of songs, with the date of its issue if the issue shows one."""
    told = f"{issue.day} 更新" if issue.date_form != "none" else ""
    rows = "".join(f'<li data-index="{place}"></li>' for place in range(len(songs)))
    listed = json.dumps([_page_song(charted) for charted in songs], ensure_ascii=False)
    return (
        '<!doctype html><html><head><meta charset="utf-8"><title>TOP500</title></head><body>'
        f'<h3>TOP500</h3><span class="rank_update">{told}</span><ul>{rows}</ul><script>'
        "var global = {};\n"
        f"global.features = {listed.replace('<', chr(92) + 'u003C')};\n"
        "(function () { global.ready = true; })();</script></body></html>"
    )


def _file_name(charted: ChartedSong) -> str:
    """Artist and title in one text."""
    return f"{'、'.join(charted.artists)} - {charted.title}"


def _singers(charted: ChartedSong) -> Document:
    """Return the artists: mostly a list, sometimes one text only."""
    if charted.number % 9 == 0:
        return {"singername": "、".join(charted.artists), "authors": []}
    return {
        "authors": [
            {"author_id": charted.number % 100_000 + place, "author_name": name}
            for place, name in enumerate(charted.artists)
        ],
    }  # fmt: skip


def _covers(charted: ChartedSong, addresses: SandboxUrls) -> Document:
    """Return a cover URL with a placeholder for its size; sometimes under another key, or none."""
    name = f"/stdmusic/{{size}}/{charted.song_hash[:8]}.jpg"
    address = addresses.on(f"imge.{CHART_DOMAIN}", name)
    place = charted.number % 10
    return {
        "album_sizable_cover": address if place > 1 else "",
        "trans_param": {"union_cover": address if place == 1 else "", "cid": charted.number},
    }
