"""A sound that has been rendered is not rendered again."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines.audio.decode.decoding import decode_sound
from pipelines.audio.decode.protocol import DecodeLimits
from sandbox.world.content.tables import Alteration
from sandbox.world.sound.instruments import RATE
from sandbox.world.sound.sound_cache import SandboxSilence, SandboxSong, SoundCache
from sandbox.world.world import SandboxWorld

KEPT = b"rendered before"
FIRST_S = 30.0


@pytest.fixture
def sound_cache(world: SandboxWorld, tmp_path: Path) -> SoundCache:
    return SoundCache(world, tmp_path)


def of_a_sound(cache: SoundCache) -> tuple[Path, Callable[[], Path]]:
    sound = cache.world.tracks[0]
    return cache.path(sound, codec="mp3"), lambda: cache.file(sound, codec="mp3")


def of_a_video(cache: SoundCache) -> tuple[Path, Callable[[], Path]]:
    work = replace(cache.world.works.row(0), alteration=Alteration.MUTED)
    return cache.path(work), lambda: cache.video_file(work)


def of_a_song(cache: SoundCache) -> tuple[Path, Callable[[], Path]]:
    song = SandboxSong(0, FIRST_S)
    return cache.path(song), lambda: cache.file(song)


def of_silence(cache: SoundCache) -> tuple[Path, Callable[[], Path]]:
    return cache.folder / "silent.mp3", lambda: cache.file(SandboxSilence(), codec="mp3")


@pytest.mark.parametrize(
    "kind",
    [of_a_sound, of_a_video, of_a_song, of_silence],
    ids=["sound", "video", "song", "silence"],
)
def test_a_file_that_is_there_is_served_as_it_is(
    kind: Callable[[SoundCache], tuple[Path, Callable[[], Path]]], sound_cache: SoundCache
) -> None:
    path, ask = kind(sound_cache)
    path.write_bytes(KEPT)
    assert ask() == path
    assert path.read_bytes() == KEPT


def test_a_video_with_the_sound_of_its_music_id_plays_the_file_of_that_sound(
    sound_cache: SoundCache,
) -> None:
    work = replace(sound_cache.world.works.row(0), alteration=Alteration.NONE)
    sound = sound_cache.world.sounds.row(work.sound)
    path = sound_cache.path(sound, codec="mp3" if work.is_photo else "aac")
    path.write_bytes(KEPT)
    assert sound_cache.video_file(work) == path


def test_a_song_is_the_first_seconds_of_the_recording_of_its_track(
    sound_cache: SoundCache,
) -> None:
    moments = np.arange(4 * RATE) / RATE
    low, high = (np.sin(2 * np.pi * hz * moments) for hz in (440, 1760))
    recording = np.round(np.concatenate([low, high]) * 16_000).astype(np.int16)
    np.save(sound_cache.folder / "base0.npy", recording)
    song = sound_cache.file(SandboxSong(0, 4.0))
    assert song == sound_cache.path(SandboxSong(0, 4.0))
    heard = decode_sound(song, DecodeLimits())
    assert heard.samples.size / heard.rate == pytest.approx(4.0, abs=0.1)
    spectrum = np.abs(np.fft.rfft(heard.samples))
    loudest_hz = int(spectrum.argmax()) * heard.rate / heard.samples.size
    assert loudest_hz == pytest.approx(440, abs=1)
