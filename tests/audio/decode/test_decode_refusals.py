"""Which files are refused, by which word, and what is made of odd ones that are not."""

import struct
import wave
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

from pipelines.audio.decode.decoding import DecodeRefusedError, decode_sound
from pipelines.audio.decode.protocol import DecodeLimits

RATE = 44_100


def tone(seconds: float = 3.0, *, rate: int = RATE) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)


def as_wav(path: Path, samples: np.ndarray, *, rate: int = RATE, width: int = 2) -> Path:
    """One channel of samples in -1..1 with so many bytes a sample."""
    if width == 1:
        levels = np.rint(128 + 127 * samples).astype(np.uint8)
    else:
        levels = np.rint((2 ** (8 * width - 1) - 1) * samples).astype(f"<i{width}")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(levels.tobytes())
    return path


def as_float_wav(path: Path, samples: np.ndarray) -> Path:
    """Samples of any value, also none, as 32 bit floats."""
    data = samples.astype("<f4").tobytes()
    form = struct.pack("<HHIIHH", 3, 1, RATE, RATE * 4, 4, 32)
    chunks = b"fmt " + struct.pack("<I", len(form)) + form
    chunks += b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)
    return path


def encoded(path: Path, codec: str, *, seconds: float = 3.0) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=RATE, layout="mono")
        assert isinstance(stream, av.AudioStream)
        samples = tone(seconds).astype(np.float32)[None]
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
        frame.sample_rate = RATE
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    return path


def picture_alone(path: Path) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.width = stream.height = 32
        frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    return path


def altered(path: Path) -> Path:
    """A file whose host changed the first byte of the file type box."""
    data = bytearray(encoded(path, "aac").read_bytes())
    data[0] = 1
    path.write_bytes(data)
    return path


def written(data: bytes) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize(
    ("name", "write", "reason"),
    [
        ("none.wav", lambda path: path, "file_missing"),
        ("empty.wav", written(b""), "file_empty"),
        ("large.wav", written(b"x" * 2_000_001), "file_too_large"),
        ("text.wav", written(b"no sound at all " * 100), "undecodable"),
        ("head.wav", written(b"RIFF\x24\x00\x00\x00WAVEfmt "), "undecodable"),
        ("cut.wav", lambda path: as_wav(path, np.zeros(0)), "undecodable"),
        ("altered.mp4", altered, "altered_by_host"),
        ("silent.mp4", picture_alone, "no_sound_stream"),
        ("other.mka", lambda path: encoded(path, "ac3"), "unsupported_codec"),
        ("slow.wav", lambda path: as_wav(path, tone(rate=4_000), rate=4_000), "unsupported_rate"),
        ("short.wav", lambda path: as_wav(path, tone(1.9)), "too_short"),
        ("still.wav", lambda path: as_wav(path, np.zeros(3 * RATE)), "silent"),
        ("steady.wav", lambda path: as_wav(path, np.full(3 * RATE, 0.5)), "silent"),
    ],
)
def test_a_file_is_refused_by_one_word(
    tmp_path: Path, name: str, write: Callable[[Path], Path], reason: str
) -> None:
    path = write(tmp_path / name)
    with pytest.raises(DecodeRefusedError) as met:
        decode_sound(path, DecodeLimits(max_bytes=2_000_000))
    assert met.value.reason == reason


@pytest.mark.parametrize("width", [1, 2, 4])
def test_samples_of_every_width_have_the_same_level(tmp_path: Path, width: int) -> None:
    found = decode_sound(as_wav(tmp_path / "a.wav", tone(), width=width), DecodeLimits())
    assert found.rate == RATE
    np.testing.assert_allclose(found.samples, tone(), atol=0.02)


def test_values_that_no_sound_has_do_not_drown_it(tmp_path: Path) -> None:
    samples = tone()
    samples[[10, 20, 30, 40]] = [np.nan, np.inf, -np.inf, 1e9]
    found = decode_sound(as_float_wav(tmp_path / "a.wav", samples), DecodeLimits()).samples
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 4.1
    np.testing.assert_allclose(found[100:], tone()[100:], atol=1e-3)


def test_no_more_is_decoded_than_was_asked_for(tmp_path: Path) -> None:
    path = encoded(tmp_path / "a.mp3", "libmp3lame", seconds=20.0)
    found = decode_sound(path, DecodeLimits(max_seconds=5.0))
    assert 5.0 <= len(found.samples) / RATE < 6.0
    assert found.codec in {"mp3", "mp3float"}


def test_a_few_broken_packets_are_skipped_as_players_do(tmp_path: Path) -> None:
    path = encoded(tmp_path / "a.mp3", "libmp3lame", seconds=20.0)
    data = bytearray(path.read_bytes())
    whole = len(decode_sound(path, DecodeLimits()).samples)
    at = len(data) // 2
    data[at : at + 2_000] = bytes(2_000)
    path.write_bytes(data)
    assert 0.8 * whole < len(decode_sound(path, DecodeLimits()).samples) <= whole


@pytest.mark.parametrize("seed", range(3))
def test_damage_is_skipped_whatever_the_decoder_takes_it_for(tmp_path: Path, seed: int) -> None:
    path = encoded(tmp_path / "a.mp4", "aac", seconds=10.0)
    data = bytearray(path.read_bytes())
    at = len(data) // 3
    data[at : at + 2_000] = np.random.default_rng(seed).bytes(2_000)
    path.write_bytes(data)
    assert len(decode_sound(path, DecodeLimits()).samples) / RATE == pytest.approx(10, abs=0.3)


def test_stray_bytes_at_the_end_do_not_cost_the_sound_before_them(tmp_path: Path) -> None:
    path = encoded(tmp_path / "a.aac", "aac", seconds=10.0)
    path.write_bytes(path.read_bytes() + b"\xff\xf1\x50")  # half a header
    assert len(decode_sound(path, DecodeLimits()).samples) / RATE == pytest.approx(10, abs=0.3)
