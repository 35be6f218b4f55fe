"""Files of the small test band on disk."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.data.audio import synthesis


@pytest.fixture(scope="session")
def band() -> ModuleType:
    """The functions that make its sound."""
    return synthesis


@pytest.fixture(scope="session")
def sounds(band: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one song in several encodings, another song, and files that are no sound."""
    folder = tmp_path_factory.mktemp("sounds")
    song = band.track(1)
    for name in ("song.m4a", "song.mp3", "song.ogg", "song.wav", "song.flac", "song.webm"):
        rate = 48_000 if name.endswith(("ogg", "webm")) else 44_100
        band.write_sound(folder / name, band.resampled(song, 44_100 / rate), rate=rate)
    band.write_sound(folder / "other.m4a", band.track(2))
    band.write_sound(folder / "short.m4a", song[: 3 * 44_100])
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
