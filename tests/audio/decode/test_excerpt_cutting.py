"""Excerpts are cut by the listening children, and what cannot be cut harms nobody."""

import io
from pathlib import Path

import av
import numpy as np
import pytest

from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.features.sounds import MeasuredSound

pytestmark = pytest.mark.full


@pytest.mark.parametrize("name", ["song.m4a", "song.mp3", "song.ogg", "song.flac"])
async def test_a_stretch_is_mono_short_and_audible(
    pool: DecoderPool, sounds: Path, name: str
) -> None:
    encoded = await pool.cut(sounds / name, start_s=4.0, duration_s=8.0)
    assert encoded is not None
    with av.open(io.BytesIO(encoded), "r") as container:
        stream = container.streams.audio[0]
        frames = [frame.to_ndarray() for frame in container.decode(stream)]
        assert (stream.codec_context.name.startswith("mp3"), stream.channels) == (True, 1)
        samples = np.concatenate(frames, axis=1)
        assert samples.shape[1] / stream.rate == pytest.approx(8.0, abs=0.2)
    assert float(np.sqrt(np.mean(np.square(samples)))) > 0.01
    assert len(encoded) < 100_000


async def test_a_stretch_beyond_the_end_is_shorter(pool: DecoderPool, sounds: Path) -> None:
    encoded = await pool.cut(sounds / "song.m4a", start_s=18.0, duration_s=10.0)
    assert encoded is not None
    assert 20_000 < len(encoded) < 40_000


@pytest.mark.parametrize("name", ["text.mp4", "empty.mp3", "missing.m4a", "silent.wav"])
async def test_excerpt_of_an_undecodable_file_is_none_and_the_pool_goes_on(
    pool: DecoderPool, sounds: Path, name: str
) -> None:
    assert await pool.cut(sounds / name, start_s=1.0, duration_s=8.0) is None
    assert isinstance(await pool.measure(sounds / "song.m4a"), MeasuredSound)


async def test_a_stretch_behind_the_end_gives_nothing(pool: DecoderPool, sounds: Path) -> None:
    assert await pool.cut(sounds / "song.m4a", start_s=40.0, duration_s=8.0) is None
    assert isinstance(await pool.measure(sounds / "song.m4a"), MeasuredSound)
