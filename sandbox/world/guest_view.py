"""What a guest can find in a world: lists and first screens, hashtags, and videos by search.

The surfaces and the ground truth read the same view, so that what is reachable is what is served.
How many results of a search a guest sees, and in which format, is decided by the server.
"""

import hashlib
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sandbox.world.content.tables import Flags, Floats, VideoState
from sandbox.world.random_streams import Ints, share_of, stream
from sandbox.world.world import MUSIC_LIST_DEPTH, SandboxWorld

TRENDS_DEPTH = 1000
"""Videos that a guest can page through under a trend."""
GENUINE_SHARE = 0.05
"""Share of the rows of a list of foreign rows that use its music id."""
HASHTAG_DEPTH = 60
"""Videos that a guest can page through under one hashtag."""
_ENOUGH = 0.2
"""Minimum match of a term, 0 to 1, for a video to be found."""
_PART = 0.6
"""Weight of a partial match relative to a whole word."""
_ENGAGEMENT = 6.0
"""A full match is worth so many decades of likes."""


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


class VideoTextIndex:
    """Text index of a world's videos. Building it reads every caption, so build it once.

    Args:
        world: The world.
        has_mapped_titles: The songs that user sounds are mapped to can be searched for, too.
    """

    def __init__(self, world: SandboxWorld, *, has_mapped_titles: bool = True) -> None:
        self.world = world
        works = world.works
        self.captions = [world.caption(works.row(row)) for row in range(len(works))]
        mapped = world.mapped_title if has_mapped_titles else lambda _: None
        sounds = [
            f"{world.sound_title(sound)} {mapped(sound) or ''}"
            for sound in map(world.sounds.row, range(len(world.sounds)))
        ]
        self._texts = [
            normalise_text(f"{caption} {sounds[sound]}")
            for caption, sound in zip(self.captions, works.sound.tolist(), strict=True)
        ]
        self.ranked = lru_cache(maxsize=256)(self._ranked)

    @cached_property
    def hashtags(self) -> dict[str, Ints]:
        """Return the rows of the listed videos per hashtag, most liked first."""
        found: dict[str, list[int]] = {}
        for row, caption in enumerate(self.captions):
            for name in hashtags_in(caption):
                found.setdefault(name, []).append(row)
        return {name: self._listed(rows) for name, rows in found.items()}

    @cached_property
    def names(self) -> dict[str, str]:
        """Return the names of all hashtags, by id."""
        return {str(hashtag_id(name)): name for name in self.hashtags}

    def ch_ids(self) -> list[str]:
        """Return the ids of all hashtags, those of most videos first."""
        return sorted(self.names, key=lambda ch_id: (-self.members(ch_id).size, ch_id))

    def members(self, ch_id: str) -> Ints:
        """Return the rows of the listed videos of a hashtag, most liked first.

        Raises:
            KeyError: No video uses it.
        """
        return self.hashtags[self.names[ch_id]]

    def listed(self, ch_id: str) -> list[int]:
        """Return the rows that a guest can page through under a hashtag; none if nobody uses it."""
        return self.members(ch_id)[:HASHTAG_DEPTH].tolist() if ch_id in self.names else []

    def _listed(self, rows: list[int]) -> Ints:
        works, kept = self.world.works, np.asarray(rows, dtype=np.int64)
        kept = kept[works.is_listed[kept]]
        return kept[np.argsort(-works.digg_count[kept], kind="stable")]

    def _ranked(self, term: str) -> tuple[int, ...]:
        """Return the rows of public videos that match a term, by match and engagement."""
        words = normalise_text(term).split()
        if not words:
            return ()
        works = self.world.works
        fits = self._fits(words)
        rows = np.flatnonzero((fits >= _ENOUGH) & (works.state == VideoState.PUBLIC))
        order = fits[rows] * _ENGAGEMENT + np.log10(1 + works.digg_count[rows])
        return tuple(rows[np.argsort(-order, kind="stable")].tolist())

    def _fits(self, words: list[str]) -> Floats:
        """Return how much of a term each video contains, 0..1; long words weigh more."""
        total = np.zeros(len(self._texts))
        for word in words:
            whole = self._holds(word)
            pairs = [word[at : at + 2] for at in range(len(word) - 1)]
            part = np.zeros(len(self._texts))
            for pair in pairs:
                part += self._holds(pair)
            total += len(word) * np.where(whole, 1.0, _PART * part / max(1, len(pairs)))
        return total / sum(map(len, words))

    def _holds(self, word: str) -> Flags:
        return np.fromiter((word in text for text in self._texts), np.bool_, len(self._texts))


def normalise_text(text: str) -> str:
    """Normalise letters and digits to one case and form, and anything else to a space."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(letter if letter.isalnum() else " " for letter in plain)


def hashtags_in(caption: str) -> list[str]:
    """Names of the hashtags of a caption, in order."""
    return [word[1:] for word in caption.split(" ") if word.startswith("#") and len(word) > 1]


def hashtag_id(name: str) -> int:
    """Id of a hashtag, up to 19 digits."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest) % 10**18 + 10**18
