"""Files to sounds by the real listening pool, kept between runs by hash of file and feature code.

What belongs here: decode and measure once, read back often. Not here: comparing.
"""

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

from benchmarks.speed.running import counted
from pipelines.audio.decode import decoding
from pipelines.audio.decode.decoder_pool import DecoderPool
from pipelines.audio.features import sound_features as features
from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import (
    MeasuredSound,
    NotComparable,
    SoundMeasurement,
    pack_features,
    unpack_features,
)


class Hearing:
    """Heard sounds of files below `clips`, kept in `folder`."""

    def __init__(self, clips: Path, folder: Path) -> None:
        self.clips = clips
        self.folder = folder / f"features-{FEATURE_VERSION}-{_code_digest()}"
        self.folder.mkdir(parents=True, exist_ok=True)

    def listen(self, files: set[str], *, workers: int) -> int:
        """Listen to every file that is not known yet; returns how many those were."""
        missing = [file for file in sorted(files) if not self._head(file).exists()]
        if missing:
            with DecoderPool(workers) as pool:
                futures = [(file, pool.submit(self.clips / file)) for file in missing]
                for file, future in counted(futures, what="hearing clips", total=len(futures)):
                    self._keep(file, future.result())
        return len(missing)

    def sound(self, file: str) -> SoundMeasurement:
        """What was heard of a file that was listened to."""
        head = json.loads(self._head(file).read_text())
        if "reason" in head:
            return NotComparable(**head)
        packed = self._head(file).with_suffix(".features").read_bytes()
        return MeasuredSound(**head, features=unpack_features(packed))

    def _keep(self, file: str, heard: SoundMeasurement) -> None:
        path = self._head(file)
        if isinstance(heard, NotComparable):
            path.write_text(json.dumps(asdict(heard)))
            return
        path.with_suffix(".features").write_bytes(pack_features(heard.features))
        names = ("sha256", "duration_s", "sample_rate_hz", "codec", "library_version", "cpu_ms")
        path.write_text(json.dumps({name: getattr(heard, name) for name in names}))

    def _head(self, file: str) -> Path:
        return self.folder / f"{_file_digest(self.clips / file)}.json"


@cache
def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _code_digest() -> str:
    """While features are being worked on, their version alone does not tell them apart."""
    folder = Path(features.__file__).parent
    digest = hashlib.sha256(Path(decoding.__file__).read_bytes())
    for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.npz"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
