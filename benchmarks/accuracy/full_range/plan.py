"""Which tracks are edited, and how: each case is one kind of clip of half or all of the tracks.

Pure. No constant of the matcher was chosen on these tracks; their seeds are in no other benchmark.
"""

from benchmarks.accuracy.full_range.cases import Case
from benchmarks.accuracy.full_range.edits import EDITS, INVERTED
from benchmarks.accuracy.sounds.clips import Clip, steps_of
from benchmarks.accuracy.sounds.studio import COVERS
from benchmarks.accuracy.sounds.tracks import Kind, Sources, Track
from sandbox.world.random_streams import stream

SEED, FONT_SEED, SCORE_SEED, PIANO_SEED, MASHED_SEED = 211, 223, 227, 233, 229
TRACKS, SAME_SCORES, MASHED = 16, 100, 84
REFERENCE = "reference"
SPEED, TEMPO, PITCH = "speed", "tempo", "pitch"
BOTH, TAPE_PITCH = "tempo and pitch", "pitch with speed"
SLOWED, NIGHTCORE = "slowed + reverb", "nightcore + voice"
EXCERPT, VOICE, LOOP = "excerpt", "voice over music", "loop of a short piece"
BEYOND = "beyond the range"
MASH_UP, SAME_DRUMS, LIVE = "mash-up of the voice", "same drums, other tune", "live version"
SPOKEN_COVER = "cover, voice 0 dB"
AGAIN = "same score, played again"
SAME_SCORE, PIANOS = "same score, other sound font", "same score, two sampled pianos"
_FACTORS = (0.502, 0.53, 0.58, 0.66, 0.74, 0.87, 1.13, 1.27, 1.44, 1.61, 1.83, 1.98)
_SEMITONES = (-9, -7.6, -6, -4.5, -3, -1.5, 1.5, 3, 4.5, 6, 8.3, 10, 12)
_BETWEEN_STEPS = (-1.7, -0.32, 0.7)
"""Pitch shifts that lie badly for a search in whole or half semitones; -0.32 is A at 432 Hz."""
_TOGETHER = (
    (0.68, 4), (0.74, -3), (0.86, 6.5), (0.93, -5), (1.12, 2), (1.21, -6), (1.34, 4.5), (1.47, 8),
)  # fmt: skip
_TAPE = ((0.67, 3), (0.8, -2), (0.9, 5), (1.15, -4), (1.3, 2), (1.48, -3))
_LONGEST_S, _SHORTEST_S, _USUAL_S = 24.0, 9.0, 15.0


def _timed(family: str, step: str, values: tuple[float, ...], turn: int = 2) -> list[Case]:
    is_pitch = step.endswith("pitch")
    return [
        Case(
            family=family, label=f"{value:+g}" if is_pitch else f"{value:g}", value=value,
            steps=((step, value),), tempo=1.0 if is_pitch else value, turn=turn,
        )
        for value in values
    ]  # fmt: skip


def _together(family: str, first: str, pairs: tuple[tuple[float, float], ...]) -> list[Case]:
    return [
        Case(
            family=family, label=f"{factor:g} / {pitch:+g}", tempo=factor, turn=2,
            steps=((first, factor), ("pitch", pitch)),
        )
        for factor, pitch in pairs
    ]  # fmt: skip


def _heard(family: str, step: str, values: tuple[float, ...], unit: str, turn: int) -> list[Case]:
    return [
        Case(
            family=family, label=f"{value:g}{unit}", value=value, steps=((step, value),),
            relation="same", turn=turn,
        )
        for value in values
    ]  # fmt: skip


CASES: tuple[Case, ...] = (
    Case(family="clean", label="96k", relation="same", kbit_s=96),
    *_timed(SPEED, "speed", _FACTORS),
    *_timed(TEMPO, "tempo", _FACTORS),
    *_timed(PITCH, "pitch", _SEMITONES),
    *_together(BOTH, "tempo", _TOGETHER),
    *_together(TAPE_PITCH, "speed", _TAPE),
    *(
        Case(family=SLOWED, label=f"{factor:g}", tempo=factor,
             steps=(("speed", factor), ("reverb", 1.8)))
        for factor in (0.72, 0.8, 0.88)
    ),
    *(
        Case(family="nightcore", label=f"{factor:g}", tempo=factor, steps=(("speed", factor),))
        for factor in (1.2, 1.35)
    ),
    *(
        Case(family=NIGHTCORE, label=f"{factor:g}, {level:+g} dB", tempo=factor,
             steps=(("speed", factor), ("voice", level)))
        for factor, level in ((1.2, -6), (1.25, -3), (1.35, -6))
    ),
    *(
        Case(family=EXCERPT, label=f"{length:g} s", value=length, length_s=length, relation="same")
        for length in (2.0, 3.0, 4.0, 5.0)
    ),
    *_heard(VOICE, "voice", (-3, 0, 3, 6, 9), " dB", 1),
    *_heard("room, absorption", "room", (0.5, 0.25, 0.12), "", 2),
    *_timed("Rubber Band, tempo", "rubberband tempo", (0.6, 0.85, 1.3, 1.75), 4),
    *_timed("Rubber Band, pitch", "rubberband pitch", (-6, -2, 3, 7), 4),
    *_timed("asetrate", "asetrate", (0.6, 0.85, 1.3, 1.75), 4),
    Case(family="codec", label="AAC 24k", relation="same", kbit_s=24, turn=2),
    Case(family="codec", label="MP3 32k", relation="same", kbit_s=32, suffix=".mp3", turn=2),
    Case(family="codec", label="Opus 16k", relation="same", kbit_s=16, suffix=".ogg", turn=2),
    Case(family="codec", label="Opus 32k", relation="same", kbit_s=32, suffix=".ogg", turn=2),
    *(
        Case(family=LOOP, label=f"{length:g} s", steps=(("loop", length),), relation="same", turn=2)
        for length in (2.5, 4.0, 6.0)
    ),
    *(
        Case(family=BEYOND, label=f"speed {factor:g}", tempo=factor, steps=(("speed", factor),),
             turn=4)
        for factor in (0.42, 2.3)
    ),
    Case(family="reversed", label="", steps=(("reversed", 0),), relation="material"),
    Case(family=MASH_UP, label="", work="mash-up", relation="material"),
    Case(family=SAME_DRUMS, label="", work="same drums", relation="material"),
    Case(family=AGAIN, label="", work="again", relation="material"),
    Case(family=LIVE, label="", work="cover performer", relation="material",
         steps=(("room", 0.2), ("crowd", 6))),
    *_timed(PITCH, "pitch", _BETWEEN_STEPS),
    *(case for case in EDITS if case.family != INVERTED),  # made tracks have one channel
    *(
        Case(family=SPOKEN_COVER, label=work.removeprefix("cover "), work=work,
             steps=(("voice", 0),), relation="material")
        for work in COVERS
    ),
)  # fmt: skip
_COMPARED = {
    SCORE_SEED: Case(family=SAME_SCORE, label="", work="other font", relation="material"),
    PIANO_SEED: Case(family=PIANOS, label="", work="other font", relation="material"),
    MASHED_SEED: Case(family=MASH_UP, label="", work="mash-up", relation="material"),
}
"""What tracks of these seeds are compared with, and nothing else."""


def edited_tracks(sources: Sources) -> list[Track]:
    """Eight tracks of the sandbox, two loops, and six scores by sound fonts where there are any."""
    named = [("world", SEED, score) for score in range(8)]
    named += [("loop", SEED, score) for score in range(8, 10)]
    kind = "font" if sources.fonts else "world"
    named += [(kind, FONT_SEED, score) for score in range(6)]
    return [
        Track(number=number, kind=kind, seed=seed, score=score)  # type: ignore[arg-type]
        for number, (kind, seed, score) in enumerate(named)
    ]


def compared_tracks(sources: Sources, count: int) -> list[Track]:
    """Tracks of which one other recording is compared, and nothing is edited: so many scores that
    two sound fonts play at exactly the same times, as many by their pianos, and mash-ups. Without
    two fonts there are only mash-ups."""
    has_fonts = len(sources.fonts) > 1
    kinds: list[tuple[Kind, int, int]] = [("world", MASHED_SEED, min(count, MASHED))]
    if has_fonts:
        kinds += [("font", SCORE_SEED, count), ("piano", PIANO_SEED, count)]
    return [
        Track(number=number, kind=kind, seed=seed, score=number)
        for kind, seed, tracks in kinds
        for number in range(tracks)
    ]


def compared_case(track: Track) -> Case | None:
    """What such a track is compared with; None for a track that is edited."""
    return _COMPARED.get(track.seed)


def cases_of(track: Track) -> list[Case]:
    """The cases of an edited track: each case goes round among the tracks."""
    return [case for row, case in enumerate(CASES) if (track.number + row) % case.turn == 0]


def plan(track: Track) -> list[Clip]:
    """All clips of a track, its reference first."""
    if compared := compared_case(track):
        return [_reference(track, 16.0), to_clip(track, compared)]
    return [_reference(track, 25.0), *(to_clip(track, case) for case in cases_of(track))]


def _reference(track: Track, length_s: float) -> Clip:
    reference = Case(family=REFERENCE, label="", relation="material", kbit_s=96)
    return to_clip(track, reference, start_s=1.0, length_s=length_s)


def to_clip(
    track: Track, case: Case, *, start_s: float | None = None, length_s: float | None = None
) -> Clip:
    """The clip of a case, cut somewhere inside its reference."""
    rng = stream(track.seed, f"range clip {case.name}", track.score)
    usual_s = min(_LONGEST_S, max(_SHORTEST_S, _USUAL_S * case.tempo))
    length_s = length_s or case.length_s or usual_s
    if start_s is None:
        start_s = 1.2 + float(rng.uniform(0.0, max(0.1, 25.5 - length_s - 1.2)))
    return Clip(
        track=track.name, name=case.name.strip(), family=case.family, group=case.family,
        relation=case.relation, work=case.work, steps=steps_of(track, case.steps),
        start_s=start_s,
        length_s=length_s, kbit_s=case.kbit_s, suffix=case.suffix,
        is_stereo=bool(rng.random() < 0.3),
    )  # fmt: skip
