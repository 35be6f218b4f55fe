"""Composition: notes in beats and pitches, independent of instruments.

Each composition has its own tempo, metre, scale, chords and melody, from its own random stream. How
it is played is in `arrangement.py`.
"""

from dataclasses import dataclass

from numpy.random import Generator

from sandbox.world.random_streams import chance

SCALES = (
    (0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10), (0, 2, 3, 5, 7, 9, 10), (0, 2, 4, 5, 7, 9, 10),
    (0, 1, 3, 5, 7, 8, 10), (0, 2, 3, 5, 7, 8, 11), (0, 2, 4, 6, 7, 9, 11), (0, 2, 4, 7, 9),
    (0, 3, 5, 7, 10),
)  # fmt: skip
_RHYTHMS_4 = (
    (1, 1, 1, 1), (0.5, 0.5, 1, 0.5, 0.5, 1), (1.5, 0.5, 1, 1), (0.75, 0.75, 0.5, 1, 1),
    (2, 1, 0.5, 0.5), (0.5, 1, 0.5, 0.5, 1, 0.5), (1, 0.5, 0.5, 2), (3, 0.5, 0.5),
    (0.25, 0.25, 0.5, 1, 0.5, 0.5, 1), (0.75, 0.25, 0.75, 0.25, 1, 1), (1.5, 1.5, 1),
)  # fmt: skip
_RHYTHMS_3 = ((1, 1, 1), (2, 1), (1.5, 0.5, 1), (0.5, 0.5, 1, 1), (1, 0.5, 0.5, 0.5, 0.5), (3,))
_REST = 0.16


@dataclass(frozen=True, slots=True)
class MelodyNote:
    """One note: start and length in beats, pitch as MIDI number, velocity in 0..1."""

    start: float
    length: float
    pitch: float
    velocity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chord:
    """One bar of harmony: its root and its pitches in close position, MIDI numbers."""

    start: float
    length: float
    root: int
    pitches: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A composition of a given length.

    Attributes:
        tempo: Beats per minute.
        beats: Beats per bar.
        chords: One per bar.
        melody: The tune.
    """

    tempo: float
    beats: int
    chords: tuple[Chord, ...]
    melody: tuple[MelodyNote, ...]


def compose(rng: Generator, *, length_s: float) -> Score:
    """Generate a composition that lasts at least `length_s` seconds at its own tempo."""
    tempo = float(rng.uniform(68.0, 172.0))
    beats = 3 if chance(rng, 0.15) else 4
    scale = SCALES[int(rng.integers(len(SCALES)))]
    tonic = 48 + int(rng.integers(12))
    bars = int(length_s * tempo / 60 / beats) + 1
    chords = _chords(rng, scale, tonic, beats, bars)
    return Score(
        tempo=tempo, beats=beats, chords=chords,
        melody=_melody(rng, scale, tonic, beats, chords),
    )  # fmt: skip


def pitch_at(scale: tuple[int, ...], tonic: int, degree: int) -> int:
    """Pitch of a scale degree, counted from the tonic through the octaves."""
    octave, step = divmod(degree, len(scale))
    return tonic + 12 * octave + scale[step]


def _chords(
    rng: Generator, scale: tuple[int, ...], tonic: int, beats: int, bars: int
) -> tuple[Chord, ...]:
    loop = _loop(rng, len(scale))
    bridge = _loop(rng, len(scale))
    form = [*loop, *loop, *bridge, *loop] if chance(rng, 0.6) else [*loop, *bridge]
    has_seventh = chance(rng, 0.4)
    chords = []
    for bar in range(bars):
        degree = form[bar % len(form)]
        stack = (0, 2, 4, 6) if has_seventh else (0, 2, 4)
        pitches = tuple(pitch_at(scale, tonic, degree + step) for step in stack)
        chords.append(Chord(start=bar * beats, length=beats, root=pitches[0], pitches=pitches))
    return tuple(chords)


def _loop(rng: Generator, degrees: int) -> list[int]:
    """Four different enough degrees; the first is often the tonic."""
    first = 0 if chance(rng, 0.5) else int(rng.integers(degrees))
    others = [int(degree) for degree in rng.permutation(degrees) if degree != first]
    return [first, *others[:3]]


def _melody(
    rng: Generator, scale: tuple[int, ...], tonic: int, beats: int, chords: tuple[Chord, ...]
) -> tuple[MelodyNote, ...]:
    phrases = [_phrase(rng, beats) for _ in range(3)]
    form = (0, 1, 0, 2) if chance(rng, 0.5) else (0, 0, 1, 2)
    centre = len(scale) + int(rng.integers(0, len(scale)))
    notes: list[MelodyNote] = []
    for bar, chord in enumerate(chords):
        rhythm, steps = phrases[form[(bar // 2) % len(form)]][bar % 2]
        position = 0.0
        for length, step in zip(rhythm, steps, strict=True):
            strong = position in (0.0, 2.0)
            if rng.random() >= _REST:
                degree = centre + step + (int(rng.integers(-1, 2)) if chance(rng, 0.25) else 0)
                pitch = pitch_at(scale, tonic, degree)
                notes.append(
                    MelodyNote(chord.start + position, length, _led(pitch, chord, strong),
                         float(rng.uniform(0.75, 1.0)))
                )  # fmt: skip
            position += length
    return tuple(notes)


def _phrase(rng: Generator, beats: int) -> list[tuple[tuple[float, ...], list[int]]]:
    """Two bars: a rhythm each, and a walk of scale steps."""
    bars: list[tuple[tuple[float, ...], list[int]]] = []
    step = int(rng.integers(-2, 3))
    for _ in range(2):
        pool = _RHYTHMS_3 if beats == 3 else _RHYTHMS_4  # noqa: PLR2004  # waltz metre
        rhythm = pool[int(rng.integers(len(pool)))]
        steps = []
        for _ in rhythm:
            steps.append(step)
            step = max(-5, min(6, step + int(rng.choice((-3, -2, -1, -1, 0, 1, 1, 2, 3)))))
        bars.append((rhythm, steps))
    return bars


def _led(pitch: int, chord: Chord, strong: bool) -> int:
    """On strong beats the tune goes to the nearest tone of the chord."""
    if not strong:
        return pitch
    tones = [tone + 12 * octave for tone in chord.pitches for octave in (-1, 0, 1, 2, 3)]
    return min(tones, key=lambda tone: (abs(tone - pitch), tone))
