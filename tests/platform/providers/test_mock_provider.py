"""The demo world as a source: whole answers, no request, the same every time."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.audio.decode.decoding import DecodeRefusedError, decode_sound
from pipelines.audio.decode.protocol import DecodeLimits
from pipelines.platform.providers import build_chart_provider, build_provider, choose_profile
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from sandbox.mock.provider import MockProvider
from sandbox.world.content.tables import Alteration, VideoState
from sandbox.world.content.texts import TAGS
from sandbox.world.world import SandboxWorld
from warehouse.records.errors import (
    AudioUnavailableError,
    ChartUnavailableError,
    InvalidMusicInputError,
    UnresolvedIdError,
)
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import Unavailability, Video, VideoPage

SEED, SIZE = 3, 0.15


BOOK: Any = object()  # nothing is asked of it


@pytest.fixture(scope="module")
def world() -> SandboxWorld:
    return SandboxWorld(SEED, SIZE)


@pytest.fixture
async def mock(tmp_path: Path) -> AsyncIterator[MockProvider]:
    settings = _settings(tmp_path)
    provider = build_provider(
        settings.data_provider,
        ProviderDependencies(settings=settings, profile=choose_profile(settings), control=BOOK),
    )
    assert isinstance(provider, MockProvider)
    yield provider
    await provider.aclose()


def _settings(tmp_path: Path) -> Settings:
    return Settings(
        _env_file=None, data_provider="mock", data_home=tmp_path, mock_seed=SEED, mock_size=SIZE
    )


def _work(world: SandboxWorld, **wanted: Any) -> str:
    """The first work that is as wanted."""
    works = map(world.works.row, range(len(world.works)))
    return next(
        work.aweme_id
        for work in works
        if all(getattr(work, name) == value for name, value in wanted.items())
    )


async def test_a_track_its_works_and_their_details_hang_together(
    mock: MockProvider, world: SandboxWorld
) -> None:
    music_id = world.tracks[0].music_id
    track = await mock.fetch_track(music_id)
    page = (await mock.fetch_music_page(music_id, 0)).value
    public = [video for video in page.videos if _found(world, video.aweme_id).is_public]
    detail = (await mock.fetch_video(public[0].aweme_id)).value
    assert isinstance(detail, Video)
    assert detail.music is not None
    assert (detail.music.music_id, detail.music.title) == (music_id, track.value.title)
    assert detail.statistics_complete
    assert (track.request_count, track.payload) == (0, b"")


async def test_lists_never_look_complete(mock: MockProvider, world: SandboxWorld) -> None:
    music_id, sec_uid = world.tracks[0].music_id, world.sec_uid(0)
    term = world.title_of(world.tracks[0].score)
    pages: list[VideoPage | SearchPage] = [
        (await mock.fetch_music_page(music_id, 0)).value,
        (await mock.fetch_author_page(sec_uid, 0)).value,
        (await mock.fetch_search_page(term, SearchPosition())).value,
    ]
    assert all(page.videos for page in pages)
    assert not any(video.statistics_complete for page in pages for video in page.videos)


async def test_pages_of_an_account_tile_its_works(mock: MockProvider, world: SandboxWorld) -> None:
    index = max(range(world.account_count), key=lambda one: world.videos_by_account(one).size)
    seen: list[str] = []
    cursor, has_more = 0, True
    while has_more:
        page = (await mock.fetch_author_page(world.sec_uid(index), cursor)).value
        seen += [video.aweme_id for video in page.videos]
        cursor, has_more = page.cursor or 0, bool(page.has_more)
    wanted = [str(world.works.aweme_id[row]) for row in world.videos_by_account(index)]
    assert len(wanted) > 20
    assert seen == wanted


async def test_a_search_goes_on_with_its_own_id_and_ends(
    mock: MockProvider, world: SandboxWorld
) -> None:
    place, seen = SearchPosition(), list[str]()
    for _ in range(20):
        page = (await mock.fetch_search_page(TAGS[0], place)).value
        seen += [video.aweme_id for video in page.videos]
        place = page.next_position
        if not page.has_more:
            break
    assert not page.has_more
    assert len(seen) == len(set(seen)) > 20
    assert place.search_id
    assert (
        await mock.fetch_search_page("no such words", SearchPosition())
    ).value.nil_type == "empty"


async def test_lists_show_as_little_as_those_of_the_platform(
    mock: MockProvider, world: SandboxWorld
) -> None:
    works = map(world.works.row, (-world.works.digg_count).argsort().tolist())
    work = next(work for work in works if work.is_public and work.is_listed)
    detail = (await mock.fetch_video(work.aweme_id)).value
    assert isinstance(detail, Video)
    assert detail.hashtags
    assert detail.music is not None
    in_music = (await mock.fetch_music_page(detail.music.music_id, 0)).value.videos
    in_posts = (await mock.fetch_author_page(world.sec_uid(work.account), 0)).value.videos
    in_hashtag = (await mock.fetch_hashtag_page(detail.hashtags[0].ch_id, 0)).value.videos
    assert {video.hashtags for video in (*in_music, *in_posts)} == {None}
    assert all(video.hashtags for video in in_hashtag)
    assert {video.is_top for video in (*in_music, *in_hashtag)} == {None}
    assert None not in {video.is_top for video in in_posts}
    pages = (*in_music, *in_posts, *in_hashtag, detail)
    assert 0 not in {video.duration_ms for video in pages}
    assert {video.images_count == 0 for video in pages if video.media_type == "video"} == {True}
    assert {video.statistics_source for video in (*in_music, detail)} == {"mock"}


async def test_a_hashtag_of_a_work_lists_that_work(mock: MockProvider, world: SandboxWorld) -> None:
    works = map(world.works.row, (-world.works.digg_count).argsort().tolist())
    aweme_id = next(work.aweme_id for work in works if work.is_public and work.is_listed)
    detail = (await mock.fetch_video(aweme_id)).value
    assert isinstance(detail, Video)
    assert detail.hashtags
    tag = detail.hashtags[0]
    info = (await mock.fetch_hashtag(tag.ch_id)).value
    listed, cursor, has_more = list[str](), 0, True
    while has_more:
        page = (await mock.fetch_hashtag_page(tag.ch_id, cursor)).value
        listed += [video.aweme_id for video in page.videos]
        cursor, has_more = page.cursor or 0, bool(page.has_more)
    assert info.name == tag.name
    assert aweme_id in listed


@pytest.mark.parametrize("state", [VideoState.DELETED, VideoState.PRIVATE, VideoState.REVIEWING])
async def test_a_hidden_work_is_unavailable_with_its_reason(
    state: VideoState, mock: MockProvider, world: SandboxWorld
) -> None:
    found = (await mock.fetch_video(_work(world, state=state))).value
    assert isinstance(found, Unavailability)
    assert str(found.filter_reason).startswith("status_")


async def test_mock_provider_refuses_unknown_ids(mock: MockProvider) -> None:
    with pytest.raises(InvalidMusicInputError):
        await mock.fetch_track("12345")
    with pytest.raises(UnresolvedIdError):
        await mock.fetch_account("nobody")
    with pytest.raises(UnresolvedIdError):
        await mock.fetch_hashtag("12345")
    with pytest.raises(InvalidMusicInputError):
        await mock.resolve_link("http://v.vidplat.localhost/abcd/")
    found = (await mock.fetch_video("12345")).value
    assert isinstance(found, Unavailability)
    assert found.filter_reason == "item_non_existent"


async def test_sound_is_a_file_of_the_callers_and_a_silent_post_has_none(
    mock: MockProvider, world: SandboxWorld, tmp_path: Path
) -> None:
    heard = _work(world, state=VideoState.PUBLIC, is_silent=False, is_photo=False)
    mute = _work(world, state=VideoState.PUBLIC, is_silent=True)
    detail, silent = [(await mock.fetch_video(one)).value for one in (heard, mute)]
    assert isinstance(detail, Video)
    assert isinstance(silent, Video)
    first = await mock.download_sound(detail, tmp_path / "sounds")
    first.path.unlink()
    again = await mock.download_sound(detail, tmp_path / "sounds")
    assert again.path.stat().st_size == again.size_bytes == first.size_bytes
    assert (again.sha256, again.path.suffix, again.request_count) == (first.sha256, ".mp4", 0)
    with pytest.raises(AudioUnavailableError):
        await mock.download_sound(silent, tmp_path)


async def test_a_muted_video_brings_a_file_of_its_own(
    mock: MockProvider, world: SandboxWorld, tmp_path: Path
) -> None:
    name = _work(world, state=VideoState.PUBLIC, alteration=Alteration.MUTED)
    detail = (await mock.fetch_video(name)).value
    assert isinstance(detail, Video)
    file = await mock.download_sound(detail, tmp_path)
    with pytest.raises(DecodeRefusedError, match="silent"):
        decode_sound(file.path, DecodeLimits())


async def test_the_demo_chart_has_issues_and_five_hundred_songs(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    chart = build_chart_provider(
        ProviderDependencies(settings=settings, profile=choose_profile(settings), control=BOOK)
    )
    index = (await chart.fetch_issues()).value
    songs = [
        song
        for page in range(1, 6)
        for song in (await chart.fetch_songs(index.latest_volid, page)).value.songs
    ]
    latest = (await chart.fetch_songs(None, 1)).value
    assert [song.rank for song in songs] == list(range(1, 501))
    assert latest.volid == index.latest_volid == index.issues[0].volid
    assert str(index.issues[-1].chart_date) == "2021-01-01"
    with pytest.raises(ChartUnavailableError):
        await chart.fetch_songs("1", 1)
    await chart.aclose()


def _found(world: SandboxWorld, aweme_id: str) -> Any:
    return world.video_of_id(aweme_id)


async def test_an_account_is_found_by_its_handle(mock: MockProvider) -> None:
    account = (await mock.fetch_account(mock.sec_uids()[3])).value
    found = await mock.fetch_account_by_handle(f"@{(account.unique_id or '').upper()}")
    assert found.value.sec_uid == account.sec_uid
    with pytest.raises(UnresolvedIdError, match="handle"):
        await mock.fetch_account_by_handle("@nobody")
