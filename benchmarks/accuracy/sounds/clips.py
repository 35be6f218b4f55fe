"""Every clip of a track: which recording, which part of it, what was done to it, how it is encoded.

Pure: the list follows from the track. What is compared with what is in `pairs.py`, the sound is
made in `making.py`.
"""

from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from benchmarks.accuracy.sounds.studio import Work
from benchmarks.accuracy.sounds.tracks import Track
from benchmarks.accuracy.sounds.transforms import SHARED_LEVELS_DB, SPOKEN_BY, Step
from sandbox.world.content.tracks import BASE_S
from sandbox.world.random_streams import stream

Relation = Literal["same", "variant", "material"]
"""Heard as the track itself, heard as a changed version of it, or only used in other pairs."""
HEARD_S = 11.0
_GOLDEN, _ROOT = 0.618034, 0.754878


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """One file.

    Attributes:
        track: Name of its track.
        name: What it is, once for each track.
        family: Its row in the tables, for example `voice +3 dB`.
        group: The row that sums families up, for example `voice`.
        work: Which recording of the track's composition; None for sound without music.
        steps: What was done to it.
        start_s: Where in the recording it begins.
        length_s: How much of the recording it takes.
        kbit_s: Bit rate in kbit/s.
        suffix: `.m4a` (AAC) or `.mp3`.
        is_stereo: Two channels.
    """

    track: str
    name: str
    family: str
    group: str
    relation: Relation
    work: Work | None
    steps: tuple[Step, ...]
    start_s: float
    length_s: float
    kbit_s: int
    suffix: str
    is_stereo: bool

    @property
    def file(self) -> str:
        """Where it lies, below the folder of clips."""
        return f"{self.track}/{self.name.replace(' ', '_')}{self.suffix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One thing that happens to recordings, and to which share of the tracks."""

    name: str
    group: str
    steps: tuple[Step, ...]
    share: float
    relation: Relation = "same"
    work: Work | None = "own"
    kbit_s: int = 64
    window: Literal["long", "short", "middle"] = "long"


def _same(
    group: str, step: str, values: tuple[float, ...], share: float, unit: str
) -> list[Family]:
    return [
        Family(name=f"{group} {value:+g}{unit}", group=group, steps=((step, value),), share=share)
        for value in values
    ]


def _changed(group: str, step: str, values: tuple[float, ...], share: float) -> list[Family]:
    return [
        Family(
            name=f"{group} {value:+g}" if step == "pitch" else f"{group} {value:g}",
            group=group, steps=((step, value),), share=share, relation="variant",
        )
        for value in values
    ]  # fmt: skip


def _material(
    name: str, share: float, *, work: Work | None = "own", steps: tuple[Step, ...] = ()
) -> Family:
    """Sound that other pairs need."""
    return Family(name=name, group="", steps=steps, share=share, relation="material", work=work)


OFF_GRID = "speed off the grid"
FAMILIES: tuple[Family, ...] = (
    Family(name="clean 64k", group="clean", steps=(), share=0.75),
    Family(name="clean 128k", group="clean", steps=(), share=0.75, kbit_s=128),
    *_same("voice", "voice", (-6, 0, 3), 0.6, " dB"),
    *_same("crowd", "crowd", (10, 5, 0), 0.34, " dB"),
    *_same("pink noise", "pink", (10, 5, 0), 0.34, " dB"),
    Family(name="lo-fi", group="equipment", steps=(("lo-fi", 0),), share=0.34),
    Family(name="phone speaker", group="equipment", steps=(("phone", 0),), share=0.34),
    Family(name="bass boost", group="equipment", steps=(("bass", 12),), share=0.34),
    *_same("reverb", "reverb", (0.6, 1.5), 0.34, " s"),
    Family(name="short 6-8 s", group="short", steps=(), share=0.67, window="short"),
    Family(name="late after silence", group="late start", steps=(("late", 0),), share=0.34),
    Family(name="late after speech", group="late start", steps=(("late", 1),), share=0.34),
    Family(name="medley", group="medley", steps=(("medley", 0),), share=0.67, window="middle"),
    Family(
        name="phone + voice -3 dB + crowd", group="phone + voice + crowd", share=0.5,
        steps=(("voice", -3), ("crowd", 10), ("phone", 0)),
    ),
    *_changed("speed", "speed", (0.9, 1.1, 1.25), 0.34),
    Family(
        name=OFF_GRID, group=OFF_GRID, steps=(("speed", 0),), share=0.9, relation="variant"
    ),
    *_changed("tempo", "tempo", (0.94, 1.06), 0.4),
    *_changed("pitch 1 semitone", "pitch", (-1, 1), 0.4),
    *_changed("pitch 2-3 semitones", "pitch", (-3, -2, 2, 3), 0.2),
    Family(
        name="speed 1.1 + voice -6 dB", group="speed + voice", share=0.5, relation="variant",
        steps=(("speed", 1.1), ("voice", -6)),
    ),
    _material("reversed", 0.3, steps=(("reversed", 0),)),
    _material("other piece", 1.0, work="band"),
    _material("cover sync", 1.0, work="cover sync"),
    _material("cover tempo", 0.5, work="cover tempo"),
    _material("cover key", 0.5, work="cover key"),
    _material("cover performer", 0.5, work="cover performer"),
    _material("speech", 0.25, work=None, steps=(("voice", 60),)),
    _material("noise", 0.12, work=None, steps=(("pink", -60),)),
    _material("silence", 0.08, work=None),
)  # fmt: skip
REFERENCE = Family(name="reference", group="", steps=(), share=1.0, relation="material", kbit_s=96)


def clips_of(track: Track) -> list[Clip]:
    """All clips of one track, its reference first."""
    reference = _clip(track, REFERENCE, start_s=1.0, length_s=25.0)
    chosen = [
        family for row, family in enumerate(FAMILIES)
        if (track.number * _GOLDEN + row * _ROOT) % 1.0 < family.share and _has_work(track, family)
    ]  # fmt: skip
    return [reference, *(_drawn(track, family) for family in chosen), *_companions(track)]


def _has_work(track: Track, family: Family) -> bool:
    """Whether there is such a recording: nobody covers the real ones."""
    return track.kind != "real" or family.work in {None, "own", "band"}


def steps_of(track: Track, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """What is done to a track: people speak over real recordings, a machine over made ones."""
    if track.kind != "real":
        return steps
    person = SPOKEN_BY[track.part]
    said = {"voice": person, "late": f"late, {person}", "same voice": f"same {person}"}
    return tuple((said.get(name, name), value) for name, value in steps)


def _companions(track: Track) -> list[Clip]:
    """The same crowd, and the same narration, over every track: partners of unwanted likeness."""
    level = SHARED_LEVELS_DB[track.number // 2 % len(SHARED_LEVELS_DB)]
    same_crowd = Family(
        name=f"shared crowd {level:+d} dB", group="", share=1.0, relation="material",
        steps=((f"same crowd {level:+d} dB", track.number % 2),),
    )  # fmt: skip
    same_voice = Family(
        name="shared voice", group="", share=1.0, relation="material",
        steps=(("same voice", track.number % 4),),
    )  # fmt: skip
    return [_drawn(track, same_crowd), _drawn(track, same_voice)]


def _drawn(track: Track, family: Family) -> Clip:
    rng = stream(track.seed, f"bench clip {family.name}", track.score)
    if family.name == OFF_GRID:
        family = Family(
            name=family.name, group=family.group, steps=(("speed", _off_grid(rng)),),
            share=family.share, relation=family.relation,
        )  # fmt: skip
    start_s, length_s = _window(rng, family)
    return _clip(track, family, start_s=start_s, length_s=length_s, rng=rng)


def _off_grid(rng: Generator) -> float:
    """Between 0.80 and 1.33, but no small change, which is hardly a change at all."""
    slow = rng.random() < 0.45
    return round(float(rng.uniform(0.80, 0.97) if slow else rng.uniform(1.03, 1.33)), 4)


def _window(rng: Generator, family: Family) -> tuple[float, float]:
    """Where in the recording: at least 11 s in common with the reference, unless short."""
    if family.window == "short":
        length_s = float(rng.uniform(6.2, 8.0))
        return float(rng.uniform(1.5, 25.5 - length_s)), length_s
    if family.window == "middle":
        length_s = float(rng.uniform(7.0, 10.0))
        return float(rng.uniform(1.5, 25.5 - length_s)), length_s
    start_s = float(rng.uniform(0.0, 26.0 - HEARD_S))
    return start_s, min(float(rng.uniform(16.0, 27.0)), BASE_S - start_s)


def _clip(
    track: Track, family: Family, *, start_s: float, length_s: float, rng: Generator | None = None
) -> Clip:
    drawn = 0.0 if rng is None else float(rng.random())
    return Clip(
        track=track.name, name=family.name, family=family.name, group=family.group,
        relation=family.relation, work=family.work, steps=steps_of(track, family.steps),
        start_s=start_s, length_s=length_s, kbit_s=family.kbit_s,
        suffix=".mp3" if drawn > 0.8 else ".m4a", is_stereo=drawn < 0.3,
    )  # fmt: skip
