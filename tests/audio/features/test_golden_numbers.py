"""The same features give the same numbers for good, and the same samples the same features.

Not to the last bit: processors add up in another order (vector width, fused multiplication), and
float16 turns a difference of 1e-7 into a whole step, which is 0.03 where chroma is largest. So the
numbers that a verdict is made of are held, each with a limit that every processor keeps and that
a small change of the measurement breaks. Both were measured; the figures stand beside the limits.
"""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.accuracy.versions import differences
from pipelines.audio.features import measurement, sound_features
from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sound_features import (
    FEATURE_VERSION,
    FINE_HOP_S,
    HOP_S,
    Features,
    FilterBanks,
    Peaks,
    geometry,
)
from pipelines.audio.features.sounds import pack_features, unpack_features
from pipelines.audio.matching.verify import compare_pair
from tests.data.audio.build_golden import FOLDER, RATE, judge_golden, make_golden, to_sound
from warehouse.records.evidence import VERDICT_REVISION, MatchThresholds

STORED: dict[str, Any] = json.loads((FOLDER / "evidence.json").read_text())
NAMES = ("song", "voiced", "fast", "cover")
type Samples = NDArray[np.float32]

FEATURES_WITHIN = {
    # the matcher's own distances: at most 2.1e-8 between processors, 1.5e-5 and 4.9e-5 when a hop
    # is a ten-thousandth longer
    "chroma_distance": 1e-6,
    "mfcc_distance": 1e-6,
    # root mean square, because distances see no level: 8.6e-5 of the chroma and 1.5e-3 dB between
    # processors, 1.9e-3 and 0.087 dB when the level is one percent higher
    "chroma_level": 1e-3,
    "mel_level_db": 0.02,
    # of 360 peaks one may lie elsewhere (0.0028), because two are equally prominent; 41 instead
    # of 40 peaks a second are 0.024
    "peaks_moved": 0.01,
}
EVIDENCE_WITHIN = {
    # largest difference between processors, measured anew from the samples: 5.0e-6
    "score": 1e-3,
    "chroma_distance": 1e-4,
    "mfcc_distance": 1e-4,
    # one of 360 peaks may lie elsewhere
    "peak_agreement": 3e-3,
    # a frame, where two windows agree equally well
    "overlap_s": 1.01 * HOP_S,
    "reference_start_s": 1.01 * HOP_S,
    "candidate_start_s": 1.01 * HOP_S,
    # one step of the search
    "speed": 1.01e-3,
    "semitones": 0.02,
    # a correlation of chroma divided by others of the same pair
    "version_score": 1e-3,
}


def feature_distances(first: Features, second: Features) -> dict[str, float]:
    """How far two measurements of one sound are apart, by the names of the limits."""
    count = min(first.frames, second.frames)
    evidence = compare_pair(to_sound(first), to_sound(second), limits=MatchThresholds())
    assert evidence.chroma_distance is not None
    assert evidence.mfcc_distance is not None
    one, two = first.chroma[:count].astype(float), second.chroma[:count].astype(float)
    decibels = first.mel_db[:count].astype(float) - second.mel_db[:count].astype(float)
    return {
        "chroma_distance": evidence.chroma_distance,
        "mfcc_distance": evidence.mfcc_distance,
        "chroma_level": float(np.sqrt(np.mean((one - two) ** 2) / np.mean(one**2))),
        "mel_level_db": float(np.sqrt(np.mean(decibels**2))),
        "peaks_moved": max(
            share_moved(first.peaks, second.peaks), share_moved(second.peaks, first.peaks)
        ),
    }


def share_moved(peaks: Peaks, others: Peaks) -> float:
    """The share of peaks that have no other in the same frame within a twentieth of a hertz."""
    is_near = np.abs(peaks.hertz[:, None] - others.hertz[None, :]) <= 0.05
    is_near &= peaks.frames[:, None] == others.frames[None, :]
    return float(np.mean(~is_near.any(axis=1)))


def beyond(found: Mapping[str, float]) -> dict[str, float]:
    """The distances that are larger than any processor makes them."""
    return {name: value for name, value in found.items() if value > FEATURES_WITHIN[name]}


def deviations(stored: Mapping[str, Any], again: Mapping[str, Any]) -> list[str]:
    """What differs between the evidence of pairs: words at all, numbers by more than the limits."""
    assert stored.keys() == again.keys()
    return [
        f"{pair}: {name} {value} and {again[pair][name]}"
        for pair, evidence in stored.items()
        for name, value in evidence.items()
        if not _is_close(name, value, again[pair][name])
    ]


def _is_close(name: str, one: object, two: object) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return abs(one - two) <= EVIDENCE_WITHIN[name]
    return one == two


@pytest.fixture(scope="module")
def stored() -> dict[str, Features]:
    return {name: unpack_features((FOLDER / f"{name}.features").read_bytes()) for name in NAMES}


@pytest.fixture(scope="module")
def samples() -> dict[str, Samples]:
    return make_golden()


@pytest.fixture(scope="module")
def measured(samples: dict[str, Samples]) -> dict[str, Features]:
    return {name: measure_features(one, RATE) for name, one in samples.items()}


def test_stored_features_give_the_stored_verdicts_and_numbers(stored: dict[str, Features]) -> None:
    assert deviations(STORED["pairs"], judge_golden(stored)) == []


def test_features_measured_again_give_the_stored_verdicts_and_numbers(
    measured: dict[str, Features],
) -> None:
    assert deviations(STORED["pairs"], judge_golden(measured)) == []


def test_the_stored_verdicts_are_the_right_ones() -> None:
    verdicts = {name: pair["verdict"] for name, pair in STORED["pairs"].items()}
    assert verdicts == {
        "song / song": "confirmed", "song / voiced": "confirmed", "song / fast": "variant",
        "song / cover": "rejected",
    }  # fmt: skip


def test_other_numbers_need_another_version() -> None:
    assert STORED["feature_version"] == FEATURE_VERSION
    assert STORED["judging_revision"] == VERDICT_REVISION


@pytest.mark.parametrize("name", NAMES)
def test_the_same_samples_give_the_stored_features(
    stored: dict[str, Features], measured: dict[str, Features], name: str
) -> None:
    assert measured[name].frames == stored[name].frames
    assert beyond(feature_distances(stored[name], measured[name])) == {}


_ELSEWHERE = """
import sys
from pathlib import Path
import numpy as np
from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sounds import pack_features
for path in map(Path, sys.argv[1:]):
    packed = pack_features(measure_features(np.load(path), 44_100))
    path.with_suffix(".features").write_bytes(packed)
"""


def test_a_processor_without_wide_vectors_measures_the_same(
    stored: dict[str, Features], samples: dict[str, Samples], tmp_path: Path
) -> None:
    paths = [tmp_path / f"{name}.npy" for name in ("fast", "cover")]  # they differ most
    for path in paths:
        np.save(path, samples[path.stem])
    built: Any = np.show_config(mode="dicts")
    extensions = built["SIMD Extensions"].get("found", [])  # those beyond what NumPy always uses
    # The oldest kernels that OpenBLAS runs on every processor: its older ones, for Prescott and
    # Core2, crash on some AMD EPYC.
    older = {"NPY_DISABLE_CPU_FEATURES": " ".join(extensions), "OPENBLAS_CORETYPE": "Nehalem"}
    command = [sys.executable, "-W", "ignore", "-c", _ELSEWHERE, *map(str, paths)]
    subprocess.run(command, check=True, env=os.environ | older)
    for path in paths:
        elsewhere = unpack_features(path.with_suffix(".features").read_bytes())
        assert beyond(feature_distances(stored[path.stem], elsewhere)) == {}


def _mel_from(bottom_hz: float) -> Callable[[pytest.MonkeyPatch], None]:
    def change(monkeypatch: pytest.MonkeyPatch) -> None:
        bank = sound_features.filter_banks(RATE)
        monkeypatch.setattr(sound_features, "MEL_BOTTOM_HZ", bottom_hz)
        other = sound_features.build_filter_banks(geometry(RATE))
        monkeypatch.setattr(
            sound_features, "filter_banks", lambda _: FilterBanks(bank.chroma, other.mel)
        )

    return change


def _tuned_by(cents: float) -> Callable[[pytest.MonkeyPatch], None]:
    def change(monkeypatch: pytest.MonkeyPatch) -> None:
        bank, grid = sound_features.filter_banks(RATE), geometry(RATE)
        rate: Any = grid.rate * 2 ** (cents / 1200)
        chroma = sound_features.chroma_bank(rate, grid.long_size)[:, : grid.long_bins]
        other = FilterBanks(chroma.astype(np.float32), bank.mel)
        monkeypatch.setattr(sound_features, "filter_banks", lambda _: other)

    return change


def _narrower_window(monkeypatch: pytest.MonkeyPatch) -> None:
    hann = measurement._hann
    monkeypatch.setattr(measurement, "_hann", lambda size: hann(size) ** np.float32(1.05))


def _set(module: object, name: str, value: object) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(module, name, value)


@pytest.mark.parametrize(
    ("change", "seen_by"),
    [
        pytest.param(
            _set(sound_features, "HOP_S", 1.0001 * HOP_S), "chroma_distance", id="hop +0.01 %"
        ),
        pytest.param(
            _set(sound_features, "FINE_HOP_S", 1.0001 * FINE_HOP_S),
            "mfcc_distance",
            id="fine hop +0.01 %",
        ),
        pytest.param(_tuned_by(0.5), "chroma_distance", id="tuning +0.5 cents"),
        pytest.param(_narrower_window, "chroma_distance", id="Hann window to the power of 1.05"),
        pytest.param(_mel_from(80.5), "mfcc_distance", id="mel bands from 80.5 Hz"),
        pytest.param(
            _set(measurement, "_CHROMA_BACKGROUND_BINS", 53),
            "chroma_distance",
            id="whitening of 53 bins",
        ),
        pytest.param(
            _set(measurement, "_COMPRESSION", np.float32(10.1)), "chroma_level", id="loudness +1 %"
        ),
        pytest.param(
            _set(measurement, "_LEVEL", np.float32(0.101)), "mel_level_db", id="level +1 %"
        ),
        pytest.param(
            _set(measurement, "_DYNAMIC_DB", np.float32(59.5)), "mel_level_db", id="floor 0.5 dB up"
        ),
        pytest.param(_set(measurement, "PEAKS_PER_S", 41), "peaks_moved", id="41 peaks a second"),
        pytest.param(
            _set(measurement, "_REACH_FRAMES", 3), "peaks_moved", id="peaks reach 3 frames"
        ),
    ],
)
def test_a_small_change_of_the_measurement_is_seen(
    change: Callable[[pytest.MonkeyPatch], None],
    seen_by: str,
    stored: dict[str, Features],
    samples: dict[str, Samples],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change(monkeypatch)
    changed = measure_features(samples["song"], RATE)
    assert seen_by in beyond(feature_distances(stored["song"], changed))


@pytest.mark.parametrize("name", sorted(EVIDENCE_WITHIN))
def test_a_number_of_the_evidence_beyond_its_limit_is_seen(name: str) -> None:
    moved = copy.deepcopy(STORED["pairs"])
    pair = "song / cover" if name == "version_score" else "song / fast"  # a variant has none
    moved[pair][name] += 1.1 * EVIDENCE_WITHIN[name]
    (found,) = deviations(STORED["pairs"], moved)
    assert found.startswith(f"{pair}: {name} ")


def test_golden_comparison_reports_a_changed_reason() -> None:
    renamed = copy.deepcopy(STORED["pairs"])
    renamed["song / cover"]["reason"] = "tones_differ"
    assert len(deviations(STORED["pairs"], renamed)) == 1


def test_packed_features_are_what_was_stored(stored: dict[str, Features]) -> None:
    for name, features in stored.items():
        assert pack_features(features) == (FOLDER / f"{name}.features").read_bytes()


def test_one_number_or_word_that_differs_is_told() -> None:
    one = {"a / b": {"score": 0.5, "verdict": "rejected"}}
    assert list(differences(one, {"a / b": {"score": 0.5 + 1e-7, "verdict": "rejected"}})) == []
    assert len(list(differences(one, {"a / b": {"score": 0.51, "verdict": "variant"}}))) == 2
    assert list(differences(one, {})) == ["a / b: only one of both judged it"]
