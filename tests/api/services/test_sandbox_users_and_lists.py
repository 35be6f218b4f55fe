"""Users and lists, read from the stand-in platform as it is and broken."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from api.services.reads.documents import TimeWindow
from api.services.reads.metrics import read_metrics
from sandbox.world.content.tables import VideoState
from sandbox.world.world import SandboxWorld
from tests.scripted_reads import ReadService, open_reads, without_end
from warehouse.records.errors import VerificationDemandedError

pytestmark = pytest.mark.full

VIDPLAT = "/api/v1/vidplat"
RESOLVE = f"{VIDPLAT}/web/get_sec_user_id"
APP = f"{VIDPLAT}/app/v3"
PROFILE, POSTS = f"{APP}/handler_user_profile", f"{APP}/fetch_user_post_videos"
MUSIC, HASHTAG = f"{APP}/fetch_music_video_list", f"{APP}/fetch_hashtag_video_list"
WORLD = SandboxWorld(11, 0.1)


@pytest.fixture
def platform(sandbox: Any) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=f"http://127.0.0.1:{sandbox.port}", verify=False) as platform:
        yield platform
        platform.delete("/_world/faults").raise_for_status()
        platform.delete("/_world/switches").raise_for_status()


@pytest.fixture
def read_service(sandbox: Any, tmp_path: Path) -> Iterator[ReadService]:
    chosen = {"data_provider": "vidplat-public", "profile": "sandbox", "sandbox_port": sandbox.port}
    with open_reads(tmp_path, **chosen) as read_service:
        yield read_service


@pytest.fixture
def client(read_service: ReadService) -> TestClient:
    return read_service.client()


@pytest.fixture
def account(platform: httpx2.Client) -> dict[str, Any]:
    """The account with the most posts."""
    accounts = platform.get("/_world/accounts", params={"limit": 100}).json()["accounts"]
    found: dict[str, Any] = max(accounts, key=lambda one: one["post_count"])
    return found


def read(client: TestClient, path: str, **given: Any) -> Any:
    answer = client.get(path, params=given)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def broken(platform: httpx2.Client, surface: str, kind: str) -> None:
    fault = {"surface": surface, "kind": kind, "times": 0}
    platform.post("/_world/faults", json=fault).raise_for_status()


def test_every_form_of_a_link_leads_to_the_account(
    client: TestClient, platform: httpx2.Client, account: dict[str, Any]
) -> None:
    work = platform.get("/_world/works", params={"state": "public", "limit": 1}).json()["works"][0]
    forms = {
        account["share_link"]: (account["sec_uid"], "profile_link"),
        f"看看 {account['short_link']}，快来！": (account["sec_uid"], "short_link"),
        f"id: {account['sec_uid']} (copied)": (account["sec_uid"], "text"),
        work["share_link"]: (work["sec_uid"], "work_author"),
    }
    found = {text: read(client, RESOLVE, url=text) for text in forms}
    assert {text: (data["sec_user_id"], data["source"]) for text, data in found.items()} == forms
    for data in found.values():
        assert data["resolved_url"].endswith(f"/user/{data['sec_user_id']}")


def test_a_handle_leads_to_the_account_and_an_unknown_one_to_nobody(
    client: TestClient, account: dict[str, Any]
) -> None:
    data = read(client, RESOLVE, url=f"@{account['unique_id'].upper()}")
    assert (data["sec_user_id"], data["source"]) == (account["sec_uid"], "text")
    assert read(client, RESOLVE, url=account["unique_id"]) == data
    answer = client.get(RESOLVE, params={"url": "@nobody-here-999999"})
    error = answer.json()["data"]["error"]
    assert (answer.status_code, error["type"]) == (400, "unresolvable_sec_user_id")
    assert "no account with this handle" in error["detail"]


@pytest.mark.parametrize("kind", ["music", "challenge"])
def test_a_link_to_something_else_leads_to_nobody(client: TestClient, kind: str) -> None:
    url = f"http://share.vidplat.localhost/share/{kind}/7300000000000000001/"
    answer = client.get(RESOLVE, params={"url": url})
    assert answer.json()["data"]["error"]["type"] == "unresolvable_sec_user_id"


def test_a_dead_short_link_is_followed_once(
    client: TestClient, platform: httpx2.Client, sandbox: Any
) -> None:
    url = f"http://v.vidplat.localhost:{sandbox.port}/nowhere/"
    for _ in range(2):
        answer = client.get(RESOLVE, params={"url": url})
        assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (
            400, "unresolvable_sec_user_id",
        )  # fmt: skip
    seen = platform.get("/_world/access-log/requests", params={"surface": "short_link"}).json()
    assert sum("nowhere" in str(one) for one in seen["requests"]) == 1


def test_a_profile_shows_what_the_account_has(client: TestClient, account: dict[str, Any]) -> None:
    user = read(client, PROFILE, sec_user_id=account["sec_uid"])["user"]
    for name in ("sec_uid", "uid", "unique_id", "nickname", "follower_count", "total_favorited"):
        assert user[name] == account[name]
    assert user["aweme_count"] == account["post_count"]


def walk_posts(client: TestClient, account: dict[str, Any], count: int) -> list[str]:
    seen, given = list[str](), {"sec_user_id": account["sec_uid"], "count": count}
    data = read(client, POSTS, **given)
    seen += [video["aweme_id"] for video in data["aweme_list"]]
    while data["has_more"]:
        data = read(client, POSTS, **given, max_cursor=data["max_cursor"])
        seen += [video["aweme_id"] for video in data["aweme_list"]]
    return seen


@pytest.mark.parametrize("count", [pytest.param(20, marks=pytest.mark.soak), 7])
def test_posts_are_walked_to_their_end(
    client: TestClient, account: dict[str, Any], count: int
) -> None:
    seen = walk_posts(client, account, count)
    assert len(seen) == len(set(seen)) == account["post_count"]


def switched(platform: httpx2.Client, switch: str) -> None:
    platform.post("/_world/switches", json={"switches": [switch]}).raise_for_status()


@pytest.mark.parametrize("empty", [pytest.param(1, marks=pytest.mark.soak), 3])
def test_posts_behind_empty_pages_are_reached(
    client: TestClient, platform: httpx2.Client, account: dict[str, Any], empty: int
) -> None:
    switched(platform, f"empty_pages={empty}")
    seen = walk_posts(client, account, 20)
    assert len(seen) == len(set(seen)) == account["post_count"]


def test_posts_behind_a_fourth_empty_page_in_a_row_are_left(
    client: TestClient, platform: httpx2.Client, account: dict[str, Any]
) -> None:
    switched(platform, "empty_pages=4")
    platform.delete("/_world/access-log/summary").raise_for_status()
    first = read(client, POSTS, sec_user_id=account["sec_uid"], count=20)
    second = read(
        client, POSTS, sec_user_id=account["sec_uid"], count=20, max_cursor=first["max_cursor"]
    )
    assert (first["has_more"], len(first["aweme_list"])) == (True, 20)
    assert (second["aweme_list"], second["has_more"], second["platform_has_more"]) == (
        [], False, True,
    )  # fmt: skip
    asked = platform.get("/_world/access-log/summary").json()["surfaces"]
    assert asked["user_posts"] == 5


def test_lists_grow_by_refreshes_and_stay_walkable(
    client: TestClient, platform: httpx2.Client
) -> None:
    track = platform.get("/_world/tracks").json()["tracks"][0]["music_id"]
    first = read(client, MUSIC, music_id=track, count=20)
    again = read(client, MUSIC, music_id=track, count=20, refresh="true")
    assert again["observation_history"]["snapshot_count"] == 2
    assert again["observation_history"]["distinct_snapshot_count"] == 1
    assert [one["aweme_id"] for one in again["aweme_list"]] == [
        one["aweme_id"] for one in first["aweme_list"]
    ]
    assert first["aweme_list"]
    tag = platform.get("/_world/hashtags", params={"limit": 1}).json()["hashtags"][0]["ch_id"]
    page = read(client, HASHTAG, ch_id=tag, count=5, sort_type=1)
    rest = read(client, HASHTAG, ch_id=tag, count=15, sort_type=1, cursor=page["cursor"])
    shown = [one["aweme_id"] for one in (*page["aweme_list"], *rest["aweme_list"])]
    assert len(shown) == len(set(shown)) == page["public_first_screen_count"]


REFUSALS = [
    ("empty", "upstream_empty"), ("blocked", "upstream_empty"),
    ("captcha", "upstream_verification"), ("verify_redirect", "upstream_verification"),
    ("login_2483", "upstream_login_required"), ("403", "upstream_forbidden"),
    ("region", "upstream_region_blocked"), ("structure", "upstream_structure_changed"),
]  # fmt: skip


ASKED = {
    PROFILE: {"sec_user_id": WORLD.sec_uid(5)},
    POSTS: {"sec_user_id": WORLD.sec_uid(5)},
    MUSIC: {"music_id": WORLD.tracks[1].music_id},
    HASHTAG: {"ch_id": "7300000000000000001"},
}


@pytest.mark.parametrize(("kind", "word"), REFUSALS)
def test_every_refusal_of_the_platform_is_told_by_its_name(
    client: TestClient, platform: httpx2.Client, kind: str, word: str
) -> None:
    broken(platform, "*", kind)
    answers = [client.get(path, params=given) for path, given in ASKED.items()]
    errors = [answer.json()["data"]["error"] for answer in answers]
    assert {answer.status_code for answer in answers} == {502}
    assert {error["type"] for error in errors} == {word}
    assert all(error["upstream"]["surface"] and error["hint"] for error in errors)


def test_too_many_requests_say_how_long_to_wait(
    client: TestClient, platform: httpx2.Client
) -> None:
    fault = {"surface": "*", "kind": "429", "times": 0, "retry_after": 120}
    platform.post("/_world/faults", json=fault).raise_for_status()
    answer = client.get(PROFILE, params={"sec_user_id": WORLD.sec_uid(6)})
    assert (answer.status_code, answer.json()["data"]["error"]["type"]) == (
        502, "upstream_rate_limited",
    )  # fmt: skip
    assert 100 < int(answer.headers["retry-after"]) <= 121


def test_metrics_are_those_of_the_window(
    read_service: ReadService, account: dict[str, Any]
) -> None:
    index = WORLD.account_of(account["sec_uid"])
    assert index is not None
    works = [WORLD.works.row(row) for row in WORLD.videos_by_account(index)]
    public = [work for work in works if work.state is VideoState.PUBLIC]
    newest = sorted(public, key=lambda work: -work.create_time)[:10]
    end = datetime.fromtimestamp(WORLD.now, UTC)
    days = int((WORLD.now - newest[-1].create_time) // 86_400) + 1
    answer = asyncio.run(
        read_metrics(
            read_service.sources, account["sec_uid"], count=10,
            window=TimeWindow(days=days, end=end), deadline=without_end(),
        )
    )  # fmt: skip
    likes = [work.digg_count for work in newest]
    data = answer.document
    assert data["top_video"] is not None
    assert (data["analyzed_count"], data["statistics_complete"]) == (10, True)
    assert data["average_digg_count"] == round(sum(likes) / 10, 2)
    assert data["top_video"]["statistics"]["digg_count"] == max(likes)
    assert data["follower_count"] == account["follower_count"]


def test_metrics_without_details_say_so(
    read_service: ReadService, account: dict[str, Any], platform: httpx2.Client
) -> None:
    for surface in ("video_page", "slides_info"):
        broken(platform, surface, "captcha")
    window = TimeWindow(days=365, end=datetime.fromtimestamp(WORLD.now, UTC))

    async def ask() -> None:
        await read_metrics(
            read_service.sources,
            account["sec_uid"],
            window=window,
            count=20,
            deadline=without_end(),
        )

    with pytest.raises(VerificationDemandedError):
        asyncio.run(ask())
