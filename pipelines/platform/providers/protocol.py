"""What every source answers. Methods fetch, parse and name what went wrong.

A source that cannot answer a question raises `ProviderUnsupportedError` and says why.
"""

from pathlib import Path
from typing import Protocol

from pipelines.platform.parsers.links import LinkTarget
from pipelines.platform.reading import Reading, SoundFile
from warehouse.records.charts import ChartIndex, ChartPage
from warehouse.records.search import SearchPage, SearchPlace
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
        UpstreamError: By name, when the source says no.
    """

    @property
    def name(self) -> str:
        """The word for this source in settings and rows."""

    def find_target(self, text: str) -> LinkTarget | None:
        """The first link of the source's platform in a text."""

    async def fetch_track(self, music_id: str) -> Reading[Track]:
        """One music id; `InvalidMusicInputError` when the source knows none such."""

    async def fetch_music_page(self, music_id: str, cursor: int) -> Reading[VideoPage]:
        """One page of the works under a music id."""

    async def fetch_author_page(self, sec_uid: str, cursor: int) -> Reading[VideoPage]:
        """One page of the posts of an account."""

    async def fetch_account(self, sec_uid: str) -> Reading[Account]:
        """One account; `UnresolvedIdError` when the source knows none such."""

    async def fetch_video(self, aweme_id: str) -> Reading[VideoDetail | UnavailableVideo]:
        """One work with its four counts, or why it is not shown."""

    async def fetch_hashtag(self, ch_id: str) -> Reading[HashtagInfo]:
        """One hashtag; `UnresolvedIdError` when the source knows none such."""

    async def fetch_hashtag_page(self, ch_id: str, cursor: int) -> Reading[VideoPage]:
        """One page of the works under a hashtag."""

    async def fetch_search_page(self, term: str, place: SearchPlace) -> Reading[SearchPage]:
        """One page of the guest search for a term."""

    async def resolve_link(self, url: str) -> LinkTarget:
        """Follow a short link; `InvalidMusicInputError` when it leads to nothing of use."""

    async def download_sound(self, detail: VideoDetail, into: Path) -> SoundFile:
        """The sound of a work as a file in `into`."""

    async def aclose(self) -> None:
        """Close what is open."""


class ChartProvider(Protocol):
    """One source of chart history.

    Raises (all methods):
        ChartUnavailableError: The source answered, but not with a chart.
        UpstreamError: By name, when it refuses, cannot be reached or shows another issue.
    """

    @property
    def name(self) -> str:
        """The word for this source in settings and rows."""

    async def fetch_issues(self) -> Reading[ChartIndex]:
        """All issues that the source lists."""

    async def fetch_songs(self, volid: str | None, page: int) -> Reading[ChartPage]:
        """One page (from 1) of the songs of an issue; None means the latest issue."""

    async def aclose(self) -> None:
        """Close what is open."""
