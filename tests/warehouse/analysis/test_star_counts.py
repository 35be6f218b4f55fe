"""Counts of the star that a repeated reading or another field must not move."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from warehouse import open_warehouse
from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import observation_row, search_page_row, video_row
from warehouse.queries.captures import read_search_union
from warehouse.queries.charts import (
    read_account_series,
    read_music_videos,
    read_track_series,
    read_video_series,
)
from warehouse.queries.results import read_latest_videos
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import (
    Account,
    FollowerCountSource,
    Hashtag,
    Music,
    Statistics,
    Track,
    Video,
)
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

MONDAY = datetime(2026, 11, 2, 9, tzinfo=UTC)
TRACK = "7348759830572834348"
VIDEO = "7400000000000000009"
ACCOUNT = "MS4wLjABAAAAcounted_account"


def profile(day: int, followers: int | None, source: FollowerCountSource | None) -> dict[str, Any]:
    account = Account(
        sec_uid=ACCOUNT, surface="user_info", observed_at=MONDAY + timedelta(days=day),
        follower_count=followers, follower_count_source=source,
    )  # fmt: skip
    return observation_row(account, capture_id=None, job_id=None, data_provider="mock")


def test_followers_are_gained_between_counts_of_one_field(small_store: Any) -> None:
    small_store.lake.append(
        "raw.accounts",
        [
            profile(0, 1000, "follower_count"),
            profile(1, 54_000, "mplatform_followers_count"),
            profile(2, 1010, "follower_count"),
            profile(3, None, None),
            profile(4, 54_100, "mplatform_followers_count"),
            profile(5, 1015, None),
        ],
    )
    with open_warehouse(small_store.home.root) as wh:
        rows = wh.marts.account_days.order("day").rows()
    assert [row["followers_gained"] for row in rows] == [None, None, 10, None, 100, None]


def test_a_stored_time_in_milliseconds_is_unknown_to_the_genealogy(small_store: Any) -> None:
    track = Track(music_id=TRACK, surface="music_info", observed_at=MONDAY)
    video = Video(
        aweme_id="7400000000000000001", surface="video_page", observed_at=MONDAY,
        create_time=1_764_000_000_000, music=Music(music_id=TRACK),
    )  # fmt: skip
    origin: dict[str, Any] = {"capture_id": None, "job_id": None, "data_provider": "mock"}
    result = {
        "job_id": "j", "music_id": TRACK, "document": b"x", "confirmed_count": 0, "algorithm": "a",
    }  # fmt: skip
    small_store.lake.append("raw.tracks", [observation_row(track, **origin)])
    small_store.lake.append("raw.videos", [video_row(video, **origin)])
    small_store.lake.append("marts.job_results", [result])
    with open_warehouse(small_store.home.root) as wh:
        (row,) = wh.marts.genealogy.rows()
    assert (row["music_id"], row["first_published_at"]) == (TRACK, None)


def test_profiles_and_pages_that_were_replayed_are_counted_once(small_store: Any) -> None:
    small_store.add_works(ACCOUNT, nickname="A nickname", desc="as read first")
    track = Track(music_id=TRACK, surface="music_info", observed_at=MONDAY)
    account = Account(sec_uid=ACCOUNT, surface="user_info", observed_at=MONDAY)
    origin: dict[str, Any] = {"job_id": None, "data_provider": "mock"}
    for capture_id in ("c-1", "r-1"):
        small_store.lake.append(
            "raw.tracks", [observation_row(track, capture_id=capture_id, **origin)]
        )
        small_store.lake.append(
            "raw.accounts", [observation_row(account, capture_id=capture_id, **origin)]
        )
    replay(small_store, "c-1", "r-1")
    with open_warehouse(small_store.home.root) as wh:
        assert [row["page_observation_count"] for row in wh.marts.music_ids.rows()] == [1]
        assert [row["profile_observation_count"] for row in wh.marts.accounts.rows()] == [1]
        assert [row["observation_count"] for row in wh.marts.account_days.rows()] == [1]


def test_a_replayed_capture_and_what_it_shows_are_counted_once(small_store: Any) -> None:
    small_store.add_works("MS4wLjABAAAAan-account", nickname="A nickname", desc="as read first")
    before = counts_of(small_store)
    assert before == ([1, 1], [1, 1], [1], [1])
    replay(small_store, "c-1", "r-1")
    assert counts_of(small_store) == before
    replay(small_store, "r-1", "r-2")
    assert counts_of(small_store) == before
    with open_warehouse(small_store.home.root) as wh:
        assert {row["desc"] for row in wh.marts.videos.rows()} == {"as r-2 reads it"}


def test_star_columns_are_null_unless_a_surface_shows_them(small_store: Any) -> None:
    at = [MONDAY + timedelta(hours=hour) for hour in range(4)]
    some = (Hashtag(ch_id="1", name="a"),)
    seen = [
        Video(aweme_id="1", surface="hashtag_list", observed_at=at[0], hashtags=some),
        Video(aweme_id="1", surface="video_page", observed_at=at[1], hashtags=(), images_count=3),
        Video(aweme_id="2", surface="hashtag_list", observed_at=at[0], hashtags=some),
        Video(aweme_id="3", surface="user_posts", observed_at=at[0], media_type="photo"),
        *(
            Video(
                aweme_id=aweme_id, surface="music_list", observed_at=at[2],
                statistics=Statistics(digg_count=5),
            )
            for aweme_id in ("1", "2", "3")
        ),
    ]  # fmt: skip
    origin: Any = {"capture_id": None, "job_id": None, "data_provider": "mock"}
    small_store.lake.append("raw.videos", [video_row(video, **origin) for video in seen])
    with open_warehouse(small_store.home.root) as wh:
        videos = {row["aweme_id"]: row for row in wh.marts.videos.rows()}
    assert [videos[name]["hashtag_names"] for name in "123"] == [[], ["a"], None]
    assert [videos[name]["hashtag_ids"] for name in "123"] == [[], ["1"], None]
    assert [videos[name]["media_type"] for name in "123"] == [None, None, "photo"]
    assert [videos[name]["images_count"] for name in "123"] == [3, None, None]
    assert {videos[name]["digg_count"] for name in "123"} == {5}


def test_a_series_has_a_replayed_reading_once_and_with_its_newest_counts(small_store: Any) -> None:
    small_store.add_works(ACCOUNT, nickname="A nickname", desc="as read first")
    replay(small_store, "c-1", "r-1")
    for capture_id, count in (("c-1", 70), ("r-1", 7)):
        read = {"capture_id": capture_id, "job_id": None, "data_provider": "mock"}
        small_store.lake.append("raw.accounts", [{**profile(0, count, "follower_count"), **read}])
        small_store.lake.append("raw.videos", [{**counted_video(0, count), **read}])
    small_store.lake.append("raw.videos", [counted_video(1, 9)])
    link = {
        "music_id": TRACK, "aweme_id": VIDEO, "job_id": "j", "link_type": "exact_music_id",
        "source_music_id": TRACK, "source_music_title": None, "sec_uid": None,
        "comparison_id": None, "reference_aweme_id": None, "expansion_round": 0, "algorithm": "a",
    }  # fmt: skip
    small_store.lake.append("marts.confirmed_videos", [link])
    with open_warehouse(small_store.home.root) as wh:
        (account,) = wh.query("account-history").rows()
        assert (account["follower_count"], account["follower_count_source"]) == (
            7, "follower_count",
        )  # fmt: skip
        (grown,) = wh.query("growth").rows()
        assert (grown["likes"], grown["new_likes"]) == (9, 2)
        captures = wh.query("requests-per-day").rows()
        assert [(row["captures"], row["requests"]) for row in captures] == [(1, 1)]
    with closing(Engine(small_store.lake)) as engine:
        likes = [row["digg_count"] for row in read_video_series(engine, VIDEO)]
        assert likes == [7, 9]
        assert [row["follower_count"] for row in read_account_series(engine, ACCOUNT)] == [7]
        of_track = [row["digg_count"] for row in read_track_series(engine, TRACK)]
        assert of_track == [7, 9]
        of_music_id = [row["digg_count"] for row in read_music_videos(engine, [TRACK])]
        assert of_music_id == [7, 9]


def test_star_ignores_values_withdrawn_by_a_replay(small_store: Any) -> None:
    small_store.add_works(ACCOUNT, nickname="A nickname", desc="as read first")
    replay(small_store, "c-1", "r-1")
    misread = counted_video(0, 70) | {"capture_id": "c-1", "music_id": TRACK}
    unknown = {"capture_id": "r-1", "music_id": None, "digg_count": None}
    small_store.lake.append("raw.videos", [misread])
    small_store.lake.append("raw.videos", [misread | unknown | {"statistics_complete": False}])
    with open_warehouse(small_store.home.root) as wh:
        (video,) = wh.marts.videos.filter(f"aweme_id = '{VIDEO}'").rows()
        assert (video["digg_count"], video["music_id"], video["observation_count"]) == (
            None, None, 1,
        )  # fmt: skip
        (day,) = wh.marts.video_days.filter(f"aweme_id = '{VIDEO}'").rows()
        assert day["digg_count"] is None
        assert wh.marts.music_ids.rows() == []
        assert wh.query("growth").rows() == []
    with closing(Engine(small_store.lake)) as engine:
        assert read_latest_videos(engine, [VIDEO])[VIDEO].statistics.digg_count is None


def test_a_search_whose_page_was_replayed_still_shows_its_videos(small_store: Any) -> None:
    item = blank("raw.capture_items") | {
        "capture_id": "c", "position": 0, "surface": "search_stream", "entity_id": "song",
        "sequence": 1, "aweme_id": VIDEO,
    }  # fmt: skip
    page = search_page_row(
        SearchPage(videos=(), next_position=SearchPosition(), has_more=False),
        term="song", place=SearchPosition(),
    )  # fmt: skip
    read = {
        "surface": "search_stream", "observed_at": MONDAY, "job_id": None, "data_provider": "mock",
    }  # fmt: skip
    small_store.lake.append("raw.capture_items", [item])
    for again in (capture("c"), capture("r") | {"reason": "replay of c"}):
        page_of_it = {**page, **read, "capture_id": again["capture_id"]}
        small_store.lake.append("raw.search_pages", [page_of_it])
        small_store.lake.append("raw.captures", [again])
    with closing(Engine(small_store.lake)) as engine:
        assert read_search_union(engine, ["song"]) == {VIDEO: ["song"]}
        assert len(engine.rows("select * from seen.search_pages")) == 1


def test_a_song_whose_step_a_replay_corrected_is_no_climber(small_store: Any) -> None:
    small_store.add_works(ACCOUNT, nickname="A nickname", desc="as read first")
    replay(small_store, "c-1", "r-1")
    for capture_id, title, before in (("c-1", "misread", 30), ("r-1", "read", 3)):
        add_song(small_store, capture_id, {"title": title, "previous_rank": before})
    with open_warehouse(small_store.home.root) as wh:
        assert wh.query("chart-climbers").rows() == []
        assert [row["title"] for row in wh.query("chart-song").rows()] == ["read"]
        assert wh.query("chart-song", title="misread").rows() == []


def test_songs_that_were_read_before_the_release_of_their_issue_have_no_place_in_it(
    small_store: Any,
) -> None:
    issue = blank("raw.chart_issues") | {
        "volid": "v", "chart_date": MONDAY.date(), "scheduled_at": MONDAY, "observed_at": MONDAY,
        "surface": "chart_issues", "is_latest": True, "data_provider": "mock",
    }  # fmt: skip
    small_store.lake.append("raw.chart_issues", [issue])
    small_store.lake.append("raw.captures", [capture("early"), capture("late"), capture("page")])
    add_song(small_store, "early", {"title": "of the issue before"}, hour=-1)
    add_song(small_store, "page", {"volid": None, "title": "of no known issue"}, hour=-1)
    with open_warehouse(small_store.home.root) as wh:
        assert wh.query("chart-song").rows() == []
        assert wh.query("chart-climbers").rows() == []
    add_song(small_store, "late", {"title": "of the issue"}, hour=1)
    with open_warehouse(small_store.home.root) as wh:
        (song,) = wh.query("chart-song").rows()
        assert (song["title"], song["chart_date"]) == ("of the issue", MONDAY.date())
        assert [row["title"] for row in wh.query("chart-climbers").rows()] == ["of the issue"]


def blank(table: str) -> dict[str, Any]:
    names = [one.name for one in BY_NAME[table].columns]
    return dict.fromkeys(name for name in names if name != "committed_at")


def capture(capture_id: str) -> dict[str, Any]:
    return blank("raw.captures") | {
        "capture_id": capture_id, "surface": "chart_songs", "entity_id": "v", "sequence": 1,
        "outcome": "ok", "request_count": 1, "parser_version": "1", "data_provider": "mock",
        "observed_at": MONDAY,
    }  # fmt: skip


def add_song(small_store: Any, capture_id: str, reported: dict[str, Any], *, hour: int = 0) -> None:
    song = blank("raw.chart_songs") | {
        "volid": "v", "rank": 5, "previous_rank": 30, "capture_id": capture_id,
        "surface": "chart_songs", "observed_at": MONDAY + timedelta(hours=hour),
        "data_provider": "mock",
    }  # fmt: skip
    small_store.lake.append("raw.chart_songs", [song | reported])


def counted_video(day: int, likes: int) -> dict[str, Any]:
    video = Video(
        aweme_id=VIDEO, surface="video_page", observed_at=MONDAY + timedelta(days=day),
        statistics=Statistics(digg_count=likes, comment_count=1, collect_count=1, share_count=1),
    )  # fmt: skip
    return video_row(video, capture_id=None, job_id=None, data_provider="mock")


def test_a_refusal_that_was_read_again_since_is_none(small_store: Any) -> None:
    small_store.add_works(ACCOUNT, nickname="A nickname", desc="as read first")
    with open_warehouse(small_store.home.root) as wh:
        (read,) = wh.table("raw.captures").rows()
    refused = read | {"capture_id": "d-1", "outcome": "schema_changed", "reason": "key_missing"}
    small_store.lake.append("raw.captures", [refused])
    with open_warehouse(small_store.home.root) as wh:
        assert [row["captures"] for row in wh.query("refusals").rows()] == [1]
    replayed = read | {"capture_id": "d-2", "reason": "replay of d-1", "request_count": 0}
    small_store.lake.append("raw.captures", [replayed])
    with open_warehouse(small_store.home.root) as wh:
        assert wh.query("refusals").rows() == []


def replay(small_store: Any, capture_id: str, again: str) -> None:
    """Append what a written replay appends for a capture that is read differently today."""
    changed = {"capture_id": again}
    for name, more in (
        ("raw.videos", {"desc": f"as {again} reads it"}),
        ("raw.captures", {"reason": f"replay of {capture_id}", "request_count": 0}),
    ):
        columns = [one.name for one in BY_NAME[name].columns if one.name != "committed_at"]
        with open_warehouse(small_store.home.root) as wh:
            rows = wh.table(name).filter(f"capture_id = '{capture_id}'").rows()
        kept = [{column: row[column] for column in columns} for row in rows]
        small_store.lake.append(name, [{**row, **changed, **more} for row in kept])


def counts_of(small_store: Any) -> tuple[list[int], ...]:
    """Observations of each video, in all and by day; captures and requests of each day."""
    with open_warehouse(small_store.home.root) as wh:
        return (
            [row["observation_count"] for row in wh.marts.videos.rows()],
            [row["observation_count"] for row in wh.marts.video_days.rows()],
            [row["capture_count"] for row in wh.marts.days.rows()],
            [row["request_count"] for row in wh.marts.days.rows()],
        )
