"""Walks over a list while it is refreshed for real: every work once, as of where it began."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, override

import pytest
from starlette.testclient import TestClient

from sandbox.mock.provider import text_index
from tests.scripted_reads import ReadService, Scripted, ScriptedSources, open_reads
from warehouse.records.videos import VideoPage

pytestmark = pytest.mark.full

APP = "/api/v1/vidplat/app/v3"
MUSIC, HASHTAG = f"{APP}/fetch_music_video_list", f"{APP}/fetch_hashtag_video_list"
POSTS = f"{APP}/fetch_user_post_videos"
SCREEN = 4


class Moving(Scripted):
    """A source whose first screens move on by one work with each look, as those of a platform."""

    def __init__(self, inner: Any, script: Any, looks: list[int]) -> None:
        super().__init__(inner, script)
        self._looks = looks

    def __getattr__(self, name: str) -> Any:
        ask = super().__getattr__(name)
        if name not in {"fetch_music_page", "fetch_hashtag_page", "fetch_author_page"}:
            return ask

        async def look(entity_id: str, cursor: int) -> Any:
            reading = await ask(entity_id, cursor)
            first = self._looks[0]
            self._looks[0] += 1
            videos = reading.value.videos[first : first + SCREEN][::-1]
            page = VideoPage(videos=videos, cursor=first + SCREEN, has_more=True)
            return replace(reading, value=page)

        return look


class MovingSources(ScriptedSources):
    looks: list[int]

    @override
    def _build(self, build: Callable[..., Any], **options: Any) -> Any:
        built = super(ScriptedSources, self)._build(build, **options)
        return Moving(built, self.script, self.looks)


@pytest.fixture
def read_service(tmp_path: Path) -> Iterator[ReadService]:
    with open_reads(tmp_path / "reads", mock_size=0.2, posts_ttl=0) as read_service:
        read_service.sources.__class__ = MovingSources
        read_service.sources.looks = [0]  # type: ignore[attr-defined]  # it is one now
        yield read_service


@pytest.fixture
def client(read_service: ReadService) -> TestClient:
    return read_service.client()


@pytest.fixture
def large(read_service: ReadService) -> dict[str, str]:
    """The parameter that names a list with many videos, by the path that shows it."""
    world = read_service.world
    words = text_index(world)
    account = max(range(world.account_count), key=lambda index: len(world.videos_by_account(index)))
    track = max(world.tracks, key=lambda sound: len(world.music_list(sound.index)))
    tag = max(words.names, key=lambda ch_id: len(words.listed(ch_id)))
    return {
        MUSIC: f"music_id={track.music_id}",
        HASHTAG: f"ch_id={tag}",
        POSTS: f"sec_user_id={world.sec_uid(account)}",
    }


def ids(data: dict[str, Any]) -> list[str]:
    return [video["aweme_id"] for video in data["aweme_list"]]


def page(client: TestClient, path: str, entity: str, **given: Any) -> dict[str, Any]:
    query = "&".join([entity, *(f"{name}={value}" for name, value in given.items())])
    answer = client.get(f"{path}?{query}")
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


@pytest.mark.parametrize("path", [MUSIC, pytest.param(HASHTAG, marks=pytest.mark.soak)])
def test_a_walk_shows_the_union_as_of_where_it_began(
    client: TestClient, large: dict[str, str], path: str
) -> None:
    entity = large[path]
    for _ in range(3):
        newest = page(client, path, entity, refresh="true", count=15)
    whole = ids(newest)
    assert len(whole) == SCREEN + 2
    assert newest["observation_history"]["snapshot_count"] == 3

    walked, cursor = list[str](), 0
    while True:
        data = page(client, path, entity, cursor=cursor, count=2)
        walked += ids(data)
        cursor = data["cursor"]
        assert data["public_observed_union_count"] == len(whole)
        page(client, path, entity, refresh="true")  # somebody else's, in the middle
        if not data["has_more"]:
            break
    assert walked == whole
    assert ids(page(client, path, entity, cursor=cursor)) == []

    after = page(client, path, entity, count=15)
    assert after["public_observed_union_count"] == len(whole) + 3
    assert set(whole) < set(ids(after))


def test_public_order_is_the_latest_screen_then_what_was_shown_last(
    client: TestClient, large: dict[str, str]
) -> None:
    first = ids(page(client, MUSIC, large[MUSIC]))
    second = ids(page(client, MUSIC, large[MUSIC], refresh="true"))
    assert second[1:SCREEN] == first[: SCREEN - 1]
    assert second[SCREEN:] == first[-1:]


def test_list_pages_of_observed_videos_need_no_request(
    client: TestClient, read_service: ReadService, large: dict[str, str]
) -> None:
    page(client, MUSIC, large[MUSIC])
    page(client, MUSIC, large[MUSIC], count=3)
    page(client, MUSIC, large[MUSIC], cursor=2)
    assert [entry[0] for entry in read_service.script.asked] == ["fetch_music_page"]


def test_an_offset_is_into_the_newest_state(client: TestClient, large: dict[str, str]) -> None:
    whole = ids(page(client, HASHTAG, large[HASHTAG]))
    assert ids(page(client, HASHTAG, large[HASHTAG], cursor=1)) == whole[1:]


def test_a_cursor_of_another_list_is_refused(client: TestClient, large: dict[str, str]) -> None:
    for _ in range(3):
        cursor = page(client, MUSIC, large[MUSIC], refresh="true")["cursor"]
    page(client, HASHTAG, large[HASHTAG])
    answer = client.get(f"{HASHTAG}?{large[HASHTAG]}&cursor={cursor}")
    assert answer.status_code == 400
    assert "cursor=0" in answer.json()["data"]["error"]["hint"]


def test_parts_of_a_page_of_posts_stay_with_that_page(
    client: TestClient, read_service: ReadService, large: dict[str, str]
) -> None:
    first = page(client, POSTS, large[POSTS], count=3)
    page(client, POSTS, large[POSTS])  # a new page under the same cursor of the platform
    rest = page(client, POSTS, large[POSTS], count=3, max_cursor=first["max_cursor"])
    assert len(ids(first) + ids(rest)) == SCREEN == len(set(ids(first) + ids(rest)))
    assert rest["max_cursor"] == SCREEN
    assert rest["has_more"] is True
    assert len(read_service.script.asked) == 2


class LocalSources(MovingSources):
    """As of a source that reads first screens alone."""

    @property
    @override
    def pages_posts_locally(self) -> bool:
        return True


def test_posts_of_a_source_of_first_screens_are_walked_by_a_cursor_of_our_own(
    client: TestClient, read_service: ReadService, large: dict[str, str]
) -> None:
    read_service.sources.__class__ = LocalSources
    entity = large[POSTS]
    for _ in range(3):
        whole = ids(page(client, POSTS, entity, sort_type=1))
    likes = {
        video["aweme_id"]: video["statistics"]["digg_count"]
        for video in page(client, POSTS, entity, sort_type=1)["aweme_list"]
    }
    assert whole == sorted(whole, key=lambda name: -likes[name])

    begun = page(client, POSTS, entity, sort_type=1, count=2)
    walked, data = ids(begun), begun
    while data["has_more"]:
        page(client, POSTS, entity)  # somebody else's look, in the middle
        data = page(client, POSTS, entity, sort_type=1, count=2, max_cursor=data["max_cursor"])
        walked += ids(data)
    assert data["pagination_mode"] == "public_first_screen_local_cursor"
    assert len(walked) == len(set(walked)) == begun["public_observed_union_count"]
    as_begun = page(client, POSTS, entity, sort_type=1, max_cursor=begun["max_cursor"] - 2)
    assert walked == ids(as_begun)
