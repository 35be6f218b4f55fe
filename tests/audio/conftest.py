"""The small test band, listening without child processes, encoded files and a pool for them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.features.sounds import MeasuredSound
from tests.audio.clips import PATIENT, Band, ClipMeasurer
from tests.data.audio.synthesis import RATE, Samples
from tests.shared_files import SharedFolder

SONG_S = 21.0


@pytest.fixture(scope="session")
def band(shared_folder: SharedFolder) -> Band:
    """The functions that make its sound."""
    return Band(shared_folder)


@pytest.fixture(scope="session")
def measure_clip(shared_folder: SharedFolder) -> ClipMeasurer:
    """Encodes samples and listens to the file."""
    return ClipMeasurer(shared_folder)


@pytest.fixture(scope="session")
def song(band: Band) -> Samples:
    """The samples of one recording, 12 s."""
    return band.track(1)


@pytest.fixture(scope="session")
def reference(measure_clip: ClipMeasurer, song: Samples) -> MeasuredSound:
    """That recording as a good upload carries it."""
    return measure_clip(song, ".m4a", bit_rate=128_000)


@pytest.fixture(scope="session")
def pool() -> Iterator[DecoderPool]:
    """One for all tests that do it no harm: a child costs more than a second of processor time."""
    with DecoderPool(1, limits=PATIENT) as pool:
        yield pool


@pytest.fixture(scope="session")
def sounds(
    band: Band, shared_folder: SharedFolder, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with one song in several encodings, another song, and files that are no sound.

    A copy: tests write into it.
    """
    folder = tmp_path_factory.mktemp("sounds")
    song, other = band.track(1, seconds=SONG_S), band.track(2, seconds=SONG_S)
    for name in ("song.m4a", "song.mp3", "song.ogg", "song.wav", "song.flac", "song.webm"):
        _place(shared_folder, band, folder / name, song)
    _place(shared_folder, band, folder / "other.m4a", other)
    band.write_sound(folder / "short.m4a", song[: round(1.8 * RATE)])
    band.write_sound(folder / "silent.wav", np.zeros(10 * 44_100, dtype=np.float32))
    band.write_sound(folder / "constant.wav", np.full(10 * 44_100, 0.5, dtype=np.float32))
    band.write_sound(folder / "one_sample.wav", np.full(1, 0.5, dtype=np.float32))
    (folder / "empty.mp3").touch()
    (folder / "text.mp4").write_text("<html>not found</html>" * 100)
    (folder / "noise.bin").write_bytes(np.random.default_rng(1).bytes(50_000))
    whole = (folder / "song.m4a").read_bytes()
    (folder / "cut.m4a").write_bytes(whole[: len(whole) // 3])
    (folder / "list.m3u8").write_text("#EXTM3U\n#EXTINF:9,\nsong.m4a\n#EXT-X-ENDLIST\n")
    (folder / "concat.txt").write_text("ffconcat version 1.0\nfile song.m4a\n")
    return folder


def _place(shared_folder: SharedFolder, band: Band, place: Path, samples: Samples) -> None:
    rate = 48_000 if place.suffix in {".ogg", ".webm"} else RATE

    def write(draft: Path) -> None:
        band.write_sound(draft, band.resampled(samples, RATE / rate), rate=rate, quick=True)

    shutil.copy(shared_folder.file(place.name, write), place)
