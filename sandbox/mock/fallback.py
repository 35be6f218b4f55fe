"""`PUBLIC_FALLBACK_TO_MOCK`: demo data replaces what the public source refuses.

For building front ends. Each such reading carries the refusal in `instead_of`, is served as `mock`
and is never stored. The demo world keeps its own ids, so invented data never appears under the id
of a real account or video.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.providers.provider import Provider
from pipelines.platform.sources.planner import SurfaceReader
from pipelines.platform.sources.table import HANDLE, Question, Reading, SoundFile, SourceRequest
from sandbox.mock.provider import MockProvider
from warehouse.records.errors import UpstreamError
from warehouse.records.videos import Video, VideoPage


class FallbackProvider(Provider):
    """Source that falls back to the demo world.

    Links, trends and sounds are the public source's alone: demo data cannot replace a link, has no
    trends, and sounds are evidence.

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

    async def ask[T](
        self, question: Question[SurfaceReader, T], request: SourceRequest
    ) -> Reading[T]:
        """Answer a question, if need be with an item of the demo world.

        A handle has no replacement: the answer is an id to go on with, and one of the demo world
        would lead away from the account.
        """
        try:
            return await self._real.ask(question, request)
        except UpstreamError as error:
            if question.name == HANDLE.name:
                raise
            known = self._mock.known_ids(question.name) or (request.entity_id,)
            instead = replace(request, entity_id=choose_known_id(request.entity_id, known))
            found = await self._mock.ask(question, instead)
            return replace(found, entity_id=request.entity_id, instead_of=error)

    async def fetch_trend(self, trends_id: str, cursor: int) -> Reading[VideoPage]:
        """Read a page of a trend from the public source."""
        return await self._real.fetch_trend(trends_id, cursor)

    def resume_walk(self, surface: str, entity_id: str) -> None:
        """Continue a list of the public source."""
        self._real.resume_walk(surface, entity_id)

    async def resolve_link(self, url: str) -> LinkTarget:
        """Resolve a link through the public source."""
        return await self._real.resolve_link(url)

    async def download_sound(self, video: Video, into: Path) -> SoundFile:
        """Download through the public source."""
        return await self._real.download_sound(video, into)

    async def aclose(self) -> None:
        """Close both sources."""
        try:
            await self._real.aclose()
        finally:
            await self._mock.aclose()


def choose_known_id(asked: str, known: Sequence[str]) -> str:
    """Map a requested id to one of the known ids, always to the same one."""
    digest = hashlib.blake2b(asked.encode(), digest_size=8).digest()
    return known[int.from_bytes(digest) % len(known)]
