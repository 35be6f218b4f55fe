"""Sounds: the composition of each, how it was changed, and its relation to the original.

One music id has one sound. The table of sounds is a set of arrays (a world may have tens of
thousands); `SandboxSound` is one row of it.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipelines.sandbox.world.random_streams import Ints

Relation = Literal["same", "variant", "cover", "other_same_title", "none"]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class SoundKind(IntEnum):
    """How a sound was made."""

    MAIN = 0
    REUPLOAD = 1
    LOFI = 2
    VOICE_OVER = 3
    MEDLEY = 4
    SHORT = 5
    LATE = 6
    SPEED = 10
    PITCH = 11
    TEMPO = 12
    COVER_SYNC = 20
    COVER_OTHER = 21
    SPEECH = 30
    SILENT = 31


LAST_CARRYING = SoundKind.LATE
LAST_VARIANT = SoundKind.TEMPO
LAST_COVER = SoundKind.COVER_OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSound:
    """The sound of one music id.

    Attributes:
        index: Row in the table of sounds.
        music_id: Its public id.
        kind: How it was made.
        score: The composition in it, -1 for speech and silence.
        start_s: Where in the composition it begins.
        duration_s: Its length, as heard.
        speed: Tempo ratio to the composition's own.
        semitones: Pitch shift.
        voice_db: Level of the voice against the music; None without a voice.
        carried_s: How long the composition is heard.
        lead_s: Silence or speech before the composition begins.
        stereo: True for two channels.
        owner: Account that uploaded it, -1 for a published song.
    """

    index: int
    music_id: str
    kind: SoundKind
    score: int
    start_s: float
    duration_s: float
    speed: float
    semitones: float
    voice_db: float | None
    carried_s: float
    lead_s: float
    stereo: bool
    owner: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundTable:
    """All sounds of a world; names and units as in `SandboxSound`. NaN means "no voice"."""

    music_id: Ints
    kind: Ints
    score: Ints
    start_s: Floats
    duration_s: Floats
    speed: Floats
    semitones: Floats
    voice_db: Floats
    carried_s: Floats
    lead_s: Floats
    stereo: Flags
    owner: Ints

    def __len__(self) -> int:
        return int(self.music_id.size)

    def row(self, index: int) -> SandboxSound:
        """One sound as a record."""
        voice = float(self.voice_db[index])
        return SandboxSound(
            index=index,
            music_id=str(self.music_id[index]),
            kind=SoundKind(int(self.kind[index])),
            score=int(self.score[index]),
            start_s=float(self.start_s[index]),
            duration_s=float(self.duration_s[index]),
            speed=float(self.speed[index]),
            semitones=float(self.semitones[index]),
            voice_db=None if np.isnan(voice) else voice,
            carried_s=float(self.carried_s[index]),
            lead_s=float(self.lead_s[index]),
            stereo=bool(self.stereo[index]),
            owner=int(self.owner[index]),
        )
