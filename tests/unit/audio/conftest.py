"""The small test band, and listening without child processes."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.audio.decoding import decode_sound
from pipelines.audio.decoding_limits import DecodeLimits
from pipelines.audio.measurement import measure_features
from pipelines.audio.sounds import Sound
from tests.data.audio import synthesis

type Listen = Callable[..., Sound]


@pytest.fixture(scope="session")
def band() -> ModuleType:
    """The functions that make its sound."""
    return synthesis


@pytest.fixture(scope="session")
def hear(band: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Listen:
    """Encode samples and listen to the file: what a verdict is about is always encoded sound."""
    folder = tmp_path_factory.mktemp("heard")

    def listen(samples: NDArray[np.float32], ending: str = ".m4a", **encoding: int) -> Sound:
        path = folder / f"{len(list(folder.iterdir()))}{ending}"
        band.write_sound(path, samples, **encoding)
        decoded = decode_sound(path, DecodeLimits())
        return Sound(
            sha256="0" * 64,
            features=measure_features(decoded.samples, decoded.rate),
            duration_s=len(decoded.samples) / decoded.rate,
            sample_rate_hz=decoded.rate,
            codec=decoded.codec,
            library_version="test",
        )

    return listen


@pytest.fixture(scope="session")
def song(band: ModuleType) -> NDArray[np.float32]:
    """The samples of one recording, 21 s."""
    return np.asarray(band.track(1))


@pytest.fixture(scope="session")
def reference(hear: Listen, song: NDArray[np.float32]) -> Sound:
    """That recording as a good upload carries it."""
    return hear(song, ".m4a", bit_rate=128_000)
