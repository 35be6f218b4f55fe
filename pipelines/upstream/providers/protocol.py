"""What every source of music data answers. Methods fetch, parse and name what went wrong."""

from pathlib import Path
from typing import Protocol

from pipelines.domain.records import Account, Track, UnavailableVideo, VideoDetail, VideoPage
from pipelines.upstream.reading import Reading, SoundFile
from pipelines.upstream.vidplat.links import LinkTarget


class MusicProvider(Protocol):
    """One source. All methods raise `UpstreamError`s by name when the source says no."""

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

    async def resolve_link(self, url: str) -> LinkTarget:
        """Follow a short link; `InvalidMusicInputError` when it leads to nothing of use."""

    async def download_sound(self, detail: VideoDetail, into: Path) -> SoundFile:
        """The sound of a work as a file in `into`."""

    async def aclose(self) -> None:
        """Close what is open."""
