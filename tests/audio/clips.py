"""Sounds of the small test band, made once for a run of the tests and shared by its processes.

To play, encode and measure a clip costs a second of processor time; most tests of the matcher ask
for the same few clips.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from pipelines.audio.decode.decoding import decode_sound
from pipelines.audio.decode.protocol import DecodeLimits
from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sounds import MeasuredSound, pack_features, unpack_features
from tests.data.audio import synthesis
from tests.data.audio.synthesis import RATE, Samples
from tests.shared_files import SharedFolder

PATIENT = DecodeLimits(wall_s=300.0)
"""On a busy machine a file may take long, and no test fails for that."""
CLIP_S = 12.0
"""Length of a clip where a test needs no other: long enough for every rule of the matcher."""


@dataclass(frozen=True)
class Band:
    """The band of `synthesis`, whose slow pieces are played once. Samples are read-only."""

    shared: SharedFolder

    def track(self, seed: int, *, seconds: float = CLIP_S, band: int | None = None) -> Samples:
        """The recording of a seed; another `band` plays the same score as a cover."""
        name = f"track-{seed}-{seconds}-{band}"
        return self._kept(name, partial(synthesis.track, seed, seconds=seconds, band=band))

    def speech(self, seed: int, *, seconds: float = CLIP_S) -> Samples:
        """Something like a voice."""
        name = f"speech-{seed}-{seconds}"
        return self._kept(name, partial(synthesis.speech, seed, seconds=seconds))

    def stretched(self, sound: Samples, tempo: float) -> Samples:
        """Play at another tempo and the same pitch."""
        name = f"stretched-{_hash(sound)}-{tempo}"
        return self._kept(name, partial(synthesis.stretched, sound, tempo))

    def noise(self, seed: int, *, seconds: float = CLIP_S) -> Samples:
        """White noise."""
        return synthesis.noise(seed, seconds=seconds)

    def _kept(self, name: str, make: Callable[[], Samples]) -> Samples:
        file = self.shared.file(f"{name}.f32", lambda draft: make().tofile(draft))
        return np.frombuffer(file.read_bytes(), np.float32)

    def __getattr__(self, name: str) -> Any:
        """Everything that costs little is the band's own."""
        return getattr(synthesis, name)


@dataclass(frozen=True)
class ClipMeasurer:
    """Encodes samples and measures the file: a verdict is about encoded sound."""

    shared: SharedFolder

    def __call__(
        self, samples: Samples, ending: str = ".mp3", *, rate: int = RATE, **encoding: int
    ) -> MeasuredSound:
        """The sound as it is heard in a file of this ending."""
        how = "-".join(f"{name}-{value}" for name, value in sorted(encoding.items()))
        stem = f"{_hash(samples)}-{rate}-{how}{ending}"

        def write(path: Path) -> Path:
            return synthesis.write_sound(path, samples, rate=rate, quick=True, **encoding)

        packed = self.shared.file(f"{stem}.features", lambda draft: _measure(draft, ending, write))
        head, _, features = packed.read_bytes().partition(b"\n")
        return MeasuredSound(
            sha256="0" * 64,
            features=unpack_features(features),
            library_version="test",
            **orjson.loads(head),
        )


def _measure(draft: Path, ending: str, write: Callable[[Path], Path]) -> None:
    encoded = draft.with_suffix(ending)
    decoded = decode_sound(write(encoded), DecodeLimits())
    encoded.unlink()
    head = {
        "duration_s": len(decoded.samples) / decoded.rate,
        "sample_rate_hz": decoded.rate,
        "codec": decoded.codec,
    }
    features = measure_features(decoded.samples, decoded.rate)
    draft.write_bytes(orjson.dumps(head) + b"\n" + pack_features(features))


def _hash(samples: Samples) -> str:
    return hashlib.sha256(np.ascontiguousarray(samples, np.float32)).hexdigest()[:20]
