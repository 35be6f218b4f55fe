"""What a song of the music service is searched by, and which music id publishes it."""

from datetime import UTC, datetime

from pipelines.captures.chart import choose_music_of_song, lyric_terms, most_used_music, song_terms
from pipelines.scan.rules.search import search_terms
from warehouse.records.videos import Music, ServiceSong, Video

NOW = datetime(2026, 11, 20, tzinfo=UTC)
TRACK_ID = "7300000000000000042"


def song(*lyrics: str, artist: str | None = "海与灯") -> ServiceSong:
    return ServiceSong(
        track_id=TRACK_ID, surface="service_track", observed_at=NOW, title="晚风 (Live)",
        artist=artist, lyrics=lyrics,
    )  # fmt: skip


def shown(number: int, music: Music | None) -> Video:
    return Video(aweme_id=str(number), surface="search_stream", observed_at=NOW, music=music)


def named(music_id: str, title: str, author: str, *, is_own: bool | None = None) -> Music:
    return Music(music_id=music_id, title=title, author=author, is_original_sound=is_own)


def test_a_song_is_searched_by_its_names() -> None:
    assert song_terms(song()) == ("晚风 (Live) 海与灯", "晚风 (Live)")
    assert song_terms(song(artist=None)) == ("晚风 (Live)",)


def test_repeated_lines_are_quoted_first_then_long_ones() -> None:
    lines = (
        "灯火照亮旧码头的夜",
        "我在风里等你",
        "晚风 live",
        "啊",
        "我在风里等你！",
        "又一句短的话",
    )
    assert lyric_terms(song(*lines)) == ("我在风里等你", "灯火照亮旧码头的夜")
    assert lyric_terms(song()) == ()


def test_official_names_follow_the_names_of_the_track() -> None:
    found = search_terms("晚风", "某人", (), official=("晚风 (Live)", "晚风"))
    assert found == ("晚风", "晚风 某人", "晚风 (Live)")
    assert search_terms("@某人创作的原声", None, (), official=("晚风",)) == ("晚风",)
    assert search_terms("晚风", None, ("given",), official=("晚风",)) == ("given",)


def test_the_music_id_that_names_the_song_by_id_comes_first() -> None:
    by_id = Music(music_id="3", title="another", service_track_id=TRACK_ID)
    alike = [shown(n, named("2", "晚风（LIVE）", "海与灯")) for n in range(3)]
    assert choose_music_of_song(song(), [*alike, shown(9, by_id)]) == "3"
    assert choose_music_of_song(song(), alike) == "2"


def test_user_sounds_and_other_names_are_no_song() -> None:
    videos = [
        shown(1, named("2", "晚风 (Live)", "海与灯", is_own=True)),
        shown(2, named("3", "晚风", "海与灯")),
        shown(3, named("4", "晚风 (Live)", "别人")),
        shown(4, None),
    ]
    assert choose_music_of_song(song(), videos) is None
    assert choose_music_of_song(song(artist=None), videos) is None


def test_of_equally_frequent_music_ids_the_choice_is_stable() -> None:
    videos = [shown(n, named(str(n), "晚风 (Live)", "海与灯")) for n in (7, 5, 6)]
    assert choose_music_of_song(song(), videos) == "5"
    assert choose_music_of_song(song(), list(reversed(videos))) == "5"


def test_the_music_of_a_trend_is_the_one_that_most_videos_name() -> None:
    rows = [shown(1, named("5", "a", "b")), shown(2, None), shown(3, named("3", "c", "d"))]
    assert most_used_music([*rows, shown(4, named("5", "a", "b"))]) == "5"
    assert most_used_music(rows) == "3"
    assert most_used_music([shown(1, None)]) is None
