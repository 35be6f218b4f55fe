"""Lists, accounts, short links and media answer as a guest of the platform sees them."""

import asyncio
import io
import json

import av
import httpx2 as httpx
import numpy as np
import pytest

from sandbox.server.addresses import SandboxUrls
from sandbox.server.documents.videos import shown_count, to_video_id
from sandbox.server.surfaces.short_links import CIRCLES, LEAVES
from sandbox.server.surfaces.video_pages import is_withheld
from sandbox.world.content.tables import Alteration, SandboxVideo, SoundKind, VideoState
from sandbox.world.hardness import chroma_correlation
from sandbox.world.sound.instruments import Samples

from .conftest import Json, Sandbox, page_data

pytestmark = pytest.mark.full


def test_music_info_has_no_address_and_no_user_count(sandbox: Sandbox) -> None:
    sound = sandbox.world.tracks[0]
    info = sandbox.get(f"/web/api/v2/music/info/?music_id={sound.music_id}").json()["music_info"]
    assert info["mid"] == sound.music_id
    assert info["title"] == sandbox.world.sound_title(sound)
    assert {"play_url", "user_count"}.isdisjoint(info)
    followed = json.loads(json.loads(info["extra"])["high_level_follow_info"])
    assert followed == {"music_use_count": shown_count(sandbox.world.use_count(sound))}


def test_info_of_a_user_sound_names_its_owner_and_source(sandbox: Sandbox) -> None:
    row = int(np.flatnonzero(sandbox.world.sounds.kind == SoundKind.VOICE_OVER)[0])
    music_id = str(sandbox.world.sounds.music_id[row])
    info = sandbox.get(f"/web/api/v2/music/info/?music_id={music_id}").json()["music_info"]
    extra = json.loads(info["extra"])
    assert info["title"] == f"@{extra['owner_nickname']}创作的原声"
    assert sandbox.world.video_of_id(extra["extract_item_id"]) is not None


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
    sound = max(sandbox.world.tracks, key=lambda s: sandbox.world.videos_by_sound(s.index).size)
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
    account = max(range(world.account_count), key=lambda index: world.videos_by_account(index).size)
    sec_uid = world.sec_uid(account)
    items = _walked(sandbox, f"/web/api/v2/aweme/post/?sec_uid={sec_uid}&count=9", "max_cursor")
    rows = world.videos_by_account(account)
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
    assert info["aweme_count"] == sandbox.world.videos_by_account(3).size
    assert old.status_code == 200
    assert old.content == b""


def test_a_music_page_carries_its_info_by_value(sandbox: Sandbox) -> None:
    sound = sandbox.world.tracks[0]
    page = page_data(sandbox.get(f"/share/music/{sound.music_id}/").text)
    assert page["musicInfoRes"]["music_info"]["mid"] == sound.music_id


def test_short_links_lead_to_share_pages(sandbox: Sandbox) -> None:
    listed = sandbox.get("/_world/tracks").json()["tracks"][0]
    music, video = sandbox.get(listed["short_link"]), sandbox.get(listed["video_link"])
    assert music.status_code == video.status_code == 302
    assert f"/share/music/{listed['music_id']}/" in music.headers["location"]
    assert f"/{listed['aweme_id']}/?" in video.headers["location"]
    assert f"mid={listed['music_id']}" in video.headers["location"]


def test_a_short_link_of_an_account_has_the_sec_uid_in_the_query(sandbox: Sandbox) -> None:
    answer = sandbox.get(SandboxUrls(sandbox.port).short_link("user", 5))
    assert f"sec_uid={sandbox.world.sec_uid(5)}" in answer.headers["location"]


def test_odd_short_links_leave_the_platform_or_go_in_circles(sandbox: Sandbox) -> None:
    addresses = SandboxUrls(sandbox.port)
    circle = addresses.short_link("odd", CIRCLES)
    assert sandbox.get(circle).headers["location"] == circle
    assert "vidplat" not in sandbox.get(addresses.short_link("odd", LEAVES)).headers["location"]
    assert sandbox.get("/mzzzz/").status_code == 404
    assert sandbox.get("/nonsense", host="v.vidplat.localhost").status_code == 404


@pytest.mark.parametrize("name", ["muted", "replaced", "live", "voiced_over"])
def test_an_altered_video_names_its_music_id_and_plays_a_sound_of_its_own(
    sandbox: Sandbox, name: str
) -> None:
    work, sibling = _altered_pair(sandbox, Alteration[name.upper()])
    item = sandbox.page_item(f"/share/video/{work.aweme_id}/")
    sound = sandbox.world.sounds.row(work.sound)
    assert item["music"]["mid"] == sound.music_id
    assert item["video"]["duration"] == round(sound.duration_s * 1000)
    played, named = _played(sandbox, work), _played(sandbox, sibling)
    assert played.size == pytest.approx(named.size, rel=0.05)
    assert (float(np.abs(played).max()) < 1e-3) == (name == "muted")
    is_like = name == "voiced_over"
    assert name == "muted" or (chroma_correlation(played, named) > 0.5) == is_like
    shown = [
        one["aweme_id"] for one in sandbox.control_data("works", state=name, limit=500)["works"]
    ]
    assert work.aweme_id in shown


def _altered_pair(sandbox: Sandbox, alteration: Alteration) -> tuple[SandboxVideo, SandboxVideo]:
    """An altered video whose page is shown, and one that plays what their music id names."""
    plain = {
        work.sound: work
        for work in sandbox.works(
            alteration=Alteration.NONE, state=VideoState.PUBLIC, is_photo=False, is_silent=False
        )
    }
    return next(
        (work, plain[work.sound])
        for work in sandbox.works(alteration=alteration, state=VideoState.PUBLIC)
        if work.sound in plain and not is_withheld(work, has_cookie=False)
    )


def _played(sandbox: Sandbox, work: SandboxVideo) -> Samples:
    address = sandbox.get(f"/aweme/v1/playwm/?video_id={to_video_id(work.aweme_id)}",
                          host="play.vidplat.localhost").headers["location"]  # fmt: skip
    answer = sandbox.get(address)
    assert answer.headers["content-type"] == "video/mp4"
    with av.open(io.BytesIO(answer.content), "r") as file:
        frames = [frame.to_ndarray() for frame in file.decode(file.streams.audio[0])]
    return np.asarray(np.concatenate(frames, axis=1).mean(axis=0), dtype=np.float32)


def test_the_file_of_an_unaltered_video_has_no_address_of_its_own(sandbox: Sandbox) -> None:
    work = sandbox.shown(alteration=Alteration.NONE, is_photo=False)
    address = sandbox.get(f"/aweme/v1/playwm/?video_id={to_video_id(work.aweme_id)}",
                          host="play.vidplat.localhost").headers["location"]  # fmt: skip
    assert str(sandbox.world.sounds.music_id[work.sound]) in address
    assert sandbox.get(address.replace(str(sandbox.world.sounds.music_id[work.sound]),
                                       work.aweme_id)).status_code == 403  # fmt: skip


def test_playing_redirects_to_a_file_that_expires(sandbox: Sandbox) -> None:
    work = sandbox.shown(is_photo=False)
    item = sandbox.details(work.aweme_id)["aweme_details"][0]
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
    work = sandbox.shown()
    item = page_data(sandbox.get(f"/share/video/{work.aweme_id}/").text)["videoInfoRes"][
        "item_list"
    ][0]
    picture = sandbox.get(item["video"]["cover"]["url_list"][0])
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")


async def test_one_sound_asked_for_by_many_is_rendered_once(sandbox: Sandbox) -> None:
    row = int(np.flatnonzero(sandbox.world.sounds.kind == SoundKind.SPEED)[-1])
    work = next(work for work in sandbox.works(sound=row, is_photo=False, state=VideoState.PUBLIC))
    item = sandbox.details(work.aweme_id)["aweme_details"][0]
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
