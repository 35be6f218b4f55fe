"""Provider `vidplat-public`: the public surfaces that need no signature and no account.

Which surface answers which question, and in which order they are asked, is in `sources/`. Here:
short links and sounds, which have one source each.
"""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.http.client import GuestClient, HttpRequest
from pipelines.platform.http.download import download_sound
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.providers.dependencies import ProviderDependencies
from pipelines.platform.providers.provider import Provider
from pipelines.platform.reading import Reading, SoundFile
from pipelines.platform.sources.planner import Planner, SickPolicy
from pipelines.platform.sources.table import WALKS, Question, SourceRequest, read_trend
from pipelines.platform.surfaces import SurfaceReader
from warehouse.records.errors import (
    InvalidMusicInputError,
    ProviderUnsupportedError,
    StructureChangedError,
    SubstitutionError,
    UpstreamError,
)
from warehouse.records.videos import VideoDetail, VideoPage

PHOTOS_KEPT = 50_000
_LINK_HINT = "give the link of a track or video"


def build(name: str, dependencies: ProviderDependencies) -> "VidplatPublic":
    """Build the source with its own client."""
    return VidplatPublic(dependencies.guest(), name=name, sick_policy=dependencies.sick_policy)


class VidplatPublic(Provider):
    """Music, author and detail surfaces of the platform in the profile. Owns its client.

    `is_web`: the desktop surfaces are sources, too. `left_out` are surfaces that are none.
    `sick_policy`: when sources are asked although all of them withhold their data.
    """

    left_out: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        client: GuestClient,
        *,
        name: str,
        is_web: bool = False,
        sick_policy: SickPolicy = SickPolicy.IF_DUE,
    ) -> None:
        self.name = name
        self._client = client
        self._surfaces = SurfaceReader(client)
        self._planner = Planner(
            self._surfaces,
            is_web=is_web,
            left_out=self.left_out,
            sick_policy=sick_policy,
        )
        self._photos: set[str] = set()

    def find_target(self, text: str) -> LinkTarget | None:
        """Return the target of the first platform link in a text."""
        return self._client.profile.find_target(text)

    async def ask[T](
        self, question: Question[SurfaceReader, T], request: SourceRequest
    ) -> Reading[T]:
        """Ask the sources of a question; the photo posts of a list have another form of detail."""
        if request.entity_id in self._photos:
            request = replace(request, is_photo=True)
        reading = await self._planner.ask(question, request)
        if isinstance(reading.value, VideoPage):
            self._remember_photos(reading.value)
        return reading

    async def fetch_trend(self, trends_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of the videos of a trending topic. Only one surface shows it.

        Raises:
            ProviderUnsupportedError: This source has no such page.
        """
        if "trends_list" in self.left_out:
            raise ProviderUnsupportedError(
                f"{self.name} does not read trending topics", hint=_LINK_HINT
            )
        request = SourceRequest(entity_id=trends_id, cursor=cursor)
        return await read_trend(self._surfaces, request)

    def resume_walk(self, surface: str, entity_id: str) -> None:
        """Continue a list with the surface that gave its cursor to another process."""
        self._planner.resume_walk(surface, entity_id, WALKS)

    async def resolve_link(self, url: str) -> LinkTarget:
        """Follow a short link up to the first URL that names a target."""
        ask = HttpRequest(
            surface="short_link",
            url=url,
            allowed=self._client.profile.links.redirect,
            ends_at=lambda target: self._surfaces.ends_at(target) or self._is_named(target),
        )
        try:
            async with self._client.circuit(ask):
                return self._link_target(await self._client.fetch(ask))
        except SubstitutionError as error:
            raise InvalidMusicInputError(
                "the short link leads off the platform", hint=_LINK_HINT
            ) from error

    async def download_sound(self, detail: VideoDetail, into: Path) -> SoundFile:
        """Download the sound of a video to the folder `into`."""
        return await download_sound(self._client, detail, into)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    def _remember_photos(self, page: VideoPage) -> None:
        if len(self._photos) > PHOTOS_KEPT:
            self._photos.clear()
        videos = (*page.videos, *page.foreign)
        self._photos.update(video.aweme_id for video in videos if video.media_type == "photo")

    def _is_named(self, target: str) -> bool:
        found = self.find_target(target)
        return found is not None and found.kind != "short"

    def _link_target(self, answer: HttpResponse) -> LinkTarget:
        """Return where a short link leads.

        Raises:
            InvalidMusicInputError: It leads to nothing that can be read.
            UpstreamError: The platform refuses by name.
        """
        if self._surfaces.is_gone(answer):
            raise InvalidMusicInputError(
                "the target of the short link was deleted", hint=_LINK_HINT
            )
        target = self.find_target(answer.location or answer.url)
        if target is None or target.kind == "short":
            raise self._dead_link(answer)
        return target

    def _dead_link(self, answer: HttpResponse) -> InvalidMusicInputError | UpstreamError:
        """Return the error for a short link that leads nowhere.

        Raises:
            UpstreamError: The platform refuses by name.
        """
        try:
            self._surfaces.refuse(answer)
        except StructureChangedError as error:
            dead = InvalidMusicInputError("the short link is dead", hint="copy the link again")
            dead.__cause__ = error
            return dead
        try:
            parse_container(answer.body, surface=answer.surface)
        except StructureChangedError as error:
            named = self._surfaces.explain(error, answer)
            if named is not error:  # a challenge in place of the redirect
                return named
        return InvalidMusicInputError("the short link leads to no track or video", hint=_LINK_HINT)
