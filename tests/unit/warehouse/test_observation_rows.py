"""What was observed comes back from its row as it went in."""

from datetime import UTC, datetime
from typing import TypedDict

from hypothesis import given
from hypothesis import strategies as st

from pipelines.domain.records import Account, Author, Hashtag, Music, Statistics, Track, Video
from warehouse.contract import to_arrow
from warehouse.rows import (
    account_from_row,
    account_row,
    track_from_row,
    track_row,
    video_from_row,
    video_row,
)
from warehouse.tables import BY_NAME

NOW = datetime(2026, 11, 1, tzinfo=UTC)


class Origin(TypedDict):
    capture_id: str | None
    job_id: str | None
    data_provider: str


ORIGIN = Origin(capture_id="c-1", job_id=None, data_provider="mock")

texts = st.text(st.characters(codec="utf-8"), max_size=20)
counts = st.none() | st.integers(0, 2**63 - 1)
flags = st.none() | st.booleans()
times = st.datetimes(
    min_value=datetime(2016, 1, 1),  # noqa: DTZ001  # the strategy wants naive limits
    max_value=datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
maybe = st.none() | texts
authors = st.builds(
    Author, sec_uid=texts, uid=maybe, unique_id=maybe, nickname=maybe, avatar_url=maybe
)
musics = st.builds(
    Music,
    music_id=texts,
    title=maybe,
    author=maybe,
    duration_s=counts,
    is_original_sound=flags,
    mapped_title=maybe,
)
videos = st.builds(
    Video,
    aweme_id=texts,
    surface=texts,
    observed_at=times,
    desc=maybe,
    create_time=counts,
    share_url=maybe,
    media_type=st.sampled_from([None, "video", "photo"]),
    is_top=flags,
    author=st.none() | authors,
    music=st.none() | musics,
    duration_ms=counts,
    width=counts,
    height=counts,
    cover_url=maybe,
    images_count=counts,
    hashtags=st.lists(st.builds(Hashtag, ch_id=texts, name=texts), max_size=4).map(tuple),
    statistics=st.builds(
        Statistics,
        digg_count=counts,
        comment_count=counts,
        collect_count=counts,
        share_count=counts,
    ),
    is_exact=st.booleans(),
)
tracks = st.builds(
    Track,
    music_id=texts,
    surface=texts,
    observed_at=times,
    title=maybe,
    author=maybe,
    owner_nickname=maybe,
    duration_s=counts,
    is_original_sound=flags,
    cover_url=maybe,
    source_aweme_id=maybe,
)
accounts = st.builds(
    Account,
    sec_uid=texts,
    surface=texts,
    observed_at=times,
    uid=maybe,
    unique_id=maybe,
    short_id=maybe,
    nickname=maybe,
    signature=maybe,
    avatar_url=maybe,
    follower_count=counts,
    following_count=counts,
    aweme_count=counts,
    total_favorited=counts,
    favoriting_count=counts,
    ip_location=maybe,
)


def through_arrow(name: str, row: dict[str, object]) -> dict[str, object]:
    found: list[dict[str, object]] = to_arrow(BY_NAME[name], [row], committed_at=NOW).to_pylist()
    return found[0]


@given(videos)
def test_video_comes_back_from_its_row(video: Video) -> None:
    row = through_arrow("raw.videos", video_row(video, **ORIGIN))
    assert video_from_row(row) == video
    assert row["statistics_complete"] == video.statistics_complete
    assert (row["capture_id"], row["job_id"], row["data_provider"]) == ("c-1", None, "mock")


@given(tracks)
def test_track_comes_back_from_its_row(track: Track) -> None:
    assert track_from_row(through_arrow("raw.tracks", track_row(track, **ORIGIN))) == track


@given(accounts)
def test_account_comes_back_from_its_row(account: Account) -> None:
    row = through_arrow("raw.accounts", account_row(account, **ORIGIN))
    assert account_from_row(row) == account


def test_unknown_stays_unknown() -> None:
    row = video_row(Video(aweme_id="1", surface="s", observed_at=NOW), **ORIGIN)
    unknown = {name for name, value in row.items() if value is None}
    assert {"digg_count", "sec_uid", "music_id", "create_time", "images_count"} <= unknown
    assert video_from_row(row).statistics == Statistics()
