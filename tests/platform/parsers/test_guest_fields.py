"""Fields that guests get in a reduced form: followers, kinds of posts, songs in user sounds."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from pipelines.platform.parsers.descriptions import (
    parse_account_page,
    parse_music_info,
    parse_user_info,
)
from pipelines.platform.parsers.fields import JsonNode
from pipelines.platform.parsers.lists import parse_music_list, parse_user_page
from pipelines.platform.parsers.videos import ParseContext, parse_detail
from warehouse.records.errors import (
    EmptyAnswerError,
    StructureChangedError,
    SubstitutionError,
    UnresolvedIdError,
)
from warehouse.records.videos import Account, Video

SEC = "MS4wLjABAAAAq7Rk2dV0xYt3mH8sLw5uZc1nPfJb4eGo6aTi9yWvKrE"
MUSIC = "7361234567890123456"
SEEN = ParseContext(surface="any", observed_at=datetime(2026, 11, 20, tzinfo=UTC), link_of=str)
NOW_S = int(SEEN.observed_at.timestamp())


def account(**fields: object) -> Account:
    return parse_user_info(orjson.dumps({"user_info": fields}), sec_uid=SEC, context=SEEN)


def account_page(**data: object) -> bytes:
    body = orjson.dumps({"loaderData": {"user_(id)/page": data}})
    return b"<html><script>window._ROUTER_DATA = " + body + b"</script></html>"


def item(**fields: object) -> Video:
    work: dict[str, Any] = {"aweme_id": "7568123456789012346", **fields}
    body = orjson.dumps({"aweme_list": [work], "has_more": 0, "cursor": 1})
    (video,) = parse_music_list(body, music_id=MUSIC, context=SEEN).videos
    return video


@pytest.mark.parametrize(
    ("fields", "followers", "source"),
    [
        ({"follower_count": 5, "mplatform_followers_count": 9}, 5, "follower_count"),
        ({"mplatform_followers_count": 9}, 9, "mplatform_followers_count"),
        ({"follower_count": 0, "mplatform_followers_count": 9}, 9, "mplatform_followers_count"),
        ({"mplatform_followers_count": 0}, None, None),
        ({"mplatform_followers_count": "1.2w"}, None, None),
        ({"follower_count": 0}, 0, "follower_count"),
        ({}, None, None),
    ],
)
def test_followers_name_the_field_that_held_them(
    fields: dict[str, object], followers: int | None, source: str | None
) -> None:
    found = account(sec_uid=SEC, **fields)
    assert (found.follower_count, found.follower_count_source) == (followers, source)


@pytest.mark.parametrize(
    ("stated", "read"),
    [(None, None), (0, None), (1_764_000_000, 1_764_000_000), (NOW_S + 3600, NOW_S + 3600)],
)
def test_a_time_of_publication_is_in_seconds(stated: int | None, read: int | None) -> None:
    assert item(create_time=stated).create_time == read


@pytest.mark.parametrize("stated", [1_764_000_000_000, NOW_S + 2 * 86_400, 2**40])
def test_a_time_of_publication_long_after_the_reading_is_a_changed_structure(stated: int) -> None:
    with pytest.raises(StructureChangedError, match="create_time"):
        item(create_time=stated)
    detail = {
        "aweme_id": "7568123456789012346", "statistics": {}, "author": {"sec_uid": SEC},
        "music": {}, "create_time": stated,
    }  # fmt: skip
    with pytest.raises(StructureChangedError, match="create_time"):
        parse_detail(JsonNode(detail, "video_page", "$"), SEEN)


@pytest.mark.parametrize("ids", [{"uid": "98765"}, {"unique_id": "abc"}, {"short_id": "12345"}])
def test_an_account_without_its_long_id_is_read_by_another_one(ids: dict[str, str]) -> None:
    assert account(**ids).sec_uid == SEC


@pytest.mark.parametrize("ids", [{}, {"uid": "0", "short_id": "0", "unique_id": ""}])
def test_an_account_without_any_id_is_refused(ids: dict[str, str]) -> None:
    with pytest.raises(StructureChangedError):
        account(nickname="a", **ids)


def test_an_account_with_another_long_id_is_a_substitution() -> None:
    with pytest.raises(SubstitutionError):
        account(sec_uid=f"{SEC[:-1]}A", uid="98765")


@pytest.mark.parametrize(
    ("fields", "kind", "images"),
    [
        ({"images": None, "aweme_type": 2}, "photo", None),
        ({"images": None, "aweme_type": 68, "video": {"duration": 0}}, "photo", None),
        ({"images": None, "aweme_type": 4}, "video", 0),
        ({"images": None, "aweme_type": 0}, "video", 0),
        ({"images": None}, None, None),
        ({"images": []}, "video", 0),
        ({"images": None, "aweme_type": 2, "video": {"duration": 9000}}, "video", 0),
        ({"images": [{}, {}], "aweme_type": 4}, "photo", 2),
        ({"images": None, "aweme_type": 101}, None, None),
        ({"aweme_type": 4}, None, None),
        ({"aweme_type": 2}, "photo", None),
    ],
)
def test_the_kind_of_a_post_is_known_without_pictures_and_length(
    fields: dict[str, object], kind: str | None, images: int | None
) -> None:
    found = item(**fields)
    assert (found.media_type, found.images_count) == (kind, images)


_TAG = {"type": 1, "hashtag_id": "1600000000000001", "hashtag_name": "a"}
_MENTION = {"type": 0, "user_id": "1"}


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, None),
        ({"text_extra": None}, None),
        ({"text_extra": []}, ()),
        ({"text_extra": [_MENTION]}, ()),
        ({"text_extra": [_MENTION, _TAG, _TAG]}, ("a",)),
        ({"text_extra": [{**_TAG, "hashtag_id": "0"}]}, None),
        ({"text_extra": [{**_TAG, "hashtag_id": "0"}, _TAG]}, ("a",)),
        ({"text_extra": [{**_TAG, "type": None}]}, ("a",)),
        ({"text_extra": [{"type": None, "user_id": "1"}]}, ()),
    ],
)
def test_hashtags_that_are_not_shown_are_unknown(
    fields: dict[str, object], names: tuple[str, ...] | None
) -> None:
    hashtags = item(**fields).hashtags
    assert (None if hashtags is None else tuple(tag.name for tag in hashtags)) == names


@pytest.mark.parametrize(("fields", "is_top"), [({}, None), ({"is_top": 0}, False)])
def test_a_pin_that_is_not_shown_is_unknown(fields: dict[str, object], is_top: bool | None) -> None:
    assert item(**fields).is_top is is_top


@pytest.mark.parametrize(
    ("title", "song", "artist"),
    [
        ("@小满创作的原声（原声中的歌曲：晚风海岸-某某乐队）", "晚风海岸", "某某乐队"),
        ("@a创作的原声(原声中的歌曲: Night Flight - A-Z)", "Night Flight", "A-Z"),
        ("@a创作的原声(原声中的歌曲: Night - Flight - A-Z)", "Night", None),
        ("@a创作的原声（原声中的歌曲：海（Live）-K-9）", "海（Live）", None),
        ("@a创作的原声（原声中的歌曲：晚风-）", "晚风", None),
        ("@a创作的原声（原声中的歌曲：晚风）", "晚风", None),
        ("@a创作的原声（原声中的歌曲：-晚风）", "-晚风", None),
        ("@a创作的原声（原声中的歌曲：）", None, None),
        ("@a创作的原声（原声中的歌曲：晚风）的翻唱", None, None),
        ("@a创作的原声", None, None),
        ("", None, None),
    ],
)
def test_the_song_named_in_a_title_is_the_mapped_one(
    title: str, song: str | None, artist: str | None
) -> None:
    body = orjson.dumps({"music_info": {"mid": MUSIC, "title": title}})
    track = parse_music_info(body, music_id=MUSIC, context=SEEN)
    assert (track.mapped_title, track.mapped_artist) == (song, artist)


def test_the_matched_song_gives_its_artist_as_the_mapped_one() -> None:
    song = {"title": "晚风", "author": "海与灯"}
    sound = {"mid": MUSIC, "title": "原声", "matched_pgc_sound": song}
    track = parse_music_info(orjson.dumps({"music_info": sound}), music_id=MUSIC, context=SEEN)
    assert (track.mapped_title, track.mapped_artist) == ("晚风", "海与灯")


def with_use(count: object, **fields: object) -> bytes:
    """A music id whose use stands in JSON text within the JSON text of `extra`."""
    extra = orjson.dumps({"high_level_follow_info": count}).decode()
    return orjson.dumps({"music_info": {"mid": MUSIC, "title": "晚风", "extra": extra, **fields}})


@pytest.mark.parametrize(
    ("nested", "fields", "use"),
    [
        ('{"music_use_count": 52311}', {}, (52_311, True, None)),
        ('{"music_use_count": "52,311"}', {}, (52_311, True, None)),
        ('{"music_use_count": "123.4万"}', {}, (1_234_000, False, 1000)),
        ('{"music_use_count": "100+"}', {}, (100, False, None)),
        ('{"music_use_count": 0}', {"user_count": 7}, (7, True, None)),
        ('{"music_use_count": 8}', {"user_count": 7}, (8, True, None)),
        # 0 is what guests get for sounds in use, so it is unknown; so is what is no count.
        ('{"music_use_count": 0}', {"user_count": 0}, (None, None, None)),
        ('{"music_use_count": -1}', {}, (None, None, None)),
        ('{"music_use_count": true}', {}, (None, None, None)),
        ('{"music_use_count": 1.5}', {}, (None, None, None)),
        ('{"music_use_count": null}', {}, (None, None, None)),
        ('["music_use_count"]', {}, (None, None, None)),
        ("{", {}, (None, None, None)),
        (7, {}, (None, None, None)),
        (None, {"user_count": "many"}, (None, None, None)),
    ],
)
def test_the_use_of_a_sound_is_the_count_that_the_platform_shows(
    nested: object, fields: dict[str, object], use: tuple[int | None, bool | None, int | None]
) -> None:
    track = parse_music_info(with_use(nested, **fields), music_id=MUSIC, context=SEEN)
    assert (track.use_count, track.use_count_exact, track.use_count_step) == use


def test_the_music_of_a_video_has_its_use_where_the_platform_shows_it() -> None:
    shown = item(music={"mid": MUSIC, "title": "晚风", "user_count": 52_311}).music
    hidden = item(music={"mid": MUSIC, "title": "晚风", "user_count": 0}).music
    assert shown is not None
    assert hidden is not None
    assert (shown.use_count, shown.use_count_exact) == (52_311, True)
    assert (hidden.use_count, hidden.use_count_exact) == (None, None)


def test_a_page_of_an_account_that_the_platform_does_not_know_says_so() -> None:
    page = account_page(userInfoRes={"status_code": 5, "user_info": None})
    with pytest.raises(UnresolvedIdError):
        parse_account_page(page, sec_uid=SEC, context=SEEN)


def test_a_page_of_an_account_that_claims_posts_and_has_none_withholds_them() -> None:
    posts = {"aweme_list": [], "max_cursor": 0}
    with pytest.raises(EmptyAnswerError) as met:
        parse_user_page(
            account_page(postListData={**posts, "has_more": 1}), sec_uid=SEC, context=SEEN
        )
    assert met.value.reason == "empty_list"
    none = parse_user_page(
        account_page(postListData={**posts, "has_more": 0}), sec_uid=SEC, context=SEEN
    )
    assert (none.videos, none.has_more) == ((), False)
