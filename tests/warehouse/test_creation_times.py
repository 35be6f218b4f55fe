"""Times of birth: read from ids, never over a stated time, and the source video of a sound."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.records.times import (
    CLOCK_SKEW,
    EARLIEST_BIRTH_S,
    LATEST_BIRTH_S,
    PLATFORM_START,
    Birth,
    SoundOrigin,
    find_birth,
    id_time,
)
from warehouse.records.videos import Author, Music, Track, Video, own_sound_origin, track_origin

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)
BORN = datetime(2026, 5, 4, 12, 30, 7, tzinfo=UTC)
DAY_S = 86_400
POSSIBLE = st.integers(int(PLATFORM_START.timestamp()), int(NOW.timestamp()))


def made_at(moment: datetime, *, rest: int = 12345) -> str:
    """An id of the platform's form that was made at this time."""
    return str((int(moment.timestamp()) << 32) | rest)


def after(moment: datetime, seconds: int) -> datetime:
    return moment + timedelta(seconds=seconds)


def video(made: datetime, *, create_time: int | None = None, sound: str = "77777") -> Video:
    return Video(
        aweme_id=made_at(made),
        surface="video_page",
        observed_at=NOW,
        create_time=create_time,
        author=Author(sec_uid="MS4w-a"),
        music=Music(music_id=sound),
    )


@given(POSSIBLE, st.integers(0, 2**32 - 1))
def test_an_id_tells_the_second_in_which_it_was_made(seconds: int, rest: int) -> None:
    found = id_time(str((seconds << 32) | rest), observed_at=NOW)
    assert found == datetime.fromtimestamp(seconds, UTC)


@given(st.text(max_size=40), st.none() | st.integers(0, 4_000_000_000))
def test_any_text_gives_a_plausible_time_or_none(text: str, stated: int | None) -> None:
    found = id_time(text, observed_at=NOW)
    assert found is None or PLATFORM_START <= found <= NOW + CLOCK_SKEW
    birth = find_birth(text, stated=stated, observed_at=NOW)
    if stated is not None:
        assert birth is not None
        assert (birth.at, birth.source) == (datetime.fromtimestamp(stated, UTC), "stated")


@pytest.mark.parametrize(
    "identifier",
    [
        "",
        "12345",
        "9" * 21,
        "abc",
        "７３６１２３４５６７８９０１２３４５６",
        "-7361234567890123456",
        made_at(after(PLATFORM_START, -1)),
        made_at(after(NOW, 601)),
    ],
)
def test_an_implausible_time_is_unknown(identifier: str) -> None:
    assert id_time(identifier, observed_at=NOW) is None
    assert find_birth(identifier, stated=None, observed_at=NOW) is None


@pytest.mark.parametrize("moment", [PLATFORM_START, NOW, after(NOW, 600)])
def test_plausible_bounds_of_an_id_time_are_accepted(moment: datetime) -> None:
    assert id_time(made_at(moment), observed_at=NOW) == moment


def test_a_time_of_an_id_says_so() -> None:
    assert find_birth(made_at(BORN), stated=None, observed_at=NOW) == Birth(BORN, "id")


@pytest.mark.parametrize(
    ("difference", "reported"),
    [(1, None), (DAY_S, None), (-DAY_S, None), (DAY_S + 1, DAY_S + 1), (-DAY_S - 1, -DAY_S - 1)],
)
def test_more_than_a_day_between_both_times_is_reported(
    difference: int, reported: int | None
) -> None:
    stated = int(BORN.timestamp()) + difference
    birth = find_birth(made_at(BORN), stated=stated, observed_at=NOW)
    assert birth == Birth(datetime.fromtimestamp(stated, UTC), "stated", reported)


@pytest.mark.parametrize("stated", [None, 1_700_000_000])
def test_no_difference_is_reported_where_one_time_is_unknown(stated: int | None) -> None:
    identifier = made_at(BORN) if stated is None else "12345"
    birth = find_birth(identifier, stated=stated, observed_at=NOW)
    assert birth is not None
    assert birth.difference_s is None


@pytest.mark.parametrize(
    ("offset", "is_source"),
    [
        (EARLIEST_BIRTH_S - 1, False),
        (EARLIEST_BIRTH_S, True),
        (0, True),
        (LATEST_BIRTH_S, True),
        (LATEST_BIRTH_S + 1, False),
        (400 * DAY_S, False),
    ],
)
def test_a_sound_is_born_with_its_video(offset: int, is_source: bool) -> None:
    published = after(BORN, -offset)
    source = video(after(published, -3 * DAY_S), create_time=int(published.timestamp()))
    found = own_sound_origin(_playing(source, made_at(BORN)))
    assert found == (SoundOrigin(source.aweme_id, "id", offset) if is_source else None)


def test_the_sound_of_a_scheduled_video_is_found_by_the_id() -> None:
    scheduled = int(after(BORN, 2 * 3600).timestamp())
    source = video(after(BORN, -9), create_time=scheduled, sound=made_at(BORN))
    assert own_sound_origin(source) == SoundOrigin(source.aweme_id, "id", 9)


def test_of_several_videos_the_nearest_in_time_is_the_source() -> None:
    offsets = {"10001": 120, "10002": -20, "10003": 20, "10004": 5000}
    videos = [
        Video(
            aweme_id=name, surface="video_page", observed_at=NOW,
            create_time=int(BORN.timestamp()) - offset, music=Music(music_id=made_at(BORN)),
        )
        for name, offset in offsets.items()
    ]  # fmt: skip
    track = Track(music_id=made_at(BORN), surface="music_info", observed_at=NOW)
    assert track_origin(track, videos) == SoundOrigin("10002", "id", -20)


def test_the_source_that_the_platform_states_stands() -> None:
    near = video(BORN, sound=made_at(BORN))
    stated = video(after(BORN, -40), sound=made_at(BORN))
    track = Track(
        music_id=made_at(BORN),
        surface="music_info",
        observed_at=NOW,
        source_aweme_id=stated.aweme_id,
    )
    assert track_origin(track, [near, stated]) == SoundOrigin(stated.aweme_id, "stated", 40)
    assert track_origin(track, [near]) == SoundOrigin(stated.aweme_id, "stated")


def test_videos_of_other_sounds_and_released_tracks_have_no_source() -> None:
    track = Track(music_id=made_at(BORN), surface="music_info", observed_at=NOW)
    assert track_origin(track, [video(BORN, sound="77777")]) is None
    released = Track(
        music_id=made_at(BORN), surface="music_info", observed_at=NOW, is_original_sound=False
    )
    assert track_origin(released, [video(BORN, sound=made_at(BORN))]) is None


def test_a_sound_without_a_plausible_time_names_no_video() -> None:
    assert own_sound_origin(video(BORN, sound="77777")) is None
    assert own_sound_origin(video(BORN, sound="9" * 30)) is None


def _playing(source: Video, sound: str) -> Video:
    return Video(
        aweme_id=source.aweme_id,
        surface=source.surface,
        observed_at=source.observed_at,
        create_time=source.create_time,
        music=Music(music_id=sound),
    )
