"""A score played by a sound font: MIDI bytes, and FluidSynth as a process.

What belongs here: notes in seconds to samples. Not here: which notes (`studio.py`).
"""

import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.io.wavfile

from sandbox.world.sound.instruments import RATE, Samples

DRUMS = 9
"""The channel that General MIDI keeps for drums."""
PROGRAMS = {
    "electric piano": 4, "piano": 0, "pluck": 46, "nylon": 24, "super saw": 81, "warm pad": 89,
    "strings": 48, "organ": 16, "square lead": 80, "bell": 14, "flute": 73, "brass": 61,
    "sub bass": 38, "saw bass": 39, "finger bass": 33, "square bass": 87,
}  # fmt: skip
"""General MIDI programs (from 0) for the timbres of the stand-in world."""
_TICKS_PER_S = 960
_HEADER = struct.pack(">4sIHHH", b"MThd", 6, 0, 1, 480)  # at 120 beats a minute: 960 ticks a second


@dataclass(frozen=True, slots=True)
class Struck:
    """A note as played: channel, MIDI key, velocity 1..127, begin and end in seconds."""

    channel: int
    key: int
    velocity: int
    begin_s: float
    end_s: float


def to_midi(notes: list[Struck], programs: dict[int, int]) -> bytes:
    """A MIDI file of one track; `programs` by channel."""
    events = [(0, bytes((0xC0 | channel, program))) for channel, program in programs.items()]
    for note in notes:
        on, off = round(note.begin_s * _TICKS_PER_S), round(note.end_s * _TICKS_PER_S)
        events.append((on, bytes((0x90 | note.channel, note.key, note.velocity))))
        events.append((max(on + 1, off), bytes((0x80 | note.channel, note.key, 0))))
    events.sort(key=lambda event: event[0])
    body = bytearray()
    at = 0
    for tick, message in events:
        body += _variable(tick - at) + message
        at = tick
    body += b"\x00\xff\x2f\x00"
    return _HEADER + struct.pack(">4sI", b"MTrk", len(body)) + bytes(body)


def _variable(number: int) -> bytes:
    """Seven bits a byte, all but the last marked."""
    out = [number & 0x7F]
    while number := number >> 7:
        out.append(0x80 | (number & 0x7F))
    return bytes(reversed(out))


def play_midi(midi: bytes, font: Path, *, length_s: float) -> Samples:
    """Mono samples at `RATE`, shape (length_s * RATE,), peak 0.9."""
    with tempfile.TemporaryDirectory() as folder:
        score, sound = Path(folder) / "score.mid", Path(folder) / "sound.wav"
        score.write_bytes(midi)
        command = ["fluidsynth", "-ni", "-q", "-r", str(RATE), "-g", "0.5", "-F", str(sound)]
        subprocess.run([*command, str(font), str(score)], check=True, capture_output=True)
        _, raw = scipy.io.wavfile.read(sound)
    mono = np.asarray(raw, dtype=np.float32).mean(axis=1)
    mono = mono[: int(length_s * RATE)]
    mono = np.pad(mono, (0, int(length_s * RATE) - mono.size))
    return np.asarray(mono * (0.9 / max(1e-6, float(np.abs(mono).max()))), dtype=np.float32)
