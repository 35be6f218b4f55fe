"""Sounds at high sample rates lose the octave that no feature uses, and nothing below it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.audio.features.measurement import halved, measure_features

RATE = 44_100


def tone(hertz: float, rate: int = RATE, seconds: float = 1.0) -> np.ndarray:
    moments = np.arange(round(seconds * rate)) / rate
    return np.sin(2 * np.pi * hertz * moments).astype(np.float32)


def chord(rate: int) -> np.ndarray:
    """Eight seconds of three tones."""
    together: np.ndarray = np.sum([tone(hertz, rate, 8.0) for hertz in (220, 1_234.5, 6_000)], 0)
    return together


@pytest.mark.parametrize("hertz", [50, 440, 4_500, 8_000])
def test_halving_keeps_the_frequencies_that_features_use(hertz: float) -> None:
    kept = halved(tone(hertz))[50:-50]
    np.testing.assert_allclose(kept, tone(hertz)[::2][50:-50], atol=1e-3)


@pytest.mark.parametrize("hertz", [14_100, 16_000, 20_000])
def test_halving_removes_frequencies_that_would_alias(hertz: float) -> None:
    assert np.abs(halved(tone(hertz))[50:-50]).max() < 1e-3


@given(st.integers(1, 40_000))
def test_half_of_the_samples_are_left_rounded_up(count: int) -> None:
    assert len(halved(np.ones(count, dtype=np.float32))) == (count + 1) // 2


@pytest.mark.parametrize("times", [2, 4])
def test_a_sound_has_the_same_features_at_twice_the_rate(times: int) -> None:
    low, high = (measure_features(chord(rate), rate) for rate in (RATE // 2, times * RATE // 2))
    inside = slice(5, -5)
    assert low.frames == high.frames
    np.testing.assert_allclose(low.chroma[inside], high.chroma[inside], atol=0.05)
    np.testing.assert_allclose(low.mel_db[inside], high.mel_db[inside], atol=0.5)
