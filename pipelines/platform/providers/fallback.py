"""`PUBLIC_FALLBACK_TO_MOCK`: where the public source says no, the demo world answers instead.

For building front ends. Each such reading says what it stands in for, is served as `mock` and is
never kept: `instead_of` is what the keeper looks at. The demo world keeps its own ids, so nothing
invented is ever said of a real account or work.
"""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.providers.mock.provider import Mock
from pipelines.platform.providers.protocol import Provider
from pipelines.platform.reading import Reading, SoundFile
from warehouse.records.errors import UpstreamError
from warehouse.records.search import SearchPage, SearchPlace
from warehouse.records.videos import (
    Account,
    HashtagInfo,
    Track,
    UnavailableVideo,
    VideoDetail,
    VideoPage,
)


class WithStandIn:
    """A source behind which the demo world stands.

    Args:
        real: The public source.
        mock: The demo world.
    """

    def __init__(self, real: Provider, mock: Mock) -> None:
        self.name = real.name
        self._real = real
        self._mock = mock

    def find_target(self, text: str) -> LinkTarget | None:
        """As the public source."""
        return self._real.find_target(text)

    async def fetch_track(self, music_id: str) -> Reading[Track]:
        """One music id, or some track of the demo world."""
        return await self._or(
            music_id, self._real.fetch_track, self._mock.fetch_track, self._mock.music_ids()
        )

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        """One page of works, or of some track of the demo world."""
        return await self._or(
            music_id,
            lambda one: self._real.fetch_music_page(one, cursor),
            lambda one: self._mock.fetch_music_page(one, cursor),
            self._mock.music_ids(),
        )

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        """One page of posts, or of some account of the demo world."""
        return await self._or(
            sec_uid,
            lambda one: self._real.fetch_author_page(one, cursor),
            lambda one: self._mock.fetch_author_page(one, cursor),
            self._mock.sec_uids(),
        )

    async def fetch_account(self, sec_uid: str) -> Reading[Account]:
        """One account, or some account of the demo world."""
        return await self._or(
            sec_uid, self._real.fetch_account, self._mock.fetch_account, self._mock.sec_uids()
        )

    async def fetch_video(self, aweme_id: str) -> Reading[VideoDetail | UnavailableVideo]:
        """One work, or some work of the demo world."""
        return await self._or(
            aweme_id, self._real.fetch_video, self._mock.fetch_video, self._mock.aweme_ids()
        )

    async def fetch_hashtag(self, ch_id: str) -> Reading[HashtagInfo]:
        """One hashtag, or some hashtag of the demo world."""
        return await self._or(
            ch_id, self._real.fetch_hashtag, self._mock.fetch_hashtag, self._mock.ch_ids()
        )

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        """One page of works, or of some hashtag of the demo world."""
        return await self._or(
            ch_id,
            lambda one: self._real.fetch_hashtag_page(one, cursor),
            lambda one: self._mock.fetch_hashtag_page(one, cursor),
            self._mock.ch_ids(),
        )

    async def fetch_search_page(self, term: str, place: SearchPlace) -> Reading[SearchPage]:
        """One page of a search, here or in the demo world."""
        return await self._or(
            term,
            lambda one: self._real.fetch_search_page(one, place),
            lambda one: self._mock.fetch_search_page(one, place),
            (term,),
        )

    async def resolve_link(self, url: str) -> LinkTarget:
        """As the public source: a link cannot be stood in for."""
        return await self._real.resolve_link(url)

    async def download_sound(self, detail: VideoDetail, into: Path) -> SoundFile:
        """As the public source: what is heard is evidence."""
        return await self._real.download_sound(detail, into)

    async def aclose(self) -> None:
        """Close both."""
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
            found = await mock(choose(asked, known))
            return replace(found, entity_id=asked, instead_of=error)


def choose(asked: str, known: Sequence[str]) -> str:
    """One of the known ids for an id that was asked for, always the same one."""
    digest = hashlib.blake2b(asked.encode(), digest_size=8).digest()
    return known[int.from_bytes(digest) % len(known)]
