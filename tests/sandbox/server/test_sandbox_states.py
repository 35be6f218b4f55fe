"""Every surface in every state: answers that look healthy and are not, on demand."""

import json
from typing import Any

import httpx2 as httpx
import pytest

from sandbox.server.documents.pages import read_frames
from sandbox.server.surfaces.video_pages import is_withheld
from sandbox.world.content.tables import VideoState

from .conftest import Json, Sandbox

pytestmark = pytest.mark.full

WEB, SHARE = "www.vidplat.localhost", "share.vidplat.localhost"
CHART = "chart.chartsrc.localhost"
SINGLE = "/aweme/v1/web/general/search/single/?keyword=vlog&offset={cursor}"
STREAM = "/aweme/v1/web/general/search/stream/?keyword=vlog&offset=0"
SONGS = "/api/v3/rank/song?rankid=8888&page=1&pagesize=50"
DETAIL = "/aweme/v1/web/aweme/detail/?aweme_id={aweme_id}"


def _lists(sandbox: Sandbox) -> dict[str, tuple[str, str, str, str]]:
    """Path up to the cursor, host, name of the cursor and of the list, per list surface."""
    music_id = max(
        sandbox.world.tracks, key=lambda s: sandbox.world.videos_by_sound(s.index).size
    ).music_id
    tags = sandbox.control_data("hashtags", limit=60)["hashtags"]
    tag = next(t for t in tags if t["listed_count"] > 25 and not t["repeats_cursor"])
    user = sandbox.control_data("accounts", limit=1)["accounts"][0]["sec_uid"]
    api = "/web/api/v2"
    return {
        "user_posts": (f"{api}/aweme/post/?sec_uid={user}&count=5&max_cursor=", SHARE,
                       "max_cursor", "aweme_list"),
        "music_list": (f"{api}/music/list/aweme/?music_id={music_id}&count=5&cursor=", SHARE,
                       "cursor", "aweme_list"),
        "hashtag_list": (f"{api}/challenge/aweme/?ch_id={tag['ch_id']}&count=5&cursor=", SHARE,
                         "cursor", "aweme_list"),
        "search_single": (SINGLE.removesuffix("{cursor}"), WEB, "cursor", "data"),
    }  # fmt: skip


LISTS = ["user_posts", "music_list", "hashtag_list", "search_single"]


def _ids(items: list[Json]) -> list[str]:
    return [item.get("aweme_id") or json.dumps(item, sort_keys=True) for item in items]


@pytest.mark.parametrize("surface", LISTS)
def test_a_stalled_cursor_promises_more_under_the_cursor_asked_for(
    sandbox: Sandbox, surface: str
) -> None:
    path, host, cursor, listed = _lists(sandbox)[surface]
    sandbox.fault(surface=surface, kind="stalled_cursor", times=0)
    answer = sandbox.get(f"{path}0", host=host).json()
    assert (answer[cursor], answer["has_more"]) == (0, 1)
    assert answer[listed]


@pytest.mark.parametrize("surface", LISTS)
def test_sandbox_list_repeats_videos_under_the_fault_no_new_items(
    sandbox: Sandbox, surface: str
) -> None:
    path, host, cursor, listed = _lists(sandbox)[surface]
    first = sandbox.get(f"{path}0", host=host).json()
    sandbox.fault(surface=surface, kind="no_new_items", times=0)
    later = sandbox.get(f"{path}{first[cursor]}", host=host).json()
    assert _ids(later[listed]) == _ids(first[listed])
    assert later[cursor] > first[cursor]
    assert later["has_more"] == 1


@pytest.mark.parametrize("surface", LISTS)
@pytest.mark.parametrize(
    ("kind", "has_more", "nil"),
    [
        ("verify_check", 0, "verify_check"), ("nil", 0, "no_result"), ("empty_ambiguous", 0, None),
        ("empty_but_more", 1, None),
    ],
)  # fmt: skip
def test_an_empty_list_has_many_meanings(
    sandbox: Sandbox, surface: str, kind: str, has_more: int, nil: str | None
) -> None:
    path, host, _, listed = _lists(sandbox)[surface]
    sandbox.fault(surface=surface, kind=kind)
    answer = sandbox.get(f"{path}0", host=host).json()
    assert answer["status_code"] == 0
    assert answer[listed] == []
    assert answer["has_more"] == has_more
    assert answer.get("search_nil_info", {}).get("search_nil_type") == nil
    assert sandbox.get(f"{path}0", host=host).json()[listed]


@pytest.mark.parametrize("surface", [*LISTS, "user_info", "music_info", "hashtag_info"])
def test_any_json_surface_can_want_an_account(sandbox: Sandbox, surface: str) -> None:
    lists = _lists(sandbox)
    path, host = lists[surface][:2] if surface in lists else (_INFOS[surface], SHARE)
    sandbox.fault(surface=surface, kind="login_2483")
    answer = sandbox.get(f"{path}0", host=host).json()
    assert answer == {"status_code": 2483, "status_msg": "请先登录", "data": None}


_INFOS = {
    "user_info": "/web/api/v2/user/info/?sec_uid=", "music_info": "/web/api/v2/music/info/?mid=",
    "hashtag_info": "/web/api/v2/challenge/info/?ch_id=",
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [
        ("verify_check", ["verify_check"]), ("nil", ["no_result"]), ("empty_ambiguous", [None]),
        ("verify_then_healthy", ["verify_check", None, None]), ("login_2483", [None]),
        ("stalled_cursor", [None, None]),
    ],
)  # fmt: skip
def test_states_of_the_stream_are_framed_as_well(
    sandbox: Sandbox, kind: str, kinds: list[str | None]
) -> None:
    sandbox.fault(surface="search_stream", kind=kind)
    documents: list[dict[str, Any]] = read_frames(sandbox.get(STREAM, host=WEB).content)
    found = [one.get("search_nil_info", {}).get("search_nil_type") for one in documents]
    assert found == kinds


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        ("cold_edge", lambda a: a["status"] == 1 and a["data"]["info"] == []),
        ("timestamp_only", lambda a: set(a["data"]) == {"timestamp"}),
        ("chart_status", lambda a: a["status"] == 0),
        ("chart_errcode", lambda a: a["status"] == 1 and a["errcode"] != 0),
    ],
)
@pytest.mark.parametrize(
    ("surface", "path"),
    [("chart_songs", SONGS), ("chart_issues", "/api/v3/rank/vol?rankid=8888")],
)
def test_the_chart_says_no_in_its_own_ways(
    sandbox: Sandbox, surface: str, path: str, kind: str, check: Any
) -> None:
    mark = sandbox.get(path, host=CHART).headers["etag"]
    sandbox.fault(surface=surface, kind=kind)
    broken = sandbox.get(path, host=CHART, if_none_match=mark)
    assert broken.status_code == 200
    assert "etag" not in broken.headers
    assert check(broken.json())
    assert sandbox.get(path, host=CHART).json()["data"]["info"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text_body", "Access Deny ! No Actions !"),
        ("wrong_id", "You need get the right classid!"),
        ("res_tag", "<!--KG_TAG_RES_START-->"),
    ],
)  # fmt: skip
def test_the_chart_answers_in_texts(sandbox: Sandbox, kind: str, text: str) -> None:
    sandbox.fault(surface="chart_songs", kind=kind)
    assert sandbox.get(SONGS, host=CHART).text.startswith(text)


def test_cold_edges_are_in_every_form_of_the_chart(sandbox: Sandbox) -> None:
    sandbox.fault(surface="*", kind="cold_edge", times=2)
    latest = sandbox.get("/rank/info/?rankid=8888&json=true", host="m.chartsrc.localhost")
    page = sandbox.get("/yy/rank/home/1-8888.html", host="www.chartsrc.localhost")
    assert latest.json()["songs"]["list"] == []
    assert "global.features = [];" in page.text


@pytest.mark.parametrize(
    ("surface", "path", "host", "key"),
    [
        ("hashtag_info", "/web/api/v2/challenge/info/?ch_id={ch_id}", SHARE, '"ch_info"'),
        ("hashtag_list", "/web/api/v2/challenge/aweme/?ch_id={ch_id}", SHARE, '"aweme_list"'),
        ("search_single", SINGLE, WEB, '"data"'),
        ("search_stream", STREAM, WEB, '"data"'),
        ("user_page", "/share/user/{sec_uid}", SHARE, '"postListData"'),
        ("slides_page", "/share/slides/{aweme_id}/", SHARE, '"slidesInfoRes"'),
        ("web_video_page", "/video/{aweme_id}", WEB, "awemeId"),
        ("web_detail", DETAIL, WEB, '"aweme_detail"'),
        ("chart_issues", "/api/v3/rank/vol?rankid=8888", CHART, '"vols"'),
        ("chart_songs", SONGS, CHART, '"info"'),
        (
            "chart_latest", "/rank/info/?rankid=8888&json=true", "m.chartsrc.localhost",
            '"list"',
        ),
        ("chart_html", "/yy/rank/home/1-8888.html", "www.chartsrc.localhost", "global.features"),
    ],
)  # fmt: skip
def test_structure_and_substitution_reach_every_new_surface(
    sandbox: Sandbox, surface: str, path: str, host: str, key: str
) -> None:
    works = sandbox.works(state=VideoState.PUBLIC, is_photo=False)
    shown = next(
        work for work in works
        if not any(is_withheld(work, has_cookie=True, page=page) for page in ("page", "desktop"))
    )  # fmt: skip
    known = {
        "ch_id": sandbox.control_data("hashtags")["hashtags"][0]["ch_id"], "cursor": 0,
        "sec_uid": sandbox.world.sec_uid(1), "aweme_id": shown.aweme_id,
    }  # fmt: skip
    path = path.format(**known)
    good = sandbox.get(path, host=host, cookie="ttwid=1")
    sandbox.fault(surface=surface, kind="structure")
    renamed = sandbox.get(path, host=host, cookie="ttwid=1")
    sandbox.fault(surface=surface, kind="substitution")
    other = sandbox.get(path, host=host, cookie="ttwid=1")
    assert key in good.text
    assert key not in renamed.text
    assert other.content != good.content


@pytest.mark.parametrize(
    ("surface", "path", "host", "key"),
    [
        ("user_page", "/share/user/{sec_uid}", SHARE, '"user_(id)\\u002Fpage"'),
        ("note_page", "/share/note/{aweme_id}/", SHARE, '"note_(id)\\u002Fpage"'),
        ("music_page", "/share/music/{music_id}/", SHARE, '"music_(id)\\u002Fpage"'),
        ("hashtag_page", "/share/challenge/7/", SHARE, '"challenge_(id)\\u002Fpage"'),
        ("web_video_page", "/video/{aweme_id}", WEB, "RENDER_DATA"),
        ("search_page", "/search/vlog", WEB, "RENDER_DATA"),
    ],
)
def test_a_shell_is_the_page_of_its_surface_without_data(
    sandbox: Sandbox, surface: str, path: str, host: str, key: str
) -> None:
    known = {
        "sec_uid": sandbox.world.sec_uid(1), "music_id": sandbox.world.tracks[0].music_id,
        "aweme_id": sandbox.shown().aweme_id,
    }  # fmt: skip
    sandbox.fault(surface=surface, kind="shell")
    page = sandbox.get(path.format(**known), host=host)
    assert key in page.text
    assert "抱歉出错了" in page.text
    assert 20_000 < len(page.content) < 50_000
    assert "aweme_id" not in page.text


def test_a_detail_can_be_empty_without_a_reason(sandbox: Sandbox) -> None:
    path = DETAIL.format(aweme_id=sandbox.shown().aweme_id)
    sandbox.fault(surface="web_detail", kind="empty_detail")
    answer = sandbox.get(path, host=WEB, cookie="ttwid=1").json()
    assert answer["aweme_detail"] is None
    assert "filter_detail" not in answer


def test_pages_say_that_they_are_overseas(sandbox: Sandbox) -> None:
    work = sandbox.shown()
    sandbox.fault(surface="video_page", kind="overseas")
    assert '"is_oversea":1' in sandbox.get(f"/share/video/{work.aweme_id}/").text


def test_a_redirect_leads_to_a_verification_page(sandbox: Sandbox) -> None:
    sandbox.fault(surface="search_page", kind="verify_redirect")
    target = sandbox.get("/search/vlog", host=WEB).headers["location"]
    assert "/verify_page" in target
    assert "验证码中间页" in sandbox.get(target).text


def test_robots_can_forbid_everything(sandbox: Sandbox) -> None:
    sandbox.fault(surface="robots", kind="robots_deny", host=CHART, times=0)
    assert "Disallow: /\n" in sandbox.get("/robots.txt", host=CHART).text
    assert "Disallow: /\n" not in sandbox.get("/robots.txt", host=WEB).text


def test_a_state_that_means_nothing_on_a_surface_says_so(sandbox: Sandbox) -> None:
    sandbox.fault(surface="*", kind="cold_edge", times=2)
    assert sandbox.get("/robots.txt", host=WEB).status_code == 500
    assert sandbox.get(SINGLE.format(cursor=0), host=WEB).status_code == 500


def test_the_log_tells_each_request_and_the_wait_that_a_429_demands(sandbox: Sandbox) -> None:
    sandbox.fault(surface="chart_songs", kind="429", retry_after=20)
    for _ in range(3):
        sandbox.get(SONGS, host=CHART)
    sandbox.get("/robots.txt", host=WEB)
    reported = sandbox.control_data("access-log/requests", host=CHART)["requests"]
    assert [entry["status"] for entry in reported] == [429, 200, 200]
    assert [entry["retry_after"] for entry in reported] == [20, None, None]
    assert {entry["target"] for entry in reported} == {SONGS}
    assert reported[0]["at"] <= reported[0]["ended_at"] <= reported[1]["at"]


@pytest.mark.parametrize(
    ("number", "shown"),
    [(3, "web_video_404_link"), (4, "overseas."), (5, "/x00000007/"), (6, "/verify_page")],
)
def test_odd_short_links_lead_everywhere(sandbox: Sandbox, number: int, shown: str) -> None:
    answer = sandbox.get(f"/x{number:08d}/", host="v.vidplat.localhost")
    assert shown in answer.headers["location"]


def test_short_links_have_every_form(sandbox: Sandbox) -> None:
    tag = sandbox.control_data("hashtags")["hashtags"][0]
    music_id = sandbox.world.tracks[0].music_id
    track = sandbox.get("/_world/tracks?limit=1&counts=0").json()["tracks"][0]
    digits = track["short_link"].rsplit("/m", 1)[1]
    hashtag = sandbox.get(tag["short_link"]).headers["location"]
    by_query = sandbox.get(f"/n{digits}", host="v.vidplat.localhost").headers["location"]
    assert f"/share/challenge/{tag['ch_id']}/" in hashtag
    assert by_query.endswith(f"/share/music/?music_id={music_id}")
    work = track["video_link"].rsplit("/i", 1)[1]
    modal = httpx.URL(sandbox.get(f"/d{work}", host="jx.vidplat.localhost").headers["location"])
    assert (modal.host, modal.path) == (WEB, "/jingxuan")
    assert modal.params["modal_id"] == track["aweme_id"]
