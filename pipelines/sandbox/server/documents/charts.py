"""Wire formats of the music chart: the list of issues, songs in newer and older form, HTML.

What belongs here: which fields a form has. Hosts, paths and refusals are in `surfaces/charts.py`.
"""

import json
from collections.abc import Iterable
from datetime import date, datetime, timedelta, timezone
from itertools import groupby

from pipelines.sandbox.server.addresses import CHART_DOMAIN, SandboxUrls
from pipelines.sandbox.server.documents.pages import Document
from pipelines.sandbox.world.chart import ChartedSong
from pipelines.sandbox.world.chart_issues import (
    SandboxIssue,
    issue_publication_time,
    issue_release_time,
)

NAMED_SINCE = date(2022, 1, 1)
"""Songs of issues before this day have little more than a file name."""
_SHANGHAI = timezone(timedelta(hours=8))
ZONE = "tx6_gz_kmr"


def issue_years(issues: Iterable[SandboxIssue], *, is_late: bool) -> list[Document]:
    """Return issues grouped by year, newest first."""
    return [
        {"year": year, "vols": [issue_entry(issue, is_late=is_late) for issue in found]}
        for year, found in groupby(issues, key=lambda issue: issue.day.year)
    ]


def issue_entry(issue: SandboxIssue, *, is_late: bool) -> Document:
    """Return one issue; some have no date, and some ids are text.

    A late one appears after its `voltime`, at its `scheduled_release_time`.
    """
    volid: object = str(issue.volid) if issue.volid % 97 == 0 else issue.volid
    entry: Document = {"volid": volid, "volname": issue.name}
    if issue.date_form == "both":
        entry["voltime"] = f"{issue.day} 08:30:00"
    if issue.date_form != "none":
        entry["outer_text"] = f"{issue.day} 第{issue.name}"
    if is_late and issue.date_form != "none":
        released = datetime.fromtimestamp(issue_release_time(issue), _SHANGHAI)
        entry["scheduled_release_time"] = f"{released:%Y-%m-%d %H:%M:%S}"
    return entry


def song(charted: ChartedSong, issue: SandboxIssue, addresses: SandboxUrls) -> Document:
    """Return a song of an issue, in the form used at the issue's date."""
    if issue.day < NAMED_SINCE:
        return old_song(charted)
    is_dated = issue.date_form != "none"
    return {
        **old_song(charted), "songname": charted.title, **_singers(charted),
        "album_audio_id": charted.number * 10 + 7, **_covers(charted, addresses),
        "sort": charted.rank + charted.rank // 60, "last_sort": charted.previous_rank,
        "rank_cid": issue.volid, "issue": issue.number, "rank_count": charted.issue_count,
        "rank_id_publish_date": f"{issue.day} 08:30:00" if is_dated else "",
        "isfirst": int(charted.issue_count == 1), "zone": ZONE,
        "trans_obj": {"rank_show_sort": charted.rank},
    }  # fmt: skip


def old_song(charted: ChartedSong) -> Document:
    """Return a song in the form of older issues: artist and title in one text."""
    return {
        "filename": file_name(charted), "hash": charted.song_hash, "duration": charted.duration_s,
        "album_id": str(charted.number // 3), "remark": "", "extname": "mp3", "bitrate": 128,
        "addtime": "2021-01-01 00:00:00", "filesize": charted.duration_s * 16_000, "inlist": 1,
    }  # fmt: skip


def latest_song(charted: ChartedSong) -> Document:
    """Return a song in the form of the mobile pages."""
    return {
        **old_song(charted), "last_sort": charted.previous_rank, "sort": charted.rank,
        "rank_count": charted.issue_count, "topic_url": "", "privilege": 10,
    }  # fmt: skip


def page_song(charted: ChartedSong) -> Document:
    """Return a song in the form of the script in HTML pages."""
    return {
        "Hash": charted.song_hash, "FileName": file_name(charted),
        "timeLen": charted.duration_s + 0.37, "privilege": 10,
        "size": charted.duration_s * 16_000, "album_id": charted.number // 3, "encrypt_id": "",
    }  # fmt: skip


def song_page(songs: list[ChartedSong], issue: SandboxIssue) -> str:
    """Return an HTML page of songs, with the date of its issue if the issue shows one."""
    told = f"{issue.day} 更新" if issue.date_form != "none" else ""
    rows = "".join(f'<li data-index="{place}"></li>' for place in range(len(songs)))
    listed = json.dumps([page_song(charted) for charted in songs], ensure_ascii=False)
    return (
        '<!doctype html><html><head><meta charset="utf-8"><title>TOP500</title></head><body>'
        f'<h3>TOP500</h3><span class="rank_update">{told}</span><ul>{rows}</ul><script>'
        "var global = {};\n"
        f"global.features = {listed.replace('<', chr(92) + 'u003C')};\n"
        "(function () { global.ready = true; })();</script></body></html>"
    )


def file_name(charted: ChartedSong) -> str:
    """Artist and title in one text."""
    return f"{'、'.join(charted.artists)} - {charted.title}"


def published_at(issue: SandboxIssue) -> int:
    """Unix seconds at which an issue appeared."""
    return issue_publication_time(issue.day)


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
