"""What changed between two looks, and that nothing is made up where a number is unknown."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.watchlists.changes import (
    MOST_EARLIER,
    Creator,
    NewMusicId,
    ObservedVideo,
    RankChange,
    UsageCount,
    WatchObservation,
    find_changes,
    measure_growth,
    to_observation,
)
from warehouse.records.videos import Statistics
from warehouse.records.watchlists import DigestThresholds

MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ALL = DigestThresholds(velocity=0.0, rank_change=1)


def work(number: int, **more: object) -> ObservedVideo:
    values: dict[str, object] = {
        "aweme_id": f"735{number:05}", "observed_at": MONDAY, "rank": number, "music_id": "70001",
        "link_type": "exact_music_id", "create_time": 1_700_000_000 + number,
        "statistics": Statistics(digg_count=100, comment_count=0, collect_count=0, share_count=0),
    }  # fmt: skip
    return ObservedVideo(**{**values, **more})  # type: ignore[arg-type]  # fields by name


def seen(*works: ObservedVideo, **more: object) -> WatchObservation:
    values: dict[str, object] = {"kind": "track", "subject": "70001", "observed_at": MONDAY}
    return WatchObservation(**{**values, **more, "works": works})  # type: ignore[arg-type]  # as above


def later(before: ObservedVideo, *, after: timedelta = DAY, **more: object) -> ObservedVideo:
    return replace(before, observed_at=MONDAY + after, **more)  # type: ignore[arg-type]  # as above


def liked(count: int | None) -> Statistics:
    return Statistics(digg_count=count, comment_count=0, collect_count=0, share_count=0)


def test_the_first_look_changes_nothing_and_keeps_its_figures() -> None:
    changes = find_changes(None, seen(work(1), figures={"confirmed_count": 1}), thresholds=ALL)
    assert (changes.since, changes.count) == (None, 0)
    (figure,) = changes.figures
    assert (figure.after, figure.change, figure.per_day) == (1, None, None)


def test_velocity_is_the_gain_of_hot_score_per_day_between_the_counts_themselves() -> None:
    then = work(1, statistics=liked(100))
    now = later(then, after=DAY / 2, statistics=liked(600))
    (fast,) = find_changes(seen(then), seen(now), thresholds=ALL).fast_works
    assert fast.velocity == 1000.0
    likes = next(count for count in fast.counts if count.name == "digg_count")
    assert (likes.before, likes.after, likes.change) == (100, 600, 500)
    assert (likes.elapsed_s, likes.per_day) == (43_200.0, 1000.0)


def test_below_the_threshold_nothing_is_named_and_without_one_never() -> None:
    then = work(1, statistics=liked(100))
    now = later(then, statistics=liked(199))
    for velocity in (99.1, None):
        limits = DigestThresholds(velocity=velocity)
        assert find_changes(seen(then), seen(now), thresholds=limits).fast_works == ()
    reached = find_changes(seen(then), seen(now), thresholds=DigestThresholds(velocity=99.0))
    assert [one.velocity for one in reached.fast_works] == [99.0]


@pytest.mark.parametrize(("before", "after"), [(None, 600), (100, None), (None, None)])
def test_an_unknown_count_is_no_growth(before: int | None, after: int | None) -> None:
    then = work(1, statistics=liked(before))
    now = later(then, statistics=liked(after))
    assert find_changes(seen(then), seen(now), thresholds=ALL).fast_works == ()


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("follower_count", "mplatform_followers_count", None),
        ("mplatform_followers_count", "follower_count", None),
        (None, "follower_count", None),
        ("follower_count", "follower_count", 53_000),
        ("mplatform_followers_count", "mplatform_followers_count", 53_000),
    ],
)
def test_followers_grow_by_counts_of_one_field_alone(
    before: str | None, after: str | None, change: int | None
) -> None:
    then = seen(figures={"follower_count": 1000}, sources={"follower_count": before})
    now = seen(figures={"follower_count": 54_000}, sources={"follower_count": after})
    (figure,) = find_changes(then, now, thresholds=ALL).figures
    assert (figure.after, figure.change) == (54_000, change)


def test_an_observation_kept_before_fields_were_named_is_read() -> None:
    document = seen(figures={"follower_count": 1000}).to_document()
    del document["sources"]
    then = to_observation(document)
    now = seen(figures={"follower_count": 1010}, sources={"follower_count": "follower_count"})
    (figure,) = find_changes(then, now, thresholds=ALL).figures
    assert figure.change is None


def test_counts_that_were_not_read_again_have_no_rate() -> None:
    growth = measure_growth("digg_count", 5, 7, elapsed_s=0.0)
    assert (growth.change, growth.per_day) == (2, None)


def test_places_count_within_the_top_alone() -> None:
    then = [work(number) for number in range(1, 7)]
    order = (3, 1, 2, 4, 6, 5)
    now = [later(then[place - 1], rank=rank) for rank, place in enumerate(order, 1)]
    before, after = seen(*then, top=3), seen(*now, top=3)
    found = find_changes(before, after, thresholds=replace(ALL, rank_change=2)).rank_changes
    assert found == (
        RankChange(aweme_id=then[2].aweme_id, title=None, before=3, after=1, change=2),
    )
    every = find_changes(before, after, thresholds=ALL).rank_changes
    assert [(one.before, one.after) for one in every] == [(3, 1), (1, 2), (2, 3)]


def test_another_music_id_counts_only_where_works_are_confirmed_under_it() -> None:
    heard = work(2, music_id="70002", link_type="audio_fingerprint_match")
    words = work(3, music_id="70003", link_type=None)
    found = find_changes(seen(work(1)), seen(work(1), heard, words), thresholds=ALL)
    assert found.new_music_ids == (
        NewMusicId(
            music_id="70002", work_count=1, link_types=("audio_fingerprint_match",),
            example_aweme_id=heard.aweme_id,
        ),
    )  # fmt: skip
    assert {news.aweme_id for news in found.new_works} == {heard.aweme_id, words.aweme_id}
    silent = replace(ALL, new_music_id=False)
    assert find_changes(seen(work(1)), seen(heard), thresholds=silent).new_music_ids == ()


def test_videos_that_return_are_not_new_changes() -> None:
    stays, leaves = work(1), work(2, music_id="70002", link_type="audio_fingerprint_match")
    first = seen(stays, leaves)
    without = seen(stays).after(first)
    for back in (seen(stays, leaves).after(without), seen(leaves).after(without)):
        changes = find_changes(without, back, thresholds=ALL)
        assert (changes.new_works, changes.new_music_ids) == ((), ())
    fresh = work(3, music_id="70003", link_type="audio_fingerprint_match")
    changes = find_changes(without, seen(stays, leaves, fresh), thresholds=ALL)
    assert [news.aweme_id for news in changes.new_works] == [fresh.aweme_id]
    assert [found.music_id for found in changes.new_music_ids] == ["70003"]


def test_the_memory_of_earlier_looks_has_an_end_and_can_be_stored() -> None:
    many = seen(*(work(number) for number in range(MOST_EARLIER + 2)))
    left = seen(work(0), work(3, link_type=None)).after(many)
    assert len(left.earlier) == MOST_EARLIER
    assert [work(number).aweme_id in left.earlier for number in (0, 1, 2, 3, 4)] == [
        False, True, True, False, True,
    ]  # fmt: skip
    more = seen(work(MOST_EARLIER + 5)).after(left)
    assert len(more.earlier) == MOST_EARLIER
    assert [work(number).aweme_id in more.earlier for number in (1, 2, 4)] == [False, False, True]
    assert list(more.earlier.items())[-1] == (work(3).aweme_id, None)
    document = orjson.loads(orjson.dumps(left.to_document()))
    assert to_observation(document).earlier == left.earlier
    del document["earlier"]  # stored by an earlier release
    assert to_observation(document).earlier == {}


def test_a_missing_work_says_why_where_the_platform_says_it() -> None:
    then = seen(work(1), work(2), work(3))
    now = seen(work(1), gone={work(2).aweme_id: "deleted"})
    vanished = find_changes(then, now, thresholds=ALL).vanished_works
    assert [(news.aweme_id, news.reason) for news in vanished] == [
        (work(2).aweme_id, "deleted"),
        (work(3).aweme_id, None),
    ]


def test_a_video_disappears_only_by_an_answer_of_the_platform() -> None:
    then = seen(work(1), work(2), work(3), work(4))
    gone = {work(2).aweme_id: "status_deleted", work(3).aweme_id: "images_base", "7359": "deleted"}
    now = seen(work(1), gone=gone)
    changes = find_changes(then, now, thresholds=ALL)
    assert [(video.aweme_id, video.reason) for video in changes.disappeared_works] == [
        (work(2).aweme_id, "status_deleted"),
    ]
    assert {video.aweme_id for video in changes.vanished_works} == {
        work(number).aweme_id for number in (2, 3, 4)
    }
    assert changes.count == 3
    silent = replace(ALL, disappeared=False)
    assert find_changes(then, now, thresholds=silent).disappeared_works == ()


def test_a_video_that_was_missed_first_disappears_once_when_the_platform_says_so() -> None:
    first = seen(work(1), work(2))
    missed = seen(work(1)).after(first)
    assert find_changes(first, missed, thresholds=ALL).disappeared_works == ()
    gone = seen(work(1), gone={work(2).aweme_id: "status_deleted"}).after(missed)
    changes = find_changes(missed, gone, thresholds=ALL)
    assert [video.aweme_id for video in changes.disappeared_works] == [work(2).aweme_id]
    assert (changes.vanished_works, changes.count) == ((), 1)
    assert find_changes(gone, gone, thresholds=ALL).disappeared_works == ()


@pytest.mark.parametrize(
    ("before", "after", "is_reached"),
    [
        (9_999, 10_000, True),
        (9_999, 9_999, False),
        (10_000, 10_001, False),
        (None, 10_000, False),
        (5, None, False),
    ],
)
def test_a_video_reaches_likes_between_two_known_counts(
    before: int | None, after: int | None, is_reached: bool
) -> None:
    then, now = work(1, statistics=liked(before)), work(1, statistics=liked(after))
    reached = find_changes(seen(then), seen(now), thresholds=ALL).reached_likes
    assert [(video.before, video.after) for video in reached] == (
        [(before, after)] if is_reached else []
    )
    never = replace(ALL, likes=None)
    assert find_changes(seen(then), seen(now), thresholds=never).reached_likes == ()


def test_a_video_published_since_then_had_no_likes_and_an_older_one_is_unknown() -> None:
    published = int((MONDAY + DAY / 2).timestamp())
    young = work(2, statistics=liked(12_000), create_time=published)
    old = work(3, statistics=liked(90_000))
    unknown = work(4, statistics=liked(90_000), create_time=None)
    reached = find_changes(seen(work(1)), seen(young, old, unknown), thresholds=ALL).reached_likes
    assert [(video.aweme_id, video.before, video.after) for video in reached] == [
        (young.aweme_id, None, 12_000)
    ]


def usage(count: int, *, day: float, is_exact: bool = True) -> WatchObservation:
    at = MONDAY + day * DAY
    counted = UsageCount(count=count, is_exact=is_exact, observed_at=at)
    return seen(usage=counted, observed_at=at)


@pytest.mark.parametrize(
    ("before", "after", "percent"),
    [
        (usage(1000, day=0), usage(1200, day=1), 20.0),
        (usage(1000, day=0), usage(1600, day=3), 20.0),
        (usage(1000, day=0), usage(1100, day=0.5), 20.0),
        (usage(1000, day=0), usage(1199, day=1), None),
        (usage(1000, day=0), usage(900, day=1), None),
        (usage(0, day=0), usage(900, day=1), None),
        (usage(1000, day=1), usage(2000, day=1), None),
        (seen(), usage(2000, day=1), None),
        (usage(1000, day=0), seen(), None),
    ],
)
def test_usage_grows_between_two_known_counts_of_the_platform(
    before: WatchObservation, after: WatchObservation, percent: float | None
) -> None:
    growth = find_changes(before, after, thresholds=ALL).usage_growth
    assert [one.percent_per_day for one in growth] == (
        [] if percent is None else [pytest.approx(percent)]
    )
    never = replace(ALL, usage_growth=None)
    assert find_changes(before, after, thresholds=never).usage_growth == ()


def test_a_step_of_the_rounding_is_no_growth_of_usage() -> None:
    before = usage(1_200_000, day=0, is_exact=False)
    step = usage(1_300_000, day=1, is_exact=False)
    limits = replace(ALL, usage_growth=0.1)
    assert find_changes(before, step, thresholds=limits).usage_growth == ()
    more = usage(1_900_000, day=1, is_exact=False)
    (growth,) = find_changes(before, more, thresholds=limits).usage_growth
    assert (growth.is_exact, growth.before, growth.after) == (False, 1_200_000, 1_900_000)
    assert growth.percent_per_day < 100 * (1_900_000 / 1_200_000 - 1)
    assert to_observation(orjson.loads(orjson.dumps(more.to_document()))) == more


def creators(**followers: int | None) -> dict[str, Creator]:
    return {
        name: Creator(nickname=name.title(), follower_count=number)
        for name, number in followers.items()
    }


def test_a_new_creator_counts_with_enough_known_followers() -> None:
    before = seen(creators=creators(lin=500_000))
    now = creators(lin=500_000, mo=100_000, bo=99_999, wu=None, an=2_000_000)
    found = find_changes(before, seen(creators=now), thresholds=ALL)
    assert [(creator.nickname, creator.follower_count) for creator in found.new_creators] == [
        ("An", 2_000_000), ("Mo", 100_000),
    ]  # fmt: skip
    never = replace(ALL, creator_followers=None)
    assert find_changes(before, seen(creators=now), thresholds=never).new_creators == ()


def test_a_creator_who_returns_is_not_new_and_without_earlier_creators_nobody_is() -> None:
    first = seen(creators=creators(lin=500_000))
    without = seen(creators=creators(mo=5)).after(first)
    back = seen(creators=creators(lin=500_000, mo=5)).after(without)
    assert find_changes(without, back, thresholds=ALL).new_creators == ()
    document = orjson.loads(orjson.dumps(first.to_document()))
    assert to_observation(document) == first
    del document["creators"]  # stored by an earlier release
    assert find_changes(to_observation(document), back, thresholds=ALL).new_creators == ()


def test_a_first_screen_proves_nothing_of_what_newer_works_pushed_off() -> None:
    screen = {"kind": "account", "is_whole": False}
    then = seen(*(work(number) for number in range(1, 9)), **screen)
    now = seen(*(work(number) for number in (4, 5, 7, 8, 9, 10, 11)), **screen)
    vanished = find_changes(then, now, thresholds=ALL).vanished_works
    assert [news.aweme_id for news in vanished] == []
    now = seen(*(work(number) for number in (1, 2, 3, 4, 5, 7, 8)), **screen)
    vanished = find_changes(then, now, thresholds=ALL).vanished_works
    assert [news.aweme_id for news in vanished] == [work(6).aweme_id]
    hashtag = {"kind": "hashtag", "is_whole": False}
    assert find_changes(seen(work(1), **hashtag), seen(**hashtag), thresholds=ALL).count == 0


COUNTS = st.none() | st.integers(0, 10**9)
STATISTICS = st.builds(
    Statistics, digg_count=COUNTS, comment_count=COUNTS, collect_count=COUNTS, share_count=COUNTS
)
WORKS = st.lists(
    st.builds(
        ObservedVideo,
        aweme_id=st.integers(10_000, 10_009).map(str),
        observed_at=st.integers(0, 10**6).map(lambda s: MONDAY + timedelta(seconds=s)),
        statistics=STATISTICS,
        rank=st.none() | st.integers(1, 40),
        music_id=st.none() | st.sampled_from(["70001", "70002"]),
        link_type=st.none() | st.just("exact_music_id"),
        title=st.none() | st.text(max_size=5).filter(lambda text: text.isprintable()),
    ),
    max_size=8,
    unique_by=lambda one: one.aweme_id,
)
FIGURES = st.dictionaries(st.sampled_from(["a", "b"]), COUNTS)
OBSERVATIONS = st.builds(lambda works, figures: seen(*works, figures=figures), WORKS, FIGURES)


@settings(deadline=None, max_examples=40)
@given(observation=OBSERVATIONS)
def test_watchlist_observation_survives_serialisation(observation: WatchObservation) -> None:
    kept = orjson.loads(orjson.dumps(observation.to_document()))
    assert to_observation(kept) == observation


@settings(deadline=None, max_examples=40)
@given(observation=OBSERVATIONS)
def test_equal_observations_have_no_changes(observation: WatchObservation) -> None:
    named = find_changes(observation, observation, thresholds=ALL)
    assert (named.count, {growth.per_day for growth in named.figures}) in [
        (0, set()),
        (0, {None}),
    ]


@settings(deadline=None, max_examples=40)
@given(before=OBSERVATIONS, after=OBSERVATIONS)
def test_every_change_is_between_the_two_and_works_come_or_go_alike(
    before: WatchObservation, after: WatchObservation
) -> None:
    there, back = (
        find_changes(before, after, thresholds=ALL),
        find_changes(after, before, thresholds=ALL),
    )
    assert {news.aweme_id for news in there.new_works} == {
        news.aweme_id for news in back.vanished_works
    }
    assert {one.change for one in there.rank_changes} == {
        -(one.change or 0) for one in back.rank_changes
    }
    for fast in there.fast_works:
        for count in fast.counts[1:]:
            assert None not in {count.before, count.after}
    orjson.dumps(there.to_document())
