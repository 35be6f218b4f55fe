"""Features survive storage bit by bit, and broken bytes are refused."""

import numpy as np
import pytest

from pipelines.audio.features.sound_features import FEATURE_VERSION
from pipelines.audio.features.sounds import (
    FeaturesUnreadableError,
    MeasuredSound,
    library_version,
    pack_features,
    unpack_features,
)


def test_packed_features_come_back_unchanged(reference: MeasuredSound) -> None:
    packed = pack_features(reference.features)
    back = unpack_features(packed)
    np.testing.assert_array_equal(back.chroma, reference.features.chroma)
    np.testing.assert_array_equal(back.mel_db, reference.features.mel_db)
    np.testing.assert_array_equal(back.peaks.frames, reference.features.peaks.frames)
    np.testing.assert_array_equal(back.peaks.hertz, reference.features.peaks.hertz)
    assert pack_features(back) == packed


def test_stored_features_are_finite_and_small(reference: MeasuredSound) -> None:
    assert np.all(np.isfinite(reference.features.chroma))
    assert np.all(np.isfinite(reference.features.mel_db))
    assert len(pack_features(reference.features)) < 110_000


def test_features_of_the_version_before_are_read_so_that_old_evidence_can_be_drawn(
    reference: MeasuredSound,
) -> None:
    packed = pack_features(reference.features)
    before = unpack_features(packed[:4] + b"\x02\x00" + packed[6:])
    np.testing.assert_array_equal(before.chroma, reference.features.chroma)


@pytest.mark.parametrize("damage", ["cut", "foreign", "other version", "empty", "longer"])
def test_broken_bytes_are_refused(reference: MeasuredSound, damage: str) -> None:
    packed = pack_features(reference.features)
    broken = {
        "cut": packed[:-7],
        "foreign": b"RIFF" + packed[4:],
        "other version": packed[:4] + b"\xff\xff" + packed[6:],
        "empty": b"",
        "longer": packed + b"\0",
    }[damage]
    with pytest.raises(FeaturesUnreadableError):
        unpack_features(broken)


def test_versions_name_what_measured() -> None:
    assert int(FEATURE_VERSION) > 0
    assert all(name in library_version() for name in ("av", "numpy", "scipy", "numba"))
