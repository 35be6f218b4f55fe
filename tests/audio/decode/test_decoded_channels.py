"""What is decoded from several channels: their mean, or their difference if one is inverted."""

import wave
from pathlib import Path

import av
import numpy as np
import pytest

from pipelines.audio.decode.decoding import DecodeRefusedError, decode_sound
from pipelines.audio.decode.protocol import DecodeLimits

RATE = 8_000
LAYOUTS = ("mono", "stereo")


def write_aac(path: Path, layout: str) -> Path:
    """Three seconds of a tone, the same in all channels, as a stream that others may follow."""
    rate, size = 44_100, 1_024
    tone = (0.3 * np.sin(2 * np.pi * 440 * np.arange(3 * rate) / rate)).astype(np.float32)
    with av.open(str(path), "w", format="adts") as container:
        stream = container.add_stream("aac", rate=rate, layout=layout)
        for first in range(0, len(tone) - size, size):
            samples = np.tile(tone[first : first + size], (1 + LAYOUTS.index(layout), 1))
            frame = av.AudioFrame.from_ndarray(samples, "fltp", layout)
            frame.sample_rate, frame.pts = rate, first
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def write_stereo(path: Path, left: np.ndarray, right: np.ndarray) -> Path:
    """Two channels of samples in -1..1 as 16 bit WAV."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.rint(32_767 * np.stack([left, right], axis=1)).astype("<i2").tobytes())
    return path


def noise(seed: int) -> np.ndarray:
    """Six seconds."""
    return np.random.default_rng(seed).uniform(-0.5, 0.5, 6 * RATE)


@pytest.mark.parametrize("level", [1.0, 0.95])
def test_channels_that_cancel_are_heard_as_their_difference(tmp_path: Path, level: float) -> None:
    left = noise(1)
    heard = decode_sound(write_stereo(tmp_path / "a.wav", left, -level * left), DecodeLimits())
    difference = (1 + level) / 2 * left
    np.testing.assert_allclose(heard.samples, difference - difference.mean(), atol=1e-3)


def test_music_with_one_channel_inverted_is_heard_as_with_both_in_phase(tmp_path: Path) -> None:
    middle, side = noise(1), 0.5 * noise(2)
    left, right = 0.6 * (middle + side), 0.6 * (middle - side)
    plain = decode_sound(write_stereo(tmp_path / "a.wav", left, right), DecodeLimits())
    inverted = decode_sound(write_stereo(tmp_path / "b.wav", left, -right), DecodeLimits())
    np.testing.assert_allclose(inverted.samples, plain.samples, atol=1e-3)


def test_wide_music_is_heard_as_the_mean(tmp_path: Path) -> None:
    middle, side = 0.95 * noise(1), noise(2)
    left, right = 0.5 * (middle + side), 0.5 * (middle - side)
    heard = decode_sound(write_stereo(tmp_path / "a.wav", left, right), DecodeLimits())
    mean = 0.5 * middle
    np.testing.assert_allclose(heard.samples, mean - mean.mean(), atol=1e-3)


def test_channels_that_differ_are_heard_as_their_mean(tmp_path: Path) -> None:
    left, right = noise(1), noise(2)
    heard = decode_sound(write_stereo(tmp_path / "a.wav", left, right), DecodeLimits())
    mean = (left + right) / 2
    np.testing.assert_allclose(heard.samples, mean - mean.mean(), atol=1e-3)


def test_two_silent_channels_are_silent(tmp_path: Path) -> None:
    silence = np.zeros(6 * RATE)
    with pytest.raises(DecodeRefusedError, match="silent"):
        decode_sound(write_stereo(tmp_path / "a.wav", silence, silence), DecodeLimits())


def test_a_stream_that_becomes_stereo_is_heard_to_its_end(tmp_path: Path) -> None:
    parts = [write_aac(tmp_path / f"{layout}.aac", layout).read_bytes() for layout in LAYOUTS]
    both = tmp_path / "both.aac"
    both.write_bytes(b"".join(parts))
    heard = decode_sound(both, DecodeLimits())
    assert len(heard.samples) / heard.rate == pytest.approx(6.0, abs=0.1)
    halves = np.array_split(heard.samples, 2)
    assert np.std(halves[0]) == pytest.approx(np.std(halves[1]), rel=0.05)
