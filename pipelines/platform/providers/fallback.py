"""`PUBLIC_FALLBACK_TO_MOCK`: demo data replaces what the public source refuses.

For building front ends. Each such reading carries the refusal in `instead_of`, is served as `mock`
and is never stored. The demo world keeps its own ids, so invented data never appears under the id
of a real account or video.
"""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.providers.mock.provider import MockProvider
from pipelines.platform.providers.protocol import Provider
from pipelines.platform.reading import Reading, SoundFile
from warehouse.records.errors import UpstreamError
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import (
    Account,
    HashtagInfo,
    Track,
    UnavailableVideo,
    VideoDetail,
    VideoPage,
)


class FallbackProvider:
    """Source that falls back to the demo world.

    Args:
        real: The public source.
        mock: The demo world.
    """

    def __init__(self, real: Provider, mock: MockProvider) -> None:
        self.name = real.name
        self._real = real
        self._mock = mock

    def find_target(self, text: str) -> LinkTarget | None:
        """Find the target as the public source does."""
        return self._real.find_target(text)

    async def fetch_track(self, music_id: str) -> Reading[Track]:
        """Fetch one music id, or a track of the demo world."""
        return await self._or(
            music_id, self._real.fetch_track, self._mock.fetch_track, self._mock.music_ids()
        )

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of videos, or that of a track of the demo world."""
        return await self._or(
            music_id,
            lambda one: self._real.fetch_music_page(one, cursor),
            lambda one: self._mock.fetch_music_page(one, cursor),
            self._mock.music_ids(),
        )

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of posts, or that of an account of the demo world."""
        return await self._or(
            sec_uid,
            lambda one: self._real.fetch_author_page(one, cursor),
            lambda one: self._mock.fetch_author_page(one, cursor),
            self._mock.sec_uids(),
        )

    async def fetch_account(self, sec_uid: str) -> Reading[Account]:
        """Fetch one account, or an account of the demo world."""
        return await self._or(
            sec_uid, self._real.fetch_account, self._mock.fetch_account, self._mock.sec_uids()
        )

    async def fetch_account_by_handle(self, handle: str) -> Reading[Account]:
        """Fetch an account by its handle through the public source only.

        The answer is an id to go on with: one of the demo world would lead away from the account.
        """
        return await self._real.fetch_account_by_handle(handle)

    async def fetch_video(self, aweme_id: str) -> Reading[VideoDetail | UnavailableVideo]:
        """Fetch one video, or a video of the demo world."""
        return await self._or(
            aweme_id, self._real.fetch_video, self._mock.fetch_video, self._mock.aweme_ids()
        )

    async def fetch_hashtag(self, ch_id: str) -> Reading[HashtagInfo]:
        """Fetch one hashtag, or a hashtag of the demo world."""
        return await self._or(
            ch_id, self._real.fetch_hashtag, self._mock.fetch_hashtag, self._mock.ch_ids()
        )

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of videos, or that of a hashtag of the demo world."""
        return await self._or(
            ch_id,
            lambda one: self._real.fetch_hashtag_page(one, cursor),
            lambda one: self._mock.fetch_hashtag_page(one, cursor),
            self._mock.ch_ids(),
        )

    async def fetch_trend(self, trends_id: str) -> Reading[VideoPage]:
        """Read a trend from the public source only: the demo world has none."""
        return await self._real.fetch_trend(trends_id)

    def resume_walk(self, surface: str, entity_id: str) -> None:
        """Continue a list of the public source."""
        self._real.resume_walk(surface, entity_id)

    async def fetch_search_page(self, term: str, place: SearchPosition) -> Reading[SearchPage]:
        """Fetch one page of a search, or the same search in the demo world."""
        return await self._or(
            term,
            lambda one: self._real.fetch_search_page(one, place),
            lambda one: self._mock.fetch_search_page(one, place),
            (term,),
        )

    async def resolve_link(self, url: str) -> LinkTarget:
        """Resolve a link through the public source only: demo data cannot replace a link."""
        return await self._real.resolve_link(url)

    async def download_sound(self, detail: VideoDetail, into: Path) -> SoundFile:
        """Download through the public source only: sounds are evidence."""
        return await self._real.download_sound(detail, into)

    async def aclose(self) -> None:
        """Close both sources."""
        try:
            await self._real.aclose()
        finally:
            await self._mock.aclose()

    async def _or[T](
        self,
        asked: str,
        real: Callable[[str], Awaitable[Reading[T]]],
        mock: Callable[[str], Awaitable[Reading[T]]],
        known: Sequence[str],
    ) -> Reading[T]:
        try:
            return await real(asked)
        except UpstreamError as error:
            found = await mock(choose_known_id(asked, known))
            return replace(found, entity_id=asked, instead_of=error)


def choose_known_id(asked: str, known: Sequence[str]) -> str:
    """Map a requested id to one of the known ids, always to the same one."""
    digest = hashlib.blake2b(asked.encode(), digest_size=8).digest()
    return known[int.from_bytes(digest) % len(known)]
