"""Desktop pages of videos: the camel-case detail, and the three places where a page carries it."""

import re
from urllib.parse import quote

from sandbox.server.documents.form_sources import (
    DESKTOP_DETAIL,
    DESKTOP_ROUTE,
    DESKTOP_STREAM,
    form,
)
from sandbox.server.documents.pages import Document, to_json, to_script
from sandbox.server.documents.videos import detail_video
from sandbox.server.platform import SandboxPlatform
from sandbox.world.content.tables import SandboxVideo
from sandbox.world.random_streams import share_of

_ROUTE_SHARE, _STREAM_SHARE = 0.25, 0.25
_TAG = ("start", "end", "type", "hashtag_id", "hashtag_name")
_IMAGE = ("uri", "width", "height", "url_list", "download_url_list")
_LONG_TEXT = 24
"""Characters from which on a stream has a text in a row of its own."""


def desktop_data(platform: SandboxPlatform, work: SandboxVideo) -> str:
    """Return the scripts with the data of a video's desktop page, always in the same form."""
    share = share_of(work.aweme_id, "desktop form")
    detail = desktop_detail(platform, work)
    if share < _STREAM_SHARE:
        return _stream(detail)
    in_route = share < _STREAM_SHARE + _ROUTE_SHARE
    app = _route_data(detail) if in_route else _app_data(detail)
    encoded = quote(to_json(app), safe="")
    return f'<script id="RENDER_DATA" type="application/json">{encoded}</script>'


@form(DESKTOP_DETAIL)
def desktop_detail(platform: SandboxPlatform, work: SandboxVideo) -> Document:
    """A video as desktop pages show it: camel case, addresses without a scheme."""
    item = detail_video(platform, work)
    author, counts = _part(item, "author"), _part(item, "statistics")
    avatar = _urls(author, "avatar_thumb")
    return {
        "awemeId": work.aweme_id, "awemeType": 68 if work.is_photo else 0,
        "groupId": work.aweme_id,
        "authorInfo": {
            "uid": author["uid"], "secUid": author["sec_uid"], "nickname": author["nickname"],
            "avatarUri": _bare(avatar[0]), "followerCount": author["follower_count"],
            "avatarThumb": {"urlList": avatar},
        },
        "desc": item["desc"], "createTime": item["create_time"], "authorUserId": author["uid"],
        "textExtra": [_camel_case(tag, _TAG) for tag in _list(item, "text_extra")],
        "video": _video(_part(item, "video")), "music": _music(_part(item, "music")),
        "stats": {
            **_camel_case(counts, tuple(work.counts)), "playCount": 0, "downloadCount": 0,
            "forwardCount": 0,
        },
        "images": [_camel_case(image, _IMAGE) for image in _list(item, "images")],
        "tag": {"isTop": bool(item["is_top"])},
        "status": {"isDelete": False, "allowShare": True},
    }  # fmt: skip


@form(DESKTOP_DETAIL)
def _video(video: Document) -> Document:
    play = [_bare(url) for url in _urls(video, "play_addr")]
    covers = _urls(video, "cover")
    return {
        "width": video["width"], "height": video["height"], "duration": video["duration"],
        "uri": _part(video, "play_addr").get("uri"), "playAddr": [{"src": url} for url in play],
        "playApi": play[0] if play else "", "cover": _bare(covers[0]), "coverUrlList": covers,
    }  # fmt: skip


@form(DESKTOP_DETAIL)
def _music(music: Document) -> Document:
    return {
        # a script has rounded the number
        "id": int(float(str(music["id"]))), "idStr": music["id_str"], "mid": music["mid"],
        "author": music["author"], "title": music["title"], "isOriginal": False,
        "ownerNickname": music["owner_nickname"], "duration": music["duration"],
        "playUrl": {"urlList": _urls(music, "play_url")}, "extra": music["extra"],
    }  # fmt: skip


@form(DESKTOP_DETAIL)
def _app_data(detail: Document) -> Document:
    return {"_location": f"/video/{detail['awemeId']}", "app": {"videoDetail": detail}}


@form(DESKTOP_ROUTE)
def _route_data(detail: Document) -> Document:
    """Return the data of a page under the number of its route."""
    route: Document = {"awemeId": detail["awemeId"], "aweme": {"statusCode": 0, "detail": detail}}
    return {"_location": f"/video/{detail['awemeId']}", "app": {"odin": {}}, "41": route}


@form(DESKTOP_STREAM)
def _stream(detail: Document) -> str:
    """Return the scripts of a streamed page; a row may be split over two of them."""
    text = str(detail["desc"])
    rows = '0:["$","html",null,{}]\n1:I[123,["1"],"Page"]\n'
    if len(text) >= _LONG_TEXT:
        rows += f"a:T{len(text.encode()):x},{text}"
        detail = {**detail, "desc": "$a"}
    props: Document = {"awemeId": detail["awemeId"], "aweme": {"statusCode": 0, "detail": detail}}
    rows += f"7:{to_json(['$', '$L9', None, props])}\n"
    half = len(rows) // 2
    chunks = [[0], [1, rows[:half]], [1, rows[half:]]]
    return "".join(f"<script>self.__pace_f.push({to_script(chunk)})</script>" for chunk in chunks)


def _camel_case(holder: Document, keys: tuple[str, ...]) -> Document:
    """Return these fields of a document under their names on desktop pages."""
    return {re.sub("_(.)", lambda end: end[1].upper(), key): holder[key] for key in keys}


def _part(holder: Document, key: str) -> Document:
    part = holder[key]
    return part if isinstance(part, dict) else {}


def _list(holder: Document, key: str) -> list[Document]:
    items = holder[key]
    return items if isinstance(items, list) else []


def _urls(holder: Document, key: str) -> list[str]:
    urls = _part(holder, key).get("url_list")
    return urls if isinstance(urls, list) else []


def _bare(url: str) -> str:
    """Return a URL without its scheme."""
    return "//" + url.partition("://")[2]
