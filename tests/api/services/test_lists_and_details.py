"""What details change in a list: its order, and which of its rows are of another entity."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.services.reads.documents import TimeWindow
from api.services.reads.metrics import read_metrics
from sandbox.mock.provider import MockProvider, text_index
from tests.scripted_reads import ReadService, ScriptedSources, open_reads, without_end
from warehouse.records.videos import Unavailability, Video, VideoPage

pytestmark = pytest.mark.full

APP = "/api/v1/vidplat/app/v3"
POSTS, METRICS = f"{APP}/fetch_user_post_videos", f"{APP}/fetch_user_metrics"
MUSIC, HASHTAG = f"{APP}/fetch_music_video_list", f"{APP}/fetch_hashtag_video_list"
VIDEOS = "/api/v1/vidplat/web/fetch_multi_video"


@pytest.fixture
def read_service(tmp_path: Path) -> Iterator[ReadService]:
    with open_reads(tmp_path / "reads", mock_size=0.2, video_ttl=10**6) as read_service:
        yield read_service


@pytest.fixture
def client(read_service: ReadService) -> TestClient:
    return read_service.client()


@pytest.fixture
def accounts(read_service: ReadService) -> list[str]:
    """Accounts with many posts, the most first."""
    world = read_service.world
    indexes = sorted(range(world.account_count), key=lambda n: -len(world.videos_by_account(n)))
    return [world.sec_uid(index) for index in indexes]


@pytest.fixture
def ch_id(read_service: ReadService) -> str:
    """The hashtag with the most videos."""
    words = text_index(read_service.world)
    return max(words.names, key=lambda name: len(words.listed(name)))


def rewrite(
    monkeypatch: pytest.MonkeyPatch, question: str, change: Callable[[str, VideoPage], VideoPage]
) -> None:
    """Change the pages that the source shows."""
    real = getattr(MockProvider, question)

    async def read(provider: MockProvider, entity_id: str, cursor: int) -> Any:
        reading = await real(provider, entity_id, cursor)
        return replace(reading, value=change(entity_id, reading.value))

    monkeypatch.setattr(MockProvider, question, read)


def without_authors(_: str, page: VideoPage) -> VideoPage:
    return replace(page, videos=tuple(replace(video, author=None) for video in page.videos))


def ask(client: TestClient, path: str, **given: Any) -> dict[str, Any]:
    answer = client.get(path, params=given)
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


def error(client: TestClient, path: str, **given: Any) -> tuple[int, str]:
    answer = client.get(path, params=given)
    return answer.status_code, answer.json()["data"]["error"]["type"]


def ids(data: dict[str, Any]) -> list[str]:
    return [video["aweme_id"] for video in data["aweme_list"]]


def born(video: dict[str, Any]) -> str:
    return str(video["created_at"])


def test_an_author_that_a_row_does_not_state_is_unknown(
    client: TestClient, accounts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite(monkeypatch, "fetch_author_page", without_authors)
    client.get(f"{APP}/handler_user_profile", params={"sec_user_id": accounts[0]})
    assert {row["author"] for row in _posts(client, accounts[0])["aweme_list"]} == {None}


def _posts(client: TestClient, sec_uid: str, **given: Any) -> dict[str, Any]:
    return ask(client, POSTS, sec_user_id=sec_uid, **given)


@pytest.mark.parametrize(
    "is_local",
    [pytest.param(False, marks=pytest.mark.soak), True],
    ids=["platform-cursor", "local-cursor"],
)
def test_posts_of_another_account_are_a_substitution_once_details_say_so(
    client: TestClient, accounts: list[str], monkeypatch: pytest.MonkeyPatch, is_local: bool
) -> None:
    monkeypatch.setattr(ScriptedSources, "pages_posts_locally", is_local)
    asked, other = accounts[:2]
    real = MockProvider.fetch_author_page
    is_substituted = True

    async def read(provider: MockProvider, sec_uid: str, cursor: int) -> Any:
        shown = other if is_substituted and sec_uid == asked else sec_uid
        reading = await real(provider, shown, cursor)
        page = without_authors("", reading.value)
        return replace(reading, entity_id=sec_uid, value=page)

    monkeypatch.setattr(MockProvider, "fetch_author_page", read)
    foreign = ids(_posts(client, asked))
    assert set(foreign) == set(ids(_posts(client, other)))
    assert error(client, METRICS, sec_user_id=asked, days=365) == (502, "upstream_substitution")
    assert error(client, POSTS, sec_user_id=asked) == (502, "upstream_substitution")
    is_substituted = False
    again = _posts(client, asked)
    if not is_local:  # the union keeps what no detail has told apart
        assert not set(ids(again)) & set(foreign)
    assert len(set(ids(again)) - set(foreign)) > 10


async def test_metrics_leave_out_a_post_whose_detail_states_another_author(
    client: TestClient,
    read_service: ReadService,
    accounts: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, other = accounts[:2]
    foreign: list[Video] = []
    real = MockProvider.fetch_author_page

    async def read(provider: MockProvider, sec_uid: str, cursor: int) -> Any:
        own = await real(provider, sec_uid, cursor)
        foreign[:] = (await real(provider, other, 0)).value.videos[:3]
        page = without_authors("", own.value)
        strangers = without_authors("", replace(own.value, videos=tuple(foreign)))
        return replace(own, value=replace(page, videos=(*strangers.videos, *page.videos)))

    monkeypatch.setattr(MockProvider, "fetch_author_page", read)
    window = TimeWindow(days=3650, end=datetime.now(UTC))
    answer = await read_metrics(
        read_service.sources, asked, window=window, count=100, deadline=without_end()
    )
    metrics = answer.document
    assert metrics["analyzed_count"] > len(foreign)
    assert metrics["top_video"] is not None
    assert metrics["top_video"]["author"] is not None
    assert metrics["top_video"]["author"]["sec_uid"] == asked
    page = _posts(client, asked)
    assert not {video.aweme_id for video in foreign} & set(ids(page))
    assert {row["author"] and row["author"]["sec_uid"] for row in page["aweme_list"]} <= {
        None, asked,
    }  # fmt: skip


@pytest.mark.parametrize("is_local", [False, True], ids=["platform-cursor", "local-cursor"])
def test_posts_are_sorted_by_the_dates_and_likes_that_they_answer(
    client: TestClient, accounts: list[str], monkeypatch: pytest.MonkeyPatch, is_local: bool
) -> None:
    monkeypatch.setattr(ScriptedSources, "pages_posts_locally", is_local)
    sec_uid = accounts[0]
    some = ids(_posts(client, sec_uid))[::3]
    client.post(VIDEOS, json=some)
    page = _posts(client, sec_uid)["aweme_list"]
    assert {row["create_time"] is None for row in page} == {True, False}
    assert [*map(born, page)] == sorted(map(born, page), reverse=True)
    hottest = _posts(client, sec_uid, sort_type=1)["aweme_list"]
    likes = [row["statistics"]["digg_count"] for row in hottest]
    assert likes == sorted(likes, reverse=True)


def test_a_hashtag_is_sorted_by_likes_that_details_have_shown(
    client: TestClient, ch_id: str
) -> None:
    listed = ids(ask(client, HASHTAG, ch_id=ch_id, count=15))
    client.post(VIDEOS, json=listed[5:11])
    page = ask(client, HASHTAG, ch_id=ch_id, count=15, sort_type=1)["aweme_list"]
    likes = [row["statistics"]["digg_count"] for row in page]
    known = [count for count in likes if count is not None]
    assert len(known) == 6
    assert likes == [*sorted(known, reverse=True), *[None] * (len(likes) - 6)]
    newest = ask(client, HASHTAG, ch_id=ch_id, count=15, sort_type=2)["aweme_list"]
    assert [*map(born, newest)] == sorted(map(born, newest), reverse=True)


@pytest.mark.parametrize(
    ("sort_type", "is_local"),
    [
        pytest.param(0, False, marks=pytest.mark.soak),
        pytest.param(1, False, marks=pytest.mark.soak),
        (0, True),
        pytest.param(1, True, marks=pytest.mark.soak),
    ],
)
def test_details_that_arrive_between_pages_move_no_post(
    client: TestClient,
    accounts: list[str],
    monkeypatch: pytest.MonkeyPatch,
    sort_type: int,
    is_local: bool,
) -> None:
    monkeypatch.setattr(ScriptedSources, "pages_posts_locally", is_local)
    sec_uid = accounts[0]
    whole = ids(_posts(client, sec_uid))
    client.post(VIDEOS, json=whole[:1])
    walked, cursor = list[str](), 0
    for unread in zip(whole[1::2], whole[2::2], strict=False):
        page = _posts(client, sec_uid, sort_type=sort_type, count=3, max_cursor=cursor)
        walked += ids(page)
        client.post(VIDEOS, json=list(unread))
        cursor = page["max_cursor"]
        if len(walked) >= len(whole):
            break
    assert sorted(walked[: len(whole)]) == sorted(whole)
    assert cursor < 2**53


def test_details_that_arrive_between_pages_move_no_video_of_a_hashtag(
    client: TestClient, ch_id: str
) -> None:
    whole = ids(ask(client, HASHTAG, ch_id=ch_id, count=15))
    walked, cursor = list[str](), 0
    while True:
        page = ask(client, HASHTAG, ch_id=ch_id, count=4, sort_type=1, cursor=cursor)
        walked += ids(page)
        client.post(VIDEOS, json=whole[len(walked) : len(walked) + 5] or whole[:1])
        if not page["has_more"]:
            break
        cursor = page["cursor"]
    assert len(walked) == len(set(walked)) == page["public_observed_union_count"]
    assert set(whole) <= set(walked)


def test_a_cursor_of_a_moment_to_come_is_unknown(client: TestClient, ch_id: str) -> None:
    ask(client, HASHTAG, ch_id=ch_id)
    for path, name in ((HASHTAG, {"ch_id": ch_id, "cursor": 2**53 - 1}),):
        assert error(client, path, **name) == (400, "invalid_parameter")


def test_rows_that_state_another_music_id_are_no_part_of_the_list(
    client: TestClient, read_service: ReadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def foreign(count: int) -> Callable[[str, VideoPage], VideoPage]:
        return lambda _, page: replace(
            page, videos=page.videos[count:], foreign=page.videos[:count]
        )

    rewrite(monkeypatch, "fetch_music_page", foreign(2))
    some = _track(read_service)
    page = ask(client, MUSIC, music_id=some, count=20)
    rows = read_service.rows("select aweme_id from raw.videos where surface = 'music_list'")
    assert len(rows) == len(page["aweme_list"]) + 2
    assert not {row["aweme_id"] for row in rows} <= set(ids(page))
    monkeypatch.undo()
    rewrite(monkeypatch, "fetch_music_page", lambda _, page: replace(
        page, videos=page.videos[:1], foreign=page.videos[1:]))  # fmt: skip
    for _ in range(2):
        found = error(client, MUSIC, music_id=some, refresh="true")
        assert found == (502, "upstream_substitution")
    assert ids(ask(client, MUSIC, music_id=some, count=20)) == ids(page)


def _track(read_service: ReadService) -> str:
    world = read_service.world
    return max(world.tracks, key=lambda sound: len(world.music_list(sound.index))).music_id


def test_a_stored_no_is_served_with_what_the_platform_said(
    client: TestClient, accounts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = MockProvider.fetch_video
    said = {"notice": "抱歉，作品不见了", "detail_msg": "作品已被删除"}

    async def refuse(provider: MockProvider, aweme_id: str) -> Any:
        gone = Unavailability(reason="unavailable", filter_reason="status_deleted", **said)
        return replace(await real(provider, aweme_id), value=gone)

    monkeypatch.setattr(MockProvider, "fetch_video", refuse)
    wanted = ids(_posts(client, accounts[0]))[:1]
    first, again = (client.post(VIDEOS, json=wanted).json()["data"] for _ in range(2))
    assert first["filter_list"] == again["filter_list"]
    assert first["filter_list"][0] | said == first["filter_list"][0]
