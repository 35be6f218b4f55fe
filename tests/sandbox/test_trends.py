"""The list and the page of a trend in the sandbox: asked for by its own id, or by its music's."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import to_routes
from sandbox.server.surfaces import lists
from sandbox.server.surfaces.lists import trends_id_of
from sandbox.world.world import SandboxWorld


@pytest.fixture
def guest(platform: SandboxPlatform) -> Iterator[TestClient]:
    with TestClient(Starlette(routes=to_routes(lists.SURFACES, platform))) as client:
        yield client


def listed(guest: TestClient, **query: str) -> tuple[list[str], int]:
    """The ids of the videos on a page of the list, and whether more follow."""
    answer: dict[str, Any] = guest.get("/aweme/v1/trends/aweme/", params=query).json()
    return [one["aweme_id"] for one in answer["aweme_list"]], answer["has_more"]


def test_a_trend_is_found_by_its_id_and_by_that_of_its_music(
    guest: TestClient, world: SandboxWorld
) -> None:
    track = world.tracks[0]
    newest = world.works.aweme_id[world.videos_by_sound(track.index)].astype(str).tolist()
    assert len(newest) > 3
    wanted = (newest[:3], 1)
    assert listed(guest, trends_id=trends_id_of(track.music_id), count="3") == wanted
    assert listed(guest, music_id=track.music_id, count="3") == wanted


@pytest.mark.parametrize(
    "text", ["abc", "-1", "٣", "7" * 20], ids=["letters", "minus", "arabic-digit", "long"]
)
def test_an_id_that_no_trend_can_have_leaves_that_of_the_music(
    text: str, guest: TestClient, world: SandboxWorld
) -> None:
    first, second = world.tracks[0], world.tracks[1]
    by_music = listed(guest, music_id=first.music_id)
    assert listed(guest, trends_id=text, music_id=first.music_id) == by_music
    by_trend = listed(guest, trends_id=trends_id_of(second.music_id), music_id=first.music_id)
    assert by_trend == listed(guest, music_id=second.music_id) != by_music


@pytest.mark.parametrize("query", [{}, {"trends_id": "12345"}, {"music_id": "12345"}])
def test_an_unknown_trend_has_no_videos(query: dict[str, str], guest: TestClient) -> None:
    assert listed(guest, **query) == ([], 0)


def test_the_page_of_a_trend_asks_for_its_list(guest: TestClient, world: SandboxWorld) -> None:
    music_id = world.tracks[0].music_id
    wanted = f"trends_id={trends_id_of(music_id)}&music_id={music_id}&count="
    for query in ({"music_id": music_id}, {"trends_id": trends_id_of(music_id)}):
        page = guest.get("/share/trends/", params=query)
        assert (page.status_code, wanted in page.text) == (200, True)
    assert "trends_id=" not in guest.get("/share/trends/").text
