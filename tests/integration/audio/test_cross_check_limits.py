"""librosa measures only sounds that are long enough for a path."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.audio.cross_check import LEAST_S, RATE, TooShortError, cross_check


@dataclass(frozen=True)
class Noise:
    """Decoded noise of so many seconds."""

    seconds: float
    rate: int = RATE

    @property
    def samples(self) -> NDArray[np.float32]:
        made = np.random.default_rng(1).normal(size=round(self.seconds * self.rate))
        return (0.1 * made).astype(np.float32)


def test_a_sound_that_is_too_short_for_a_path_is_refused() -> None:
    with pytest.raises(TooShortError, match="needs 3 s of each sound"):
        cross_check(Noise(LEAST_S - 0.1), Noise(LEAST_S - 0.1))


def test_the_shortest_sound_is_long_enough_for_every_window() -> None:
    assert cross_check(Noise(LEAST_S), Noise(LEAST_S)).tempo == 1.0


def test_a_sound_that_is_long_enough_has_a_straight_path_to_itself() -> None:
    found = cross_check(Noise(8.0), Noise(8.0))
    assert (found.key_shift, found.tempo) == (0, 1.0)
    assert found.bend_s == pytest.approx(0.0)
    assert found.chroma_distance == pytest.approx(0.0, abs=1e-6)
