"""Drums: five kits that all tracks share, and the patterns that are played on them.

Patterns are grids of sixteenths; a one is a hit. What plays when is decided in `arrangement.py`.
"""

import numpy as np
from numpy.random import Generator

from pipelines.sandbox.world.sound.instruments import RATE, Samples

KITS = 5
PATTERNS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "kick": (
        ("x...x...x...x...", "x.......x.......", "x..x..x...x.....", "x.....x.x.......",
         "x.........x..x..", "x...x...x...x.x.", "x..x....x..x...."),
        ("x...........", "x.....x.....", "x.......x..."),
        (),
    ),
    "snare": (
        ("....x.......x...", "........x.......", "....x.......x..x", "....x..x.x..x...",
         "...x..x....x..x."),
        ("....x...x...", "........x..."),
        (),
    ),
    "hat": (
        ("x.x.x.x.x.x.x.x.", "xxxxxxxxxxxxxxxx", "..x...x...x...x.", "x.xxx.x.x.xxx.x.",
         "x..x..x.x..x..x."),
        ("x.x.x.x.x.x.", "x...x...x..."),
        (),
    ),
}  # fmt: skip
"""Per voice: patterns of a bar of four, of a bar of three."""


def drum_kit(number: int) -> dict[str, Samples]:
    """The three voices of a kit, shape (samples,) each, peak about 1."""
    rng = np.random.Generator(np.random.SFC64(1000 + number))
    return {"kick": _kick(rng), "snare": _snare(rng), "hat": _hat(rng)}


def pattern(rng: Generator, voice: str, beats: int) -> str:
    """One pattern for a bar of three or four beats."""
    choices = PATTERNS[voice][0 if beats == 4 else 1]  # noqa: PLR2004  # common time
    return choices[int(rng.integers(len(choices)))]


def _times(length_s: float) -> Samples:
    return (np.arange(int(length_s * RATE)) / RATE).astype(np.float32)


def _kick(rng: Generator) -> Samples:
    t = _times(0.32)
    low, drop, fall = rng.uniform(42, 60), rng.uniform(80, 220), rng.uniform(0.015, 0.05)
    cycles = low * t + drop * fall * (1 - np.exp(-t / fall))
    body = np.sin(2 * np.pi * cycles) * np.exp(-t / rng.uniform(0.07, 0.16))
    return np.asarray(body, dtype=np.float32)


def _snare(rng: Generator) -> Samples:
    t = _times(0.25)
    noise = rng.standard_normal(t.size) * np.exp(-t / rng.uniform(0.04, 0.1))
    tone = np.sin(2 * np.pi * rng.uniform(160, 240) * t) * np.exp(-t / 0.05)
    mixed = rng.uniform(0.35, 0.55) * noise + 0.6 * tone
    return np.asarray(mixed, dtype=np.float32)


def _hat(rng: Generator) -> Samples:
    t = _times(0.12)
    noise = np.diff(rng.standard_normal(t.size + 2), n=2) * 0.3
    return np.asarray(noise * np.exp(-t / rng.uniform(0.015, 0.05)), dtype=np.float32)
