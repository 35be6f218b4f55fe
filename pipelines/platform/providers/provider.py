"""The base of all providers: the questions that they answer, and what local providers share.

Methods fetch and parse, and raise named errors. A source that does not support a request raises
`ProviderUnsupportedError` with the reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.platform.http.circuit_breaker import CircuitBreaker, LearnedHealth
from pipelines.platform.http.client import GuestClient, HttpLimits
from pipelines.platform.http.host_policy import (
    HOST_MAX_WAIT_S,
    HostPolicy,
    HostRateLimiter,
    RobotsPolicy,
    SickPolicy,
    StoredResponses,
    max_wait_at,
)
from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.sources import table
from pipelines.platform.sources.table import Reading, SoundFile
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.engine.duckdb_engine import Engine
from warehouse.queries.captures import read_body
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import Account, HashtagInfo, Track, Video, VideoPage

if TYPE_CHECKING:
    from pipelines.platform.sources.planner import SurfaceReader


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDependencies:
    """What a provider is built from. Nothing is opened before a provider needs it.

    Attributes:
        settings: The settings of this process.
        profile: The platform profile; it also names the world.
        control: State shared by all processes.
        limits: Limits of its client.
        engine: The lake with archived bodies; without it no request is conditional.
        for_user: The answers go to a user directly: a sick source is then asked once all the
            same, and with `PUBLIC_FALLBACK_TO_MOCK` demo data replaces what the public source
            refuses. A scan never sets it, since it stores its results.
    """

    settings: Settings
    profile: PlatformProfile
    control: ControlStore
    limits: HttpLimits | None = None
    engine: Engine | None = None
    clock: Clock = MACHINE_CLOCK
    for_user: bool = False

    def host_policy(self) -> HostPolicy:
        """Rate limit, circuits, revalidation and robots.txt decisions, shared by all processes."""
        control, engine, rate = self.control, self.engine, self.profile.rate
        return HostPolicy(
            limiter=HostRateLimiter(
                control,
                rate,
                daily_budget=self.settings.daily_request_budget,
                max_wait_s=HOST_MAX_WAIT_S if self.for_user else max_wait_at(rate),
                clock=self.clock,
            ),
            circuits=CircuitBreaker(control, self.profile.circuit),
            responses=StoredResponses(control, partial(read_body, engine)) if engine else None,
            robots=RobotsPolicy(
                control, is_obeyed=self.settings.robots == "obey", clock=self.clock
            ),
            health=LearnedHealth(control, clock=self.clock),
            sick_policy=SickPolicy.ONCE if self.for_user else SickPolicy.IF_DUE,
        )

    def guest(self) -> GuestClient:
        """Open a guest client; the caller closes it."""
        return GuestClient(self.profile, self.host_policy(), limits=self.limits)


class Provider:
    """One source of platform data; `name` is its name in settings and rows.

    Raises (all methods):
        UpstreamError: The source refuses or cannot be reached.
    """

    name: str

    def find_target(self, text: str) -> LinkTarget | None:
        """Return the target of the first platform link in a text."""
        raise NotImplementedError

    async def ask[T](
        self, question: table.Question["SurfaceReader", T], request: table.SourceRequest
    ) -> Reading[T]:
        """Answer a question of the table of sources."""
        raise NotImplementedError

    async def fetch_track(self, music_id: str) -> Reading[Track]:
        """Fetch one music id; `InvalidMusicInputError` if it is unknown."""
        return await self.ask(table.TRACK, table.SourceRequest(entity_id=music_id))

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of the videos under a music id."""
        return await self.ask(
            table.MUSIC_LIST, table.SourceRequest(entity_id=music_id, cursor=cursor)
        )

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of the posts of an account."""
        return await self.ask(table.POSTS, table.SourceRequest(entity_id=sec_uid, cursor=cursor))

    async def fetch_account(self, sec_uid: str) -> Reading[Account]:
        """Fetch one account; `UnresolvedIdError` if it is unknown."""
        return await self.ask(table.PROFILE, table.SourceRequest(entity_id=sec_uid))

    async def fetch_account_by_handle(self, handle: str) -> Reading[Account]:
        """Fetch the account with a public handle (`@name`); `UnresolvedIdError` if unknown."""
        return await self.ask(table.HANDLE, table.SourceRequest(entity_id=handle))

    async def fetch_video(self, aweme_id: str) -> Reading[table.DetailOrUnavailable]:
        """Fetch one video with its four counts, or the reason why it is unavailable.

        A count that no source shows stays None; it is never 0.
        """
        return await self.ask(table.DETAIL, table.SourceRequest(entity_id=aweme_id))

    async def fetch_hashtag(self, ch_id: str) -> Reading[HashtagInfo]:
        """Fetch one hashtag; `UnresolvedIdError` if it is unknown."""
        return await self.ask(table.HASHTAG, table.SourceRequest(entity_id=ch_id))

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of the videos under a hashtag."""
        return await self.ask(
            table.HASHTAG_LIST, table.SourceRequest(entity_id=ch_id, cursor=cursor)
        )

    async def fetch_search_page(self, term: str, place: SearchPosition) -> Reading[SearchPage]:
        """Fetch one page of the guest search for a term."""
        return await self.ask(table.SEARCH, table.SourceRequest(entity_id=term, place=place))

    async def fetch_trend(self, trends_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of the videos of a trending topic, by the id in its link."""
        raise NotImplementedError

    def resume_walk(self, surface: str, entity_id: str) -> None:
        """Continue a list with the surface that gave its cursor to another process.

        A source with one surface for each list has nothing to remember.
        """

    async def resolve_link(self, url: str) -> LinkTarget:
        """Follow a short link; `InvalidMusicInputError` if it leads to no usable target."""
        raise NotImplementedError

    async def download_sound(self, video: Video, into: Path) -> SoundFile:
        """Download the sound of a video to the folder `into`."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close all connections, if any are open."""


class LocalProvider(Provider):
    """A source with its own data. Nothing is contacted; `profile` has the forms of its links.

    `answers` has the method that answers each question, by the name of the question.
    """

    parser_version: str
    page_size = 20

    def __init__(self, *, profile: PlatformProfile, name: str) -> None:
        self.name = name
        self._profile = profile

    @property
    def answers(self) -> Mapping[str, Callable[[table.SourceRequest], Reading[object]]]:
        """Return the answering methods."""
        raise NotImplementedError

    def find_target(self, text: str) -> LinkTarget | None:
        """Return the target of the first link in a text."""
        return self._profile.find_target(text)

    async def ask[T](
        self, question: table.Question["SurfaceReader", T], request: table.SourceRequest
    ) -> Reading[T]:
        """Answer a question from the own data."""
        return cast("Reading[T]", self.answers[question.name](request))

    def reading[T](self, surface: str, entity_id: str, value: T) -> Reading[T]:
        """Wrap a value as a reading without requests or a body."""
        return local_reading(
            f"{self.name}:{surface}", entity_id, value, parser_version=self.parser_version
        )

    def end_of_page(self, cursor: int, total: int) -> int:
        """Return the cursor of the next page; beyond the end it stays where it is."""
        return min(cursor + self.page_size, max(cursor, total))


def local_reading[T](
    source_path: str, entity_id: str, value: T, *, parser_version: str
) -> Reading[T]:
    """Return a reading of own data, from a path that ends with the surface's name."""
    return Reading(
        surface=source_path.rpartition(":")[2],
        entity_id=entity_id,
        value=value,
        payload=b"",
        content_type=None,
        http_status=HTTPStatus.OK,
        source_path=source_path,
        fetched_at=datetime.now(UTC),
        request_count=0,
        parser_version=parser_version,
    )


class ChartProvider(Protocol):
    """One source of chart history.

    Raises (all methods):
        ChartUnavailableError: The source answered without a chart.
        UpstreamError: It refuses, cannot be reached, or shows another issue.
    """

    @property
    def name(self) -> str:
        """Name of this source in settings and rows."""

    async def fetch_issues(self) -> Reading[ChartIndex]:
        """Fetch all issues that the source lists."""

    async def fetch_songs(self, volid: str | None, page: int) -> Reading[ChartPage]:
        """Fetch one page (from 1) of the songs of an issue; None means the latest issue."""

    async def aclose(self) -> None:
        """Close all connections."""
