"""The music chart of a world: a calendar with gaps, and songs that come, move and go."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.world.chart import (
    FIRST_DAY,
    LONG_GAP_DAYS,
    SONGS,
    IssueCalendar,
    SandboxChart,
    issue_publication_time,
)
from sandbox.world.world import SandboxWorld

pytestmark = pytest.mark.full

WORLD = SandboxWorld(31, 0.2)
CHART = SandboxChart(WORLD)
COUNT = CHART.calendar.count_at(WORLD.now)


def test_the_chart_begins_in_2021_and_its_latest_issue_is_of_today() -> None:
    latest = CHART.latest(WORLD.now)
    assert CHART.calendar.at(0).day == FIRST_DAY == date(2021, 1, 1)
    assert latest.place == COUNT - 1
    assert issue_publication_time(latest.day) <= WORLD.now
    assert CHART.calendar.at(COUNT).day > latest.day


def test_an_issue_appears_at_half_past_eight_in_shanghai() -> None:
    day = CHART.calendar.at(700).day
    assert CHART.calendar.count_at(issue_publication_time(day)) == 701
    assert CHART.calendar.count_at(issue_publication_time(day) - 1) == 700
    with pytest.raises(LookupError):
        CHART.latest(issue_publication_time(FIRST_DAY) - 1)


def test_most_days_have_an_issue_some_have_none_and_once_none_for_weeks() -> None:
    gaps = np.diff(CHART.calendar.days[:COUNT])
    assert (gaps == 1).mean() > 0.9
    assert (gaps > 1).sum() > 10
    assert gaps.max() > LONG_GAP_DAYS


def test_ids_grow_by_no_rule_and_numbers_start_again_each_year() -> None:
    issues = [CHART.calendar.at(place) for place in range(COUNT)]
    steps = np.diff([issue.volid for issue in issues])
    assert steps.min() > 0
    assert len(set(steps.tolist())) > 20
    assert [issue.number for issue in issues if issue.day.year == 2022][:3] == [1, 2, 3]
    assert max(issue.number for issue in issues) <= 366
    assert {issue.date_form for issue in issues} == {"both", "text", "none"}


def test_an_issue_is_found_by_its_id_alone() -> None:
    issue = CHART.calendar.at(123)
    assert CHART.calendar.find(str(issue.volid)) == issue
    assert CHART.calendar.find(str(issue.volid + 1)) is None
    assert CHART.calendar.find("") is CHART.calendar.find("x1") is None


def test_equal_seeds_have_equal_charts_and_others_do_not() -> None:
    twin, other = SandboxChart(SandboxWorld(31, 0.2)), IssueCalendar(32)
    assert twin.songs(900) == CHART.songs(900)
    assert not np.array_equal(other.volids[:50], CHART.calendar.volids[:50])


@settings(max_examples=15, deadline=None)
@given(place=st.integers(1, COUNT - 1))
def test_any_issue_fits_the_one_before_it(place: int) -> None:
    songs, before = CHART.songs(place), CHART.songs(place - 1)
    ranks = {song.song_hash: song.rank for song in before}
    counts = {song.song_hash: song.issue_count for song in before}
    assert [song.rank for song in songs] == list(range(1, SONGS + 1))
    assert len({song.song_hash for song in songs}) == SONGS
    assert all(song.previous_rank == ranks.get(song.song_hash, 0) for song in songs)
    assert all(song.issue_count == counts.get(song.song_hash, 0) + 1 for song in songs)


def test_songs_come_and_go_and_move_a_little() -> None:
    now, before = CHART.songs(1200), CHART.songs(1190)
    stayed = {song.song_hash for song in now} & {song.song_hash for song in before}
    moved = [abs(song.rank - song.previous_rank) for song in now if song.previous_rank]
    assert 300 < len(stayed) < SONGS
    assert 0 < np.median(moved) < 30


def test_titles_hold_the_mark_between_artist_and_title_and_some_songs_have_two_artists() -> None:
    songs = CHART.songs(1000)
    assert any(" - " in song.title for song in songs)
    assert {len(song.artists) for song in songs} == {1, 2}
    assert all(100 < song.duration_s < 400 for song in songs)


def test_most_tracks_of_the_world_are_on_the_chart_and_some_among_the_first_twenty() -> None:
    songs = [song for place in range(0, COUNT, 20) for song in CHART.songs(place) if song.music_id]
    titles = {track.music_id: WORLD.title_of(track.score) for track in WORLD.tracks}
    assert len({song.music_id for song in songs}) > len(WORLD.tracks) / 2
    assert any(song.rank <= 20 for song in songs)
    assert all(song.title == titles[str(song.music_id)] for song in songs)
