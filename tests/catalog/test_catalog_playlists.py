"""A playlist of the music service becomes the tracks of a catalogue, over the real sandbox."""

from pathlib import Path

import pytest

from pipelines.catalog.open_service import open_catalog_service
from pipelines.catalog.sources.tables import link_lines
from pipelines.settings import Settings
from tests.platform.sandbox_platform import Sandbox, ask_control

pytestmark = pytest.mark.full


def test_a_playlist_becomes_its_songs_and_names_how_many_it_states(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    tracks = ask_control(sandbox, "/_world/tracks?counts=0")["tracks"]
    song = next(track for track in tracks if track["track_id"])
    playlist = song["track_link"].replace("track?track_id", "playlist?playlist_id")
    album = song["track_link"].replace("track?track_id", "album?album_id")
    settings = Settings(
        _env_file=None, profile="sandbox", sandbox_port=sandbox.port, data_home=tmp_path
    )
    with open_catalog_service(settings) as catalogs:
        report = catalogs.import_lines("songs", link_lines([playlist, song["track_link"], album]))
        found = catalogs.status("songs")
    (listed,) = [one for one in report.lists if one.title == "每日歌单"]
    assert listed.stated_count == listed.song_count == 10
    assert [one.line for one in report.outcome.problems] == [3]
    assert len(found.tracks) == report.new_count >= 10
    assert all(track.given.key.startswith("service_track:") for track in found.tracks)
    first = found.tracks[0].given
    assert first.columns["list"] == playlist
    assert first.label
