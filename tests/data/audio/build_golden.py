"""Writes `golden/`: stored features of four short sounds, and the numbers of their comparisons.

Run it on purpose only, when the ear is meant to measure or judge otherwise:
`python -m tests.data.audio.build_golden`. A test holds every later run against what it wrote.
"""

import json
from dataclasses import asdict
from pathlib import Path

from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sound_features import FEATURE_VERSION, Features
from pipelines.audio.features.sounds import MeasuredSound, pack_features
from pipelines.audio.matching.verify import compare_pair
from tests.data.audio import synthesis as band
from warehouse.records.evidence import VERDICT_REVISION, MatchThresholds

FOLDER = Path(__file__).parent / "golden"
RATE = 44_100
PAIRS = (("song", "song"), ("song", "voiced"), ("song", "fast"), ("song", "cover"))


def make_golden() -> dict[str, band.Samples]:
    """Nine seconds of each sound, never encoded, so that no encoder's version matters."""
    song = band.track(1, seconds=9.0)
    return {
        "song": song,
        "voiced": band.mix(song, band.speech(5, seconds=9.0), other_db=0),
        "fast": band.resampled(song, 1.1),
        "cover": band.track(1, seconds=9.0, band=61),
    }


def measure_golden() -> dict[str, Features]:
    """The features of each sound, as this machine measures them."""
    return {name: measure_features(samples, RATE) for name, samples in make_golden().items()}


def to_sound(features: Features) -> MeasuredSound:
    """Features as something that was heard."""
    return MeasuredSound(
        sha256="", features=features, duration_s=features.duration_s, sample_rate_hz=RATE,
        codec="", library_version="",
    )  # fmt: skip


def judge_golden(sounds: dict[str, Features]) -> dict[str, dict[str, object]]:
    """The evidence of each pair by name, as JSON gives it back."""
    pairs = {
        f"{one} / {two}": asdict(
            compare_pair(to_sound(sounds[one]), to_sound(sounds[two]), limits=MatchThresholds())
        )
        for one, two in PAIRS
    }
    judged: dict[str, dict[str, object]] = json.loads(json.dumps(pairs))
    return judged


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    sounds = measure_golden()
    for name, features in sounds.items():
        (FOLDER / f"{name}.features").write_bytes(pack_features(features))
    document = {
        "feature_version": FEATURE_VERSION,
        "judging_revision": VERDICT_REVISION,
        "pairs": judge_golden(sounds),
    }
    (FOLDER / "evidence.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
