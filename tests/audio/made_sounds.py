"""Sounds that tests make as arrays of features: what two of them share is exactly what was put in.

Chroma, timbre and peaks are made apart from each other, so a test may let one agree and the others
not; nothing is rendered, encoded or decoded.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import Features, Peaks

HOP_S = 1024 / 22_050
FINE_HOP_S = HOP_S / 2
FRAMES = 220  # 10.2 s
type Matrix = NDArray[np.float32]
type Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MadePeaks:
    """Peaks as plain columns: fine frame, hertz, phase in 1/256 turns."""

    frames: Vector
    hertz: Vector
    phases: Vector

    def picked(self) -> Peaks:
        """As the matcher takes them: in order of time, in whole frames."""
        order = np.argsort(np.rint(self.frames), kind="stable")
        return Peaks(
            np.rint(self.frames[order]).astype(np.int32),
            self.hertz[order].astype(np.float32),
            (np.rint(self.phases[order]) % 256).astype(np.uint8),
        )

    def __add__(self, other: "MadePeaks") -> "MadePeaks":
        return MadePeaks(
            np.concatenate([self.frames, other.frames]),
            np.concatenate([self.hertz, other.hertz]),
            np.concatenate([self.phases, other.phases]),
        )

    def part(self, first: float, last: float) -> "MadePeaks":
        """Those from one fine frame up to another."""
        inside = (self.frames >= first) & (self.frames < last)
        return MadePeaks(self.frames[inside], self.hertz[inside], self.phases[inside])

    def without_phase(self, seed: int = 99) -> "MadePeaks":
        """Same places, other phases: what another performance of the same notes has."""
        phases = np.random.default_rng(seed).uniform(0, 256, len(self.phases))
        return replace(self, phases=phases)

    def played(self, tempo: float, *, pitch: float = 1.0) -> "MadePeaks":
        """`tempo` times as fast and `pitch` times as high, phases followed to the whole frames."""
        frames = np.rint(self.frames / tempo)
        late = frames * tempo - self.frames
        turned = self.phases + 256 * self.hertz * FINE_HOP_S * late
        return MadePeaks(frames, self.hertz * pitch, turned)


def fleeting(seed: int, count: int = 500, *, frames: int = FRAMES) -> MadePeaks:
    """Peaks that never come again."""
    numbers = np.random.default_rng(seed)
    return MadePeaks(
        numbers.integers(0, 2 * frames, count).astype(float),
        numbers.uniform(300, 4000, count),
        numbers.uniform(0, 256, count),
    )


def held(seed: int, tones: int = 6, *, frames: int = FRAMES) -> MadePeaks:
    """Tones that are held all the time, each heard every fourth fine frame."""
    numbers = np.random.default_rng(seed)
    moments = np.arange(0, 2 * frames, 4, dtype=float)
    hertz = np.repeat(numbers.uniform(300, 4000, tones), len(moments))
    return MadePeaks(np.tile(moments, tones), hertz, numbers.uniform(0, 256, tones * len(moments)))


def melody(seed: int, *, frames: int = FRAMES) -> Matrix:
    """Chroma that changes every five frames (frames, 36)."""
    return _held_values(seed, 36, frames)


def timbre(seed: int, *, frames: int = FRAMES) -> Matrix:
    """Log mel energies in dB that change every five frames (frames, 64)."""
    return 40 * _held_values(seed + 1000, 64, frames) - 60


def _held_values(seed: int, width: int, frames: int) -> Matrix:
    steps = np.random.default_rng(seed).random((frames // 5 + 1, width))
    return np.repeat(steps, 5, axis=0)[:frames].astype(np.float32)


def blended(first: Matrix, second: Matrix, share: float) -> Matrix:
    """`share` of the second over what is left of the first."""
    return ((1 - share) * first + share * second).astype(np.float32)


def faster(values: Matrix, tempo: float) -> Matrix:
    """Rows played `tempo` times as fast."""
    places = np.arange(int((len(values) - 1) / tempo) + 1) * tempo
    columns = [np.interp(places, np.arange(len(values)), column) for column in values.T]
    return np.stack(columns, axis=1).astype(np.float32)


def sound(chroma: Matrix, mel_db: Matrix, peaks: MadePeaks) -> Features:
    """The features of a sound."""
    return Features(chroma, mel_db, peaks.picked())


def made_mp3(content: bytes) -> bytes:
    """Return what counts as an MP3 file: with the header that states its length, and this."""
    head = b"\xff\xfb\x50\xc0" + bytes(17) + b"Info" + bytes([0, 0, 0, 15, 0, 0, 0, 1])
    return head + (len(head) + 4 + len(content)).to_bytes(4) + content
