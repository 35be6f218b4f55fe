"""Each surface answers with the keys that guests see, read as plain JSON, not by our parsers."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import pytest

from sandbox.server.documents.pages import read_frames
from sandbox.server.surfaces.users import LIST_FORMS, has_list
from sandbox.server.surfaces.video_pages import is_withheld
from sandbox.world.content.tables import VideoState

from .conftest import Json, Sandbox, page_data

pytestmark = pytest.mark.full

WEB = "www.vidplat.localhost"
CHART = "chart.chartsrc.localhost"
COUNTS = {"digg_count", "comment_count", "collect_count", "share_count"}
WORK = {"aweme_id", "desc", "create_time", "author", "music", "video", "statistics", "text_extra"}
DETAIL = {*WORK, "media_type", "is_top", "status", "share_url"}
NAMED_SONG = {
    "songname", "filename", "hash", "duration", "album_id", "album_audio_id", "authors",
    "album_sizable_cover", "trans_param", "sort", "last_sort", "rank_cid", "rank_count",
    "rank_id_publish_date", "isfirst", "issue", "trans_obj",
}  # fmt: skip
OLD_SONG = {"filename", "hash", "duration", "addtime", "album_id", "remark"}

Ask = Callable[[Sandbox], str]
Look = Callable[[Any], Any]


def _work(sandbox: Sandbox, *, photo: bool = False) -> str:
    return sandbox.shown(is_photo=photo).aweme_id


def _desktop_work(sandbox: Sandbox) -> str:
    works = sandbox.works(state=VideoState.PUBLIC, is_photo=False)
    shown = (w for w in works if not is_withheld(w, has_cookie=True, page="desktop"))
    return next(shown).aweme_id


def _music(sandbox: Sandbox) -> str:
    return sandbox.world.tracks[0].music_id


def _hashtag(sandbox: Sandbox) -> str:
    found: str = sandbox.control_data("hashtags", limit=1)["hashtags"][0]["ch_id"]
    return found


def _volid(sandbox: Sandbox, day: str) -> str:
    issues = sandbox.control_data("chart/issues")["issues"]
    found: str = [one["volid"] for one in issues if one["is_dated"] and one["date"] <= day][-1]
    return found


JSON_SURFACES: list[tuple[str, str, Ask, Look, set[str]]] = [
    ("user_info", "share", lambda s: f"/web/api/v2/user/info/?sec_uid={s.world.sec_uid(1)}",
     lambda a: a["user_info"],
     {"uid", "short_id", "unique_id", "sec_uid", "nickname", "signature", "avatar_thumb",
      "avatar_medium", "avatar_larger", "follower_count", "following_count", "aweme_count",
      "total_favorited", "favoriting_count", "ip_location"}),
    ("user_posts", "share",
     lambda s: f"/web/api/v2/aweme/post/?sec_uid={s.world.sec_uid(1)}&count=5&aid=1128",
     lambda a: a, {"status_code", "aweme_list", "max_cursor", "min_cursor", "has_more"}),
    ("music_info", "share", lambda s: f"/web/api/v2/music/info/?music_id={_music(s)}",
     lambda a: a["music_info"], {"mid", "title", "author", "cover_hd", "duration", "extra"}),
    ("music_list", "share", lambda s: f"/web/api/v2/music/list/aweme/?music_id={_music(s)}&count=3",
     lambda a: a, {"status_code", "aweme_list", "cursor", "has_more"}),
    ("hashtag_info", "share", lambda s: f"/web/api/v2/challenge/info/?ch_id={_hashtag(s)}",
     lambda a: a["ch_info"], {"cid", "cha_name", "user_count", "view_count"}),
    ("hashtag_list", "share", lambda s: f"/web/api/v2/challenge/aweme/?ch_id={_hashtag(s)}&count=3",
     lambda a: a, {"status_code", "aweme_list", "cursor", "has_more"}),
    ("slides_info", "share", lambda s: f"/web/api/v2/aweme/slidesinfo/?aweme_ids=[{_work(s)}]",
     lambda a: a["aweme_details"][0], DETAIL),
    ("web_detail", WEB, lambda s: f"/aweme/v1/web/aweme/detail/?aweme_id={_work(s)}&aid=6383",
     lambda a: a["aweme_detail"], DETAIL),
    ("search_single", WEB,
     lambda _: "/aweme/v1/web/general/search/single/?keyword=vlog&offset=0&count=10",
     lambda a: a, {"status_code", "data", "cursor", "has_more", "extra", "log_pb", "qc", "path",
                   "guide_search_words", "global_doodle_config"}),
    ("chart_issues", CHART, lambda _: "/api/v3/rank/vol?rankid=8888&ranktype=2&plat=0",
     lambda a: a["data"], {"timestamp", "rank_cid", "zone", "vol_format", "info"}),
    ("chart_songs", CHART, lambda _: "/api/v3/rank/song?rankid=8888&page=1&pagesize=100",
     lambda a: a["data"]["info"][0], NAMED_SONG),
    ("chart_songs", CHART,
     lambda s: f"/api/v3/rank/song?rankid=8888&page=1&volid={_volid(s, '2021-06-01')}",
     lambda a: a["data"]["info"][0], OLD_SONG),
    ("chart_latest", "m.chartsrc.localhost", lambda _: "/rank/info/?rankid=8888&page=1&json=true",
     lambda a: a["songs"], {"total", "page", "pagesize", "timestamp", "list"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("surface", "host", "ask", "look", "keys"), JSON_SURFACES,
    ids=[f"{row[0]}-{place}" for place, row in enumerate(JSON_SURFACES)],
)  # fmt: skip
def test_a_json_surface_has_its_keys(
    sandbox: Sandbox, surface: str, host: str, ask: Ask, look: Look, keys: set[str]
) -> None:
    host = "share.vidplat.localhost" if host == "share" else host
    answer = sandbox.get(ask(sandbox), host=host, cookie="ttwid=1")
    assert answer.status_code == 200
    assert keys <= set(look(answer.json()))
    assert surface in sandbox.control_data("access-log/summary")["surfaces"]


def test_items_of_a_hashtag_have_no_counts_and_ids_of_both_sorts(sandbox: Sandbox) -> None:
    ch_id = _hashtag(sandbox)
    info = sandbox.get(f"/web/api/v2/challenge/info/?ch_id={ch_id}").json()["ch_info"]
    items = sandbox.get(f"/web/api/v2/challenge/aweme/?ch_id={ch_id}").json()["aweme_list"]
    assert info["cid"] == ch_id
    assert all("statistics" not in item and "create_time" not in item for item in items)
    assert all(item["author"]["sec_uid"].startswith("MS4wLjABAAAA") for item in items)
    assert all(type(tag["hashtag_id"]) is int for item in items for tag in item["text_extra"])


def test_a_detail_has_text_ids_and_four_real_counts(sandbox: Sandbox) -> None:
    work = sandbox.shown(is_photo=False)
    path = f"/aweme/v1/web/aweme/detail/?aweme_id={work.aweme_id}"
    item = sandbox.get(path, host=WEB, cookie="ttwid=1").json()["aweme_detail"]
    assert set(item["statistics"]) >= COUNTS
    assert item["statistics"]["collect_count"] == work.collect_count
    assert all(type(tag["hashtag_id"]) is str for tag in item["text_extra"])


def test_a_detail_is_for_visitors_who_bring_the_guest_cookie(sandbox: Sandbox) -> None:
    path = f"/aweme/v1/web/aweme/detail/?aweme_id={_work(sandbox)}"
    first = sandbox.get(path, host=WEB)
    cookie = first.headers["set-cookie"].partition(";")[0]
    assert first.content == b""
    assert sandbox.get(path, host=WEB, cookie=cookie).json()["aweme_detail"]
    assert sandbox.get(f"{path}&a_bogus=", host=WEB, cookie=cookie).content == b""


@pytest.mark.parametrize("state", [VideoState.DELETED, VideoState.PRIVATE, VideoState.REVIEWING])
def test_a_detail_says_why_a_work_is_not_shown(sandbox: Sandbox, state: VideoState) -> None:
    work = next(sandbox.works(state=state))
    path = f"/aweme/v1/web/aweme/detail/?aweme_id={work.aweme_id}"
    answer = sandbox.get(path, host=WEB, cookie="ttwid=1").json()
    assert answer["aweme_detail"] is None
    assert set(answer["filter_detail"]) >= {"filter_reason", "notice", "detail_msg"}
    unknown = sandbox.get("/aweme/v1/web/aweme/detail/?aweme_id=7", host=WEB, cookie="ttwid=1")
    assert unknown.json()["filter_detail"] is None


def test_notes_and_slides_have_pages_of_their_own(sandbox: Sandbox) -> None:
    photo = _work(sandbox, photo=True)
    note = sandbox.get(f"/share/note/{photo}/")
    slides = sandbox.get(f"/share/slides/{photo}/")
    surfaces = sandbox.control_data("access-log/summary")["surfaces"]
    assert '"note_(id)\\u002Fpage"' in note.text
    assert page_data(note.text)["videoInfoRes"]["item_list"][0]["images"]
    assert page_data(slides.text)["slidesInfoRes"]["aweme_details"][0]["aweme_id"] == photo
    assert {"note_page": 1, "slides_page": 1}.items() <= surfaces.items()


def test_pages_of_accounts_have_their_list_under_one_of_three_names_or_none(
    sandbox: Sandbox,
) -> None:
    seen = set[str]()
    for index in range(8):
        facts = sandbox.world.account(index)
        page = page_data(sandbox.get(f"/share/user/{facts.uid}?sec_uid={facts.sec_uid}").text)
        listed, more, cursor = LIST_FORMS[index % 3]
        assert page["userInfoRes"]["user_info"]["unique_id"] == facts.unique_id
        assert page["postListData"] is None or {listed, more, cursor} <= set(page["postListData"])
        assert (page["postListData"] is not None) == has_list(index)
        seen |= {listed} & set(page["postListData"] or {})
    assert seen == {"aweme_list", "awemeList", "items"}


def test_counts_on_an_account_page_are_rounded_as_people_read_them(sandbox: Sandbox) -> None:
    shown = [
        item["statistics"]["digg_count"]
        for index in range(40) if has_list(index)
        for item in page_data(sandbox.get(f"/share/user/{sandbox.world.sec_uid(index)}").text)[
            "postListData"
        ][LIST_FORMS[index % 3][0]]
    ]  # fmt: skip
    rounded = [count for count in shown if isinstance(count, str)]
    assert rounded
    assert all(re.fullmatch(r"[0-9]+\.[0-9](w|亿)", count) for count in rounded)
    assert all(isinstance(count, str) or count < 10_000 for count in shown)


def _calls(page: str) -> list[str]:
    found = re.search(r"window\._FIRST_SCREEN = (\[.*?\])</script>", page)
    assert found is not None
    assert '<script src="/static/first-screen.js"></script>' in page
    return [call["url"] for call in json.loads(found[1])]


@pytest.mark.parametrize(
    ("path", "host", "loaded"),
    [
        ("/share/user/1?sec_uid={sec_uid}", "share.vidplat.localhost", "user_posts"),
        ("/share/music/{music_id}/", "share.vidplat.localhost", "music_list"),
        ("/share/music/?music_id={music_id}", "share.vidplat.localhost", "music_list"),
        ("/share/challenge/{ch_id}/", "share.vidplat.localhost", "hashtag_list"),
        ("/share/challenge/detail/{ch_id}", "share.vidplat.localhost", "hashtag_list"),
        ("/search/vlog", WEB, "search_stream"),
        ("/user/{sec_uid}", WEB, "user_posts"),
        ("/music/{music_id}", WEB, "music_list"),
        ("/challenge/detail/{ch_id}", WEB, "hashtag_list"),
        ("/video/{aweme_id}", WEB, "web_detail"),
        ("/note/{aweme_id}", WEB, "web_detail"),
        ("/jingxuan?modal_id={aweme_id}", WEB, "web_detail"),
        ("/m/video/{aweme_id}", "featured.vidplat.localhost", "web_detail"),
    ],
)
def test_a_page_asks_for_its_first_screen_by_itself(
    sandbox: Sandbox, path: str, host: str, loaded: str
) -> None:
    known = {
        "sec_uid": sandbox.world.sec_uid(1), "music_id": _music(sandbox),
        "ch_id": _hashtag(sandbox), "aweme_id": _desktop_work(sandbox),
    }  # fmt: skip
    page = sandbox.get(path.format(**known), host=host, cookie="ttwid=1")
    calls = _calls(page.text)
    answers = [sandbox.get(call, host=host, cookie="ttwid=1") for call in calls]
    assert {answer.status_code for answer in answers} == {200}
    assert sandbox.control_data("access-log/summary")["surfaces"][loaded] == 1
    assert "fetch(" in sandbox.get("/static/first-screen.js", host=host).text


def _rendered(page: str) -> Json:
    found = re.search(r'<script id="RENDER_DATA" type="application/json">(.*?)</script>', page)
    assert found is not None
    loaded: Json = json.loads(unquote(found[1]))
    return loaded


def test_some_desktop_pages_stay_without_data(sandbox: Sandbox) -> None:
    work = next(
        work for work in sandbox.works(state=VideoState.PUBLIC)
        if is_withheld(work, has_cookie=True, page="desktop")
    )  # fmt: skip
    page = sandbox.get(f"/video/{work.aweme_id}", host=WEB, cookie="ttwid=1").text
    assert _rendered(page) == {"app": {}}


def test_a_work_that_is_gone_leads_to_the_page_that_names_another(sandbox: Sandbox) -> None:
    work = next(sandbox.works(state=VideoState.DELETED))
    answer = sandbox.get(f"/video/{work.aweme_id}", host=WEB)
    target = answer.headers["location"]
    assert answer.status_code == 302
    assert "previous_page=web_video_404_link&modal_id=" in target
    assert work.aweme_id not in target
    assert "videoInfoRes" not in sandbox.get(target).text


@pytest.mark.parametrize(
    ("host", "path"),
    [(WEB, "/share/"), ("share.vidplat.localhost", "/search/vlog"), (CHART, "/rank/info/"),
     ("share.vidplat.localhost", "/video/7000000000000000001"), (WEB, "/api/v3/rank/vol")],
)  # fmt: skip
def test_surfaces_keep_to_their_hosts(sandbox: Sandbox, host: str, path: str) -> None:
    assert sandbox.get(path, host=host).status_code == 404


def test_the_html_forms_of_the_chart_hold_their_list_in_a_script(sandbox: Sandbox) -> None:
    volid = _volid(sandbox, "2021-06-01")
    latest = sandbox.get("/yy/rank/home/1-8888.html", host="www.chartsrc.localhost").text
    old = sandbox.get(f"/yueku/v8/rank/home/2-8888-{volid}.html", host="old.chartsrc.localhost")
    found = [re.search(r"global\.features = (\[.*?\]);", text) for text in (latest, old.text)]
    listed = [json.loads(match[1]) for match in found if match is not None]
    assert [len(songs) for songs in listed] == [22, 30]
    assert {"Hash", "FileName", "timeLen", "album_id", "encrypt_id"} <= set(listed[0][0])


def test_the_first_screen_of_a_search_is_framed(sandbox: Sandbox) -> None:
    path = f"/aweme/v1/web/general/search/stream/?keyword={quote('美食')}&offset=0&count=10"
    body = sandbox.get(path, host=WEB).content
    length, _, rest = body.partition(b"\r\n")
    assert json.loads(rest[: int(length, 16)])["status_code"] == 0
    assert body.endswith(b"\r\n0\r\n\r\n")
    assert len(read_frames(body)) > 1
