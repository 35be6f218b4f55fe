"""What control endpoints, short links and account surfaces of the sandbox say of content that is
there, and of content that is not.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sandbox.server.addresses import LinkKind, to_code
from sandbox.server.documents.videos import to_shown_count
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import to_routes
from sandbox.server.surfaces import control_facts, short_links, users
from sandbox.server.surfaces.users import user_page
from sandbox.world.world import SandboxWorld

NOBODY = 7_000_000_000_000_000_001


@pytest.fixture
def guest(platform: SandboxPlatform) -> Iterator[TestClient]:
    surfaces = (*control_facts.SURFACES, *users.SURFACES, *short_links.SURFACES)
    table = to_routes(surfaces, platform)
    with TestClient(Starlette(routes=table), follow_redirects=False) as client:
        yield client


def control_get(guest: TestClient, path: str, **query: str) -> tuple[int, Any]:
    answer = guest.get(f"/_world/{path}", params=query)
    return answer.status_code, answer.json()


def test_a_hashtag_is_told_with_its_videos_and_an_unknown_one_is_none(guest: TestClient) -> None:
    first = control_get(guest, "hashtags", limit="1")[1]["hashtags"][0]
    status, found = control_get(guest, f"hashtags/{first['ch_id']}")
    assert (status, found["name"], len(found["members"])) == (
        200, first["name"], first["member_count"],
    )  # fmt: skip
    assert control_get(guest, "hashtags/12345") == (404, {"error": "no such hashtag"})


def test_accounts_are_told_with_the_number_of_their_videos(
    guest: TestClient, world: SandboxWorld
) -> None:
    first = control_get(guest, "accounts", limit="1")[1]["accounts"][0]
    index = world.account_of(first["sec_uid"])
    assert index is not None
    assert first["post_count"] == world.videos_by_account(index).size


def test_videos_are_asked_for_by_a_state_that_there_is(guest: TestClient) -> None:
    status, found = control_get(guest, "works", state="deleted", limit="3")
    assert (status, found["state"], len(found["works"])) == (200, "deleted", 3)
    status, refused = control_get(guest, "works", state="lost")
    assert (status, refused["error"].startswith("states are public, deleted, private")) == (
        400, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("hashtag", 12345),
        ("track", NOBODY),
        ("modal", NOBODY),
        ("video", NOBODY),
        ("music", NOBODY),
        ("trends", NOBODY),
        ("user", 10_000),
        ("odd", 99),
    ],
)
def test_a_short_link_to_what_is_not_there_is_not_found(
    kind: LinkKind, number: int, guest: TestClient
) -> None:
    answer = guest.get(f"/{to_code(kind, number)}/")
    assert (answer.status_code, answer.text) == (404, "not found")


@pytest.mark.parametrize("code", ["z0000", "i", "i-1"], ids=["no kind", "no number", "no digit"])
def test_invalid_short_link_code_is_404(code: str, guest: TestClient) -> None:
    assert guest.get(f"/{code}").status_code == 404


def test_a_short_link_to_a_video_or_an_account_leads_to_its_page(
    guest: TestClient, world: SandboxWorld
) -> None:
    work = world.works.row(0)
    video = guest.get(f"/{to_code('video', int(work.aweme_id))}/")
    modal = guest.get(f"/{to_code('modal', int(work.aweme_id))}/")
    account = guest.get(f"/{to_code('user', 1)}")
    assert {answer.status_code for answer in (video, modal, account)} == {302}
    assert f"/{work.aweme_id}/?" in video.headers["location"]
    assert modal.headers["location"].endswith(f"?modal_id={work.aweme_id}")
    assert account.headers["location"].endswith(f"?sec_uid={world.sec_uid(1)}")


def test_an_unknown_account_has_no_posts_no_info_and_a_page_without_data(
    guest: TestClient, platform: SandboxPlatform
) -> None:
    posts = guest.get("/web/api/v2/aweme/post/", params={"sec_uid": "nobody", "max_cursor": 9})
    assert posts.json() == {
        "status_code": 0, "aweme_list": [], "min_cursor": 0, "max_cursor": 9, "has_more": 0,
    }  # fmt: skip
    info = guest.get("/web/api/v2/user/info/", params={"sec_uid": "nobody"})
    assert (info.json()["status_code"], info.json()["user_info"]) == (5, None)
    shown: Any = user_page(platform, None)
    assert shown["user_(id)/page"]["userInfoRes"]["user_info"] is None
    page = guest.get("/share/user/nobody")
    assert (page.status_code, '"postListData":null' in page.text) == (200, True)


@pytest.mark.parametrize(
    ("count", "as_shown"),
    [
        (9_999, 9_999),
        (10_000, "1.0w"),
        (123_456, "12.3w"),
        (100_000_000, "1.0亿"),
        (250_000_000, "2.5亿"),
    ],
)
def test_large_counts_are_shown_rounded(count: int, as_shown: int | str) -> None:
    assert to_shown_count(count) == as_shown
