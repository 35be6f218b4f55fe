"""Recordings whose clocks run unevenly: tape, resynchronised videos, phones. And other players."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.audio.features.sounds import MeasuredSound
from pipelines.audio.matching.verify import compare_pair
from tests.audio.clips import Band, ClipMeasurer
from tests.data.audio.synthesis import RATE, Samples
from warehouse.records.evidence import MatchThresholds, PairEvidence, variant_kind

LIMITS = MatchThresholds()
WOW_HZ = 0.7
type Clock = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""The moment of the recording that is heard at each moment of the clip, in seconds."""


def steady(moments: NDArray[np.float64]) -> NDArray[np.float64]:
    return moments


def wow(percent: float) -> Clock:
    """A speed that swings by so much around the right one."""
    swing = percent / 100 / (2 * np.pi * WOW_HZ)
    return lambda moments: moments + swing * np.sin(2 * np.pi * WOW_HZ * moments)


def resynchronised(most_ms: float) -> Clock:
    """Each second begins up to so much early or late."""
    early = np.random.default_rng(7).uniform(-most_ms, most_ms, 60) / 1000
    return lambda moments: moments + early[moments.astype(np.int64)]


def drifting(last_speed: float) -> Clock:
    """A speed that goes from the right one to this one."""
    return lambda moments: moments + (last_speed - 1) * moments**2 / (2 * moments[-1])


def clock(ratio: float) -> Clock:
    return lambda moments: ratio * moments


def heard_by(samples: Samples, time_of: Clock) -> Samples:
    """The recording as it sounds under such a clock."""
    moments = np.arange(len(samples)) / RATE
    places = time_of(moments) * RATE
    inside = places[places < len(samples) - 1]
    return np.interp(inside, np.arange(len(samples)), samples).astype(np.float32)


@pytest.fixture
def compared(
    reference: MeasuredSound, song: Samples, measure_clip: ClipMeasurer
) -> Callable[[Clock], PairEvidence]:
    def compare(time_of: Clock) -> PairEvidence:
        return compare_pair(reference, measure_clip(heard_by(song, time_of)), limits=LIMITS)

    return compare


@pytest.mark.parametrize(
    "time_of",
    [steady, wow(0.1), wow(0.3), resynchronised(2.0), resynchronised(5.0), clock(1.001)],
    ids=["steady", "wow 0.1 %", "wow 0.3 %", "2 ms", "5 ms", "clock 0.1 %"],
)
def test_a_recording_whose_time_is_uneven_is_confirmed(
    compared: Callable[[Clock], PairEvidence], time_of: Clock
) -> None:
    evidence = compared(time_of)
    assert (evidence.verdict, evidence.speed) == ("confirmed", 1.0)


@pytest.mark.parametrize("last_speed", [1.02, 1.03])
def test_a_recording_that_drifts_away_is_a_variant_of_another_speed(
    compared: Callable[[Clock], PairEvidence], last_speed: float
) -> None:
    evidence = compared(drifting(last_speed))
    assert evidence.verdict == "variant"
    assert variant_kind(evidence) == "speed"
    assert evidence.speed is not None
    assert 1.002 < evidence.speed < last_speed


@pytest.mark.parametrize(
    "time_of", [steady, wow(0.3), resynchronised(5.0)], ids=["steady", "wow 0.3 %", "5 ms"]
)
def test_a_score_played_in_the_same_time_by_others_is_rejected(
    reference: MeasuredSound, band: Band, measure_clip: ClipMeasurer, time_of: Clock
) -> None:
    cover = measure_clip(heard_by(band.track(1, band=2), time_of))
    assert compare_pair(reference, cover, limits=LIMITS).verdict == "rejected"


def test_a_drift_is_found_without_a_search_for_edits(
    reference: MeasuredSound,
    song: Samples,
    measure_clip: ClipMeasurer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("pipelines.audio.matching.judging.judge_edits")
    candidate = measure_clip(heard_by(song, drifting(1.02)))
    evidence = compare_pair(reference, candidate, limits=LIMITS)
    assert (evidence.verdict, evidence.reason) == ("variant", "speed_variant")
    assert evidence.speed is not None
    assert evidence.semitones == pytest.approx(12 * math.log2(evidence.speed), abs=0.002)


def test_a_drift_is_a_variant_only_with_a_score_of_at_least_the_threshold(
    reference: MeasuredSound, song: Samples, measure_clip: ClipMeasurer
) -> None:
    candidate = measure_clip(heard_by(song, drifting(1.02)))
    for threshold in np.arange(0.88, 1.0, 0.01):
        limits = MatchThresholds(match_threshold=float(threshold))
        evidence = compare_pair(reference, candidate, limits=limits)
        assert evidence.score is not None
        assert (evidence.verdict == "variant") == (evidence.score >= threshold)
