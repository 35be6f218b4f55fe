"""Stored evidence can be measured again, and its picture can be drawn from what is stored."""

from typing import Any

import numpy as np
import pytest

from pipelines.audio.explanation import LARGEST_MAP, WIDEST_STRIP, explain_pair, measures_of
from pipelines.audio.features.sound_features import HOP_S, Features
from pipelines.audio.features.sounds import MeasuredSound, pack_features, unpack_features
from pipelines.audio.manifest import deviations, recompute
from pipelines.audio.matching.verify import compare_pair
from tests.audio.clips import Band, ClipMeasurer
from tests.data.audio.synthesis import Samples
from warehouse.records.evidence import MatchThresholds, PairEvidence

LIMITS = MatchThresholds()
LATE_S = 5.0
NUMBERS = (
    "chroma_distance", "mfcc_distance", "overlap_s", "reference_start_s", "candidate_start_s",
    "peak_agreement", "score", "speed", "semitones",
)  # fmt: skip


@pytest.fixture(scope="module")
def candidates(band: Band, measure_clip: ClipMeasurer, song: Samples) -> dict[str, MeasuredSound]:
    return {
        "late": measure_clip(song[round(LATE_S * 44_100) :], ".mp3"),
        "faster": measure_clip(band.resampled(song, 1.1)),
        "stretched": measure_clip(band.stretched(song, 1.07)),
        "other": measure_clip(band.track(2)),
    }


def stored(sound: MeasuredSound) -> Features:
    return unpack_features(pack_features(sound.features))


@pytest.mark.parametrize("name", ["late", "faster", "stretched", "other"])
def test_every_stored_number_is_found_again_from_stored_features(
    name: str, candidates: dict[str, MeasuredSound], reference: MeasuredSound
) -> None:
    evidence = compare_pair(reference, candidates[name], limits=LIMITS)
    again = recompute(stored(reference), stored(candidates[name]), evidence, limits=LIMITS)
    assert again is not None
    for field in NUMBERS:
        assert getattr(again, field) == pytest.approx(getattr(evidence, field), abs=1e-6)
    assert deviations(evidence, again) == {}


def test_a_changed_number_is_told(
    candidates: dict[str, MeasuredSound], reference: MeasuredSound
) -> None:
    evidence = compare_pair(reference, candidates["late"], limits=LIMITS)
    wrong = PairEvidence(verdict="confirmed", reason=evidence.reason, segment=evidence.segment,
                         score=(evidence.score or 0) - 1e-4)  # fmt: skip
    assert deviations(wrong, evidence)["score"] == evidence.score


def test_not_comparable_evidence_is_not_recomputed(reference: MeasuredSound) -> None:
    evidence = PairEvidence(verdict="not_comparable", reason="candidate_silent")
    again = recompute(reference.features, reference.features, evidence, limits=LIMITS)
    assert again is None
    assert deviations(evidence, again) == {}


def test_both_sounds_lie_on_one_time_axis(
    candidates: dict[str, MeasuredSound], reference: MeasuredSound
) -> None:
    evidence = compare_pair(reference, candidates["late"], limits=LIMITS)
    shown = explain_pair(reference.features, candidates["late"].features, evidence, limits=LIMITS)
    assert shown.reference.start_s == 0.0
    assert shown.candidate.start_s == pytest.approx(LATE_S, abs=2 * HOP_S)
    assert shown.reference.levels.shape[0] == shown.candidate.levels.shape[0] == 36


def test_the_map_is_bright_along_the_chosen_window(
    candidates: dict[str, MeasuredSound], reference: MeasuredSound
) -> None:
    candidate = candidates["late"]
    evidence = compare_pair(reference, candidate, limits=LIMITS)
    shown = explain_pair(reference.features, candidate.features, evidence, limits=LIMITS)
    values, window = shown.similarity.values, shown.window
    assert window is not None
    moments = np.linspace(1, window.duration_s - 1, 40)
    rows = (moments + window.candidate_start_s) / shown.similarity.candidate_s * len(values)
    columns = (moments + window.reference_start_s) / shown.similarity.reference_s
    along = values[rows.astype(int), (columns * values.shape[1]).astype(int)]
    assert float(np.median(along)) > 1.5
    assert float(np.median(values)) < 0.3


def test_a_speed_is_undone_before_it_is_shown(
    candidates: dict[str, MeasuredSound], reference: MeasuredSound
) -> None:
    candidate = candidates["faster"]
    evidence = compare_pair(reference, candidate, limits=LIMITS)
    shown = explain_pair(reference.features, candidate.features, evidence, limits=LIMITS)
    assert evidence.verdict == "variant"
    assert shown.candidate.duration_s == pytest.approx(reference.duration_s, abs=0.3)


def test_an_hour_of_sound_is_shown_as_small_as_a_minute(reference: MeasuredSound) -> None:
    long = Features(
        np.tile(reference.features.chroma, (40, 1)),
        np.tile(reference.features.mel_db, (40, 1)),
        reference.features.peaks,
    )
    nothing = PairEvidence(verdict="not_comparable", reason="overlap_too_short")
    shown = explain_pair(long, reference.features, nothing, limits=LIMITS)
    assert max(shown.similarity.values.shape) <= LARGEST_MAP
    assert shown.reference.levels.shape[1] <= WIDEST_STRIP
    assert np.isfinite(shown.similarity.values).all()


@pytest.mark.parametrize(
    ("overlap_s", "limit", "is_met"),
    [(43 * HOP_S, 2.0, True), (42 * HOP_S, 2.0, False), (5.5, 5.5, True)],
    ids=["two seconds in frames", "a frame less", "equal to the limit"],
)
def test_a_length_is_measured_in_whole_frames(overlap_s: float, limit: float, is_met: bool) -> None:
    evidence = PairEvidence(verdict="variant", reason="", segment="local", overlap_s=overlap_s)
    overlap = next(one for one in measures_of(evidence, LIMITS) if one.name == "overlap_s")
    assert (overlap.limit, overlap.is_met) == (limit, is_met)


def test_a_distance_that_rounding_lifts_above_its_limit_meets_it() -> None:
    close = LIMITS.local_chroma_distance + 1e-12
    evidence = PairEvidence(verdict="confirmed", reason="", segment="local", chroma_distance=close)
    assert measures_of(evidence, LIMITS)[0].is_met


@pytest.mark.parametrize(
    ("segment", "limit"), [("whole", LIMITS.whole_chroma_distance), ("local", 0.65)]
)
def test_numbers_stand_beside_the_limits_of_their_segment(segment: Any, limit: float) -> None:
    evidence = PairEvidence(verdict="rejected", reason="", segment=segment, chroma_distance=0.3)
    chroma, mfcc, *_ = measures_of(evidence, LIMITS)
    assert (chroma.limit, chroma.is_met) == (limit, segment == "local")
    assert mfcc.is_met is None
