"""Renders a sound of the world to samples: compose, arrange, play, change.

What belongs here: how each kind of sound is made, and the audio of a video with its own sound.
Caching and files are in `sound_cache.py`.
"""

from collections.abc import Callable

import numpy as np

from sandbox.world.content.tables import Alteration, SandboxSound, SandboxVideo, SoundKind
from sandbox.world.content.tracks import BASE_S
from sandbox.world.random_streams import chance, stream
from sandbox.world.sound import effects
from sandbox.world.sound.arrangement import Arrangement, Player, arrange
from sandbox.world.sound.composition import Score, compose
from sandbox.world.sound.instruments import RATE, Samples, speech

_BY_PHONE = 0.3
"""Share of voice-overs that were recorded with cheap equipment as a whole."""
BaseOf = Callable[[int], Samples]
"""Returns the recording of a composition, `BASE_S` seconds at its own speed."""


def composition(seed: int, score: int) -> tuple[Score, Arrangement]:
    """A composition and how its own recording is arranged."""
    written = compose(stream(seed, "score", score), length_s=BASE_S * 1.2)
    return written, arrange(stream(seed, "arrangement", score), written)


def play_base(seed: int, score: int) -> Samples:
    """Render the recording that a track's sounds are cut from, shape (BASE_S * RATE,)."""
    written, arrangement = composition(seed, score)
    rng = stream(seed, "performance", score)
    return Player(written, arrangement, rng=rng, length_s=BASE_S).render()


def play_cover(seed: int, sound: SandboxSound) -> Samples:
    """Render a cover: other instruments, and another key or tempo for some kinds."""
    written, original = composition(seed, sound.score)
    arrangement = arrange(stream(seed, "cover", sound.index), written, unlike=original)
    player = Player(
        written, arrangement, rng=stream(seed, "cover performance", sound.index),
        length_s=BASE_S, speed=sound.speed, semitones=sound.semitones,
    )  # fmt: skip
    return _piece(player.render(), sound.start_s, sound.duration_s)


def render(seed: int, sound: SandboxSound, base_of: BaseOf) -> Samples:
    """Render a sound, shape (samples,), mono, at `RATE`."""
    if sound.kind is SoundKind.SILENT:
        return np.zeros(int(sound.duration_s * RATE), dtype=np.float32)
    if sound.kind is SoundKind.SPEECH:
        return speech(stream(seed, "speech", sound.index), length_s=sound.duration_s)
    if sound.kind in (SoundKind.COVER_SYNC, SoundKind.COVER_OTHER):
        return play_cover(seed, sound)
    piece = _piece(base_of(sound.score), sound.start_s, sound.carried_s * sound.speed)
    change = _CHANGES.get(sound.kind)
    return piece if change is None else change(seed, sound, piece)


def render_video(seed: int, work: SandboxVideo, sound: SandboxSound, base_of: BaseOf) -> Samples:
    """Render the audio of a video, shape (samples,), mono, at `RATE`.

    Args:
        seed: Seed of the world.
        work: The video.
        sound: The sound of its music id.
        base_of: Returns recordings.
    """
    if work.alteration is Alteration.MUTED:
        return np.zeros(int(sound.duration_s * RATE), dtype=np.float32)
    if work.alteration is Alteration.REPLACED:
        return _piece(base_of(work.replacement), 0.0, sound.duration_s)
    if work.alteration is Alteration.LIVE:
        return play_live(seed, work, sound)
    heard = render(seed, sound, base_of)
    if work.alteration is Alteration.VOICED_OVER:
        rng = stream(seed, "voiced over", work.index)
        voice = speech(rng, length_s=heard.size / RATE + 0.1)
        return effects.mixed(heard, voice, voice_db=float(rng.uniform(-6.0, 0.0)))
    return heard


def play_live(seed: int, work: SandboxVideo, sound: SandboxSound) -> Samples:
    """Render a live performance: other instruments, another tempo, a hall and its crowd."""
    rng = stream(seed, "live", work.index)
    written, original = composition(seed, sound.score)
    speed = 1.0 + float(rng.choice((-1, 1))) * float(rng.uniform(0.03, 0.07))
    player = Player(
        written, arrange(rng, written, unlike=original), rng=rng, length_s=BASE_S, speed=speed
    )
    return effects.on_stage(_piece(player.render(), sound.start_s, sound.duration_s), rng)


def _piece(x: Samples, start_s: float, length_s: float) -> Samples:
    begin = int(start_s * RATE)
    return x[begin : begin + int(length_s * RATE)]


def _voiced(seed: int, sound: SandboxSound, piece: Samples) -> Samples:
    rng = stream(seed, "speech", sound.index)
    voice = speech(rng, length_s=piece.size / RATE + 0.1)
    spoken = effects.mixed(piece, voice, voice_db=sound.voice_db or 0.0)
    return effects.lofi(spoken, rng) if chance(rng, _BY_PHONE) else spoken


def _late(seed: int, sound: SandboxSound, piece: Samples) -> Samples:
    rng = stream(seed, "lead", sound.index)
    if chance(rng, 0.5):
        lead = np.zeros(int(sound.lead_s * RATE), dtype=np.float32)
    else:
        lead = speech(rng, length_s=sound.lead_s)
    return effects.joined([lead, piece])


def _medley(seed: int, sound: SandboxSound, piece: Samples) -> Samples:
    tail_s = sound.duration_s - sound.lead_s - sound.carried_s
    before = _filler(seed, sound, number=0, length_s=sound.lead_s)
    after = _filler(seed, sound, number=1, length_s=tail_s)
    return effects.joined([before, piece, after])


def _filler(seed: int, sound: SandboxSound, *, number: int, length_s: float) -> Samples:
    """Render some seconds of a composition that occurs nowhere else."""
    rng = stream(seed, "filler", sound.index, number)
    written = compose(rng, length_s=length_s * 1.3)
    arrangement = arrange(rng, written)
    return Player(written, arrangement, rng=rng, length_s=length_s).render()


_CHANGES: dict[SoundKind, Callable[[int, SandboxSound, Samples], Samples]] = {
    SoundKind.REUPLOAD: lambda seed, sound, piece: effects.coloured(
        piece, stream(seed, "colour", sound.index)
    ),
    SoundKind.LOFI: lambda seed, sound, piece: effects.lofi(
        piece, stream(seed, "lofi", sound.index)
    ),
    SoundKind.VOICE_OVER: _voiced,
    SoundKind.MEDLEY: _medley,
    SoundKind.LATE: _late,
    SoundKind.SPEED: lambda _, sound, piece: effects.resampled(piece, sound.speed),
    SoundKind.PITCH: lambda _, sound, piece: effects.pitched(piece, sound.semitones),
    SoundKind.TEMPO: lambda _, sound, piece: effects.stretched(piece, sound.speed),
}
"""What is done to the piece of a recording; nothing to one of another kind."""
