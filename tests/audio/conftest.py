"""The small test band, and listening without child processes."""

import pytest

from pipelines.audio.features.sounds import MeasuredSound
from tests.clips import Band, Listener
from tests.data.audio.synthesis import Samples
from tests.shared import SharedFolder


@pytest.fixture(scope="session")
def band(shared_folder: SharedFolder) -> Band:
    """The functions that make its sound."""
    return Band(shared_folder)


@pytest.fixture(scope="session")
def hear(shared_folder: SharedFolder) -> Listener:
    """Encodes samples and listens to the file."""
    return Listener(shared_folder)


@pytest.fixture(scope="session")
def song(band: Band) -> Samples:
    """The samples of one recording, 12 s."""
    return band.track(1)


@pytest.fixture(scope="session")
def reference(hear: Listener, song: Samples) -> MeasuredSound:
    """That recording as a good upload carries it."""
    return hear(song, ".m4a", bit_rate=128_000)
