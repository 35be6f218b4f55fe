"""Text search over a world: ranking of videos for a term, and videos by hashtag.

What belongs here: the texts of all videos, read once, and the order of matches. How many a guest
sees, and in which format, is decided by the server. No network.
"""

import unicodedata
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np

from pipelines.sandbox.world.content.sounds import Flags, Floats, SandboxSound
from pipelines.sandbox.world.content.videos import VideoState
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
        music_words: Additional searchable text of a video's sound, besides its title.
    """

    def __init__(self, world: SandboxWorld, music_words: Callable[[SandboxSound], str]) -> None:
        self.world = world
        works = world.works
        self.captions = [world.caption(works.row(row)) for row in range(len(works))]
        sounds = [
            f"{world.sound_title(sound)} {music_words(sound)}"
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
