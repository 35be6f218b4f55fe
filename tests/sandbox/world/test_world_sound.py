"""Sound is real, decodable, different between tracks, and changed as its kind says."""

import io
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import av
import numpy as np
import pytest

from sandbox.world.content.tables import LAST_CARRYING, SandboxSound, SoundKind
from sandbox.world.hardness import chroma_correlation
from sandbox.world.sound.effects import pitched, resampled, stretched
from sandbox.world.sound.instruments import RATE, Samples
from sandbox.world.sound.recordings import play_base
from sandbox.world.sound.sound_cache import (
    SandboxSilence,
    SoundCache,
    open_sound_cache,
    render_in_process,
)
from sandbox.world.world import SandboxWorld

pytestmark = pytest.mark.full

WORLD = SandboxWorld(21, 0.2)


@pytest.fixture(scope="module")
def sound_cache(tmp_path_factory: pytest.TempPathFactory) -> SoundCache:
    return SoundCache(WORLD, tmp_path_factory.mktemp("sounds"))


def _first(
    kind: SoundKind, *, keep: Callable[[SandboxSound], bool] = lambda _: True
) -> SandboxSound:
    rows = np.flatnonzero(WORLD.sounds.kind == kind)
    return next(sound for sound in map(WORLD.sounds.row, map(int, rows)) if keep(sound))


def _decoded(data: bytes) -> tuple[Samples, int]:
    with av.open(io.BytesIO(data), "r") as file:
        stream = file.streams.audio[0]
        frames = [frame.to_ndarray() for frame in file.decode(stream)]
        mono = np.concatenate(frames, axis=1).mean(axis=0)
        return np.asarray(mono, dtype=np.float32), int(stream.rate)


def _hz(samples: Samples) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(samples.size)))
    return float(np.argmax(spectrum)) * RATE / samples.size


@pytest.mark.parametrize("kind", list(SoundKind))
def test_every_kind_decodes_at_its_planned_length(sound_cache: SoundCache, kind: SoundKind) -> None:
    sound = _first(kind)
    samples, rate = _decoded(sound_cache.file(sound).read_bytes())
    assert rate == RATE
    assert samples.size / rate == pytest.approx(sound.duration_s, abs=0.35)


@pytest.mark.parametrize("kind", [kind for kind in SoundKind if kind is not SoundKind.SILENT])
def test_every_sound_kind_but_silent_is_audible(sound_cache: SoundCache, kind: SoundKind) -> None:
    samples = sound_cache.samples(_first(kind))
    assert float(np.sqrt(np.mean(samples**2))) > 0.02
    assert np.abs(samples).max() <= 1.0


def test_the_placeholder_is_silent(sound_cache: SoundCache) -> None:
    samples, _ = _decoded(sound_cache.file(SandboxSilence(), codec="mp3").read_bytes())
    assert float(np.abs(samples).max()) < 1e-3


def test_a_video_has_a_picture_and_aac_and_a_photo_post_has_mp3(sound_cache: SoundCache) -> None:
    sound = WORLD.tracks[0]
    with av.open(str(sound_cache.file(sound, codec="aac"))) as file:
        assert [stream.type for stream in file.streams] == ["audio", "video"]
        assert file.streams.audio[0].codec_context.name == "aac"
    with av.open(str(sound_cache.file(sound, codec="mp3"))) as file:
        assert file.streams.audio[0].codec_context.name.startswith("mp3")


def test_stereo_and_mono_both_occur_and_sound_alike(sound_cache: SoundCache) -> None:
    flags = set(WORLD.sounds.stereo.tolist())
    stereo = next(WORLD.sounds.row(row) for row in np.flatnonzero(WORLD.sounds.stereo).tolist()
                  if WORLD.sounds.kind[row] <= LAST_CARRYING)  # fmt: skip
    heard, _ = _decoded(sound_cache.file(stereo).read_bytes())
    assert flags == {True, False}
    assert chroma_correlation(heard, sound_cache.samples(stereo)) > 0.9


def test_different_tracks_are_different_music() -> None:
    bases = [play_base(21, score)[: 12 * RATE] for score in range(6)]
    pairs = [chroma_correlation(bases[i], bases[j]) for i in range(6) for j in range(i + 1, 6)]
    assert max(pairs) < 0.5
    assert chroma_correlation(bases[0], bases[0]) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [SoundKind.REUPLOAD, SoundKind.LOFI, SoundKind.VOICE_OVER])
def test_a_carrying_sound_is_like_its_piece_of_the_recording(
    sound_cache: SoundCache, kind: SoundKind
) -> None:
    sound = _first(kind, keep=lambda sound: sound.score < WORLD.track_count)
    begin = int(sound.start_s * RATE)
    piece = play_base(21, sound.score)[begin : begin + int(sound.carried_s * RATE)]
    assert chroma_correlation(sound_cache.samples(sound), piece) > 0.55


def test_a_synchronous_cover_is_near_but_not_the_recording(sound_cache: SoundCache) -> None:
    cover = _first(SoundKind.COVER_SYNC)
    begin = int(cover.start_s * RATE)
    piece = play_base(21, cover.score)[begin : begin + int(cover.duration_s * RATE)]
    assert 0.2 < chroma_correlation(sound_cache.samples(cover), piece) < 0.9


def test_a_late_start_begins_late_and_a_medley_has_strangers_around(
    sound_cache: SoundCache,
) -> None:
    late, medley = _first(SoundKind.LATE), _first(SoundKind.MEDLEY)
    assert 2.0 <= late.lead_s <= 6.0
    assert 7.0 <= medley.carried_s <= 10.0
    assert medley.duration_s > medley.lead_s + medley.carried_s + 3.0


def test_short_sounds_are_six_to_eight_seconds() -> None:
    lengths = WORLD.sounds.duration_s[WORLD.sounds.kind == SoundKind.SHORT]
    assert ((lengths >= 6.0) & (lengths <= 8.0)).all()


TONE = np.sin(2 * np.pi * 440 * np.arange(3 * RATE) / RATE).astype(np.float32)


@pytest.mark.parametrize("speed", [0.8, 1.25])
def test_resampling_changes_length_and_pitch_together(speed: float) -> None:
    changed = resampled(TONE, speed)
    assert changed.size == pytest.approx(TONE.size / speed, rel=0.001)
    assert _hz(changed) == pytest.approx(440 * speed, rel=0.005)


@pytest.mark.parametrize("tempo", [0.9, 1.12])
def test_stretching_changes_length_alone(tempo: float) -> None:
    changed = stretched(TONE, tempo)
    assert changed.size == pytest.approx(TONE.size / tempo, rel=0.04)
    assert _hz(changed) == pytest.approx(440, rel=0.005)


@pytest.mark.parametrize("semitones", [-3, 1, 2])
def test_pitching_changes_pitch_alone(semitones: int) -> None:
    changed = pitched(TONE, semitones)
    assert changed.size == pytest.approx(TONE.size, rel=0.05)
    assert _hz(changed) == pytest.approx(440 * 2 ** (semitones / 12), rel=0.006)


@pytest.mark.soak
def test_another_process_renders_the_same_bytes(tmp_path: Path) -> None:
    sounds = WORLD.tracks[:2]
    here, there = SoundCache(WORLD, tmp_path / "a"), SoundCache(WORLD, tmp_path / "b")
    with ProcessPoolExecutor(
        1,
        mp_context=get_context("spawn"),
        initializer=open_sound_cache,
        initargs=(WORLD.again, tmp_path / "b"),
    ) as pool:
        assert list(pool.map(render_in_process, sounds, ["aac", "aac"])) == [None, None]
    for sound in sounds:
        assert here.file(sound).read_bytes() == there.path(sound).read_bytes()
