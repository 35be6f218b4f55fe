"""Clients of the aggregator whose paths we follow: they read what they are used to, here too.

Each reader takes exactly the fields that such clients read, in the way they do: attributes by name,
`.get` where they are tolerant, and a crash where they are not.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.contract.operations import APP, VIDPLAT, ids_of
from tests.scripted_reads import ReadService

AVATARS = ("avatar_thumb", "avatar_medium", "avatar_larger")


@pytest.fixture(scope="module")
def client(stored_reads: ReadService) -> TestClient:
    return stored_reads.client()


@pytest.fixture(scope="module")
def ids(stored_reads: ReadService) -> dict[str, str]:
    return ids_of(stored_reads)


def called(client: TestClient, method: str, path: str, **request: Any) -> Any:
    """As their kits do: the status, then `code`, then `data`."""
    answer = client.request(method, path, **request)
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-request-id"] == answer.json()["request_id"]
    body = answer.json()
    assert body["code"] == 200
    return body["data"]


def read_sec_user_id(data: Any) -> str:
    """`data` is the text itself with the aggregator; clients that know both forms take either."""
    found: str = data if isinstance(data, str) else data["sec_user_id"]
    return found


def read_user(data: Any) -> dict[str, Any]:
    user = data.get("user") or data
    names = (
        "nickname", "signature", "uid", "sec_uid", "unique_id", "follower_count",
        "following_count", "aweme_count", "total_favorited",
    )  # fmt: skip
    pictures = [user[name]["url_list"] for name in AVATARS if name in user]
    return {name: user[name] for name in names} | {"pictures": pictures}


def read_video(video: Any) -> dict[str, Any]:
    counts = ("digg_count", "comment_count", "collect_count", "share_count")
    author, music, film = video["author"] or {}, video["music"] or {}, video["video"]
    return {
        "aweme_id": video["aweme_id"],
        "desc": video["desc"],
        "create_time": video["create_time"],
        "share_url": video["share_url"],
        **{name: video["statistics"][name] for name in counts},
        "nickname": author.get("nickname"),
        "sec_uid": author.get("sec_uid"),
        "unique_id": author.get("unique_id"),
        "avatar": author.get("avatar_thumb", {}).get("url_list", []),
        "music_id": music.get("id_str") or music.get("mid"),
        "music_title": music.get("title"),
        "music_author": music.get("author"),
        "music_url": music.get("play_url", {}).get("url_list", []),
        "music_duration": music.get("duration"),
        "play": film.get("play_addr", {}).get("url_list", []),
        "cover": film["cover"]["url_list"],
        "duration": film["duration"],
    }


def walked(client: TestClient, path: str, cursor: str, **params: Any) -> Iterator[dict[str, Any]]:
    """Their paginator: `has_more` and the cursor of `data`, until there is no more."""
    following = 0
    for _ in range(40):
        data = called(client, "GET", path, params={**params, cursor: following})
        yield from map(read_video, data["aweme_list"])
        if not data["has_more"]:
            return
        following = data[cursor]
    raise AssertionError("the walk does not end")


def test_the_id_of_an_account_is_read(client: TestClient, ids: dict[str, str]) -> None:
    path = f"{VIDPLAT}/web/get_sec_user_id"
    link = f"look http://www.vidplat.localhost:8790/user/{ids['sec_uid']} !"
    data = called(client, "GET", path, params={"url": link})
    assert read_sec_user_id(data) == ids["sec_uid"]


def test_a_profile_is_read(client: TestClient, ids: dict[str, str]) -> None:
    path = f"{APP}/handler_user_profile"
    user = read_user(called(client, "GET", path, params={"sec_user_id": ids["sec_uid"]}))
    assert user["sec_uid"] == ids["sec_uid"]
    assert isinstance(user["follower_count"], int)
    assert user["nickname"]


def test_posts_are_walked_to_their_end(client: TestClient, ids: dict[str, str]) -> None:
    path = f"{APP}/fetch_user_post_videos"
    works = list(walked(client, path, "max_cursor", sec_user_id=ids["sec_uid"], count=5))
    names = [work["aweme_id"] for work in works]
    assert len(names) == len(set(names)) > 5
    assert {work["sec_uid"] for work in works} == {ids["sec_uid"]}


@pytest.mark.parametrize(
    ("name", "id_name", "more"),
    [
        ("fetch_music_video_list", "music_id", {"count": 10}),
        ("fetch_hashtag_video_list", "ch_id", {"count": 10, "sort_type": 0}),
    ],
)
def test_lists_are_walked_to_their_end(
    client: TestClient, ids: dict[str, str], name: str, id_name: str, more: dict[str, int]
) -> None:
    works = list(walked(client, f"{APP}/{name}", "cursor", **{id_name: ids[id_name]}, **more))
    names = [work["aweme_id"] for work in works]
    assert len(names) == len(set(names)) >= 1


@pytest.mark.parametrize("path", [f"{VIDPLAT}/web/fetch_multi_video", f"{APP}/fetch_multi_video"])
def test_several_videos_are_read_and_the_others_have_a_reason(
    client: TestClient, ids: dict[str, str], path: str
) -> None:
    data = called(client, "POST", path, json=[ids["aweme_id"], "7999999999999999999"])
    works = [read_video(one) for one in data.get("aweme_details") or data["aweme_list"]]
    assert [work["aweme_id"] for work in works] == [ids["aweme_id"]]
    assert all(isinstance(works[0][name], int) for name in ("digg_count", "share_count"))
    assert [(one["aweme_id"], bool(one["reason"])) for one in data["filter_list"]] == [
        ("7999999999999999999", True)
    ]


@pytest.mark.parametrize("name", ["fetch_music_search", "fetch_video_search_v1"])
def test_search_is_refused_in_a_form_that_their_kits_read(client: TestClient, name: str) -> None:
    body = {
        "keyword": "song", "cursor": 0, "search_id": "", "backtrace": "", "sort_type": "0",
        "publish_time": "0", "filter_duration": "0", "content_type": "0",
    }  # fmt: skip
    answer = client.post(f"{VIDPLAT}/search/{name}", json=body)
    reported = answer.json()
    text = next(reported[key] for key in ("message", "error", "detail", "msg") if key in reported)
    assert (answer.status_code, reported["code"]) == (501, 501)
    assert text


def test_errors_are_read_by_their_status_and_text(client: TestClient) -> None:
    answer = client.get(f"{APP}/handler_user_profile")
    assert answer.status_code == 400
    assert answer.json()["message"]
    assert answer.headers["x-request-id"]
