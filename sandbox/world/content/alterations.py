"""Videos whose own sound differs from the sound of their music id: which ones, and how.

On the platform a video names a music id whatever its own audio contains. What belongs here: the
share of such videos, their selection, and what they play. Rendering is in `sound/recordings.py`.
"""

from dataclasses import replace

import numpy as np

from sandbox.world.content.tables import (
    LAST_CARRYING,
    Alteration,
    Flags,
    SandboxSound,
    SandboxVideo,
    SoundKind,
    SoundTable,
    VideoTable,
)
from sandbox.world.random_streams import Ints, stream

ALTERED_SHARE = 0.12
"""Share of the videos under music ids with a track whose own sound differs. Photo posts have no
sound of their own: they play the file of the music id."""
_KINDS = (Alteration.REPLACED, Alteration.MUTED, Alteration.VOICED_OVER, Alteration.LIVE)
"""Assigned in rotation, so that each is a quarter of the share and small worlds have all."""
NO_MUSIC_ID = -1
"""Row of a sound that belongs to no music id."""


def with_alterations(
    seed: int, works: VideoTable, sounds: SoundTable, *, library: Ints, tracks: int, share: float
) -> VideoTable:
    """Give a share of the videos their own sound.

    Args:
        seed: Seed of the world.
        works: All videos, none altered yet.
        sounds: All sounds.
        library: Unrelated compositions; a replaced sound is one of them.
        tracks: Number of compositions that are tracks.
        share: Share of the eligible videos, 0 to 1. It applies to each track, under its own music
            id and under others, as closely as whole videos allow.
    """
    rng = stream(seed, "alterations")
    rows = _eligible(works, sounds, tracks=tracks)
    score, kind = sounds.score[works.sound[rows]], sounds.kind[works.sound[rows]]
    order = np.lexsort((rng.random(rows.size), kind != SoundKind.MAIN, score))
    steps = np.floor((np.arange(rows.size + 1) + rng.random()) * share)
    chosen = rows[order][np.diff(steps) > 0]
    turns = int(rng.integers(len(_KINDS))) + np.arange(chosen.size)
    alteration = np.zeros(len(works), dtype=np.int64)
    alteration[chosen] = np.asarray(_KINDS, dtype=np.int64)[turns % len(_KINDS)]
    songs = rng.choice(library, size=chosen.size) if library.size else np.full(chosen.size, -1)
    replacement = np.full(len(works), -1, dtype=np.int64)
    is_replaced = alteration[chosen] == Alteration.REPLACED
    replacement[chosen[is_replaced]] = songs[is_replaced]
    return replace(works, alteration=alteration, replacement=replacement)


def _eligible(works: VideoTable, sounds: SoundTable, *, tracks: int) -> Ints:
    """Rows of the videos under music ids that carry a track at its own speed and pitch."""
    score, kind = sounds.score[works.sound], sounds.kind[works.sound]
    carries: Flags = (score >= 0) & (score < tracks) & (kind <= LAST_CARRYING)
    return np.flatnonzero(carries & ~works.is_photo & ~works.is_silent)


def played_sound(work: SandboxVideo, sound: SandboxSound) -> SandboxSound:
    """Return the sound that a video really plays; one that belongs to no music id if it differs.

    Args:
        work: The video.
        sound: The sound of its music id.
    """
    if work.is_silent or work.alteration is Alteration.MUTED:
        return replace(sound, index=NO_MUSIC_ID, kind=SoundKind.SILENT, score=-1, carried_s=0.0)
    if work.alteration is Alteration.REPLACED:
        return replace(
            sound, index=NO_MUSIC_ID, kind=SoundKind.MAIN, score=work.replacement, start_s=0.0,
            carried_s=sound.duration_s, lead_s=0.0, voice_db=None,
        )  # fmt: skip
    if work.alteration is Alteration.LIVE:
        return replace(sound, index=NO_MUSIC_ID, kind=SoundKind.COVER_OTHER, voice_db=None)
    return sound
