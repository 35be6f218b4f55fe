"""Which tracks there are, and which of them constants may be chosen on.

A track is a name and numbers: everything that is heard follows from them. Not here: how it sounds
(`studio.py`) and what is done to it (`clips.py`).
"""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["world", "loop", "font", "piano", "real"]
Part = Literal["choosing", "reported"]
_FONT_FOLDER = Path("/usr/share/sounds/sf2")  # where Debian puts them
_FONTS = ("FluidR3_GM.sf2", "TimGM6mb.sf2")
RECORDINGS = Path("reports/bench-audio/recordings")
"""Where `make setup-bench-audio` puts real recordings."""
_WORLD_SEEDS = (11, 23, 37, 59)
_REPORTED_SHARE = 0.6


def part_of(name: str) -> Part:
    """Fixed by a name alone, so that new tracks move no old one."""
    return "reported" if _drawn(name) < _REPORTED_SHARE else "choosing"


def part_of_recording(name: str) -> Part:
    """The same for real recordings, whose lower share is the one that constants are chosen on."""
    return "choosing" if _drawn(name) < 1 - _REPORTED_SHARE else "reported"


def _drawn(name: str) -> float:
    """Between 0 and 1, by the name."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest()) / 2**32


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What this machine can make sound with, beside the project's own synthesis."""

    fonts: tuple[Path, ...] = ()
    has_espeak: bool = False
    recordings: Path = RECORDINGS

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
        kind: Played by the stand-in world, a loop of it, by a sound font, by the pianos of sound
            fonts, or a real recording.
        seed: Seed of the world that the composition is from.
        score: Which of its compositions; of a real recording, which piece of it.
        recording: Name of a real recording, else empty.
    """

    number: int
    kind: Kind
    seed: int
    score: int
    recording: str = ""

    @property
    def name(self) -> str:
        if self.recording:
            return f"{self.recording}-{self.score}" if self.score else self.recording
        return f"{self.kind}-{self.seed}-{self.score}"

    @property
    def part(self) -> Part:
        """All pieces of a real recording are in one part."""
        return part_of_recording(self.recording) if self.recording else part_of(self.name)


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
