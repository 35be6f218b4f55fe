"""What a guest can page through in a world: music lists, first screens, lists of hashtags.

The surfaces and the ground truth read the same view, so that what is reachable is what is served.
"""

from dataclasses import dataclass

import numpy as np

from pipelines.sandbox.world.random_streams import Ints, share_of, stream
from pipelines.sandbox.world.search import HASHTAG_DEPTH
from pipelines.sandbox.world.world import MUSIC_LIST_DEPTH, SandboxWorld

TRENDS_DEPTH = 1000
"""Videos that a guest can page through under a trend."""
GENUINE_SHARE = 0.05
"""Share of the rows of a list of foreign rows that use its music id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestView:
    """A world as guests see it.

    Attributes:
        world: The world.
        foreign_share: Share of the music lists whose rows mostly use other music ids.
        has_author_screens: First screens of accounts can be read.
    """

    world: SandboxWorld
    foreign_share: float = 0.0
    has_author_screens: bool = True

    def has_foreign_rows(self, index: int) -> bool:
        """Return True for a sound whose list mostly shows videos of others."""
        music_id = str(self.world.sounds.music_id[index])
        return share_of(music_id, "foreign rows") < self.foreign_share

    def music_list(self, index: int) -> Ints:
        """Return the rows that a guest can page through under a music id."""
        rows = self.world.music_list(index)
        if not rows.size or not self.has_foreign_rows(index):
            return rows
        works = self.world.works
        genuine = rows[: max(1, round(MUSIC_LIST_DEPTH * GENUINE_SHARE))]
        others = np.flatnonzero(works.is_listed & (works.sound != index))
        rng = stream(self.world.seed, "foreign rows", index)
        count = min(others.size, MUSIC_LIST_DEPTH - genuine.size)
        drawn = rng.choice(others, size=count, replace=False)
        return rng.permutation(np.concatenate([genuine, drawn])).astype(np.int64)

    def trends_list(self, index: int) -> Ints:
        """Return the rows that a guest can page through under the trend of a music id."""
        return self.world.videos_by_sound(index)[:TRENDS_DEPTH]

    def first_screen(self, index: int) -> Ints:
        """Return the rows of an author's first screen; none where it cannot be read."""
        rows = self.world.first_screen(index)
        return rows if self.has_author_screens else rows[:0]

    def title_list(self, score: int) -> Ints:
        """Return the rows that a guest can page through under the hashtag with a title."""
        works, titles = self.world.works, np.append(self.world.population.title_score, -2)
        is_named = works.named_score >= 0
        titled = is_named & (titles[works.named_score] == titles[score])
        rows = np.flatnonzero(titled & works.is_tagged & works.is_listed)
        return rows[np.argsort(-works.digg_count[rows], kind="stable")][:HASHTAG_DEPTH]
