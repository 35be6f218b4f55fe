"""Sounds that are none: each ends as "could not be checked" or far below a match, never as NaN."""

from collections.abc import Callable
from dataclasses import asdict
from math import isfinite
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.features.sounds import MeasuredSound, NotComparable, SoundMeasurement
from pipelines.audio.matching.verify import compare_pair
from tests.audio.clips import Band
from warehouse.records.evidence import MatchThresholds

pytestmark = pytest.mark.full

RATE = 44_100
TIME = np.arange(10 * RATE) / RATE
ODD: dict[str, Callable[[Band], NDArray[np.floating]]] = {
    "silence": lambda _: np.zeros(10 * RATE),
    "tone": lambda _: 0.5 * np.sin(2 * np.pi * 440 * TIME),
    "chord": lambda _: 0.2 * np.sin(2 * np.pi * np.outer((262, 330, 392), TIME)).sum(axis=0),
    "noise": lambda band: band.noise(4, seconds=10.0),
    "constant": lambda _: np.full(10 * RATE, 0.5),
    "constant and tone": lambda _: 0.4 + 0.5 * np.sin(2 * np.pi * 440 * TIME),
    "square wave": lambda _: np.sign(np.sin(2 * np.pi * 50 * TIME)),
    "one click": lambda _: np.eye(1, 10 * RATE, 5 * RATE)[0],
    "one sample": lambda _: np.full(1, 0.5),
}


@pytest.fixture(scope="module")
def heard(
    pool: DecoderPool, band: Band, sounds: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, SoundMeasurement]:
    """Each odd sound as a child heard it, a file that is no sound, and a song."""
    folder = tmp_path_factory.mktemp("odd")
    paths = {"song": sounds / "song.m4a", "no sound": sounds / "text.mp4"}
    for name, made in ODD.items():
        paths[name] = folder / f"{name}.wav"
        band.write_sound(paths[name], np.asarray(made(band), dtype=np.float32))
    return {name: pool.submit(path).result() for name, path in paths.items()}


@pytest.mark.parametrize("name", [*ODD, "no sound"])
def test_an_odd_sound_is_like_no_song(heard: dict[str, SoundMeasurement], name: str) -> None:
    for pair in ((heard["song"], heard[name]), (heard[name], heard["song"])):
        evidence = compare_pair(*pair, limits=MatchThresholds())
        assert evidence.verdict in {"rejected", "not_comparable"}
        assert (evidence.score or 0.0) < 0.2
        numbers = [value for value in asdict(evidence).values() if isinstance(value, float)]
        assert all(isfinite(number) for number in numbers)


@pytest.mark.parametrize("name", ["silence", "constant", "one sample", "no sound"])
def test_files_without_sound_are_not_comparable(
    heard: dict[str, SoundMeasurement], name: str
) -> None:
    assert isinstance(heard[name], NotComparable)
    evidence = compare_pair(heard[name], heard[name], limits=MatchThresholds())
    assert (evidence.verdict, evidence.score) == ("not_comparable", None)


@pytest.mark.parametrize("name", ["tone", "chord", "constant and tone"])
def test_a_tone_that_never_changes_is_nobodys_recording(
    heard: dict[str, SoundMeasurement], name: str
) -> None:
    evidence = compare_pair(heard[name], heard[name], limits=MatchThresholds())
    assert (evidence.score or 0.0) < 0.2


def test_only_the_first_minute_of_a_long_sound_is_decoded(
    pool: DecoderPool, sounds: Path, tmp_path: Path, band: Band
) -> None:
    """MP3 frames may be strung together; only the first minute is decoded."""
    minute = np.tile(band.track(2), 5)
    band.write_sound(tmp_path / "minute.mp3", minute, quick=True)
    long = tmp_path / "long.mp3"
    long.write_bytes((tmp_path / "minute.mp3").read_bytes() * 180)
    whole, song = (pool.submit(path).result() for path in (long, sounds / "song.m4a"))
    assert isinstance(whole, MeasuredSound)
    assert whole.duration_s == pytest.approx(60, abs=0.1)
    assert (compare_pair(song, whole, limits=MatchThresholds()).score or 0.0) < 0.2
    again = compare_pair(whole, whole, limits=MatchThresholds())
    assert (again.chroma_distance, again.mfcc_distance) == pytest.approx((0.0, 0.0), abs=1e-6)
    assert again.score == pytest.approx(1.0, abs=1e-6)
