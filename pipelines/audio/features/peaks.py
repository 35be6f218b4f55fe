"""Spectral peaks: the points in time and frequency that identify a recording.

Not here: picking them (`peak_picking.py`), comparing them (`matching/peak_agreement.py`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Peaks:
    """Spectral peaks in time order.

    Attributes:
        frames: Time in fine frames of 23.2 ms, (n,).
        hertz: Frequency, interpolated between bins, (n,).
        phases: Phase at the window centre in 1/256 turns, (n,).
        rests: Rounding remainders of frames that were shifted in time, (n,); None if unshifted.
    """

    frames: NDArray[np.int32]
    hertz: NDArray[np.float32]
    phases: NDArray[np.uint8]
    rests: NDArray[np.float64] | None = None

    @property
    def moments(self) -> NDArray[np.float64]:
        """Exact times in fine frames."""
        frames = self.frames.astype(np.float64)
        return frames if self.rests is None else frames + self.rests
