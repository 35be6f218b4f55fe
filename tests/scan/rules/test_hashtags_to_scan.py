"""Which hashtags of a track's works are worth a look."""

from datetime import UTC, datetime

from pipelines.scan.rules.expansion import hashtags_to_scan
from warehouse.records.videos import Hashtag, Video

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SONG, DANCE, FUN, LONE = (
    Hashtag(ch_id="1", name="晴天"),
    Hashtag(ch_id="2", name="dance"),
    Hashtag(ch_id="3", name="fun"),
    Hashtag(ch_id="4", name="mycat"),
)


def works(*tags: tuple[Hashtag, ...]) -> list[Video]:
    return [
        Video(aweme_id=str(number), surface="video_page", observed_at=NOW, hashtags=some)
        for number, some in enumerate(tags)
    ]


SEEN = works((FUN, DANCE), (DANCE,), (DANCE, FUN, LONE), (SONG,))


def test_the_songs_own_hashtag_comes_first_then_the_most_shared() -> None:
    assert hashtags_to_scan(SEEN, title="晴天", scanned=()) == ("1", "2", "3")


def test_a_hashtag_is_looked_at_once() -> None:
    assert hashtags_to_scan(SEEN, title="晴天", scanned={"1", "2"}) == ("3",)


def test_a_hashtag_of_one_work_that_does_not_name_the_song_is_left() -> None:
    assert hashtags_to_scan(works((LONE,)), title="晴天", scanned=()) == ()
