"""The recordings of a track: its own, other people's of the same score, and the same band's others.

What belongs here: who plays which score how. Not here: what is done to a recording afterwards.
"""

from dataclasses import replace
from itertools import count
from typing import Literal

import numpy as np

from benchmarks.accuracy.real.library import find_file, listed_files, read_stereo
from benchmarks.accuracy.sounds.midi import DRUMS, PROGRAMS, Struck, play_midi, to_midi
from benchmarks.accuracy.sounds.tracks import Sources, Track
from sandbox.world.content.tracks import BASE_S
from sandbox.world.random_streams import stream
from sandbox.world.sound.arrangement import Arrangement, Player, arrange
from sandbox.world.sound.composition import MelodyNote, Score, compose
from sandbox.world.sound.instruments import RATE, Samples
from sandbox.world.sound.recordings import composition
from tests.data.audio.synthesis import normal

Work = Literal[
    "own", "band", "cover sync", "cover tempo", "cover key", "cover performer",
    "other font", "again", "mash-up", "same drums", "stereo",
]  # fmt: skip
COVERS: tuple[Work, ...] = ("cover sync", "cover tempo", "cover key", "cover performer")
_KEYS = {"kick": 36, "snare": 38, "hat": 42}
_LOOP_BARS = 4
PIECES = (0.25, 0.8)
"""Where pieces of a real recording lie: 0 is its start, 1 its end."""


def play_work(track: Track, work: Work, sources: Sources) -> Samples:
    """A recording of `BASE_S` seconds, shape (BASE_S * RATE,).

    `band` is another score by the same instruments at the same tempo and tuning. `cover sync` is
    the same score in the same key and tempo by other instruments, every second one in the very
    same tuning. `again` is the same score by the same instruments, each note some milliseconds off.
    The other covers change tempo, key, or hardly anything but the people. Of a real recording,
    `band` is another one of the same package, and `stereo` has the shape (2, BASE_S * RATE).
    """
    if track.kind == "real":
        return play_recording(track, work, sources)
    if work in {"mash-up", "same drums"}:
        return _layered(track, work)
    score, arrangement = composition(track.seed, track.score)
    if track.kind == "loop":
        arrangement = _mechanical(arrangement)
    speed, semitones = 1.0, 0.0
    if work == "band":
        score = _another(track, score)
    elif work.startswith("cover"):
        speed, semitones = _differences(track, work)
        arrangement = _covered(track, score, arrangement)
    named = "own" if work == "other font" else work  # the very same performance
    rng = stream(track.seed, f"bench {named}", track.score)
    player = Player(score, arrangement, rng=rng, length_s=BASE_S, speed=speed, semitones=semitones)
    if track.kind in {"font", "piano"}:
        return _by_font(player, track, work, sources)
    return _looped(player) if track.kind == "loop" else player.render()


def play_recording(track: Track, work: Work, sources: Sources) -> Samples:
    """A piece of a real recording; its score says which of `PIECES`."""
    file = find_file(track.recording)
    if work == "band":
        music = [other for other in listed_files("music") if other.part == track.part]
        music.sort(key=lambda other: other.package != file.package)  # those of the package first
        file = next(other for other in music[music.index(file) + 1 :] + music if other != file)
    share = PIECES[track.score]
    stereo = read_stereo(sources.recordings / file.place, share=share, length_s=BASE_S)
    return stereo if work == "stereo" else np.asarray(stereo.mean(axis=0), dtype=np.float32)


def _layered(track: Track, work: Work) -> Samples:
    """Some parts of the own recording, the others of another score at the same tempo."""
    score, arrangement = composition(track.seed, track.score)
    lead, keys, bass, drums = arrangement.levels
    if work == "mash-up":
        mine = replace(arrangement, levels=(lead, 0.0, 0.0, 0.0))
        other = replace(arrangement, levels=(0.0, keys, bass, drums))
    else:
        kit = arrangement.kit or 0
        mine = replace(arrangement, levels=(0.0, 0.0, 0.0, drums), kit=kit)
        other = replace(_covered(track, score, arrangement), kit=None)
    parts = (
        Player(played, how, rng=stream(track.seed, f"bench {name}", track.score), length_s=BASE_S)
        for played, how, name in ((score, mine, "own"), (_another(track, score), other, work))
    )
    return np.asarray(sum(normal(part.render()) for part in parts), dtype=np.float32)


def _mechanical(arrangement: Arrangement) -> Arrangement:
    """A machine plays: on the beat, drums in front."""
    lead, keys, bass, _ = arrangement.levels
    return replace(
        arrangement, looseness_s=0.0, swing=0.0, kit=arrangement.kit or 0,
        levels=(0.4 * lead, 0.6 * keys, bass, 0.9), echo_s=0.0,
    )  # fmt: skip


def _another(track: Track, score: Score) -> Score:
    """Another score of the same metre, at the same tempo."""
    for attempt in count():
        rng = stream(track.seed, "bench band score", track.score, attempt)
        other = compose(rng, length_s=BASE_S * max(1.2, score.tempo / 68.0))
        if other.beats == score.beats:
            return replace(other, tempo=score.tempo)
    raise AssertionError("there is always another score")


def _differences(track: Track, work: Work) -> tuple[float, float]:
    rng = stream(track.seed, f"bench differences {work}", track.score)
    sign = 1 if rng.random() < 0.5 else -1
    if work == "cover tempo":
        return 1 + sign * float(rng.uniform(0.07, 0.14)), 0.0
    if work == "cover key":
        return 1.0, sign * float(rng.integers(2, 6))
    if work == "cover performer":
        return 1 + sign * float(rng.uniform(0.006, 0.02)), 0.0
    return 1.0, 0.0


def _covered(track: Track, score: Score, original: Arrangement) -> Arrangement:
    rng = stream(track.seed, "bench cover", track.score)
    cover = arrange(rng, score, unlike=original)
    if track.number % 2:
        return cover
    return replace(cover, cents=original.cents, looseness_s=original.looseness_s)


def _looped(player: Player) -> Samples:
    """The first four bars again and again."""
    period = round(_LOOP_BARS * player.score.beats * player.beat_s * RATE)
    repeats = -(-player.samples // period)
    return np.tile(player.render()[:period], repeats)[: player.samples]


def _by_font(player: Player, track: Track, work: Work, sources: Sources) -> Samples:
    """Every second track is played by the other font; covers by the one its track has not."""
    is_other = work.startswith("cover") or work == "other font"
    font = sources.fonts[(track.number + is_other) % len(sources.fonts)]
    how = player.how
    names = ("piano",) * 3 if track.kind == "piano" else (how.lead, how.keys, how.bass)
    programs = {number: PROGRAMS[name] for number, name in enumerate(names)}
    notes: list[Struck] = []
    for channel, part in enumerate((player._tune(), player._chords(), player._bass())):
        loudness = 70 + 50 * how.levels[channel]
        notes += [
            _struck(player, channel, note, loudness)
            for note in part
            if note.start * player.beat_s < BASE_S
        ]
    if track.kind != "piano":
        notes += _struck_drums(player)
    return play_midi(to_midi(notes, programs), font, length_s=BASE_S)


def _struck(player: Player, channel: int, note: MelodyNote, loudness: float) -> Struck:
    begin = player._sample_at(note.start) / RATE
    key = int(np.clip(round(note.pitch + player.semitones), 0, 127))
    velocity = int(np.clip(loudness * note.velocity * player.rng.uniform(0.85, 1.0), 1, 127))
    return Struck(channel, key, velocity, begin, begin + note.length * player.beat_s)


def _struck_drums(player: Player) -> list[Struck]:
    if player.how.kit is None:
        return []
    steps = player.score.beats * 4
    struck = []
    for voice, grid in player.how.patterns.items():
        for step in range(len(player.score.chords) * steps):
            strength = player._strength(is_hit=grid[step % steps] == "x")
            begin = player._sample_at(step / 4) / RATE
            if strength and begin < BASE_S:
                struck.append(Struck(DRUMS, _KEYS[voice], int(110 * strength), begin, begin + 0.1))
    return struck
