"""Pairs of different songs that share a sound: a jingle, a narration, a lead, loops of a pack.

The list of what is mixed is pure; `make_mixes` reads, mixes and encodes. Several pairs take
different places of the same sounds where there are few: songs with stems, and loops.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.accuracy.full_range.pairs import RangePair
from benchmarks.accuracy.real.library import (
    find_file,
    listed_files,
    narration,
    read_stereo,
    speakers,
)
from benchmarks.accuracy.sounds.making import write_clip
from benchmarks.accuracy.sounds.tracks import Part, Sources
from benchmarks.accuracy.sounds.transforms import sped
from benchmarks.speed.running import counted
from sandbox.world.random_streams import stream
from sandbox.world.sound.instruments import RATE, Samples
from tests.data.audio.synthesis import normal

JINGLE, NARRATION = "same closing sound, other music", "same human narration, other music"
LEAD = "mash-up of the lead guitar"
TWO_LOOPS, TWO_OF_THREE = "same two loops, otherwise arranged", "two of three loops shared"
SHARED = (JINGLE, NARRATION, LEAD, TWO_LOOPS, TWO_OF_THREE)
_FOLDER = "mixes"
_JINGLES_S = (1.5, 2.0, 3.0, 4.0)
_VOICE_DB = (0, 3)
_LEADS, _GUITAR_DB = 108, -8.0  # as in the song "armygeddon"
_BAR_S, _BARS = 2.0, 8
_READ_S = {"music": 60.0, "stems": 200.0, "loops": 60.0}
_FADE_S = 0.005
_SEED = 251


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A sound of the list at a place of a mix, as loud as the other layers but for `level_db`.

    Attributes:
        source: Name of the file, or the package of somebody who speaks.
        from_s: Where in the source it begins.
        length_s: How much of it is heard.
        at_s: Where in the mix it begins.
        level_db: How much louder than usual.
    """

    source: str
    from_s: float
    length_s: float
    at_s: float = 0.0
    level_db: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Layers that are heard together, as one file."""

    name: str
    layers: tuple[Layer, ...]

    @property
    def file(self) -> str:
        """Where it lies, below the folder of clips."""
        return f"{_FOLDER}/{self.name}.m4a"


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedPair:
    """Two mixes that share a sound, but no song."""

    family: str
    label: str
    reference: Mix
    candidate: Mix

    @property
    def pair(self) -> RangePair:
        """As it is compared and summed."""
        return RangePair(
            reference=self.reference.file, candidate=self.candidate.file, family=self.family,
            label=self.label, value=None, tempo=1.0, truth="different",
        )  # fmt: skip


def list_mixes(part: Part) -> list[MixedPair]:
    """All pairs of one part; the sounds of no pair are of the other."""
    names = [file.name for file in listed_files("music") if file.part == part]
    return [
        *_with_jingles(part, names), *_with_narration(part, names), *_with_leads(part, names),
        *_of_loops(part),
    ]  # fmt: skip


def _with_jingles(part: Part, names: list[str]) -> Iterator[MixedPair]:
    for number, name in enumerate(names):
        other, third = (names[(number + step) % len(names)] for step in (1, 7))
        length_s = _JINGLES_S[number % len(_JINGLES_S)]
        songs = [
            Mix(
                name=f"{part}-jingle-{number}-{row}",
                layers=(
                    Layer(source=song, from_s=12.0, length_s=before_s),
                    Layer(source=third, from_s=20.0, length_s=length_s, at_s=before_s),
                ),
            )
            for row, (song, before_s) in enumerate(((name, 14.0), (other, 11.5)))
        ]
        yield _paired(JINGLE, f"{length_s:g} s", songs)


def _with_narration(part: Part, names: list[str]) -> Iterator[MixedPair]:
    people = speakers(part)
    for number, name in enumerate(names):
        other, level = names[(number + 2) % len(names)], _VOICE_DB[number % len(_VOICE_DB)]
        songs = [
            Mix(
                name=f"{part}-narration-{number}-{row}",
                layers=(
                    Layer(source=song, from_s=10.0, length_s=16.0),
                    Layer(
                        source=people[number % len(people)],
                        from_s=1.1 * number + skipped_s,
                        length_s=16.0,
                        level_db=level,
                    ),
                ),
            )
            for row, (song, skipped_s) in enumerate(((name, 0.0), (other, 1.3)))
        ]
        yield _paired(NARRATION, f"{level:+d} dB", songs)


def _with_leads(part: Part, names: list[str]) -> Iterator[MixedPair]:
    stems = [file.name for file in listed_files("stems") if file.part == part]
    songs = sorted({name.rsplit("_", 1)[0] for name in stems})
    for number in range(min(_LEADS, 30 * len(songs))):
        song, other = songs[number % len(songs)], names[(5 * number) % len(names)]
        begin_s = 15.0 + 5.0 * (number // len(songs))
        original = Mix(
            name=f"{part}-lead-{number}-0",
            layers=tuple(
                Layer(source=f"{song}_{stem}", from_s=begin_s, length_s=18.0, level_db=level)
                for stem, level in (("song", 0.0), ("guitar", _GUITAR_DB))
            ),
        )
        mashed = Mix(
            name=f"{part}-lead-{number}-1",
            layers=(
                Layer(source=other, from_s=10.0, length_s=15.0),
                Layer(source=f"{song}_guitar", from_s=begin_s + 1.5, length_s=15.0),
            ),
        )
        yield _paired(LEAD, "", [original, mashed])


def _of_loops(part: Part) -> Iterator[MixedPair]:
    loops = [file.name for file in listed_files("loops") if file.part == part]
    shared = [pair for pair in combinations(loops, 2) for _ in range(2)]
    for number, (one, two) in enumerate(shared):
        left = [name for name in loops if name not in {one, two}]
        own = left[number % len(left)], left[(number + 1) % len(left)]
        plain = [_arranged(f"{part}-two-loops-{number}-{row}", (one, two)) for row in range(2)]
        yield _paired(TWO_LOOPS, "", plain)
        three = [
            _arranged(f"{part}-three-loops-{number}-{row}", (one, two, own[row]))
            for row in range(2)
        ]
        yield _paired(TWO_OF_THREE, "", three)


def _arranged(name: str, loops: tuple[str, ...]) -> Mix:
    """Bars of two seconds in which each loop plays or pauses; one at least plays."""
    rng = stream(_SEED, name)
    plays = rng.random((_BARS, len(loops))) < 0.7
    plays[np.arange(_BARS), rng.integers(len(loops), size=_BARS)] = True
    return Mix(
        name=name,
        layers=tuple(
            Layer(source=loop, from_s=_BAR_S * bar, length_s=_BAR_S, at_s=_BAR_S * bar)
            for bar in range(_BARS)
            for row, loop in enumerate(loops)
            if plays[bar, row]
        ),
    )


def _paired(family: str, label: str, mixes: list[Mix]) -> MixedPair:
    reference, candidate = mixes
    return MixedPair(family=family, label=label, reference=reference, candidate=candidate)


def make_mixes(mixes: list[Mix], sources: Sources, folder: Path, *, processes: int) -> None:
    """Write the files that are missing below the folder."""
    (folder / _FOLDER).mkdir(parents=True, exist_ok=True)
    missing = [mix for mix in mixes if not (folder / mix.file).exists()]
    if not missing:
        return
    jobs = [(mix, sources, folder) for mix in missing]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        made = pool.map(_make_mix, *zip(*jobs, strict=True), chunksize=8)
        list(counted(made, what="mixing songs that share a sound", total=len(jobs)))


def _make_mix(mix: Mix, sources: Sources, folder: Path) -> None:
    path = folder / mix.file
    half = path.with_stem(f"{path.stem}.half")
    write_clip(half, mixed(mix, sources.recordings), kbit_s=96, is_stereo=False)
    half.replace(path)


def mixed(mix: Mix, recordings: Path) -> Samples:
    """The layers at their places, at most at full scale."""
    size = round(max(layer.at_s + layer.length_s for layer in mix.layers) * RATE)
    out = np.zeros(size, dtype=np.float32)
    fade = np.linspace(0, 1, int(_FADE_S * RATE), dtype=np.float32)
    for layer in mix.layers:
        sound = _source(layer.source, recordings)
        begin = round(layer.from_s * RATE)
        places = np.arange(begin, begin + round(layer.length_s * RATE)) % sound.size
        heard = 10 ** (layer.level_db / 20) * normal(sound[places] + np.float32(1e-6))
        heard[: fade.size] *= fade
        heard[-fade.size :] *= fade[::-1]
        at = round(layer.at_s * RATE)
        out[at : at + heard.size] += heard
    return out / np.float32(max(1.0, float(np.abs(out).max()) / 0.97))


@lru_cache(maxsize=24)
def _source(name: str, recordings: Path) -> Samples:
    """A sound of the list; loops last a whole number of bars."""
    if name in _packages_of_voices():
        return narration(name, recordings)
    file = find_file(name)
    place = recordings / file.place
    mono = read_stereo(place, share=0, length_s=_READ_S[file.kind]).mean(axis=0)
    return _in_bars(mono) if file.kind == "loops" else mono


def _in_bars(loop: Samples) -> Samples:
    bars = 2.0 ** round(np.log2(loop.size / RATE / _BAR_S))
    return sped(loop, loop.size / (bars * _BAR_S * RATE))


def _packages_of_voices() -> frozenset[str]:
    return frozenset(file.package for file in listed_files("voice"))
