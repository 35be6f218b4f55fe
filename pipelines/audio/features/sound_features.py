"""The features of one sound, uncentred as they are stored and centred as they are compared.

Stored features are uncentred because a speed or pitch hypothesis must be undone before the
centring. Not here: how they are measured (`measurement.py`), so that judging stored features loads
no transform.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipelines.audio.features.centring import Centred, centred_features
from pipelines.audio.features.grid import HOP_S
from pipelines.audio.features.peaks import Peaks

FEATURE_VERSION = "2"
"""Raised whenever the same sound would give other stored features."""


@dataclass(frozen=True, eq=False)
class Features:
    """Uncentred features of one sound.

    Attributes:
        chroma: Whitened pitch-class energies (frames, 36), float16 as stored.
        mel_db: Log mel energies in dB (frames, 64), float16 as stored,
            at most 60 dB under the loudest.
        peaks: Spectral peaks, about 40 for each second.
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
