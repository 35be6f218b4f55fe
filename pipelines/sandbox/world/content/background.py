"""Background content that is unrelated to the tracks: library songs and speech.

What belongs here: the number of videos of each unrelated sound. They fill the author screens, so
that a track's videos have to be found among others.
"""

from numpy.random import Generator

from pipelines.sandbox.world.content.sounds import SoundKind
from pipelines.sandbox.world.content.tracks import PlannedSound, PlannedTrack
from pipelines.sandbox.world.random_streams import chance, stream

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
