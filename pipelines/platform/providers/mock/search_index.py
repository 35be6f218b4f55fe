"""Search index of the demo world: videos by hashtag and by search term, as guests see them."""

from pipelines.sandbox.world.guest_view import VideoTextIndex
from pipelines.sandbox.world.world import SandboxWorld

SEARCH_DEPTH = 200
"""Videos that a guest can page through for one search."""


class MockSearchIndex:
    """Text index of a world. Build it once per world: it reads all captions."""

    def __init__(self, world: SandboxWorld) -> None:
        self._finding = VideoTextIndex(world, has_mapped_titles=False)

    def ch_ids(self) -> list[str]:
        """Ids of all hashtags."""
        return list(self._finding.names)

    def hashtag_name(self, ch_id: str) -> str | None:
        """Return the name of a hashtag; None if no video uses it."""
        return self._finding.names.get(ch_id)

    def rows_of_hashtag(self, ch_id: str) -> list[int]:
        """Return the rows of the listed videos of a hashtag, most liked first."""
        return self._finding.listed(ch_id)

    def rows_matching(self, term: str) -> list[int]:
        """Return the rows of the videos that match a term, best first."""
        return list(self._finding.ranked(term)[:SEARCH_DEPTH])
