"""What was observed comes back from its row as it went in."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, TypedDict

from hypothesis import given
from hypothesis import strategies as st

from warehouse.lake.record_rows import (
    account_from_row,
    comparison_from_row,
    hashtag_from_row,
    observation_row,
    search_page_from_row,
    search_page_row,
    track_from_row,
    unavailability_from_row,
    video_from_row,
    video_row,
)
from warehouse.records.evidence import Comparison, MatchThresholds, PairEvidence, SearchedRange
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import (
    Account,
    Author,
    Hashtag,
    HashtagInfo,
    Music,
    Statistics,
    Track,
    Unavailability,
    Video,
)
from warehouse.tables import BY_NAME
from warehouse.tables.column import to_arrow

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
    mapped_artist=maybe,
    use_count=counts,
    use_count_exact=flags,
    use_count_step=counts,
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
    hashtags=st.none()
    | st.lists(st.builds(Hashtag, ch_id=texts, name=texts), max_size=4).map(tuple),
    statistics=st.builds(
        Statistics,
        digg_count=counts,
        comment_count=counts,
        collect_count=counts,
        share_count=counts,
    ),
    is_exact=st.booleans(),
    local_source=st.just("mock"),  # the provider of `ORIGIN`
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
    use_count=counts,
    use_count_exact=flags,
    use_count_step=counts,
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
    assert track_from_row(through_arrow("raw.tracks", observation_row(track, **ORIGIN))) == track


@given(accounts)
def test_account_comes_back_from_its_row(account: Account) -> None:
    row = through_arrow("raw.accounts", observation_row(account, **ORIGIN))
    assert account_from_row(row) == account


def test_unknown_fields_of_a_video_are_null_in_its_row() -> None:
    row = video_row(Video(aweme_id="1", surface="s", observed_at=NOW), **ORIGIN)
    unknown = {name for name, value in row.items() if value is None}
    assert {"digg_count", "sec_uid", "music_id", "create_time", "images_count"} <= unknown
    assert {"hashtag_ids", "hashtag_names", "is_top", "media_type", "duration_ms"} <= unknown
    assert video_from_row(row).statistics == Statistics()


VIDEO = Video(
    aweme_id="v", surface="video_page", observed_at=NOW, desc="words", create_time=1,
    share_url="https://s", media_type="photo", is_top=True, duration_ms=2, width=3, height=4,
    cover_url="https://c", images_count=5, is_exact=False, local_source="mock",
    author=Author(sec_uid="a1", uid="a2", unique_id="a3", nickname="a4", avatar_url="a5"),
    music=Music(
        music_id="m1", title="m2", author="m3", duration_s=6, is_original_sound=False,
        mapped_title="m4", mapped_artist="m5", use_count=11_000, use_count_exact=False,
        use_count_step=1000,
    ),
    hashtags=(Hashtag(ch_id="h1", name="one"), Hashtag(ch_id="h2", name="two")),
    statistics=Statistics(digg_count=7, comment_count=8, collect_count=9, share_count=10),
)  # fmt: skip


def test_each_field_of_a_video_stands_in_the_column_of_its_name() -> None:
    assert video_row(VIDEO, capture_id="c-1", job_id="j-1", data_provider="mock") == {
        "aweme_id": "v", "surface": "video_page", "observed_at": NOW, "desc": "words",
        "create_time": 1, "share_url": "https://s", "media_type": "photo", "is_top": True,
        "duration_ms": 2, "width": 3, "height": 4, "cover_url": "https://c", "images_count": 5,
        "is_exact": False, "sec_uid": "a1", "uid": "a2", "unique_id": "a3", "nickname": "a4",
        "avatar_url": "a5", "music_id": "m1", "music_title": "m2", "music_author": "m3",
        "music_duration_s": 6, "music_is_original_sound": False, "music_mapped_title": "m4",
        "music_mapped_artist": "m5",
        "digg_count": 7, "comment_count": 8, "collect_count": 9, "share_count": 10,
        "hashtag_ids": ["h1", "h2"], "hashtag_names": ["one", "two"],
        "statistics_complete": VIDEO.statistics_complete, "capture_id": "c-1", "job_id": "j-1",
        "data_provider": "mock", "created_at": datetime.fromtimestamp(1, UTC),
        "created_at_source": "stated", "music_created_at": None,
        "music_service_track_id": None, "music_use_count": 11_000,
        "music_use_count_exact": False, "music_use_count_step": 1000,
    }  # fmt: skip


def test_times_of_birth_are_stored_with_where_they_come_from() -> None:
    born = datetime(2026, 5, 4, tzinfo=UTC)
    made = str(int(born.timestamp()) << 32)
    bare = Video(aweme_id=made, surface="music_list", observed_at=NOW, music=Music(music_id=made))
    row = video_row(bare, **ORIGIN)
    assert (row["created_at"], row["created_at_source"]) == (born, "id")
    assert row["music_created_at"] == born
    track = observation_row(Track(music_id=made, surface="s", observed_at=NOW), **ORIGIN)
    assert (track["created_at"], track["created_at_source"]) == (born, "id")


def test_a_full_record_of_each_kind_comes_back_from_its_row() -> None:
    track = Track(
        music_id="1", surface="s", observed_at=NOW, title="t", author="a", owner_nickname="o",
        duration_s=1, is_original_sound=True, cover_url="c", source_aweme_id="v",
        use_count=12, use_count_exact=True,
    )  # fmt: skip
    account = Account(
        sec_uid="1", surface="s", observed_at=NOW, uid="u", unique_id="q", short_id="i",
        nickname="n", signature="g", avatar_url="a", follower_count=1, following_count=2,
        aweme_count=3, total_favorited=4, favoriting_count=5, ip_location="l",
    )  # fmt: skip
    hashtag = HashtagInfo(
        ch_id="1", surface="s", observed_at=NOW, name="n", user_count=1, view_count=2,
        is_exact=False,
    )  # fmt: skip
    video, song = video_row(VIDEO, **ORIGIN), observation_row(track, **ORIGIN)
    person, word = observation_row(account, **ORIGIN), observation_row(hashtag, **ORIGIN)
    assert video_from_row(through_arrow("raw.videos", video)) == VIDEO
    assert track_from_row(through_arrow("raw.tracks", song)) == track
    assert account_from_row(through_arrow("raw.accounts", person)) == account
    assert hashtag_from_row(through_arrow("raw.hashtags", word)) == hashtag
    assert song == {**asdict(track), "created_at": None, "created_at_source": None, **ORIGIN}
    assert person == {**asdict(account), **ORIGIN}
    assert word == {**asdict(hashtag), **ORIGIN}


def test_a_search_page_comes_back_from_its_row_and_videos() -> None:
    begun = SearchPosition(cursor=12, search_id="s-1", backtrace="b-1")
    page = SearchPage(
        videos=(Video(aweme_id="1", surface="search_stream", observed_at=NOW),),
        next_position=SearchPosition(cursor=24, search_id="s-2", backtrace="b-2"),
        has_more=True,
        nil_type="no_result",
        skipped_cards=3,
        is_cut=True,
    )
    row = search_page_row(page, term="midnight", place=begun)
    assert search_page_from_row(row, page.videos) == page
    assert (row["term"], row["cursor"], row["search_id"], row["backtrace"]) == (
        "midnight", 12, "s-1", "b-1",
    )  # fmt: skip
    assert row["item_count"] == 1


def test_why_a_video_is_not_shown_comes_back_from_the_row_of_its_capture() -> None:
    row = {"reason": "private", "notice": "unavailable here", "detail_msg": "by its author"}
    assert unavailability_from_row(row) == Unavailability(
        reason="unavailable",
        filter_reason="private",
        notice="unavailable here",
        detail_msg="by its author",
    )
    assert unavailability_from_row({"reason": None}).notice is None


def test_hashtags_of_a_row_without_them_are_unknown() -> None:
    row = {**video_row(VIDEO, **ORIGIN), "hashtag_ids": None, "hashtag_names": None}
    assert video_from_row(row).hashtags is None


def test_a_video_known_to_have_no_hashtags_stays_so() -> None:
    row = through_arrow("raw.videos", video_row(replace(VIDEO, hashtags=()), **ORIGIN))
    assert (row["hashtag_ids"], row["hashtag_names"]) == ([], [])
    assert video_from_row(row).hashtags == ()


MEASURED = PairEvidence(
    verdict="rejected", reason="score_below_threshold", segment="local", chroma_distance=0.1,
    mfcc_distance=0.2, overlap_s=6.0, reference_start_s=1.0, candidate_start_s=2.0,
    peak_agreement=0.3, score=0.4, speed=1.0, semitones=0.0, observation="uncertain",
    shared_part="loop", version_score=0.25,
)  # fmt: skip
LIMITS = MatchThresholds(match_threshold=0.7, whole_overlap_s=9.0)
NAMES: Any = {
    "comparison_id": "1", "reference_aweme_id": "2", "candidate_aweme_id": "3",
    "reference_music_id": "4", "candidate_music_id": "5", "algorithm": "6",
    "feature_version": "7", "library_version": "8",
}  # fmt: skip


def comparison_stored(**changed: object) -> Comparison:
    row = {**asdict(MEASURED), **NAMES, "limits": json.dumps(asdict(LIMITS)), "job_id": "j"}
    return comparison_from_row(row | changed)


def test_a_stored_comparison_is_read_as_it_was_measured() -> None:
    assert comparison_stored() == Comparison(pair=MEASURED, limits=LIMITS, **NAMES)


def test_searched_ranges_are_read_from_their_stored_row() -> None:
    searched = SearchedRange(
        speed=(0.5, 2.0), tempo=(0.6, 1.9), semitones=(-9.0, 12.0), tempo_with_pitch=(0.66, 1.5),
        min_overlap_s=5.5, reference_s=60.0, candidate_s=9.1,
    )  # fmt: skip
    assert comparison_stored(searched=json.dumps(asdict(searched))).pair.searched == searched


def test_a_reference_from_neither_source_is_one_of_the_platform() -> None:
    found = [comparison_stored(reference_source=stored) for stored in ("music_service", None)]
    assert [one.reference_source for one in found] == ["music_service", "platform"]
