"""Which works of the invented world name a hashtag or a word, most liked first.

Made once per world: captions are invented one by one, which takes a moment for all of them.
"""

from collections import defaultdict
from functools import cached_property

import numpy as np

from pipelines.upstream.providers.mock_records import to_hashtags
from pipelines.world.world import World

SEARCH_DEPTH = 200
"""Works that one search shows; more are never listed to a guest."""


class WordIndex:
    """Look-ups by text over the listed works of a world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def ch_ids(self) -> list[str]:
        """Ids of all hashtags."""
        return list(self._hashtags[0])

    def hashtag_name(self, ch_id: str) -> str | None:
        """Name of a hashtag that some listed work carries."""
        return self._hashtags[0].get(ch_id)

    def rows_of_hashtag(self, ch_id: str) -> list[int]:
        """Rows of the listed works that carry a hashtag."""
        return self._hashtags[1].get(ch_id, [])

    def rows_with(self, term: str) -> list[int]:
        """Rows of the works whose caption or music title holds every word of a term."""
        wanted = term.casefold().split()
        if not wanted:
            return []
        found = [row for row, text in self._texts.items() if all(word in text for word in wanted)]
        return found[:SEARCH_DEPTH]

    @cached_property
    def _captions(self) -> dict[int, str]:
        """Caption by row, most liked first; works that no list shows are left out."""
        works = self._world.works
        order = np.argsort(-works.digg_count, kind="stable")
        listed = order[works.is_listed[order]].tolist()
        return {row: self._world.caption(works.row(row)) for row in listed}

    @cached_property
    def _texts(self) -> dict[int, str]:
        world, titles = self._world, dict[int, str]()
        for row in self._captions:
            sound = int(world.works.sound[row])
            if sound not in titles:
                titles[sound] = world.sound_title(world.sounds.row(sound))
        return {
            row: f"{caption}\n{titles[int(world.works.sound[row])]}".casefold()
            for row, caption in self._captions.items()
        }

    @cached_property
    def _hashtags(self) -> tuple[dict[str, str], dict[str, list[int]]]:
        names, rows = dict[str, str](), defaultdict[str, list[int]](list)
        for row, caption in self._captions.items():
            for tag in to_hashtags(caption):
                names[tag.ch_id] = tag.name
                rows[tag.ch_id].append(row)
        return names, dict(rows)
