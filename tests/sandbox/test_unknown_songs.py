"""What the music service of the sandbox shows of songs and videos that it has, and has not."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sandbox.server.addresses import MUSIC, MUSIC_SHORT, LinkKind, to_code
from sandbox.server.documents.songs import track_id_of
from sandbox.server.platform import SandboxPlatform
from sandbox.server.routing import to_routes
from sandbox.server.surfaces import music_service
from sandbox.world.content.tables import SandboxVideo
from sandbox.world.world import SandboxWorld

NOBODY = 7_000_000_000_000_000_001


@pytest.fixture
def guest(platform: SandboxPlatform) -> Iterator[TestClient]:
    table = to_routes(music_service.SURFACES, platform)
    with TestClient(Starlette(routes=table), follow_redirects=False) as client:
        yield client


@pytest.fixture(scope="module")
def song(world: SandboxWorld) -> str:
    """The id of a song that the service has."""
    found = (track_id_of(world, sound) for sound in world.tracks)
    return next(track_id for track_id in found if track_id is not None)


def page(guest: TestClient, kind: str, **query: str) -> str:
    answer = guest.get(f"/songs/share/{kind}", params=query, headers={"host": MUSIC})
    assert answer.status_code == 200
    return answer.text


def video(world: SandboxWorld, *, is_public: bool) -> SandboxVideo:
    works = map(world.works.row, range(len(world.works.aweme_id)))
    return next(work for work in works if work.is_public is is_public)


def test_the_page_of_a_song_has_its_audio_and_that_of_an_unknown_one_has_none(
    guest: TestClient, song: str
) -> None:
    assert f'"audioWithLyricsOption":{{"track_id":"{song}","url":"' in page(
        guest, "track", track_id=song
    )
    assert '{"audioWithLyricsOption":null}' in page(guest, "track", track_id=str(NOBODY))


def test_a_video_is_shown_while_guests_may_see_it(guest: TestClient, world: SandboxWorld) -> None:
    shown, hidden = video(world, is_public=True), video(world, is_public=False)
    assert '{"videoOptions":{"title":' in page(guest, "ugc_video", ugc_video_id=shown.aweme_id)
    for aweme_id in (hidden.aweme_id, str(NOBODY)):
        assert '{"videoOptions":null}' in page(guest, "ugc_video", ugc_video_id=aweme_id)


def test_a_short_link_leads_to_the_page_of_its_song(guest: TestClient, song: str) -> None:
    answer = guest.get(f"/s/{to_code('track', int(song))}/", headers={"host": MUSIC_SHORT})
    assert answer.status_code == 302
    assert answer.headers["location"].endswith(f"/songs/share/track?track_id={song}")


@pytest.mark.parametrize(("kind", "number"), [("track", NOBODY), ("video", 1)])
def test_a_short_link_to_no_song_is_not_found(
    kind: LinkKind, number: int, guest: TestClient
) -> None:
    answer = guest.get(f"/s/{to_code(kind, number)}/", headers={"host": MUSIC_SHORT})
    assert (answer.status_code, answer.text) == (404, "not found")


def test_a_code_of_no_short_link_is_not_found(guest: TestClient) -> None:
    assert guest.get("/s/z0/", headers={"host": MUSIC_SHORT}).status_code == 404
