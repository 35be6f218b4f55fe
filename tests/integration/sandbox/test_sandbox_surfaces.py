"""Each surface answers in the shape that a guest of the platform sees."""

import asyncio
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import av
import httpx2 as httpx
import numpy as np
import pytest

from pipelines.sandbox.addresses import Addresses
from pipelines.sandbox.surfaces.share_pages import is_withheld
from pipelines.sandbox.surfaces.short_links import CIRCLES, LEAVES
from pipelines.world.sounds import SoundKind
from pipelines.world.works import State, Work

from .conftest import Sandbox

Json = dict[str, Any]


def _works(sandbox: Sandbox, **wanted: object) -> Iterator[Work]:
    for row in range(len(sandbox.world.works)):
        work = sandbox.world.works.row(row)
        if all(getattr(work, name) == value for name, value in wanted.items()):
            yield work


def _shown(sandbox: Sandbox, **wanted: object) -> Work:
    """A public work whose page is never withheld."""
    works = _works(sandbox, state=State.PUBLIC, **wanted)
    return next(work for work in works if not is_withheld(work, has_cookie=False))


def _data(page: str) -> Json:
    found = re.search(r"<script>window\._ROUTER_DATA = (.*?)</script>", page)
    assert found is not None
    loaded: Json = json.loads(found[1])["loaderData"]
    return next(value for value in loaded.values() if value is not None)


def _details(sandbox: Sandbox, aweme_id: str, extra: str = "") -> Json:
    path = f"/web/api/v2/aweme/slidesinfo/?aweme_ids=[{aweme_id}]{extra}"
    answer: Json = sandbox.get(path).json()
    return answer


def test_a_video_page_has_the_recorded_shape(sandbox: Sandbox) -> None:
    work = _shown(sandbox, is_photo=False)
    page = sandbox.get(f"/share/video/{work.aweme_id}/")
    container = _data(page.text)["videoInfoRes"]
    item = container["item_list"][0]
    assert page.headers["content-type"].startswith("text/html")
    assert item["aweme_id"] == work.aweme_id
    assert item["create_time"] == work.create_time
    assert item["statistics"]["digg_count"] == work.digg_count
    assert item["statistics"]["collect_count"] == work.collect_count
    assert item["statistics"]["play_count"] == 0
    assert item["music"]["mid"] == str(sandbox.world.sounds.music_id[work.sound])
    assert {"play_url", "id_str"}.isdisjoint(item["music"])
    assert {"uid", "follower_count"}.isdisjoint(item["author"])
    assert item["author"]["following_count"] == 0
    assert item["author"]["aweme_count"] > 0
    assert item["images"] is None
    assert all(isinstance(tag["hashtag_id"], int) for tag in item["text_extra"])


def test_slashes_in_a_page_are_escaped_and_hostile_captions_stay_inside(sandbox: Sandbox) -> None:
    hostile = next(
        work for work in _works(sandbox, state=State.PUBLIC)
        if "<script>" in sandbox.world.caption(work) and not is_withheld(work, has_cookie=False)
    )  # fmt: skip
    page = sandbox.get(f"/share/video/{hostile.aweme_id}/").text
    assert "\\u002F" in page
    assert "<script>alert" not in page
    item = _data(page)["videoInfoRes"]["item_list"][0]
    assert item["desc"] == sandbox.world.caption(hostile)


def test_a_photo_post_has_images_no_duration_and_an_mp3(sandbox: Sandbox) -> None:
    work = _shown(sandbox, is_photo=True, is_silent=False)
    item = _data(sandbox.get(f"/share/note/{work.aweme_id}/").text)["videoInfoRes"]["item_list"][0]
    assert item["images"]
    assert item["video"]["duration"] == 0
    file = sandbox.get(item["video"]["play_addr"]["url_list"][0])
    assert file.headers["content-type"] == "audio/mpeg"
    with av.open(io.BytesIO(file.content), "r") as sound:
        assert sound.streams.audio[0].codec_context.name.startswith("mp3")


def test_a_silent_photo_post_names_the_placeholder(sandbox: Sandbox) -> None:
    work = _shown(sandbox, is_silent=True)
    item = _data(sandbox.get(f"/share/note/{work.aweme_id}/").text)["videoInfoRes"]["item_list"][0]
    address = item["video"]["play_addr"]["url_list"][0]
    assert "images_no_sound_volume_audio_file.mp3" in address
    assert sandbox.get(address).status_code == 200


def test_some_pages_stay_a_shell_and_the_second_source_answers(sandbox: Sandbox) -> None:
    work = next(
        work for work in _works(sandbox, state=State.PUBLIC, is_photo=False)
        if is_withheld(work, has_cookie=True)
    )  # fmt: skip
    first = sandbox.get(f"/share/video/{work.aweme_id}/")
    second = sandbox.get(f"/share/video/{work.aweme_id}/")
    assert "ttwid" in first.headers["set-cookie"]
    assert "videoInfoRes" not in first.text + second.text
    assert 20_000 < len(first.content) < 50_000
    assert _details(sandbox, work.aweme_id)["aweme_details"][0]["aweme_id"] == work.aweme_id


def test_some_pages_give_their_data_once_the_cookie_comes_back(sandbox: Sandbox) -> None:
    work = next(
        work for work in _works(sandbox, state=State.PUBLIC)
        if is_withheld(work, has_cookie=False) and not is_withheld(work, has_cookie=True)
    )  # fmt: skip
    path = f"/share/video/{work.aweme_id}/"
    first = sandbox.get(path)
    cookie = first.headers["set-cookie"].partition(";")[0]
    second = sandbox.client.get(path, headers={"cookie": cookie})
    assert "videoInfoRes" not in first.text
    assert _data(second.text)["videoInfoRes"]["item_list"][0]["aweme_id"] == work.aweme_id


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (State.DELETED, "status_deleted"),
        (State.PRIVATE, "status_self_see"),
        (State.REVIEWING, "status_reviewing"),
    ],
)
def test_hidden_works_are_named_with_their_reason(
    sandbox: Sandbox, state: State, reason: str
) -> None:
    work = next(
        work for work in _works(sandbox, state=state) if not is_withheld(work, has_cookie=False)
    )
    container = _data(sandbox.get(f"/share/video/{work.aweme_id}/").text)["videoInfoRes"]
    assert container["item_list"] == []
    assert container["filter_list"][0]["filter_reason"] == reason
    assert container["filter_list"][0]["notice"] == "抱歉，作品不见了"
    answer = _details(sandbox, work.aweme_id)
    assert answer["aweme_details"] is None
    assert answer["filter_list"][0]["filter_reason"] == reason


def test_a_work_that_never_was_is_said_not_to_exist(sandbox: Sandbox) -> None:
    container = _data(sandbox.get("/share/video/7000000000000000001/").text)["videoInfoRes"]
    assert container["filter_list"][0]["filter_reason"] == "item_non_existent"


def test_the_second_source_has_the_detail_shape(sandbox: Sandbox) -> None:
    work = _shown(sandbox, is_photo=False)
    item = _details(sandbox, work.aweme_id)["aweme_details"][0]
    assert {"admire_count", "recommend_count"} <= set(item["statistics"])
    assert item["music"]["id"] == int(item["music"]["id_str"]) > 2**53
    assert item["music"]["mid"] == item["music"]["id_str"]
    assert item["music"]["user_count"] == 0
    assert isinstance(json.loads(item["music"]["extra"]), dict)
    assert "aweme_count" not in item["author"]
    assert item["author"]["follower_count"] >= 0
    assert item["media_type"] == 4
    assert all(isinstance(tag["hashtag_id"], str) for tag in item["text_extra"])
    assert f"mid={item['music']['mid']}" in item["share_url"]


def test_the_second_source_gives_photo_posts_only_when_asked(sandbox: Sandbox) -> None:
    photo, video = _shown(sandbox, is_photo=True), _shown(sandbox, is_photo=False)
    plain = _details(sandbox, photo.aweme_id)
    asked = _details(sandbox, photo.aweme_id, "&request_source=200")
    wrong = _details(sandbox, video.aweme_id, "&request_source=200")
    assert plain["aweme_details"] is None
    assert plain["filter_list"] == []
    assert asked["aweme_details"][0]["media_type"] == 2
    assert wrong["aweme_details"] is None
    assert wrong["filter_list"]


def test_an_invented_signature_gives_an_empty_body(sandbox: Sandbox) -> None:
    work = _shown(sandbox)
    path = f"/web/api/v2/aweme/slidesinfo/?aweme_ids=[{work.aweme_id}]&a_bogus=x"
    assert sandbox.get(path).content == b""


def test_music_info_has_no_address_and_no_user_count(sandbox: Sandbox) -> None:
    sound = sandbox.world.tracks[0]
    info = sandbox.get(f"/web/api/v2/music/info/?music_id={sound.music_id}").json()["music_info"]
    assert info["mid"] == sound.music_id
    assert info["title"] == sandbox.world.sound_title(sound)
    assert {"play_url", "user_count"}.isdisjoint(info)
    assert "music_use_count" in json.loads(json.loads(info["extra"])["high_level_follow_info"])


def test_info_of_a_user_sound_names_its_owner_and_source(sandbox: Sandbox) -> None:
    row = int(np.flatnonzero(sandbox.world.sounds.kind == SoundKind.VOICE_OVER)[0])
    music_id = str(sandbox.world.sounds.music_id[row])
    info = sandbox.get(f"/web/api/v2/music/info/?music_id={music_id}").json()["music_info"]
    extra = json.loads(info["extra"])
    assert info["title"] == f"@{extra['owner_nickname']}创作的原声"
    assert sandbox.world.work_of(extra["extract_item_id"]) is not None


@pytest.mark.parametrize("surface", ["music/info/?music_id=7", "user/info/?sec_uid=MS4wLjABAAAAx"])
def test_unknown_ids_have_a_status_code(sandbox: Sandbox, surface: str) -> None:
    answer = sandbox.get(f"/web/api/v2/{surface}").json()
    assert answer["status_code"] == 5


def _walked(sandbox: Sandbox, path: str, cursor_name: str) -> list[Json]:
    items: list[Json] = []
    cursor = 0
    while True:
        page = sandbox.get(f"{path}&{cursor_name}={cursor}").json()
        items += page["aweme_list"]
        if not page["has_more"]:
            return items
        assert page["has_more"] == 1
        assert page[cursor_name] != cursor
        cursor = page[cursor_name]


def test_a_music_list_is_trimmed_and_pages_to_its_end(sandbox: Sandbox) -> None:
    sound = max(sandbox.world.tracks, key=lambda s: sandbox.world.works_by_sound(s.index).size)
    path = f"/web/api/v2/music/list/aweme/?music_id={sound.music_id}&count=7"
    items = _walked(sandbox, path, "cursor")
    rows = sandbox.world.music_list(sound.index)
    assert [item["aweme_id"] for item in items] == sandbox.world.works.aweme_id[rows].astype(
        str
    ).tolist()
    assert all(item["music"] == {} and item["author"] is None for item in items)
    assert all("create_time" not in item for item in items)
    assert {item["statistics"]["collect_count"] for item in items} == {0}


def test_posts_come_in_the_mobile_form_pinned_first_and_page_to_their_end(
    sandbox: Sandbox,
) -> None:
    world = sandbox.world
    account = max(range(world.account_count), key=lambda index: world.works_by_account(index).size)
    sec_uid = world.sec_uid(account)
    items = _walked(sandbox, f"/web/api/v2/aweme/post/?sec_uid={sec_uid}&count=9", "max_cursor")
    rows = world.works_by_account(account)
    assert [item["aweme_id"] for item in items] == world.works.aweme_id[rows].astype(str).tolist()
    assert all(set(item["statistics"]) == {"digg_count"} for item in items)
    assert all({"create_time", "music", "author"}.isdisjoint(item) for item in items)
    by_page_name = sandbox.get(f"/web/api/v2/aweme/post/?sec_user_id={sec_uid}").json()
    assert by_page_name["aweme_list"][0] == items[0]


def test_beyond_the_last_page_there_is_an_empty_list(sandbox: Sandbox) -> None:
    sec_uid = sandbox.world.sec_uid(0)
    answer = sandbox.get(f"/web/api/v2/aweme/post/?sec_uid={sec_uid}&max_cursor=1").json()
    assert answer["aweme_list"] == []
    assert answer["has_more"] == 0


def test_user_info_answers_browsers_of_today_only(sandbox: Sandbox) -> None:
    sec_uid = sandbox.world.sec_uid(3)
    path = f"/web/api/v2/user/info/?sec_uid={sec_uid}"
    info = sandbox.get(path).json()["user_info"]
    old = sandbox.client.get(path, headers={"user-agent": "Mozilla/5.0 (Linux; Android 5.0; X)"})
    assert info["sec_uid"] == sec_uid
    assert isinstance(info["total_favorited"], str)
    assert info["aweme_count"] == sandbox.world.works_by_account(3).size
    assert old.status_code == 200
    assert old.content == b""


def test_a_music_page_carries_its_info_by_value(sandbox: Sandbox) -> None:
    sound = sandbox.world.tracks[0]
    page = _data(sandbox.get(f"/share/music/{sound.music_id}/").text)
    assert page["musicInfoRes"]["music_info"]["mid"] == sound.music_id


def test_short_links_lead_to_share_pages(sandbox: Sandbox) -> None:
    listed = sandbox.get("/_world/tracks").json()["tracks"][0]
    music, video = sandbox.get(listed["short_link"]), sandbox.get(listed["video_link"])
    assert music.status_code == video.status_code == 302
    assert f"/share/music/{listed['music_id']}/" in music.headers["location"]
    assert f"/{listed['aweme_id']}/?" in video.headers["location"]
    assert f"mid={listed['music_id']}" in video.headers["location"]


def test_a_short_link_of_an_account_has_the_sec_uid_in_the_query(sandbox: Sandbox) -> None:
    answer = sandbox.get(Addresses(sandbox.port).short_link("user", 5))
    assert f"sec_uid={sandbox.world.sec_uid(5)}" in answer.headers["location"]


def test_odd_short_links_leave_the_platform_or_go_in_circles(sandbox: Sandbox) -> None:
    addresses = Addresses(sandbox.port)
    circle = addresses.short_link("odd", CIRCLES)
    assert sandbox.get(circle).headers["location"] == circle
    assert "vidplat" not in sandbox.get(addresses.short_link("odd", LEAVES)).headers["location"]
    assert sandbox.get("/mzzzz/").status_code == 404
    assert sandbox.get("/nonsense", host="v.vidplat.localhost").status_code == 404


def test_playing_redirects_to_a_file_that_expires(sandbox: Sandbox) -> None:
    work = _shown(sandbox, is_photo=False)
    item = _details(sandbox, work.aweme_id)["aweme_details"][0]
    play = sandbox.get(item["video"]["play_addr"]["url_list"][0])
    address = play.headers["location"]
    file = sandbox.get(address)
    assert play.status_code == 302
    assert httpx.URL(address).host == "media.vidplat.localhost"
    assert file.headers["content-type"] == "video/mp4"
    with av.open(io.BytesIO(file.content), "r") as media:
        seconds = (media.duration or 0) / 1e6
    assert seconds == pytest.approx(item["video"]["duration"] / 1000, abs=1.0)
    assert sandbox.get(address.replace("x-signature=", "x-signature=0")).status_code == 403
    sandbox.client.post("/_world/clock", json={"advance_s": 4 * 3600})
    assert sandbox.get(address).status_code == 403
    sandbox.client.post("/_world/clock", json={"advance_s": -4 * 3600})
    assert sandbox.get(address).status_code == 200


def test_covers_are_pictures(sandbox: Sandbox) -> None:
    work = _shown(sandbox)
    item = _data(sandbox.get(f"/share/video/{work.aweme_id}/").text)["videoInfoRes"]["item_list"][0]
    picture = sandbox.get(item["video"]["cover"]["url_list"][0])
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")


async def test_one_sound_asked_for_by_many_is_rendered_once(sandbox: Sandbox) -> None:
    row = int(np.flatnonzero(sandbox.world.sounds.kind == SoundKind.SPEED)[-1])
    work = next(work for work in _works(sandbox, sound=row, is_photo=False, state=State.PUBLIC))
    item = _details(sandbox, work.aweme_id)["aweme_details"][0]
    address = sandbox.get(item["video"]["play_addr"]["url_list"][0]).headers["location"]
    target = httpx.URL(address).raw_path.decode()
    base = f"http://127.0.0.1:{sandbox.port}"
    async with httpx.AsyncClient(base_url=base, timeout=30) as client:
        answers = await asyncio.gather(*(client.get(target) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.parametrize("path", ["/video/7000000000000000001", "/search", "/hot/list", "/"])
def test_surfaces_that_are_not_there_say_so(sandbox: Sandbox, path: str) -> None:
    assert sandbox.get(path).status_code == 404
