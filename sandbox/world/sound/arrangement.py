"""Arrangement: which instruments play a composition, and how. A cover is another arrangement.

From a score and an arrangement come samples. What is then done to a recording (speed, voice,
re-encoding) is in `recordings.py`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from sandbox.world.random_streams import chance
from sandbox.world.sound.composition import Chord, MelodyNote, Score
from sandbox.world.sound.instruments import (
    BASSES,
    KEYS,
    KITS,
    LEADS,
    RATE,
    TIMBRES,
    Samples,
    drum_kit,
    pattern,
    play,
    to_hz,
)

_BASS_FIGURES = (
    ((0, 1),), ((0, 0.5), (0.5, 0.5)), ((0, 0.25), (0.375, 0.25), (0.75, 0.25)),
    ((0, 0.25), (0.25, 0.25), (0.5, 0.25), (0.75, 0.25)), ((0.125, 0.25), (0.625, 0.25)),
    ((0, 0.375), (0.375, 0.375), (0.75, 0.25)),
)  # fmt: skip
_KEY_FIGURES = (
    ((0, 1),), ((0, 0.5), (0.5, 0.5)), ((0.125, 0.125), (0.375, 0.125), (0.625, 0.25)),
    ((0, 0.25), (0.375, 0.25), (0.75, 0.25)), ((0.25, 0.25), (0.75, 0.25)),
)  # fmt: skip


Figure = tuple[tuple[float, float], ...]
_TAKES = 3
_TAKE_CENTS = 5.0
_LEFT_OUT, _ADDED = 0.06, 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """How a composition is played.

    Attributes:
        lead: Timbre of the tune; `keys` and `bass` likewise.
        lead_octave: Octaves that the tune is moved by.
        inversion: How many chord tones go up an octave.
        arpeggio: Play chords as broken eighths instead of by figures.
        key_figures: When chords sound in a bar, as (start, length) in parts of the bar; even and
            odd bars have their own.
        bass_figures: The same for the bass.
        kit: Drum kit, None for no drums.
        patterns: Drum patterns by voice.
        swing: Delay of off-beat sixteenths, in beats.
        looseness_s: Standard deviation of the timing.
        cents: Tuning.
        levels: Loudness of lead, keys, bass, drums.
        echo_s: Echo of the lead, 0 for none.
    """

    lead: str
    keys: str
    bass: str
    lead_octave: int
    inversion: int
    arpeggio: bool
    key_figures: tuple[Figure, Figure]
    bass_figures: tuple[Figure, Figure]
    kit: int | None
    patterns: dict[str, str]
    swing: float
    looseness_s: float
    cents: float
    levels: tuple[float, float, float, float]
    echo_s: float


def arrange(rng: Generator, score: Score, *, unlike: Arrangement | None = None) -> Arrangement:
    """Choose how a composition is played; `unlike` makes it a cover of that one."""
    is_cover = unlike is not None
    return Arrangement(
        lead=_other(rng, LEADS, unlike.lead if unlike else ""),
        keys=_other(rng, KEYS, unlike.keys if unlike else ""),
        bass=_other(rng, BASSES, unlike.bass if unlike else ""),
        lead_octave=int(rng.integers(0, 2)),
        inversion=int(rng.integers(0, 3)),
        arpeggio=chance(rng, 0.35),
        key_figures=_two(rng, _KEY_FIGURES),
        bass_figures=_two(rng, _BASS_FIGURES),
        kit=None if chance(rng, 0.12) else int(rng.integers(KITS)),
        patterns={voice: pattern(rng, voice, score.beats) for voice in ("kick", "snare", "hat")},
        swing=float(rng.choice((0.0, 0.0, 0.08))),
        looseness_s=float(rng.uniform(0.014, 0.026) if is_cover else rng.uniform(0.002, 0.006)),
        cents=_tuning(rng, unlike),
        levels=(
            float(rng.uniform(0.5, 0.8)), float(rng.uniform(0.2, 0.4)),
            float(rng.uniform(0.3, 0.5)), float(rng.uniform(0.3, 0.6)),
        ),
        echo_s=float(rng.choice((0.0, rng.uniform(0.15, 0.4)))),
    )  # fmt: skip


def _tuning(rng: Generator, unlike: Arrangement | None) -> float:
    """Return the tuning in cents; a cover never has exactly that of the original."""
    if unlike is None:
        return float(rng.uniform(-25, 25))
    return unlike.cents + float(rng.choice((-1, 1))) * float(rng.uniform(12, 30))


def _two(rng: Generator, figures: tuple[Figure, ...]) -> tuple[Figure, Figure]:
    first, second = rng.integers(0, len(figures), size=2)
    return figures[int(first)], figures[int(second)]


def _other(rng: Generator, names: tuple[str, ...], taken: str) -> str:
    choices = [name for name in names if name != taken]
    return choices[int(rng.integers(len(choices)))]


class Player:
    """Renders a score with an arrangement. Equal notes are computed once."""

    def __init__(
        self, score: Score, arrangement: Arrangement, *,
        rng: Generator, length_s: float, speed: float = 1.0, semitones: float = 0.0,
    ) -> None:  # fmt: skip
        self.score = score
        self.how = arrangement
        self.rng = rng
        self.beat_s = 60.0 / (score.tempo * speed)
        self.semitones = semitones
        self.samples = int(length_s * RATE)
        self.bank: dict[tuple[str, float, float, int], Samples] = {}

    def render(self) -> Samples:
        """The whole piece, shape (samples,), peak 0.9."""
        lead, keys, bass, drums = self.how.levels
        lead_part = self._part(self.how.lead, self._tune(), lead)
        mixed = lead_part + self._part(self.how.keys, self._chords(), keys)
        mixed += self._part(self.how.bass, self._bass(), bass)
        if self.how.echo_s:
            late = int(self.how.echo_s * RATE)
            mixed[late:] += 0.35 * lead_part[:-late]
        if self.how.kit is not None:
            mixed += drums * self._drums(self.how.kit)
        mixed = np.tanh(mixed)
        return np.asarray(mixed * (0.9 / max(1e-6, float(np.abs(mixed).max()))), dtype=np.float32)

    def _tune(self) -> list[MelodyNote]:
        lift = 12 * self.how.lead_octave
        return [
            MelodyNote(note.start, note.length * 0.95, note.pitch + lift, note.velocity)
            for note in self.score.melody
        ]

    def _chords(self) -> list[MelodyNote]:
        notes = []
        before: list[int] = []
        for bar, chord in enumerate(self.score.chords):
            before = pitches = self._voiced(chord, before)
            figure = self._broken(chord, pitches) if self.how.arpeggio else [
                (start, length, pitch)
                for start, length in self.how.key_figures[bar % 2] for pitch in pitches
            ]  # fmt: skip
            notes += [
                MelodyNote(chord.start + start * chord.length, length * chord.length, pitch, 0.8)
                for start, length, pitch in figure
            ]
        return notes

    def _voiced(self, chord: Chord, before: list[int]) -> list[int]:
        """Return the chord in the inversion nearest to the previous one, as a player would."""
        pitches = sorted(chord.pitches)
        turns = [
            sorted(pitches[turn:] + [pitch + 12 for pitch in pitches[:turn]])
            for turn in range(len(pitches))
        ]
        turns += [[pitch - 12 for pitch in turn] for turn in turns]
        if not before:
            return turns[self.how.inversion]
        return min(
            turns, key=lambda turn: sum(abs(a - b) for a, b in zip(turn, before, strict=True))
        )

    def _broken(self, chord: Chord, pitches: list[int]) -> list[tuple[float, float, int]]:
        steps = int(chord.length * 2)
        return [(i / steps, 1.4 / steps, pitches[i % len(pitches)]) for i in range(steps)]

    def _bass(self) -> list[MelodyNote]:
        return [
            MelodyNote(chord.start + start * chord.length, length * chord.length * 0.9,
                 chord.root - 12, 1.0)
            for bar, chord in enumerate(self.score.chords)
            for start, length in self.how.bass_figures[bar % 2]
        ]  # fmt: skip

    def _part(self, name: str, notes: list[MelodyNote], level: float) -> Samples:
        out = np.zeros(self.samples, dtype=np.float32)
        for note in notes:
            begin = self._sample_at(note.start)
            if begin >= self.samples:
                break
            sound = self._take(name, note)
            end = min(self.samples, begin + sound.size)
            strength = level * note.velocity * float(self.rng.uniform(0.75, 1.0))
            out[begin:end] += strength * sound[: end - begin]
        return out

    def _sample_at(self, beat: float) -> int:
        late = self.rng.normal(0.0, self.how.looseness_s) if self.how.looseness_s else 0.0
        swing = self.how.swing if (beat * 2) % 1 else 0.0
        return max(0, int(((beat + swing) * self.beat_s + late) * RATE))

    def _take(self, name: str, note: MelodyNote) -> Samples:
        """Return one of a few cached variations of a note: players never repeat it exactly."""
        take = int(self.rng.integers(_TAKES))
        key = (name, note.pitch, round(note.length, 3), take)
        if key not in self.bank:
            cents = self.how.cents + float(self.rng.normal(0.0, _TAKE_CENTS))
            self.bank[key] = play(
                TIMBRES[name], hz=to_hz(note.pitch + self.semitones + cents / 100),
                length_s=note.length * self.beat_s,
            )  # fmt: skip
        return self.bank[key]

    def _drums(self, number: int) -> Samples:
        out = np.zeros(self.samples, dtype=np.float32)
        kit = drum_kit(number)
        steps = self.score.beats * 4
        for voice, grid in self.how.patterns.items():
            sound = kit[voice] * (0.45 if voice == "hat" else 1.0)
            for step in range(len(self.score.chords) * steps):
                strength = self._strength(is_hit=grid[step % steps] == "x")
                begin = self._sample_at(step / 4) if strength else self.samples
                if begin < self.samples:
                    end = min(self.samples, begin + sound.size)
                    out[begin:end] += strength * sound[: end - begin]
        return out

    def _strength(self, *, is_hit: bool) -> float:
        """Return how hard a drum is hit: sometimes left out, sometimes added softly."""
        drawn = float(self.rng.random())
        if is_hit:
            return 0.0 if drawn < _LEFT_OUT else 0.7 + 0.3 * drawn
        return 0.4 if drawn < _ADDED else 0.0
