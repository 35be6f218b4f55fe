"""Interfaces of all providers. Methods fetch and parse, and raise named errors.

A source that does not support a request raises `ProviderUnsupportedError` with the reason.
"""

from pathlib import Path
from typing import Protocol

from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.reading import Reading, SoundFile
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.search import SearchPage, SearchPosition
from warehouse.records.videos import (
    Account,
    HashtagInfo,
    Track,
    UnavailableVideo,
    VideoDetail,
    VideoPage,
)


class Provider(Protocol):
    """One source of platform data.

    Raises (all methods):
        UpstreamError: The source refuses or cannot be reached.
    """

    @property
    def name(self) -> str:
        """Name of this source in settings and rows."""

    def find_target(self, text: str) -> LinkTarget | None:
        """Return the target of the first platform link in a text."""

    async def fetch_track(self, music_id: str) -> Reading[Track]:
        """Fetch one music id; `InvalidMusicInputError` if it is unknown."""

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of the videos under a music id."""

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of the posts of an account."""

    async def fetch_account(self, sec_uid: str) -> Reading[Account]:
        """Fetch one account; `UnresolvedIdError` if it is unknown."""

    async def fetch_account_by_handle(self, handle: str) -> Reading[Account]:
        """Fetch the account with a public handle (`@name`); `UnresolvedIdError` if unknown."""

    async def fetch_video(self, aweme_id: str) -> Reading[VideoDetail | UnavailableVideo]:
        """Fetch one video with its four counts, or the reason why it is unavailable."""

    async def fetch_hashtag(self, ch_id: str) -> Reading[HashtagInfo]:
        """Fetch one hashtag; `UnresolvedIdError` if it is unknown."""

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        """Fetch one page of the videos under a hashtag."""

    async def fetch_trend(self, trends_id: str) -> Reading[VideoPage]:
        """Fetch the first videos of a trending topic, by the id in its link."""

    def resume_walk(self, surface: str, entity_id: str) -> None:
        """Continue a list with the surface that gave its cursor to another process."""

    async def fetch_search_page(self, term: str, place: SearchPosition) -> Reading[SearchPage]:
        """Fetch one page of the guest search for a term."""

    async def resolve_link(self, url: str) -> LinkTarget:
        """Follow a short link; `InvalidMusicInputError` if it leads to no usable target."""

    async def download_sound(self, detail: VideoDetail, into: Path) -> SoundFile:
        """Download the sound of a video to the folder `into`."""

    async def aclose(self) -> None:
        """Close all connections."""


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
