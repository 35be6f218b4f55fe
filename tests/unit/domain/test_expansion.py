"""Who is heard, in what order, and whose screens are read."""

from datetime import UTC, datetime

from pipelines.scan.rules.expansion import (
    MOST_BATCHES,
    authors_to_scan,
    group_by_music,
    verification_batches,
    verification_order,
    videos_to_verify,
)
from warehouse.records.videos import Author, MediaType, Music, Statistics, Video

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def work(
    aweme_id: str,
    *,
    music_id: str | None = "m1",
    digg: int | None = 0,
    media: MediaType = "video",
    author: str | None = "a1",
    desc: str | None = None,
    mapped: str | None = None,
) -> Video:
    return Video(
        aweme_id=aweme_id,
        surface="video_detail",
        observed_at=NOW,
        desc=desc,
        media_type=media,
        author=Author(sec_uid=author) if author else None,
        music=Music(music_id=music_id, mapped_title=mapped) if music_id else None,
        statistics=Statistics(digg_count=digg),
    )


def test_settled_ids_and_works_without_music_have_no_group() -> None:
    works = [work("1"), work("2", music_id="m2"), work("3", music_id=None)]
    assert list(group_by_music(works, settled={"m1"})) == ["m2"]


def test_ids_whose_text_names_the_song_are_heard_first_then_larger_groups() -> None:
    groups = {
        "big": (work("1"), work("2")),
        "named": (work("3", desc="my 夜航 cover"),),
        "small": (work("4"),),
    }
    assert verification_order(groups, title="夜航") == ("named", "big", "small")


def test_the_song_that_a_user_sound_is_linked_to_counts_as_its_text() -> None:
    groups = {"a": (work("1"),), "b": (work("2", mapped="夜航"),)}
    assert verification_order(groups, title="夜航") == ("b", "a")


def test_videos_are_heard_before_photo_posts_and_likes_decide() -> None:
    works = [work("p", media="photo", digg=99), work("v1", digg=1), work("v2", digg=5)]
    assert [entry.aweme_id for entry in videos_to_verify(works, silent=(), limit=2)] == ["v2", "v1"]


def test_a_silent_placeholder_is_never_heard() -> None:
    assert videos_to_verify([work("1")], silent={"1"}, limit=2) == ()


def test_an_unknown_like_count_is_heard_last() -> None:
    works = [work("unknown", digg=None), work("known", digg=1)]
    assert [entry.aweme_id for entry in videos_to_verify(works, silent=(), limit=1)] == ["known"]


def test_the_next_works_stand_by_in_batches_up_to_a_bound() -> None:
    works = [work(str(number), digg=-number) for number in range(10)]
    batches = verification_batches(works, silent={"1"}, size=2)
    assert [[entry.aweme_id for entry in batch] for batch in batches] == [
        ["0", "2"], ["3", "4"], ["5", "6"],
    ]  # fmt: skip
    assert len(batches) == MOST_BATCHES
    assert verification_batches(works[:1], silent=(), size=5) == ((works[0],),)
    assert verification_batches([], silent=(), size=5) == ()


def test_authors_with_most_works_come_first_and_none_twice() -> None:
    works = [
        work("1", author="b"),
        work("2", author="a"),
        work("3", author="a"),
        work("4", author="c"),
    ]
    assert authors_to_scan(works, scanned={"c"}) == ("a", "b")
