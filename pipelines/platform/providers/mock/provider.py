"""Provider `mock`: all data from a sandbox world in this process.

Nothing is contacted, and no file is read except the sounds that the world renders. Records are
built in `records.py`.
"""

import asyncio
import hashlib
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from pathlib import Path

from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.dependencies import ProviderDependencies
from pipelines.platform.providers.mock import records as to
from pipelines.platform.providers.mock.search_index import MockSearchIndex
from pipelines.platform.reading import Reading, SoundFile
from pipelines.sandbox.world.content.videos import SandboxVideo
from pipelines.sandbox.world.sound.encoding import Codec
from pipelines.sandbox.world.sound.sound_cache import SoundCache
from pipelines.sandbox.world.world import SandboxWorld
from warehouse.records.errors import (
    AudioUnavailableError,
    InvalidMusicInputError,
    ProviderUnsupportedError,
    UnresolvedIdError,
)
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import (
    Account,
    HashtagInfo,
    Track,
    UnavailableVideo,
    Video,
    VideoDetail,
    VideoPage,
)

PAGE_SIZE = 20
PARSER_VERSION = "mock-1"
_TYPES: dict[Codec, str] = {"aac": "video/mp4", "mp3": "audio/mpeg"}


def build(name: str, dependencies: ProviderDependencies) -> "MockProvider":
    """Build the source over the configured world, with its sounds in the demo world's cache."""
    settings = dependencies.settings
    world = open_world(settings.mock_seed, settings.mock_size)
    cache_dir = settings.data_home.expanduser().resolve() / "mock" / "cache" / "sounds"
    return MockProvider(world, profile=dependencies.profile, cache_dir=cache_dir, name=name)


@cache
def open_world(seed: int, size: float) -> SandboxWorld:
    """Return a world, generated once per process; it never changes."""
    return SandboxWorld(seed, size)


@cache
def _search_index(world: SandboxWorld) -> MockSearchIndex:
    return MockSearchIndex(world)


class MockProvider:
    """The sandbox world as a source.

    Args:
        world: The world.
        profile: Forms of its links; nothing there is contacted.
        cache_dir: Folder of rendered sounds, created with the first one.
        name: Name of this source in rows.
    """

    def __init__(
        self, world: SandboxWorld, *, profile: PlatformProfile, cache_dir: Path, name: str
    ) -> None:
        self.name = name
        self._world = world
        self._profile = profile
        self._cache_dir = cache_dir
        self._rendering = asyncio.Lock()

    def music_ids(self) -> Sequence[str]:
        """Music ids of the demo world's tracks."""
        return [sound.music_id for sound in self._world.tracks]

    def sec_uids(self) -> Sequence[str]:
        """Ids of its accounts."""
        return [self._world.sec_uid(index) for index in range(self._world.account_count)]

    def aweme_ids(self) -> Sequence[str]:
        """Ids of its videos, including hidden ones."""
        return [str(one) for one in self._world.works.aweme_id.tolist()]

    def ch_ids(self) -> Sequence[str]:
        """Ids of its hashtags."""
        return _search_index(self._world).ch_ids()

    def find_target(self, text: str) -> LinkTarget | None:
        """Return the target of the first sandbox link in a text."""
        return self._profile.find_target(text)

    async def fetch_track(self, music_id: str) -> Reading[Track]:
        """Return one music id."""
        sound = self._world.sound_of(music_id)
        if sound is None:
            raise InvalidMusicInputError(
                f"the demo world knows no track with the music id {music_id}",
                hint="`sametrack demo` shows some; ids differ with MOCK_SEED and MOCK_SIZE",
            )
        return self._reading("music_info", music_id, to.to_track(self._view(), sound))

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        """Return one page of the videos under a music id; empty for an unknown one."""
        sound = self._world.sound_of(music_id)
        rows = [] if sound is None else self._world.music_list(sound.index).tolist()
        return self._page("music_list", music_id, rows, cursor, to.to_music_item)

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        """Return one page of posts: pinned ones first, then the newest."""
        index = self._world.account_of(sec_uid)
        rows = [] if index is None else self._world.videos_by_account(index).tolist()
        return self._page("user_posts", sec_uid, rows, cursor, to.to_post)

    async def fetch_account(self, sec_uid: str) -> Reading[Account]:
        """Return one account."""
        index = self._world.account_of(sec_uid)
        if index is None:
            raise UnresolvedIdError("the demo world knows no such account")
        return self._reading("user_info", sec_uid, to.to_account(self._view(), index))

    async def fetch_account_by_handle(self, handle: str) -> Reading[Account]:
        """Return the account with a handle."""
        wanted = handle.removeprefix("@").casefold()
        for index in range(self._world.account_count):
            if self._world.account(index).unique_id.casefold() == wanted:
                account = to.to_account(self._view(), index)
                return self._reading("user_by_handle", handle, account)
        raise UnresolvedIdError("the demo world knows no account with this handle")

    async def fetch_video(self, aweme_id: str) -> Reading[VideoDetail | UnavailableVideo]:
        """Return one video, or the reason why it is unavailable."""
        work = self._world.video_of_id(aweme_id)
        found = (
            to.to_missing(aweme_id, "item_non_existent")
            if work is None
            else to.to_detail(self._view(), work)
        )
        return self._reading("video_page", aweme_id, found)

    async def fetch_hashtag(self, ch_id: str) -> Reading[HashtagInfo]:
        """Return one hashtag with its number of videos, each counted as ten thousand views."""
        name = _search_index(self._world).hashtag_name(ch_id)
        if name is None:
            raise UnresolvedIdError("the demo world knows no such hashtag")
        rows = _search_index(self._world).rows_of_hashtag(ch_id)
        accounts = {int(self._world.works.account[row]) for row in rows}
        info = HashtagInfo(
            ch_id=ch_id,
            surface="hashtag_info",
            observed_at=datetime.now(UTC),
            name=name,
            user_count=len(accounts),
            view_count=len(rows) * 10_000,
        )
        return self._reading("hashtag_info", ch_id, info)

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        """Return one page of the videos under a hashtag, most liked first."""
        rows = _search_index(self._world).rows_of_hashtag(ch_id)
        return self._page("hashtag_list", ch_id, rows, cursor, to.to_hashtag_item)

    async def fetch_trend(self, trends_id: str) -> Reading[VideoPage]:
        """Refuse: the demo world has no trends.

        Raises:
            ProviderUnsupportedError: Always.
        """
        raise ProviderUnsupportedError(
            f"the demo world knows no trend {trends_id}", hint="give the music id"
        )

    def resume_walk(self, surface: str, entity_id: str) -> None:
        """Do nothing: a list has one source here."""

    async def fetch_search_page(self, term: str, place: SearchPosition) -> Reading[SearchPage]:
        """Return one page of the videos whose caption or music title contains all words."""
        rows = _search_index(self._world).rows_matching(term)
        videos, end = self._cut(rows, place.cursor, to.to_search_item)
        search_id = place.search_id or to.to_ch_id(term)
        page = SearchPage(
            videos=videos,
            next_position=SearchPosition(cursor=end, search_id=search_id),
            has_more=end < len(rows),
            nil_type=None if rows else "empty",
        )
        surface = "search_stream" if place.cursor == 0 else "search_single"
        return self._reading(surface, term, page)

    async def resolve_link(self, url: str) -> LinkTarget:
        """Raise: the demo world has no short links."""
        raise InvalidMusicInputError(
            f"the demo world knows no short link {url}", hint="give a music id or a long link"
        )

    async def download_sound(self, detail: VideoDetail, into: Path) -> SoundFile:
        """Copy the sound of a video to `into`; it is rendered on first use."""
        work = self._world.video_of_id(detail.video.aweme_id)
        if work is None or work.is_silent or detail.is_silent_placeholder:
            raise AudioUnavailableError(
                f"the video {detail.video.aweme_id} has no sound",
                surface="media",
                reason="silent_placeholder" if work is not None else "no_sound_address",
            )
        async with self._rendering:  # one at a time: rendering takes a core
            return await asyncio.to_thread(self._save, work, into)

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""

    def _save(self, work: SandboxVideo, into: Path) -> SoundFile:
        codec: Codec = "mp3" if work.is_photo else "aac"
        rendered = SoundCache(self._world, self._cache_dir).video_file(work)
        data = rendered.read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        into.mkdir(parents=True, exist_ok=True)
        path = into / f"{sha256}-{work.aweme_id}{rendered.suffix}"
        shutil.copyfile(rendered, path)  # the caller removes its copy; the cache keeps its own
        return SoundFile(
            path=path,
            sha256=sha256,
            size_bytes=len(data),
            content_type=_TYPES[codec],
            request_count=0,
        )

    def _view(self) -> to.WorldSnapshot:
        return to.WorldSnapshot(
            world=self._world,
            observed_at=datetime.now(UTC),
            link_of=self._profile.video_link,
        )

    def _page(
        self,
        surface: str,
        entity_id: str,
        rows: Sequence[int],
        cursor: int,
        to_item: Callable[[to.WorldSnapshot, SandboxVideo], Video],
    ) -> Reading[VideoPage]:
        videos, end = self._cut(rows, cursor, to_item)
        page = VideoPage(videos=videos, cursor=end, has_more=end < len(rows))
        return self._reading(surface, entity_id, page)

    def _cut(
        self,
        rows: Sequence[int],
        cursor: int,
        to_item: Callable[[to.WorldSnapshot, SandboxVideo], Video],
    ) -> tuple[tuple[Video, ...], int]:
        """Return the items of the page at `cursor`, and the cursor of the next one."""
        view, chosen = self._view(), rows[cursor : cursor + PAGE_SIZE]
        items = tuple(to_item(view, self._world.works.row(row)) for row in chosen)
        return items, min(cursor + PAGE_SIZE, max(cursor, len(rows)))

    def _reading[T](self, surface: str, entity_id: str, value: T) -> Reading[T]:
        """Wrap a value as a reading without requests or a body."""
        return Reading(
            surface=surface,
            entity_id=entity_id,
            value=value,
            payload=b"",
            content_type=None,
            http_status=HTTPStatus.OK,
            source_path=f"mock:{surface}",
            fetched_at=datetime.now(UTC),
            request_count=0,
            parser_version=PARSER_VERSION,
        )
