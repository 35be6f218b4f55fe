"""Links that lead to another thing than was wanted, videos that do not name it, and what is known
about a song or a video without a request.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, override

import pytest

from pipelines.captures.session import Captures
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.sources.table import Reading
from tests.captures.conftest import Source, video
from tests.captures.test_erased_accounts import mark
from tests.charts.chart_rows import row
from warehouse.records.errors import (
    AudioUnavailableError,
    InvalidMusicInputError,
    InvalidParameterError,
    ProviderUnsupportedError,
    SametrackError,
    UnresolvedIdError,
)
from warehouse.records.videos import Music, SoundAddresses, Unavailability, Video

pytestmark = pytest.mark.full

VIDEO_ID, SONG_ID, TREND_ID = "7361234567890123456", "7100000000000000001", "7200000000000000001"
SEC = "MS4wLjABAAAAabcdef"
SHORT = "http://v/short/"
GONE = Unavailability(reason="unavailable", filter_reason="deleted")
NAMELESS = replace(video(VIDEO_ID, "video_page"), author=None)

Begin = Callable[..., Captures]


@dataclass
class OneVideo(Source):
    """A source whose videos are all this one."""

    found: Video | Unavailability = NAMELESS

    @override
    async def fetch_video(self, aweme_id: str) -> Reading[Any]:
        return await self._read("video_page", aweme_id, self.found)


@pytest.fixture
def source() -> OneVideo:
    """Understands a link of each kind; the short link leads where a test says."""
    return OneVideo(
        targets={
            "/video/": LinkTarget("video", VIDEO_ID),
            "/track/": LinkTarget("service_track", SONG_ID),
            "/trends/": LinkTarget("trends", TREND_ID),
            "/short/": LinkTarget("short", "short", SHORT),
        }
    )


async def refusal(resolve: Callable[[str], Any], text: str) -> SametrackError:
    with pytest.raises(SametrackError) as met:
        await resolve(text)
    return met.value


async def test_a_short_link_of_a_playlist_is_no_track_and_the_hint_says_what_takes_it(
    begin: Begin, source: OneVideo
) -> None:
    source.targets[f"behind {SHORT}"] = LinkTarget("service_playlist", "7300000000000000001")
    async with begin() as captures:
        error = await refusal(captures.resolve, SHORT)
    assert isinstance(error, InvalidMusicInputError)
    assert error.detail == (
        "the link leads to a playlist of the music service, not to a track or a video"
    )
    assert "fetch_music_hot_videos_batch" in str(error.hint)


@pytest.mark.parametrize("text", ["http://p/video/7", SHORT], ids=["video link", "short link"])
async def test_a_link_of_a_video_is_no_hashtag(text: str, begin: Begin, source: OneVideo) -> None:
    source.targets[f"behind {SHORT}"] = LinkTarget("video", VIDEO_ID)
    async with begin() as captures:
        error = await refusal(captures.resolve_hashtag, text)
    assert isinstance(error, InvalidParameterError)
    assert error.detail == "the link leads to a video, not to a hashtag"
    assert "ch_id" in str(error.hint)


async def test_a_video_that_names_neither_music_nor_author_leads_to_neither(
    begin: Begin, source: OneVideo
) -> None:
    async with begin() as captures:
        track = await refusal(captures.resolve, "http://p/video/7")
        account = await refusal(captures.resolve_user, "http://p/video/7")
    assert isinstance(track, InvalidMusicInputError)
    assert track.detail == f"the video {VIDEO_ID} names no music"
    assert isinstance(account, UnresolvedIdError)
    assert account.detail == f"the video {VIDEO_ID} names no author"


async def test_a_video_that_is_not_shown_leads_to_nothing(begin: Begin, source: OneVideo) -> None:
    source.found = GONE
    async with begin() as captures:
        track = await refusal(captures.resolve, "http://p/video/7")
        account = await refusal(captures.resolve_user, "http://p/video/7")
    assert isinstance(track, InvalidMusicInputError)
    assert isinstance(account, UnresolvedIdError)
    assert {track.detail, account.detail} == {f"the video {VIDEO_ID} is not visible to guests"}


async def test_a_video_leads_to_its_music_and_its_author(begin: Begin, source: OneVideo) -> None:
    music = Music(music_id="7500000000000000001")
    source.found = replace(video(VIDEO_ID, "video_page"), music=music)
    async with begin() as captures:
        assert await captures.resolve("http://p/video/7") == music.music_id
        assert await captures.resolve_user("http://p/video/7") == "sec"


@pytest.mark.parametrize("text", ["http://p/open/", SHORT], ids=["link", "short link"])
async def test_the_page_of_an_account_with_an_open_video_leads_to_that_account(
    text: str, begin: Begin, source: OneVideo
) -> None:
    """The video may be one that the account only liked; for a track it is the video that counts."""
    music = Music(music_id="7500000000000000001")
    source.found = replace(video(VIDEO_ID, "video_page"), music=music)
    target = LinkTarget("video", VIDEO_ID, account=SEC)
    source.targets |= {"/open/": target, f"behind {SHORT}": target}
    async with begin() as captures:
        assert await captures.resolve_user(text) == SEC
        assert "video_page" not in {question[0] for question in source.asked}
        assert await captures.resolve(text) == music.music_id


async def test_a_dead_short_link_is_refused_as_what_was_asked_for(
    begin: Begin, source: OneVideo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dead(url: str) -> LinkTarget:
        raise InvalidMusicInputError("the short link is dead", hint="give the link of a track")

    monkeypatch.setattr(source, "resolve_link", dead)
    async with begin() as captures:
        hashtag = await refusal(captures.resolve_hashtag, SHORT)
        account = await refusal(captures.resolve_user, SHORT)
    assert isinstance(hashtag, InvalidParameterError)
    assert isinstance(account, UnresolvedIdError)
    assert {hashtag.detail, account.detail} == {"the short link is dead"}
    assert ("ch_id" in str(hashtag.hint), "sec_user_id" in str(account.hint)) == (True, True)


async def test_a_short_link_of_an_erased_account_leads_nowhere_and_leaves_no_row(
    begin: Begin, source: OneVideo, stores: Any
) -> None:
    mark(stores, SEC)
    for target in (LinkTarget("user", SEC), LinkTarget("video", VIDEO_ID, account=SEC)):
        source.targets[f"behind {SHORT}"] = target
        async with begin() as captures:
            error = await refusal(captures.resolve_user, SHORT)
        assert isinstance(error, UnresolvedIdError)
        assert "erased" in error.detail
        assert stores.rows("select * from raw.captures") == []


async def test_without_a_music_service_a_song_is_refused_with_what_else_to_give(
    begin: Begin, source: OneVideo
) -> None:
    async with begin() as captures:
        for resolve, text in ((captures.resolve, "http://p/track/1"), (captures.song, SONG_ID)):
            error = await refusal(resolve, text)
            assert isinstance(error, ProviderUnsupportedError)
            assert "link of a video" in str(error.hint)
    assert source.asked == []


async def test_a_song_whose_music_id_was_seen_is_known_without_a_request(
    begin: Begin, source: OneVideo, stores: Any
) -> None:
    seen = row(
        "raw.tracks", music_id="7500000000000000001", surface="music_info", data_provider="mock",
        observed_at=datetime(2026, 11, 20, tzinfo=UTC), service_track_id=SONG_ID,
    )  # fmt: skip
    stores.lake.append("raw.tracks", [seen])
    stores.engine.refresh()
    async with begin() as captures:
        assert await captures.resolve("http://p/track/1") == "7500000000000000001"
        assert captures.requests_used == 0
    assert source.asked == []


async def test_a_trend_whose_videos_name_no_music_leads_to_no_track(
    begin: Begin, source: OneVideo
) -> None:
    async with begin() as captures:
        error = await refusal(captures.resolve, "http://p/trends/1")
    assert isinstance(error, InvalidMusicInputError)
    assert error.detail == f"The videos of the trend {TREND_ID} name no music"
    assert source.asked == [("trends_list", TREND_ID, 0)]


async def test_a_video_read_a_moment_ago_is_given_again_with_its_addresses(
    begin: Begin, source: OneVideo
) -> None:
    source.found = replace(video(VIDEO_ID, "video_page"), sound=SoundAddresses(urls=("http://x/",)))
    async with begin() as captures:
        first = await captures.video(VIDEO_ID)
        assert await captures.video(VIDEO_ID, max_age_s=3600) is first
        assert len(source.asked) == 1
        assert await captures.video(VIDEO_ID) == first
    assert len(source.asked) == 2


async def test_the_sound_of_a_video_that_is_gone_meanwhile_is_unavailable(
    begin: Begin, source: OneVideo
) -> None:
    stored: Video = video(VIDEO_ID, "video_page")
    source.found = GONE
    async with begin() as captures:
        with pytest.raises(AudioUnavailableError, match="no longer available") as met:
            await captures.sound(stored)
    assert (met.value.surface, met.value.reason) == ("media", "deleted")
