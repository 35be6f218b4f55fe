"""Which works of the demo world bear a hashtag or fit a search, as its guests are shown them."""

from functools import cached_property

from pipelines.platform.providers.mock.records import to_ch_id
from pipelines.sandbox.world.search import HASHTAG_DEPTH, Finding
from pipelines.sandbox.world.world import World

SEARCH_DEPTH = 200
"""Works that one search shows; more are never listed to a guest."""


class WordIndex:
    """Look-ups by text. Made once per world: all captions are read."""

    def __init__(self, world: World) -> None:
        self._finding = Finding(world, lambda _sound: "")

    def ch_ids(self) -> list[str]:
        """Ids of all hashtags."""
        return list(self._names)

    def hashtag_name(self, ch_id: str) -> str | None:
        """Name of a hashtag that some work bears."""
        return self._names.get(ch_id)

    def rows_of_hashtag(self, ch_id: str) -> list[int]:
        """Rows of the works that are listed under a hashtag, most liked first."""
        name = self._names.get(ch_id)
        rows = [] if name is None else self._finding.hashtags[name].tolist()
        return rows[:HASHTAG_DEPTH]

    def rows_with(self, term: str) -> list[int]:
        """Rows of the works that fit a term, best first."""
        return list(self._finding.ranked(term)[:SEARCH_DEPTH])

    @cached_property
    def _names(self) -> dict[str, str]:
        return {to_ch_id(name): name for name in self._finding.hashtags}
