"""Plans: the sounds and numbers of videos of each track, and of the content unrelated to them.

What belongs here: what a track consists of, and the library songs and speech that fill the author
screens, so that a track's videos have to be found among others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator

from sandbox.world.content.tables import SandboxSound, SoundKind, SoundTable, column_of
from sandbox.world.random_streams import Ints, chance, scattered, stream

BASE_S = 34.0
"""Length of a composition as composed, seconds."""
HEARD_S = 11.0
"""A carrying sound shares at least this much with the track's own id (short ones: their length)."""

_EVENLY, _WITHIN = 0.754878, 0.618034
"""Low-discrepancy steps that spread kinds evenly over tracks and within one, so that small worlds
have all kinds."""
_GROUP_SIZES = (1, 1, 1, 1, 2, 2, 3, 4, 6, 8, 12)
_CARRYING_KINDS = (
    (SoundKind.REUPLOAD, 0.36),
    (SoundKind.LOFI, 0.15),
    (SoundKind.VOICE_OVER, 0.17),
    (SoundKind.MEDLEY, 0.10),
    (SoundKind.SHORT, 0.10),
    (SoundKind.LATE, 0.12),
)
_VARIANT_KINDS = ((SoundKind.SPEED, 0.55), (SoundKind.PITCH, 0.25), (SoundKind.TEMPO, 0.20))
_COVER_KINDS = ((SoundKind.COVER_SYNC, 0.5), (SoundKind.COVER_OTHER, 0.5))
_LATER_KINDS = (SoundKind.REUPLOAD, SoundKind.LOFI, SoundKind.LATE)
_PERSONAL_KINDS = (SoundKind.VOICE_OVER, SoundKind.MEDLEY)  # recorded for one video or a few


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSound:
    """A sound before it has an id. `score` -2 stands for a namesake's own, new composition."""

    kind: SoundKind
    score: int
    works: int
    start_s: float = 0.0
    duration_s: float = 20.0
    speed: float = 1.0
    semitones: float = 0.0
    voice_db: float = float("nan")
    carried_s: float = 0.0
    lead_s: float = 0.0
    is_titled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrack:
    """A track and all sounds that have to do with it; `sounds[0]` is its own."""

    score: int
    released_days_ago: float
    popularity: float
    sounds: list[PlannedSound] = field(default_factory=list)


NAMESAKE = -2


def to_sound_table(
    sounds: Sequence[PlannedSound], *, music_id: Ints, owner: Ints, salt: int
) -> SoundTable:
    """Give planned sounds their ids and owners; `salt` decides which fifth of them is in stereo."""
    names = ("start_s", "duration_s", "speed", "semitones", "voice_db", "carried_s", "lead_s")
    return SoundTable(
        music_id=music_id, kind=column_of(sounds, "kind"), score=column_of(sounds, "score"),
        stereo=scattered(len(sounds), salt=salt) % 5 == 0, owner=owner,
        **{name: column_of(sounds, name, np.float64) for name in names},
    )  # fmt: skip


def plan_track(seed: int, score: int, *, works: float) -> PlannedTrack:
    """Decide on the sounds of a track.

    Args:
        seed: Seed of the world.
        score: Composition of the track.
        works: Average number of videos related to a track, including covers.
    """
    rng = stream(seed, "track", score)
    carrying = max(6, round(works / 1.5 * float(np.exp(rng.normal(0.0, 0.3)))))
    own = max(3, round(carrying * rng.uniform(0.40, 0.56)))
    main = PlannedSound(
        kind=SoundKind.MAIN, score=score, works=own, start_s=float(rng.uniform(0.0, 3.0)),
        duration_s=float(rng.uniform(22.0, 30.0)), is_titled=True,
    )  # fmt: skip
    main = replace(main, carried_s=main.duration_s)
    sounds = [main]
    offset = float(stream(seed, "kinds").uniform()) + _EVENLY * score
    for kinds, count in (
        (_CARRYING_KINDS, carrying - own),
        (_VARIANT_KINDS, max(1, round(carrying * 0.17))),
        (_COVER_KINDS, max(1, round(carrying * 0.12))),
        (((SoundKind.MAIN, 1.0),), max(1, round(carrying * 0.10))),
        (((SoundKind.SILENT, 1.0),), round(carrying * 0.03)),
    ):
        sounds.extend(_groups(rng, main, kinds, count, offset=offset))
    return PlannedTrack(
        score=score, released_days_ago=float(rng.uniform(60, 900)),
        popularity=float(rng.normal(0.0, 0.7)), sounds=sounds,
    )  # fmt: skip


def plan_carrier(rng: Generator, own: SandboxSound) -> PlannedSound:
    """Plan a later sound of a track: at normal speed, for one video. `own` is the track's own."""
    main = PlannedSound(
        kind=SoundKind.MAIN, score=own.score, works=1, start_s=own.start_s,
        duration_s=own.duration_s,
    )  # fmt: skip
    kind = _LATER_KINDS[int(rng.integers(len(_LATER_KINDS)))]
    return replace(_planned(rng, main, kind, 1), is_titled=False)


def _groups(
    rng: Generator,
    main: PlannedSound,
    kinds: tuple[tuple[SoundKind, float], ...],
    count: int,
    *,
    offset: float,
) -> list[PlannedSound]:
    """Split `count` videos into sounds of the given kinds."""
    sounds: list[PlannedSound] = []
    while count > 0:
        kind = _kind_at(kinds, (offset + _WITHIN * len(sounds)) % 1.0)
        size = int(rng.choice(_GROUP_SIZES))
        if kind in _PERSONAL_KINDS or kind > SoundKind.LATE:
            size = min(size, 4)
        if kind is SoundKind.SILENT:
            size = 1
        size = min(size, count)
        sounds.append(_planned(rng, main, kind, size))
        count -= size
    return sounds


def _kind_at(kinds: tuple[tuple[SoundKind, float], ...], where: float) -> SoundKind:
    for kind, share in kinds:
        where -= share
        if where < 0:
            return kind
    return kinds[-1][0]


def _planned(rng: Generator, main: PlannedSound, kind: SoundKind, works: int) -> PlannedSound:
    """Return a sound of a kind for some videos, cut from the composition of a track."""
    if kind is SoundKind.SILENT:
        return PlannedSound(kind=kind, score=-1, works=works, duration_s=5.0)
    if kind is SoundKind.MAIN:
        length = float(rng.uniform(15.0, 28.0))
        return PlannedSound(
            kind=kind, score=NAMESAKE, works=works, duration_s=length, carried_s=length,
            is_titled=True,
        )  # fmt: skip
    sound = PlannedSound(kind=kind, score=main.score, works=works)
    return _CUTS.get(kind, _plain)(rng, main, sound)


def _window(
    rng: Generator, main: PlannedSound, *, shortest: float, longest: float
) -> tuple[float, float]:
    """A start and a length that share at least `HEARD_S` with the track's own sound."""
    latest = main.start_s + main.duration_s - HEARD_S
    start = float(rng.uniform(max(0.0, main.start_s - 2.0), latest))
    length = float(rng.uniform(shortest, longest))
    return start, min(max(length, HEARD_S + 2.0), BASE_S - start)


def _plain(rng: Generator, main: PlannedSound, sound: PlannedSound) -> PlannedSound:
    start, length = _window(rng, main, shortest=14.0, longest=28.0)
    titled = sound.kind is not SoundKind.LOFI and chance(rng, 0.35)
    sound = replace(sound, start_s=start, duration_s=length, carried_s=length, is_titled=titled)
    if sound.kind is not SoundKind.COVER_OTHER:
        return sound
    speed = float(rng.choice((rng.uniform(0.86, 0.93), rng.uniform(1.07, 1.14))))
    return replace(sound, speed=speed, semitones=float(rng.choice((-5, -4, -3, 3, 4, 5))))


def _voice_over(rng: Generator, main: PlannedSound, sound: PlannedSound) -> PlannedSound:
    start, length = _window(rng, main, shortest=16.0, longest=28.0)
    voice_db = float(rng.uniform(-6.0, 0.0))
    return replace(sound, start_s=start, duration_s=length, carried_s=length, voice_db=voice_db)


def _short(rng: Generator, main: PlannedSound, sound: PlannedSound) -> PlannedSound:
    length = float(rng.uniform(6.3, 8.0))
    start = main.start_s + float(rng.uniform(0.5, main.duration_s - length - 0.5))
    return replace(sound, start_s=start, duration_s=length, carried_s=length)


def _late(rng: Generator, main: PlannedSound, sound: PlannedSound) -> PlannedSound:
    start, length = _window(rng, main, shortest=12.0, longest=18.0)
    lead = float(rng.uniform(2.0, 6.0))
    return replace(sound, start_s=start, duration_s=lead + length, carried_s=length, lead_s=lead)


def _medley(rng: Generator, main: PlannedSound, sound: PlannedSound) -> PlannedSound:
    carried = float(rng.uniform(7.0, 10.0))
    start = main.start_s + float(rng.uniform(0.5, main.duration_s - carried - 0.5))
    lead = float(rng.uniform(3.0, 6.0))
    length = lead + carried + float(rng.uniform(4.0, 7.0))
    return replace(sound, start_s=start, duration_s=length, carried_s=carried, lead_s=lead)


def _changed(rng: Generator, main: PlannedSound, sound: PlannedSound) -> PlannedSound:
    speed, semitones = 1.0, 0.0
    if sound.kind is SoundKind.SPEED:
        fast = chance(rng, 0.6)
        speed = float(rng.uniform(1.10, 1.35) if fast else rng.uniform(0.78, 0.92))
        semitones = 12 * float(np.log2(speed))
    elif sound.kind is SoundKind.PITCH:
        semitones = float(rng.choice((-3, -2, -1, 1, 2, 3)))
    else:
        speed = float(rng.choice((-1, 1))) * float(rng.uniform(0.09, 0.12)) + 1.0
    start, length = _window(rng, main, shortest=16.0, longest=26.0)
    return replace(
        sound, start_s=start, duration_s=length / speed, carried_s=length / speed, speed=speed,
        semitones=semitones, is_titled=chance(rng, 0.4),
    )  # fmt: skip


_CUTS = {
    SoundKind.SHORT: _short, SoundKind.LATE: _late, SoundKind.MEDLEY: _medley,
    SoundKind.VOICE_OVER: _voice_over, SoundKind.SPEED: _changed, SoundKind.PITCH: _changed,
    SoundKind.TEMPO: _changed,
}  # fmt: skip
"""How each kind is cut from its track and changed; the others are cut by `_plain`."""

_LIBRARY_SHARE = 0.5
_SILENT_SHARE = 0.03
_LARGEST_SONG = 60


def plan_background(seed: int, *, works: int, first_score: int) -> list[PlannedTrack]:
    """Split `works` into library songs, from score `first_score` on, and sounds without music."""
    rng = stream(seed, "background")
    library = round(works * _LIBRARY_SHARE)
    silent = round(works * _SILENT_SHARE)
    songs = _songs(rng, library, first_score)
    spoken = [_spoken(rng) for _ in range(max(0, works - library - silent))]
    mute = [PlannedSound(kind=SoundKind.SILENT, score=-1, works=1, duration_s=5.0)] * silent
    loose = PlannedTrack(
        score=-1, released_days_ago=700.0, popularity=-0.5, sounds=[*spoken, *mute]
    )
    return [*songs, loose]


def _songs(rng: Generator, works: int, first_score: int) -> list[PlannedTrack]:
    songs: list[PlannedTrack] = []
    while works > 0:
        size = min(works, int(min(_LARGEST_SONG, 1 + rng.pareto(0.9) * 2.5)))
        score = first_score + len(songs)
        again = size // 4 if chance(rng, 0.4) else 0
        sounds = [_song(rng, SoundKind.MAIN, score, size - again)]
        if again:
            sounds.append(_song(rng, SoundKind.REUPLOAD, score, again))
        songs.append(
            PlannedTrack(
                score=score, released_days_ago=float(rng.uniform(30, 1200)),
                popularity=float(rng.normal(-0.3, 0.7)), sounds=sounds,
            )
        )  # fmt: skip
        works -= size
    return songs


def _song(rng: Generator, kind: SoundKind, score: int, works: int) -> PlannedSound:
    length = float(rng.uniform(14.0, 28.0))
    return PlannedSound(
        kind=kind, score=score, works=works, start_s=float(rng.uniform(0.0, 4.0)),
        duration_s=length, carried_s=length, is_titled=kind is SoundKind.MAIN,
    )  # fmt: skip


def _spoken(rng: Generator) -> PlannedSound:
    return PlannedSound(
        kind=SoundKind.SPEECH, score=-1, works=1, duration_s=float(rng.uniform(8.0, 20.0)),
        voice_db=0.0,
    )  # fmt: skip
