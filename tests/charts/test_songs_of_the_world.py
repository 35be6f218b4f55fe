"""Links by names against the truth of an invented world: which of its songs are its music ids."""

import pytest

from pipelines.charts.rules.platform_comparison import Song, link_songs
from sandbox.world.chart import SandboxChart
from sandbox.world.world import SandboxWorld
from warehouse.records.charts import PlatformMusic

pytestmark = pytest.mark.full

EVERY = 5  # issues; a song stays for weeks


def test_names_find_the_right_recording_and_no_other_is_called_the_same() -> None:
    world = SandboxWorld(11, 0.3)
    chart = SandboxChart(world)
    places = range(0, chart.latest(world.now).place + 1, EVERY)
    charted = {one.song_hash: one for place in places for one in chart.songs(place)[:20]}
    songs = [
        Song(song_key=key, title=one.title, artist="、".join(one.artists))
        for key, one in charted.items()
    ]
    rows = [world.sounds.row(index) for index in range(len(world.sounds))]
    sounds = [
        PlatformMusic(
            music_id=row.music_id,
            title=world.sound_title(row),
            author=world.sound_author(row),
            is_original_sound=row.owner >= 0,
        )
        for row in rows
    ]
    score = {row.music_id: row.score for row in rows}
    truth = {key: one.music_id for key, one in charted.items() if one.music_id is not None}
    links = link_songs(songs, sounds)
    same = [link for link in links if link.relation == "same"]
    assert len(truth) > 3
    assert set(truth.items()) <= {(link.song_key, link.music_id) for link in same}
    assert [link for link in same if score[link.music_id] != score[truth[link.song_key]]] == []
    assert {link.reason for link in links} >= {"artist_differs", "title_without_addition"}
