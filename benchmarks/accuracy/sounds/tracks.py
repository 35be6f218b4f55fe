"""Which tracks there are, and which of them constants may be chosen on.

A track is a name and numbers: everything that is heard follows from them. Not here: how it sounds
(`studio.py`) and what is done to it (`clips.py`).
"""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["world", "loop", "font"]
Part = Literal["choosing", "reported"]
_FONT_FOLDER = Path("/usr/share/sounds/sf2")  # where Debian puts them
_FONTS = ("FluidR3_GM.sf2", "TimGM6mb.sf2")
_WORLD_SEEDS = (11, 23, 37, 59)
_REPORTED_SHARE = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What this machine can make sound with, beside the project's own synthesis."""

    fonts: tuple[Path, ...] = ()
    has_espeak: bool = False

    @property
    def label(self) -> str:
        """One word for folders: clips of other sources are other clips."""
        fonts = "-".join(font.stem.split("_")[0] for font in self.fonts) or "nofont"
        return f"{fonts}-{'espeak' if self.has_espeak else 'ownvoice'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One recording and what is made from its composition.

    Attributes:
        number: Position in the list; what is done to a track rotates with it.
        kind: Played by the stand-in world, a loop of it, or by a sound font.
        seed: Seed of the world that the composition is from.
        score: Which of its compositions.
    """

    number: int
    kind: Kind
    seed: int
    score: int

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.seed}-{self.score}"

    @property
    def part(self) -> Part:
        """Fixed by the name alone, so that new tracks move no old one."""
        drawn = int.from_bytes(hashlib.blake2b(self.name.encode(), digest_size=4).digest())
        return "reported" if drawn / 2**32 < _REPORTED_SHARE else "choosing"


def find_sources() -> Sources:
    """What is installed here; `make setup-bench` installs all of it on Debian."""
    fonts = tuple(_FONT_FOLDER / name for name in _FONTS) if shutil.which("fluidsynth") else ()
    return Sources(
        fonts=tuple(font for font in fonts if font.exists()),
        has_espeak=shutil.which("espeak-ng") is not None,
    )


def list_tracks(sources: Sources) -> list[Track]:
    """96 tracks: 48 of four worlds, 16 loops, 32 by sound fonts (by the world where none is)."""
    named: list[tuple[Kind, int, int]] = [
        ("world", seed, score) for seed in _WORLD_SEEDS for score in range(12)
    ]
    named += [("loop", 71, score) for score in range(16)]
    named += [("font" if sources.fonts else "world", 83, score) for score in range(32)]
    return _numbered(named)


def list_few_tracks() -> list[Track]:
    """Eight tracks for a quick look, all by the stand-in world."""
    return _numbered(
        [("world", 97, score) for score in range(6)] + [("loop", 97, 6), ("loop", 97, 7)]
    )


def _numbered(named: list[tuple[Kind, int, int]]) -> list[Track]:
    return [
        Track(number=number, kind=kind, seed=seed, score=score)
        for number, (kind, seed, score) in enumerate(named)
    ]
