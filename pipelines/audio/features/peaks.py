"""The record of spectral peaks: the places in time and frequency that a recording shares only with
itself. Picking them is in `picking.py`, comparing them in `agreement.py`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Peaks:
    """Peaks in order of time.

    Attributes:
        frames: When, in fine frames of 23.2 ms, (n,).
        hertz: Frequency, interpolated between bins, (n,).
        phases: Phase at the centre of the window in 1/256 turns, (n,).
        rests: What rounding took from the frames of peaks moved in time, (n,); None for none.
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
