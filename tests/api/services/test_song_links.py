"""Links of the music service over the real sandbox: songs, their short links, lists of songs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.services.batch import expand_inputs
from api.services.reads.sources import Sources
from api.settings import ApiSettings
from tests.platform.sandbox_platform import Sandbox, Start, Stores, ask_control
from warehouse.records.errors import InvalidMusicInputError

pytestmark = pytest.mark.full

FORMS = ("track_link", "track_short_link", "track_short_link_old")


@pytest.fixture
def song(sandbox: Sandbox) -> dict[str, Any]:
    """The first track of the world that the music service has."""
    tracks = ask_control(sandbox, "/_world/tracks?counts=0")["tracks"]
    found: dict[str, Any] = next(track for track in tracks if track["track_id"])
    return found


@pytest.fixture
def sources(sandbox: Sandbox, stores: Stores, tmp_path: Path) -> Sources:
    return Sources(
        settings=ApiSettings(
            _env_file=None, profile="sandbox", sandbox_port=sandbox.port, sync_request_timeout=120
        ),
        profile=sandbox.profile,
        engine=stores.engine,
        control=stores.control,
        sounds_dir=tmp_path,
    )


@pytest.mark.parametrize("form", FORMS)
async def test_the_link_of_a_song_leads_to_the_music_id_that_names_it(
    form: str, start: Start, stores: Stores, song: dict[str, Any]
) -> None:
    async with start() as captures:
        assert await captures.resolve(song[form]) == song["music_id"]
    named = stores.rows("select distinct music_service_track_id as id from raw.videos")
    assert {"id": song["track_id"]} in named


async def test_the_sound_of_a_song_is_asked_for_with_the_page_that_named_it(
    start: Start, sandbox: Sandbox, switches: Any, song: dict[str, Any]
) -> None:
    switches("media_needs_referer")
    async with start() as captures:
        shown = await captures.song(song["track_id"])
        file = await captures.song_sound(shown)
    assert file.size_bytes > 1000
    assert song["track_id"] in str(shown.read_from)


@pytest.mark.parametrize(
    "form", ["track_link", *(pytest.param(form, marks=pytest.mark.soak) for form in FORMS[1:])]
)
async def test_the_link_of_a_song_leads_to_its_music_id_by_name_where_no_id_is_shown(
    form: str, start: Start, stores: Stores, song: dict[str, Any], switches: Callable[..., Any]
) -> None:
    switches("song_ids_missing")
    async with start() as captures:
        assert await captures.resolve(song[form]) == song["music_id"]
    named = stores.rows("select distinct music_service_track_id as id from raw.videos")
    assert named == [{"id": None}]


async def test_a_song_whose_search_asks_for_a_login_is_refused_by_name(
    start: Start, song: dict[str, Any], switches: Callable[..., Any]
) -> None:
    switches("search_2483")
    async with start() as captures:
        with pytest.raises(InvalidMusicInputError, match="upstream_login_required"):
            await captures.resolve(song["track_link"])


async def test_a_playlist_fills_the_places_that_the_other_inputs_leave(
    sources: Sources, song: dict[str, Any]
) -> None:
    playlist = song["track_link"].replace("track?track_id", "playlist?playlist_id")
    inputs = await expand_inputs(
        [playlist, song["track_short_link_old"]],
        find_target=sources.profile.find_target,
        sources=sources,
    )
    *listed, last = inputs.tracks
    assert (last.text, last.scan_input) == (song["track_short_link_old"], song["track_link"])
    assert [one.list_input for one in listed] == [playlist] * 9
    assert all(one.label and "track?track_id=" in one.text for one in listed)
    (songs,) = inputs.lists
    assert (songs["kind"], songs["title"], songs["left_out_count"]) == ("playlist", "每日歌单", 1)


@pytest.mark.parametrize("kind", ["album", "artist"])
async def test_an_album_or_artist_without_songs_is_an_error_of_its_input_alone(
    kind: str, sources: Sources, song: dict[str, Any]
) -> None:
    link = song["track_link"].replace("track?track_id", f"{kind}?{kind}_id")
    inputs = await expand_inputs(
        [link, "11111"], find_target=sources.profile.find_target, sources=sources
    )
    wrong, right = inputs.tracks
    assert isinstance(wrong.error, InvalidMusicInputError)
    assert "shows no songs" in wrong.error.detail
    assert (right.scan_input, right.error) == ("11111", None)
