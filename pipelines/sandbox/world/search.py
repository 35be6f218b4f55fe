"""Finding videos by words: what a search over a world ranks, and which videos bear a hashtag.

What belongs here: the texts of all videos, read once, and the order of what fits a term. How many
of them a guest is shown, and in which shape, is the platform's to decide. No network.
"""

import unicodedata
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np

from pipelines.sandbox.world.content.sounds import Flags, Floats, Sound
from pipelines.sandbox.world.content.videos import State
from pipelines.sandbox.world.random_streams import Ints
from pipelines.sandbox.world.world import World

HASHTAG_DEPTH = 60
"""Videos that the platform lists under one hashtag; more are never shown to a guest."""
_ENOUGH = 0.2
"""A video is found from this part of a term on."""
_PART = 0.6
"""What half-matching letters count against a whole word."""
_ENGAGEMENT = 6.0
"""A video that fits wholly outweighs one that does not fit at all by so many decades of likes."""


class Finding:
    """The words of a world's videos. Building it reads every caption, so build it once.

    Args:
        world: The world.
        music_words: What else a search knows about the sound of a video, beside its title.
    """

    def __init__(self, world: World, music_words: Callable[[Sound], str]) -> None:
        self.world = world
        works = world.works
        self.captions = [world.caption(works.row(row)) for row in range(len(works))]
        sounds = [
            f"{world.sound_title(sound)} {music_words(sound)}"
            for sound in map(world.sounds.row, range(len(world.sounds)))
        ]
        self._texts = [
            fold(f"{caption} {sounds[sound]}")
            for caption, sound in zip(self.captions, works.sound.tolist(), strict=True)
        ]
        self.ranked = lru_cache(maxsize=256)(self._ranked)

    @cached_property
    def hashtags(self) -> dict[str, Ints]:
        """Rows of the listed videos per hashtag, most liked first."""
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
        """Rows of public videos that fit a term: by how well they fit, then by engagement."""
        words = fold(term).split()
        if not words:
            return ()
        works = self.world.works
        fits = self._fits(words)
        rows = np.flatnonzero((fits >= _ENOUGH) & (works.state == State.PUBLIC))
        order = fits[rows] * _ENGAGEMENT + np.log10(1 + works.digg_count[rows])
        return tuple(rows[np.argsort(-order, kind="stable")].tolist())

    def _fits(self, words: list[str]) -> Floats:
        """How much of a term each video holds, 0..1; long words weigh more."""
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


def fold(text: str) -> str:
    """Letters and digits in one case and form, anything else as a space."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(letter if letter.isalnum() else " " for letter in plain)


def hashtags_in(caption: str) -> list[str]:
    """Names of the hashtags of a caption, in order."""
    return [word[1:] for word in caption.split(" ") if word.startswith("#") and len(word) > 1]
