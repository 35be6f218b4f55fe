"""Filter banks are librosa's, whether stored or computed."""

import warnings

import librosa
import numpy as np
import pytest

from pipelines.audio.features.sound_features import (
    CHROMA_BINS,
    COMMON_RATES,
    MEL_BANDS,
    build_filter_banks,
    filter_banks,
    geometry,
)


@pytest.mark.parametrize("rate", [*COMMON_RATES, 37_800, 96_000])
def test_banks_equal_those_of_librosa(rate: int) -> None:
    grid = geometry(rate)
    banks = filter_banks(rate)
    chroma = librosa.filters.chroma(
        sr=rate, n_fft=grid.long_size, n_chroma=CHROMA_BINS, tuning=0.0, ctroct=5.0, octwidth=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # empty bands above half the rate are meant
        mel = librosa.filters.mel(
            sr=rate, n_fft=grid.short_size, n_mels=MEL_BANDS, fmin=80.0, fmax=8_000.0
        )
    np.testing.assert_allclose(banks.chroma, chroma[:, : grid.long_bins], atol=1e-6)
    np.testing.assert_allclose(banks.mel, mel[:, : grid.short_bins], atol=1e-6)


@pytest.mark.parametrize("rate", COMMON_RATES)
def test_stored_banks_equal_computed_ones(rate: int) -> None:
    stored, computed = filter_banks(rate), build_filter_banks(geometry(rate))
    np.testing.assert_allclose(stored.chroma, computed.chroma, atol=1e-6)
    np.testing.assert_allclose(stored.mel, computed.mel, atol=1e-6)


def test_bins_above_eight_kilohertz_are_dropped() -> None:
    grid = geometry(48_000)
    assert (grid.short_bins - 1) * 48_000 / grid.short_size <= 8_000
    assert (grid.long_bins - 1) * 48_000 / grid.long_size <= 5_000
