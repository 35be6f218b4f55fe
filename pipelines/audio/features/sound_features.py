"""The features of one sound: uncentred for storage, centred for comparison.

They are stored uncentred because a speed or pitch change must be undone before centring. Not here:
extracting them (`measurement.py`), so that comparing stored features imports no transform.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.centring import Centred, centred_features
from pipelines.audio.features.grid import HOP_S
from pipelines.audio.features.peaks import Peaks

FEATURE_VERSION = "3"
"""Increase this whenever the same sound would give different stored features."""


@dataclass(frozen=True, eq=False)
class Features:
    """Uncentred features of one sound.

    Attributes:
        chroma: Whitened pitch-class energies (frames, 36), float16 as stored.
        mel_db: Log mel energies in dB (frames, 64), float16 as stored,
            floored 60 dB below the loudest.
        peaks: Spectral peaks, at most 40 per second.
    """

    chroma: NDArray[np.floating]
    mel_db: NDArray[np.floating]
    peaks: Peaks

    @property
    def frames(self) -> int:
        """Number of feature frames, 46.4 ms apart."""
        return len(self.chroma)

    @property
    def duration_s(self) -> float:
        """Length in seconds that the frames cover."""
        return self.frames * HOP_S

    @cached_property
    def centred(self) -> Centred:
        """Centred features, computed once."""
        return centred_features(self.chroma.astype(np.float32), self.mel_db.astype(np.float32))
