"""Provider `mock`: all data from a sandbox world in this process.

Nothing is contacted, and no file is read except the sounds that the world renders. Records are
built in `records.py`.
"""

import asyncio
import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.provider import LocalProvider, ProviderDependencies
from pipelines.platform.sources.table import Reading, SoundFile, SourceRequest
from sandbox.mock import records as to
from sandbox.world.content.tables import SandboxVideo
from sandbox.world.guest_view import VideoTextIndex, hashtag_id
from sandbox.world.sound.sound_cache import Codec, SoundCache
from sandbox.world.world import SandboxWorld
from warehouse.records.errors import (
    AudioUnavailableError,
    InvalidMusicInputError,
    ProviderUnsupportedError,
    UnresolvedIdError,
)
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import Account, HashtagInfo, Track, Unavailability, Video, VideoPage

PARSER_VERSION = "mock-2"
SEARCH_DEPTH = 200
"""Videos that a guest can page through for one search."""
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
def text_index(world: SandboxWorld) -> VideoTextIndex:
    """Return the text index of a world; building it reads all captions."""
    return VideoTextIndex(world, has_mapped_titles=False)


class MockProvider(LocalProvider):
    """The sandbox world as a source.

    Args:
        world: The world.
        profile: Forms of its links; nothing there is contacted.
        cache_dir: Folder of rendered sounds, created with the first one.
        name: Name of this source in rows.
    """

    parser_version = PARSER_VERSION

    def __init__(
        self, world: SandboxWorld, *, profile: PlatformProfile, cache_dir: Path, name: str
    ) -> None:
        super().__init__(profile=profile, name=name)
        self._world = world
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
        return list(text_index(self._world).names)

    def known_ids(self, question: str) -> Sequence[str]:
        """Ids that a question, by its name, can be asked for; none for a search."""
        ids = {
            "track": self.music_ids,
            "music_list": self.music_ids,
            "posts": self.sec_uids,
            "profile": self.sec_uids,
            "detail": self.aweme_ids,
            "hashtag": self.ch_ids,
            "hashtag_list": self.ch_ids,
        }.get(question)
        return () if ids is None else ids()

    @property
    def answers(self) -> Mapping[str, Callable[[SourceRequest], Reading[object]]]:
        """Return the answering methods."""
        return {
            "track": self._track,
            "music_list": self._music_page,
            "posts": self._author_page,
            "profile": self._account,
            "handle": self._account_by_handle,
            "detail": self._video,
            "hashtag": self._hashtag,
            "hashtag_list": self._hashtag_page,
            "search": self._search_page,
        }

    def _track(self, request: SourceRequest) -> Reading[Track]:
        music_id = request.entity_id
        sound = self._world.sound_of(music_id)
        if sound is None:
            raise InvalidMusicInputError(
                f"the demo world knows no track with the music id {music_id}",
                hint="`sametrack demo` shows some; ids differ with MOCK_SEED and MOCK_SIZE",
            )
        return self.reading("music_info", music_id, to.to_track(self._view(), sound))

    def _music_page(self, request: SourceRequest) -> Reading[VideoPage]:
        """Return one page of the videos under a music id; empty for an unknown one."""
        sound = self._world.sound_of(request.entity_id)
        rows = [] if sound is None else self._world.music_list(sound.index).tolist()
        return self._page("music_list", request, rows, to.to_music_item)

    def _author_page(self, request: SourceRequest) -> Reading[VideoPage]:
        """Return one page of posts: pinned ones first, then the newest."""
        index = self._world.account_of(request.entity_id)
        rows = [] if index is None else self._world.videos_by_account(index).tolist()
        return self._page("user_posts", request, rows, to.to_post)

    def _account(self, request: SourceRequest) -> Reading[Account]:
        sec_uid = request.entity_id
        index = self._world.account_of(sec_uid)
        if index is None:
            raise UnresolvedIdError("the demo world knows no such account")
        return self.reading("user_info", sec_uid, to.to_account(self._view(), index))

    def _account_by_handle(self, request: SourceRequest) -> Reading[Account]:
        wanted = request.entity_id.removeprefix("@").casefold()
        for index in range(self._world.account_count):
            if self._world.account(index).unique_id.casefold() == wanted:
                account = to.to_account(self._view(), index)
                return self.reading("user_by_handle", request.entity_id, account)
        raise UnresolvedIdError("the demo world knows no account with this handle")

    def _video(self, request: SourceRequest) -> Reading[Video | Unavailability]:
        aweme_id = request.entity_id
        work = self._world.video_of_id(aweme_id)
        found = (
            to.to_missing("item_non_existent") if work is None else to.to_detail(self._view(), work)
        )
        return self.reading("video_page", aweme_id, found)

    def _hashtag(self, request: SourceRequest) -> Reading[HashtagInfo]:
        """Return one hashtag with its number of videos, each counted as ten thousand views."""
        ch_id = request.entity_id
        name = text_index(self._world).names.get(ch_id)
        if name is None:
            raise UnresolvedIdError("the demo world knows no such hashtag")
        rows = text_index(self._world).listed(ch_id)
        accounts = {int(self._world.works.account[row]) for row in rows}
        info = HashtagInfo(
            ch_id=ch_id,
            surface="hashtag_info",
            observed_at=datetime.now(UTC),
            name=name,
            user_count=len(accounts),
            view_count=len(rows) * 10_000,
        )
        return self.reading("hashtag_info", ch_id, info)

    def _hashtag_page(self, request: SourceRequest) -> Reading[VideoPage]:
        """Return one page of the videos under a hashtag, most liked first."""
        rows = text_index(self._world).listed(request.entity_id)
        return self._page("hashtag_list", request, rows, to.to_hashtag_item)

    def _search_page(self, request: SourceRequest) -> Reading[SearchPage]:
        """Return one page of the videos whose caption or music title contains all words."""
        term, place = request.entity_id, request.place
        rows = text_index(self._world).ranked(term)[:SEARCH_DEPTH]
        videos, end = self._cut(rows, place.cursor, to.to_search_item)
        search_id = place.search_id or str(hashtag_id(term))
        page = SearchPage(
            videos=videos,
            next_position=SearchPosition(cursor=end, search_id=search_id),
            has_more=end < len(rows),
            nil_type=None if rows else "empty",
        )
        surface = "search_stream" if place.cursor == 0 else "search_single"
        return self.reading(surface, term, page)

    async def fetch_trend(self, trends_id: str, cursor: int) -> Reading[VideoPage]:
        """Refuse: the demo world has no trends.

        Raises:
            ProviderUnsupportedError: Always.
        """
        raise ProviderUnsupportedError(
            f"the demo world knows no trend {trends_id}, so none from {cursor}",
            hint="give the music id",
        )

    async def resolve_link(self, url: str) -> LinkTarget:
        """Raise: the demo world has no short links."""
        raise InvalidMusicInputError(
            f"the demo world knows no short link {url}", hint="give a music id or a long link"
        )

    async def download_sound(self, video: Video, into: Path) -> SoundFile:
        """Copy the sound of a video to `into`; it is rendered on first use."""
        work = self._world.video_of_id(video.aweme_id)
        if work is None or work.is_silent or video.is_silent:
            raise AudioUnavailableError(
                f"the video {video.aweme_id} has no sound",
                surface="media",
                reason="silent_placeholder" if work is not None else "no_sound_address",
            )
        async with self._rendering:  # one at a time: rendering takes a core
            return await asyncio.to_thread(self._save, work, into)

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
        request: SourceRequest,
        rows: Sequence[int],
        to_item: Callable[[to.WorldSnapshot, SandboxVideo], Video],
    ) -> Reading[VideoPage]:
        videos, end = self._cut(rows, request.cursor, to_item)
        page = VideoPage(videos=videos, cursor=end, has_more=end < len(rows))
        return self.reading(surface, request.entity_id, page)

    def _cut(
        self,
        rows: Sequence[int],
        cursor: int,
        to_item: Callable[[to.WorldSnapshot, SandboxVideo], Video],
    ) -> tuple[tuple[Video, ...], int]:
        """Return the items of the page at `cursor`, and the cursor of the next one."""
        view, chosen = self._view(), rows[cursor : cursor + self.page_size]
        items = tuple(to_item(view, self._world.works.row(row)) for row in chosen)
        return items, self.end_of_page(cursor, len(rows))
