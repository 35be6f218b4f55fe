"""Text index of a world: ranking of videos for a term, and videos by hashtag.

What belongs here: the texts of all videos, read once, and the order of matches. How many a guest
sees, and in which format, is decided by the server. No network.
"""

import hashlib
import unicodedata
from functools import cached_property, lru_cache

import numpy as np

from pipelines.sandbox.world.content.tables import Flags, Floats, VideoState
from pipelines.sandbox.world.random_streams import Ints
from pipelines.sandbox.world.world import SandboxWorld

HASHTAG_DEPTH = 60
"""Videos that a guest can page through under one hashtag."""
_ENOUGH = 0.2
"""Minimum match of a term, 0 to 1, for a video to be found."""
_PART = 0.6
"""Weight of a partial match relative to a whole word."""
_ENGAGEMENT = 6.0
"""A full match is worth so many decades of likes."""


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
