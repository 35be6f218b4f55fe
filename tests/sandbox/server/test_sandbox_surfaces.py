"""Each surface answers in the shape that a guest of the platform sees."""

import io
import json

import av
import pytest

from sandbox.server.surfaces.video_pages import is_withheld
from sandbox.world.content.tables import VideoState

from .conftest import Sandbox, page_data

pytestmark = pytest.mark.full


def test_a_video_page_has_the_recorded_shape(sandbox: Sandbox) -> None:
    work = sandbox.shown(is_photo=False)
    page = sandbox.get(f"/share/video/{work.aweme_id}/")
    container = page_data(page.text)["videoInfoRes"]
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
        work for work in sandbox.works(state=VideoState.PUBLIC)
        if "<script>" in sandbox.world.caption(work) and not is_withheld(work, has_cookie=False)
    )  # fmt: skip
    page = sandbox.get(f"/share/video/{hostile.aweme_id}/").text
    assert "\\u002F" in page
    assert "<script>alert" not in page
    item = page_data(page)["videoInfoRes"]["item_list"][0]
    assert item["desc"] == sandbox.world.caption(hostile)


def test_a_photo_post_has_images_no_duration_and_an_mp3(sandbox: Sandbox) -> None:
    work = sandbox.shown(is_photo=True, is_silent=False)
    item = page_data(sandbox.get(f"/share/note/{work.aweme_id}/").text)["videoInfoRes"][
        "item_list"
    ][0]
    assert item["images"]
    assert item["video"]["duration"] == 0
    file = sandbox.get(item["video"]["play_addr"]["url_list"][0])
    assert file.headers["content-type"] == "audio/mpeg"
    with av.open(io.BytesIO(file.content), "r") as sound:
        assert sound.streams.audio[0].codec_context.name.startswith("mp3")


def test_a_silent_photo_post_names_the_placeholder(sandbox: Sandbox) -> None:
    work = sandbox.shown(is_silent=True)
    item = page_data(sandbox.get(f"/share/note/{work.aweme_id}/").text)["videoInfoRes"][
        "item_list"
    ][0]
    address = item["video"]["play_addr"]["url_list"][0]
    assert "images_no_sound_volume_audio_file.mp3" in address
    assert sandbox.get(address).status_code == 200


def test_some_pages_stay_a_shell_and_the_second_source_answers(sandbox: Sandbox) -> None:
    work = next(
        work for work in sandbox.works(state=VideoState.PUBLIC, is_photo=False)
        if is_withheld(work, has_cookie=True)
    )  # fmt: skip
    first = sandbox.get(f"/share/video/{work.aweme_id}/")
    second = sandbox.get(f"/share/video/{work.aweme_id}/")
    assert "ttwid" in first.headers["set-cookie"]
    assert "videoInfoRes" not in first.text + second.text
    assert 20_000 < len(first.content) < 50_000
    assert sandbox.details(work.aweme_id)["aweme_details"][0]["aweme_id"] == work.aweme_id


def test_some_pages_give_their_data_once_the_cookie_comes_back(sandbox: Sandbox) -> None:
    work = next(
        work for work in sandbox.works(state=VideoState.PUBLIC)
        if is_withheld(work, has_cookie=False) and not is_withheld(work, has_cookie=True)
    )  # fmt: skip
    path = f"/share/video/{work.aweme_id}/"
    first = sandbox.get(path)
    cookie = first.headers["set-cookie"].partition(";")[0]
    second = sandbox.client.get(path, headers={"cookie": cookie})
    assert "videoInfoRes" not in first.text
    assert page_data(second.text)["videoInfoRes"]["item_list"][0]["aweme_id"] == work.aweme_id


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (VideoState.DELETED, "status_deleted"),
        (VideoState.PRIVATE, "status_self_see"),
        (VideoState.REVIEWING, "status_reviewing"),
    ],
)
def test_hidden_works_are_named_with_their_reason(
    sandbox: Sandbox, state: VideoState, reason: str
) -> None:
    work = next(
        work for work in sandbox.works(state=state) if not is_withheld(work, has_cookie=False)
    )
    container = page_data(sandbox.get(f"/share/video/{work.aweme_id}/").text)["videoInfoRes"]
    assert container["item_list"] == []
    assert container["filter_list"][0]["filter_reason"] == reason
    assert container["filter_list"][0]["notice"] == "抱歉，作品不见了"
    answer = sandbox.details(work.aweme_id)
    assert answer["aweme_details"] is None
    assert answer["filter_list"][0]["filter_reason"] == reason


def test_a_work_that_never_was_is_said_not_to_exist(sandbox: Sandbox) -> None:
    container = page_data(sandbox.get("/share/video/7000000000000000001/").text)["videoInfoRes"]
    assert container["filter_list"][0]["filter_reason"] == "item_non_existent"


def test_the_second_source_has_the_detail_shape(sandbox: Sandbox) -> None:
    work = sandbox.shown(is_photo=False)
    item = sandbox.details(work.aweme_id)["aweme_details"][0]
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
    photo, video = sandbox.shown(is_photo=True), sandbox.shown(is_photo=False)
    plain = sandbox.details(photo.aweme_id)
    asked = sandbox.details(photo.aweme_id, "&request_source=200")
    wrong = sandbox.details(video.aweme_id, "&request_source=200")
    assert plain["aweme_details"] is None
    assert [entry["filter_reason"] for entry in plain["filter_list"]] == ["images_base"]
    assert asked["aweme_details"][0]["media_type"] == 2
    assert wrong["aweme_details"] is None
    assert wrong["filter_list"]


def test_the_web_detail_leaves_out_a_photo_post_with_the_reason(sandbox: Sandbox) -> None:
    path = f"/aweme/v1/web/aweme/detail/?aweme_id={sandbox.shown(is_photo=True).aweme_id}"
    reported = sandbox.get(path, host="www.vidplat.localhost", cookie="ttwid=1").json()
    assert reported["aweme_detail"] is None
    assert reported["filter_detail"]["filter_reason"] == "images_base"


def test_an_invented_signature_gives_an_empty_body(sandbox: Sandbox) -> None:
    work = sandbox.shown()
    path = f"/web/api/v2/aweme/slidesinfo/?aweme_ids=[{work.aweme_id}]&a_bogus=x"
    assert sandbox.get(path).content == b""
