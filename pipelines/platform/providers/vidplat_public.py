"""Provider `vidplat-public`: the public surfaces that need no signature and no account.

Which surface answers which question, and in which order they are asked, is in `sources/`. Here:
short links and sounds, which have one source each.
"""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.http.client import GuestClient, HttpRequest, download_sound
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.parsers.pages import parse_container
from pipelines.platform.parsers.refusals import refuse_answer
from pipelines.platform.providers.provider import Provider, ProviderDependencies
from pipelines.platform.sources import table
from pipelines.platform.sources.planner import Planner, SurfaceReader
from warehouse.records import errors
from warehouse.records.videos import Video, VideoPage

PHOTOS_KEPT = 50_000
_LINK_HINT = "give the link of a track or video"


def build(name: str, dependencies: ProviderDependencies) -> "VidplatPublic":
    """Build the source with its own client."""
    return VidplatPublic(dependencies.guest(), name=name)


class VidplatPublic(Provider):
    """Music, author and detail surfaces of the platform in the profile. Owns its client.

    `is_web`: the desktop surfaces are sources, too. `left_out`: surfaces never to use.
    """

    left_out: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, client: GuestClient, *, name: str, is_web: bool = False) -> None:
        self.name = name
        self._client = client
        self._surfaces = SurfaceReader(client)
        self._planner = Planner(
            self._surfaces,
            is_web=is_web,
            left_out=self.left_out,
            sick_policy=client.policy.sick_policy,
        )
        self._photos: set[str] = set()

    def find_target(self, text: str) -> LinkTarget | None:
        """Return the target of the first platform link in a text."""
        return self._client.profile.find_target(text)

    async def ask[T](
        self, question: table.Question[SurfaceReader, T], request: table.SourceRequest
    ) -> table.Reading[T]:
        """Ask the sources of a question.

        The photo posts of a list are remembered, since their details have another form.
        """
        if request.entity_id in self._photos:
            request = replace(request, is_photo=True)
        reading = await self._planner.ask(question, request)
        if isinstance(reading.value, VideoPage):
            if len(self._photos) > PHOTOS_KEPT:
                self._photos.clear()
            rows = (*reading.value.videos, *reading.value.foreign)
            self._photos.update(row.aweme_id for row in rows if row.media_type == "photo")
        return reading

    async def fetch_trend(self, trends_id: str, cursor: int) -> table.Reading[VideoPage]:
        """Fetch one page of the videos of a trending topic. Only one surface shows it.

        Raises:
            ProviderUnsupportedError: This source has no such page.
        """
        if "trends_list" in self.left_out:
            raise errors.ProviderUnsupportedError(
                f"{self.name} does not read trending topics", hint=_LINK_HINT
            )
        return await table.read_trend(
            self._surfaces, table.SourceRequest(entity_id=trends_id, cursor=cursor)
        )

    def resume_walk(self, surface: str, entity_id: str) -> None:
        """Continue a list with the surface that gave its cursor to another process."""
        self._planner.resume_walk(surface, entity_id, table.WALKS)

    async def resolve_link(self, url: str) -> LinkTarget:
        """Follow a short link up to the first URL that names a target.

        Raises:
            InvalidMusicInputError: It leads to nothing that can be read.
            UpstreamError: The platform refuses by name.
        """

        def names_target(address: str) -> bool:
            target = self.find_target(address)
            return target is not None and target.kind != "short"

        request = HttpRequest(
            surface="short_link",
            url=url,
            allowed=self._client.profile.links.redirect,
            ends_at=lambda address: self._surfaces.ends_at(address) or names_target(address),
        )
        try:
            async with self._client.circuit(request):
                response = await self._client.fetch(request)
                if self._surfaces.is_gone(response):
                    raise errors.InvalidMusicInputError(
                        "the target of the short link was deleted", hint=_LINK_HINT
                    )
                # Without a redirect that names the target, the address of the page itself may.
                target = self.find_target(response.location or response.url)
                if target is None or target.kind == "short":
                    raise self._dead_link_error(response)
                return target
        except errors.SubstitutionError as error:
            raise errors.InvalidMusicInputError(
                "the short link leads off the platform", hint=_LINK_HINT
            ) from error

    async def download_sound(self, video: Video, into: Path) -> table.SoundFile:
        """Download the sound of a video to the folder `into`."""
        return await download_sound(self._client, video, into)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    def _dead_link_error(
        self, response: HttpResponse
    ) -> errors.InvalidMusicInputError | errors.UpstreamError:
        """Return the error for a short link that leads nowhere.

        Raises:
            UpstreamError: The platform refuses by name.
        """
        # A status such as 404 means a dead link here, and a refusal everywhere else.
        try:
            refuse_answer(response, self._surfaces.profile.markers)
        except errors.StructureChangedError as error:
            dead = errors.InvalidMusicInputError(
                "the short link is dead", hint="copy the link again"
            )
            dead.__cause__ = error
            return dead
        try:
            parse_container(response.body, surface=response.surface)
        except errors.StructureChangedError as error:
            named = self._surfaces.explain(error, response)
            if named is not error:  # a challenge in place of the redirect
                return named
        return errors.InvalidMusicInputError(
            "the short link leads to no track or video", hint=_LINK_HINT
        )
