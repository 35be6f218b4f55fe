"""Each switch of the sandbox does what its sentence says, alone and in the mode of today."""

import json
import re
from typing import Any

import httpx2 as httpx
import pytest

from sandbox.server.addresses import to_code
from sandbox.server.documents.pages import read_frames
from sandbox.server.switches import MODES, SWITCHES
from sandbox.world.content.tables import VideoState

from .conftest import Json, Sandbox, page_data

pytestmark = pytest.mark.full

WEB = "www.vidplat.localhost"
CHART = "chart.chartsrc.localhost"
MUSIC = "music.vidplat.localhost"
STREAM = "/aweme/v1/web/general/search/stream/?keyword=vlog&offset=0"
MUSIC_LIST = "/web/api/v2/music/list/aweme/?music_id={}&count=20&cursor=0"


def _rows(sandbox: Sandbox, music_id: str) -> list[Json]:
    found: list[Json] = sandbox.get(MUSIC_LIST.format(music_id)).json()["aweme_list"]
    return found


def _page(sandbox: Sandbox) -> httpx.Response:
    return sandbox.get(f"/share/video/{sandbox.shown(is_photo=False).aweme_id}/")


def _media(sandbox: Sandbox, **headers: str) -> httpx.Response:
    """The file of a video, reached over the play address of its detail."""
    work = next(sandbox.works(state=VideoState.PUBLIC, is_photo=False))
    found = sandbox.details(work.aweme_id)["aweme_details"][0]["video"]["play_addr"]["url_list"][0]
    answer = sandbox.get(found, **headers)
    return answer if answer.status_code != 302 else sandbox.get(
        answer.headers["location"], **headers
    )  # fmt: skip


def test_the_mode_of_today_names_switches_and_an_unknown_mode_is_refused(sandbox: Sandbox) -> None:
    assert set(MODES["autumn-2026"]) <= {switch.name for switch in SWITCHES}
    refused = sandbox.client.post("/_world/switches", json={"mode": "spring-1999"})
    assert refused.status_code == 400
    assert "autumn-2026" in refused.json()["error"]


def test_switches_are_turned_on_and_off_while_the_sandbox_runs(sandbox: Sandbox) -> None:
    sandbox.switch("page_shells=0.4", mode="autumn-2026")
    on = sandbox.control_data("switches")["on"]
    sandbox.client.request("DELETE", "/_world/switches")
    assert list(on) == [one.name for one in SWITCHES if one.name in MODES["autumn-2026"]]
    assert on["page_shells"] == 0.4
    assert sandbox.control_data("switches")["on"] == {}


@pytest.mark.parametrize(
    ("switch", "status", "marker"),
    [
        ("page_shells=1", 200, "抱歉出错了"), ("page_challenge", 200, "waf-jschallenge"),
        ("page_403", 403, "访问受限"), ("page_404", 404, "404"),
        ("page_no_container", 200, '<div id="root">'), ("argus_page", 200, "_$jsvmprt"),
    ],
)  # fmt: skip
def test_a_page_is_refused_while_slides_info_answers(
    sandbox: Sandbox, switch: str, status: int, marker: str
) -> None:
    aweme_id = sandbox.shown(is_photo=False).aweme_id
    sandbox.switch(switch)
    page = sandbox.get(f"/share/video/{aweme_id}/")
    assert page.status_code == status
    assert marker in page.text
    assert "videoInfoRes" not in page.text
    assert sandbox.details(aweme_id)["aweme_details"][0]["aweme_id"] == aweme_id


def test_shells_are_a_share_of_the_videos_and_the_same_ones_each_time(sandbox: Sandbox) -> None:
    works = [
        work for work, _ in zip(sandbox.works(state=VideoState.PUBLIC), range(80), strict=False)
    ]
    sandbox.switch("page_shells=0.5")
    shown = [
        ["videoInfoRes" in sandbox.get(f"/share/video/{work.aweme_id}/").text for work in works]
        for _ in range(2)
    ]
    assert 20 <= sum(shown[0]) <= 60
    assert shown[0] == shown[1]


def test_a_healthy_page_may_carry_the_token_of_the_script(sandbox: Sandbox) -> None:
    sandbox.switch("argus_csp_token")
    page = _page(sandbox).text
    assert "argus-csp-token" in page
    assert page_data(page)["videoInfoRes"]["item_list"]


def test_scripts_and_styles_of_pages_may_be_on_other_hosts(sandbox: Sandbox) -> None:
    sandbox.switch("page_scripts_elsewhere")
    page = sandbox.get(f"/share/user/{sandbox.world.sec_uid(1)}").text
    found = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert {httpx.URL(one).host for one in found} == {
        "scripts.cdnplat.localhost", "styles.cdnplat.localhost",
    }  # fmt: skip
    for one in found:
        url = httpx.URL(one)
        assert sandbox.get(url.path, host=url.host).status_code == 200


def test_the_web_detail_can_answer_403(sandbox: Sandbox) -> None:
    sandbox.switch("web_detail_403")
    path = f"/aweme/v1/web/aweme/detail/?aweme_id={sandbox.shown().aweme_id}"
    assert sandbox.get(path, host=WEB, cookie="ttwid=1").status_code == 403


def test_posts_of_accounts_can_be_gone_everywhere(sandbox: Sandbox) -> None:
    sec_uid = sandbox.world.sec_uid(0)
    sandbox.switch("no_user_posts")
    assert sandbox.get(f"/web/api/v2/aweme/post/?sec_uid={sec_uid}").content == b""
    assert page_data(sandbox.get(f"/share/user/{sec_uid}").text)["postListData"] is None


def test_a_bare_list_lacks_author_date_and_bookmarks(sandbox: Sandbox) -> None:
    sandbox.switch("list_bare")
    row = _rows(sandbox, sandbox.world.tracks[0].music_id)[0]
    assert not {"author", "create_time"} & set(row)
    assert set(row["statistics"]) == {"aweme_id", "digg_count", "comment_count", "share_count"}


def test_foreign_rows_name_the_music_id_that_they_use(sandbox: Sandbox) -> None:
    sandbox.switch("list_foreign_rows=1")
    music_id = sandbox.world.tracks[0].music_id
    shares = []
    for row in _rows(sandbox, music_id):
        work = sandbox.world.video_of_id(row["aweme_id"])
        assert work is not None
        assert row["music"]["mid"] == str(sandbox.world.sounds.music_id[work.sound])
        shares.append(row["music"]["mid"] == music_id)
    assert sum(shares) / len(shares) < 0.3


def test_photo_posts_in_lists_may_lack_pictures_and_length(sandbox: Sandbox) -> None:
    work = next(
        work for work in sandbox.works(state=VideoState.PUBLIC, is_photo=True)
        if work.index in sandbox.world.music_list(work.sound)[:20]
    )  # fmt: skip
    sandbox.switch("list_photos_without_images")
    music_id = str(sandbox.world.sounds.music_id[work.sound])
    row = next(row for row in _rows(sandbox, music_id) if row["aweme_id"] == work.aweme_id)
    assert (row["images"], row["aweme_type"]) == (None, 2)
    assert "duration" not in row["video"]


@pytest.mark.parametrize(
    ("switch", "answer"),
    [
        ("status_code_8", {"status_code": 8, "status_msg": "用户未登录"}),
        ("captcha_json", {"code": "10000", "type": "verify"}),
        ("code_10001010A", {"code": "10001010A"}),
    ],
)
def test_json_surfaces_say_no_in_other_forms(
    sandbox: Sandbox, switch: str, answer: dict[str, object]
) -> None:
    sandbox.switch(f"{switch}=music_list+music_info")
    for path in ("music/list/aweme", "music/info"):
        found = sandbox.get(f"/web/api/v2/{path}/?music_id=1").json()
        assert found.items() >= answer.items()


def test_followers_may_be_counted_over_all_platforms_and_ids_missing(sandbox: Sandbox) -> None:
    account = sandbox.world.account(1)
    sandbox.switch("mplatform_followers_only", "sec_uid_missing")
    path = f"/web/api/v2/user/info/?unique_id={account.unique_id}"
    info = sandbox.get(path).json()["user_info"]
    assert info["mplatform_followers_count"] == account.follower_count
    assert not {"follower_count", "sec_uid"} & set(info)
    assert info["uid"] == account.uid


def test_titles_of_user_sounds_may_name_the_song(sandbox: Sandbox) -> None:
    sandbox.switch("sound_title_names_song")
    world = sandbox.world
    titles = {
        sound.music_id: sandbox.get(f"/web/api/v2/music/info/?music_id={sound.music_id}")
        .json()["music_info"]["title"]
        for sound in map(world.sounds.row, range(60))
    }  # fmt: skip
    named = {music_id for music_id, title in titles.items() if "（原声中的歌曲：" in title}
    sounds = [world.sound_of(music_id) for music_id in named]
    assert named
    assert all(sound is not None and sound.owner >= 0 for sound in sounds)
    assert all(world.title_of(sound.score) in titles[sound.music_id] for sound in sounds if sound)


def test_the_search_may_ask_for_a_login(sandbox: Sandbox) -> None:
    sandbox.switch("search_2483")
    documents = read_frames(sandbox.get(STREAM, host=WEB).content)
    assert [one["status_code"] for one in documents] == [2483]


@pytest.mark.parametrize("kind", ["hit_shark", "antispam_check", "params_check", "invalid_app"])
def test_the_search_may_be_empty_for_a_reason_of_its_own(sandbox: Sandbox, kind: str) -> None:
    sandbox.switch(f"search_{kind}")
    documents: list[Any] = read_frames(sandbox.get(STREAM, host=WEB).content)
    assert documents[-1]["search_nil_info"]["search_nil_type"] == kind
    assert documents[-1]["data"] == []


def test_the_stream_of_a_search_may_be_cut_glued_or_in_lines(sandbox: Sandbox) -> None:
    whole = sandbox.get(STREAM, host=WEB).content
    texts = [
        json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in read_frames(whole)
    ]
    found = {}
    for form in ("unended", "cut", "glued", "lines"):
        sandbox.switch(f"search_stream_{form}")
        found[form] = sandbox.get(STREAM, host=WEB).content
        sandbox.switch(f"search_stream_{form}=off")
    assert found["unended"] + b"0\r\n\r\n" == whole
    assert found["unended"].startswith(found["cut"])
    assert len(found["cut"]) < len(found["unended"])
    assert found["glued"].decode() == "".join(texts)
    assert found["lines"].decode().splitlines() == texts


def test_media_may_be_on_a_second_host_that_lists_name(sandbox: Sandbox) -> None:
    sandbox.switch("media_other_host")
    row = next(row for row in _rows(sandbox, sandbox.world.tracks[0].music_id) if not row["images"])
    address = row["video"]["play_addr"]["url_list"][0]
    assert httpx.URL(address).host == "v3.cdnplat.localhost"
    assert sandbox.get(address).content[4:8] == b"ftyp"


def test_media_may_need_the_referer_of_a_page(sandbox: Sandbox) -> None:
    sandbox.switch("media_needs_referer")
    page = "http://share.vidplat.localhost/share/video/1/"
    assert _media(sandbox).status_code == 403
    assert _media(sandbox, referer="http://elsewhere.example/").status_code == 403
    assert _media(sandbox, referer=page).status_code == 200


def test_media_may_come_with_another_first_byte(sandbox: Sandbox) -> None:
    good = _media(sandbox).content
    sandbox.switch("media_altered")
    altered = _media(sandbox).content
    assert altered[0] != good[0]
    assert altered[1:] == good[1:]


def test_the_chart_may_be_asked_too_often(sandbox: Sandbox) -> None:
    sandbox.switch("chart_1002")
    answer = sandbox.get("/api/v3/rank/vol?rankid=8888", host=CHART).json()
    assert (answer["status"], answer["errcode"]) == (0, 1002)


def test_a_late_issue_appears_after_its_date(sandbox: Sandbox) -> None:
    path = "/api/v3/rank/vol?rankid=8888"
    advance = 14 * 3600 + 31 * 60  # from 18:00 to 08:31 of the next day, in Shanghai
    sandbox.client.post("/_world/clock", json={"advance_s": advance})
    on_time = sandbox.get(path, host=CHART).json()["data"]["info"][0]["vols"][0]
    sandbox.switch("chart_late")
    late = sandbox.get(path, host=CHART).json()["data"]["info"][0]["vols"][0]
    sandbox.client.post("/_world/clock", json={"advance_s": 90 * 60})
    released = sandbox.get(path, host=CHART).json()["data"]["info"][0]["vols"][0]
    assert released["volid"] == on_time["volid"] != late["volid"]
    assert released["voltime"][11:] == "08:30:00"
    schedule = released["extra"]["resp"]["scheduled_release_conf"]
    assert schedule["latest_rank_cid"] == int(released["volid"])
    assert "08:30:00" < schedule["scheduled_release_time"] <= "10:00:00"


def test_the_log_tells_what_was_requested_after_a_challenge(sandbox: Sandbox) -> None:
    sandbox.get("/web/api/v2/music/info/?music_id=1")
    sandbox.switch("page_challenge", "web_detail_403")
    _page(sandbox)
    _page(sandbox)
    sandbox.get("/web/api/v2/music/info/?music_id=1")
    sandbox.get("/aweme/v1/web/aweme/detail/?aweme_id=1", host=WEB)
    pages, detail = sandbox.control_data("access-log/challenges")["challenges"]
    assert (pages["surface"], pages["kind"], pages["surface_after"]) == (
        "video_page", "challenge", 1,
    )  # fmt: skip
    assert pages["host_after"] == {"music_info": 1, "video_page": 1}
    assert (detail["surface"], detail["kind"], detail["host_after"]) == ("web_detail", "403", {})


def test_the_log_tells_the_referer_of_a_request(sandbox: Sandbox) -> None:
    _media(sandbox, referer="http://share.vidplat.localhost/share/video/1/")
    reported = sandbox.control_data("access-log/requests", surface="media")["requests"]
    assert reported[-1]["referer"] == "http://share.vidplat.localhost/share/video/1/"


def test_a_trend_lists_complete_videos_beyond_the_music_list(sandbox: Sandbox) -> None:
    track = sandbox.control_data("tracks", limit=1)["tracks"][0]
    link = httpx.URL(track["trends_link"])
    path = f"/aweme/v1/trends/aweme/?{link.query.decode()}&count=20&cursor="
    seen: list[Json] = []
    cursor, more = 0, 1
    while more:
        answer = sandbox.get(f"{path}{cursor}").json()
        seen.extend(answer["aweme_list"])
        cursor, more = answer["cursor"], answer["has_more"]
    sound = sandbox.world.tracks[0]
    assert [one["aweme_id"] for one in seen] == [
        str(sandbox.world.works.aweme_id[row])
        for row in sandbox.world.videos_by_sound(sound.index).tolist()
    ]
    assert all(one["author"]["sec_uid"] and one["create_time"] for one in seen)
    assert all(len({"digg_count", "collect_count"} & set(one["statistics"])) == 2 for one in seen)
    assert sandbox.get(track["trends_link"]).status_code == 200


def test_the_page_of_a_track_gives_its_name_and_its_clean_recording(sandbox: Sandbox) -> None:
    tracks = [one for one in sandbox.control_data("tracks")["tracks"] if one["track_id"]]
    options = [_option(sandbox, one["track_link"]) for one in tracks]
    paid = [one for one in options if one["trackInfo"]["playable_range"]]
    assert 0 < len(paid) < len(options)
    for track, option in zip(tracks, options, strict=True):
        sound = sandbox.world.sound_of(track["music_id"])
        assert sound is not None
        assert option["trackName"] == sandbox.world.title_of(sound.score)
        assert option["lyrics"]["sentences"][-1]["endMs"] == 2**53 - 1
    assert all(29 <= one["offsetDuration"] < one["duration"] for one in paid)
    assert sandbox.get(paid[0]["url"]).content[4:8] == b"ftyp"


def test_the_music_service_has_lists_and_short_links(sandbox: Sandbox) -> None:
    track = next(one for one in sandbox.control_data("tracks")["tracks"] if one["track_id"])
    info = _option(sandbox, track["track_link"])["trackInfo"]
    pages = {
        "playlist?playlist_id=7": "medias", f"album?album_id={info['album']['id']}": "trackList",
        f"artist?artist_id={info['artists'][0]['id']}": "trackList",
        f"ugc_video?ugc_video_id={track['aweme_id']}": "videoOptions",
    }  # fmt: skip
    for path, key in pages.items():
        page = sandbox.get(f"/songs/share/{path}", host=MUSIC).text
        assert _service_data(page)[key]
    for link in (track["track_short_link"], track["track_short_link_old"]):
        assert sandbox.get(link).headers["location"] == track["track_link"]


@pytest.mark.parametrize(
    ("number", "path"),
    [
        (11, "/share/mix/detail/"), (12, "/collection/"), (13, "/article/"), (14, "/share/item/"),
        (15, "/share/story/"), (16, "&amp;sec_uid=MS4w"),
    ],
)  # fmt: skip
def test_short_links_lead_to_the_rarer_forms_which_the_sandbox_serves(
    sandbox: Sandbox, number: int, path: str
) -> None:
    code = to_code("odd", number)
    target = sandbox.get(f"/{code}/", host="v.vidplat.localhost").headers["location"]
    assert path in target
    assert sandbox.get(target).status_code == 200


def test_the_chart_has_a_list_of_charts_without_songs(sandbox: Sandbox) -> None:
    answer = sandbox.get("/rank/list?json=true", host="m.chartsrc.localhost").json()
    assert answer["rank"]["list"][0]["rankid"] == 8888


def test_a_detail_names_the_track_on_the_music_service(sandbox: Sandbox) -> None:
    track = next(one for one in sandbox.control_data("tracks")["tracks"] if one["track_id"])
    info = sandbox.get(f"/web/api/v2/music/info/?music_id={track['music_id']}").json()
    extra = json.loads(info["music_info"]["extra"])
    assert extra["diversion_music_detail_preload"]["luna_song_id"] == track["track_id"]


def _service_data(page: str) -> Json:
    text = page.split("_ROUTER_DATA = ", 1)[1]
    loaded: Json = json.JSONDecoder().raw_decode(text)[0]["loaderData"]
    found: Json = next(iter(loaded.values()))
    return found


def _option(sandbox: Sandbox, link: str) -> Json:
    found: Json = _service_data(sandbox.get(link).text)["audioWithLyricsOption"]
    return found
