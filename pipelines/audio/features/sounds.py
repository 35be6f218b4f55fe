"""The result of measuring a sound, and the byte format of its features in the warehouse.

Not here: feature extraction.
"""

import struct
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import pairwise

import numpy as np

from pipelines.audio.features import sound_features
from warehouse.records.evidence import VERDICT_REVISION
from warehouse.records.values import Row

_MAGIC = b"SMTF"
_HEADER = struct.Struct("<4sHII")  # magic, feature version, feature frames, peaks
_READABLE = (
    2,
    int(sound_features.FEATURE_VERSION),
)  # 2: the same, from spectra at the native sample rate
_MOST_FRAMES = 100_000  # more than an hour; a larger count means a corrupt row


class FeaturesUnreadableError(ValueError):
    """The bytes are truncated, of another feature version, or no features."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredSound:
    """A measured sound.

    Attributes:
        sha256: Hash of the file as read.
        features: Uncentred features.
        duration_s: Decoded length in seconds.
        sample_rate_hz: Native sample rate.
        codec: Name of the decoder.
        feature_version: Version of the feature extraction.
        library_version: Versions of decoder and numeric libraries.
        cpu_ms: CPU time of hashing, decoding and measuring; 0 if read from storage.
    """

    sha256: str
    features: sound_features.Features
    duration_s: float
    sample_rate_hz: int
    codec: str
    feature_version: str = sound_features.FEATURE_VERSION
    library_version: str
    cpu_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotComparable:
    """A sound that could not be measured; `reason` is a stable word, `sha256` None if unread."""

    sha256: str | None
    reason: str


type SoundMeasurement = MeasuredSound | NotComparable


@cache  # reading package metadata takes milliseconds, and every verdict records it
def library_version() -> str:
    """Return the versions that features may depend on, like `av 19.0.2; numpy 2.5.5; ...`."""
    return "; ".join(f"{name} {version(name)}" for name in ("av", "numpy", "scipy", "numba"))


def judging_version() -> str:
    """Return the versions that a verdict may depend on: matching rules, then libraries."""
    return f"judging {VERDICT_REVISION}; {library_version()}"


def pack_features(features: sound_features.Features) -> bytes:
    """Serialize features: header, chroma, mel, peaks (little-endian)."""
    peaks = features.peaks
    header = _HEADER.pack(
        _MAGIC, int(sound_features.FEATURE_VERSION), features.frames, len(peaks.frames)
    )
    return b"".join(
        (
            header,
            features.chroma.astype("<f2").tobytes(),
            features.mel_db.astype("<f2").tobytes(),
            peaks.frames.astype("<u2").tobytes(),
            peaks.hertz.astype("<f4").tobytes(),
            peaks.phases.tobytes(),
        )
    )


def unpack_features(packed: bytes) -> sound_features.Features:
    """Deserialize what `pack_features` wrote, in this version of the features or the one before.

    Raises:
        FeaturesUnreadableError: The bytes are truncated, of another format or feature version.
    """
    if len(packed) < _HEADER.size:
        raise FeaturesUnreadableError("packed features are cut off")
    magic, feature_version, frames, peak_count = _HEADER.unpack_from(packed)
    # Damaged counts must not make this process reserve memory.
    if magic != _MAGIC or frames > _MOST_FRAMES or peak_count > 100 * _MOST_FRAMES:
        raise FeaturesUnreadableError("these bytes are no packed features")
    if feature_version not in _READABLE:
        raise FeaturesUnreadableError(f"packed features have version {feature_version}")

    sizes = (
        frames * sound_features.CHROMA_BINS * 2,
        frames * sound_features.MEL_BANDS * 2,
        peak_count * 2,
        peak_count * 4,
        peak_count,
    )
    ends = np.cumsum((_HEADER.size, *sizes))
    if len(packed) != ends[-1]:
        raise FeaturesUnreadableError("packed features are cut off")
    chroma, mel, at, hertz, phases = (packed[start:end] for start, end in pairwise(ends))
    return sound_features.Features(
        np.frombuffer(chroma, "<f2").reshape(frames, sound_features.CHROMA_BINS),
        np.frombuffer(mel, "<f2").reshape(frames, sound_features.MEL_BANDS),
        sound_features.Peaks(
            np.frombuffer(at, "<u2").astype(np.int32),
            np.frombuffer(hertz, "<f4").astype(np.float32),
            np.frombuffer(phases, np.uint8),
        ),
    )


def sound_from_row(row: Row) -> SoundMeasurement:
    """Return the sound of a row of `raw.sounds`.

    Raises:
        FeaturesUnreadableError: The row has features of another format.
    """
    reason = row["not_comparable_reason"]
    if reason is not None:
        return NotComparable(sha256=str(row["sound_sha256"]), reason=str(reason))
    return MeasuredSound(
        sha256=str(row["sound_sha256"]),
        features=unpack_features(row["features"]),
        duration_s=row["duration_s"],
        sample_rate_hz=row["sample_rate_hz"],
        codec=str(row["codec"]),
        feature_version=str(row["feature_version"]),
        library_version=str(row["library_version"]),
    )
