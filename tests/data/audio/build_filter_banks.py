"""Rebuild `pipelines/audio/features/banks/filter_banks.npz` with librosa. Run by hand alone."""

import warnings
from pathlib import Path

import librosa
import numpy as np

from pipelines.audio.features.sound_features import (
    CHROMA_BINS,
    COMMON_RATES,
    MEL_BANDS,
    MEL_BOTTOM_HZ,
    MEL_TOP_HZ,
    geometry,
)

TARGET = Path(__file__).parents[3] / "pipelines/audio/features/banks/filter_banks.npz"


def build_banks() -> dict[str, np.ndarray]:
    """Both banks for each usual rate, cut to the bins that are kept."""
    banks: dict[str, np.ndarray] = {}
    for rate in COMMON_RATES:
        grid = geometry(rate)
        chroma = librosa.filters.chroma(
            sr=rate, n_fft=grid.long_size, n_chroma=CHROMA_BINS, tuning=0.0, ctroct=5.0, octwidth=2
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # bands above half the rate are meant to be empty
            mel = librosa.filters.mel(
                sr=rate,
                n_fft=grid.short_size,
                n_mels=MEL_BANDS,
                fmin=MEL_BOTTOM_HZ,
                fmax=MEL_TOP_HZ,
            )
        banks[f"chroma_{rate}"] = chroma[:, : grid.long_bins].astype(np.float32)
        banks[f"mel_{rate}"] = mel[:, : grid.short_bins].astype(np.float32)
    return banks


if __name__ == "__main__":
    np.savez_compressed(TARGET, allow_pickle=False, **build_banks())
