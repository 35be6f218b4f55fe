"""A few unchanged seconds in common make a variant of the kind `excerpt`, never a confirmation."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pipelines.audio.explanation import measures_of
from pipelines.audio.features.sound_features import Peaks
from pipelines.audio.features.sounds import MeasuredSound
from pipelines.audio.manifest import deviations, recompute
from pipelines.audio.matching.agreement import common_stretches, is_reversed
from pipelines.audio.matching.judging import judge_excerpt
from pipelines.audio.matching.verify import compare_pair, verify_group
from tests.audio.clips import Band, ClipMeasurer
from tests.data.audio.synthesis import RATE, Samples
from warehouse.records.evidence import (
    MatchThresholds,
    PairEvidence,
    is_confirmed_unshifted,
    variant_kind,
)

LIMITS = MatchThresholds()


def part(song: Samples, start_s: float, seconds: float) -> Samples:
    return song[round(start_s * RATE) : round((start_s + seconds) * RATE)]


@pytest.mark.parametrize("seconds", [2.2, 3.0, 5.2])
def test_a_short_clip_of_the_recording_is_an_excerpt_at_its_place(
    measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound, seconds: float
) -> None:
    evidence = compare_pair(reference, measure_clip(part(song, 4.0, seconds)), limits=LIMITS)
    assert (evidence.verdict, evidence.reason) == ("variant", "excerpt_variant")
    assert variant_kind(evidence) == "excerpt"
    assert (evidence.speed, evidence.semitones) == (1, 0)
    assert 2 <= (evidence.overlap_s or 0) < LIMITS.local_overlap_s
    assert evidence.reference_start_s is not None
    assert evidence.candidate_start_s is not None
    assert evidence.reference_start_s - evidence.candidate_start_s == pytest.approx(4, abs=0.1)
    assert not is_confirmed_unshifted(evidence, LIMITS)


def test_a_few_seconds_amid_another_song_are_an_excerpt(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    between = np.concatenate(
        [part(band.track(2), 0, 5), part(song, 6, 3), part(band.track(3), 0, 4)]
    )
    evidence = compare_pair(reference, measure_clip(between), limits=LIMITS)
    assert (evidence.verdict, evidence.reason) == ("variant", "excerpt_variant")
    assert evidence.candidate_start_s == pytest.approx(5, abs=0.6)
    assert evidence.reference_start_s == pytest.approx(6, abs=0.6)


def test_a_loop_of_a_short_piece_is_named(
    measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    looped = measure_clip(np.tile(part(song, 5, 3), 4))
    evidence = compare_pair(reference, looped, limits=LIMITS)
    assert (evidence.verdict, evidence.reason) == ("variant", "looped_excerpt_variant")
    assert variant_kind(evidence) == "excerpt"


def test_a_short_clip_of_another_song_or_of_a_cover_is_rejected_with_measures(
    band: Band, measure_clip: ClipMeasurer, reference: MeasuredSound
) -> None:
    others = [part(band.track(2), 3, 3), part(band.track(1, band=60), 3, 3)]
    for other in others:
        evidence = compare_pair(reference, measure_clip(other), limits=LIMITS)
        assert evidence.verdict == "rejected"
        assert (evidence.score or 0) < 0.5


def test_a_short_clip_is_not_comparable_as_heard_alone(
    measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    short = measure_clip(part(song, 4, 3))
    evidence = compare_pair(reference, short, limits=LIMITS, search=False)
    assert (evidence.verdict, evidence.reason) == ("not_comparable", "overlap_too_short")


def test_a_group_with_a_short_candidate_is_a_variant(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    other = measure_clip(band.track(2))
    verdict = verify_group([other, reference], [measure_clip(part(song, 4, 3))], limits=LIMITS)
    assert (verdict.verdict, verdict.reason) == ("variant", "excerpt_variant")


def test_evidence_says_from_which_length_on_excerpts_were_searched(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    short = compare_pair(reference, measure_clip(part(song, 4, 3)), limits=LIMITS).searched
    other = compare_pair(reference, measure_clip(band.track(2)), limits=LIMITS).searched
    unsearched = compare_pair(reference, reference, limits=LIMITS).searched
    assert short is not None
    assert other is not None
    assert unsearched is not None
    assert (short.min_excerpt_s, short.speed) == (2, (1, 1))
    assert (other.min_excerpt_s, other.speed) == (2, (0.5, 2))
    assert unsearched.min_excerpt_s is None


def test_a_match_by_other_windows_says_no_more_was_searched_than_one_as_heard(
    monkeypatch: pytest.MonkeyPatch,
    band: Band,
    measure_clip: ClipMeasurer,
    reference: MeasuredSound,
) -> None:
    other = measure_clip(band.track(2))
    window = PairEvidence(verdict="confirmed", reason="local_rule_met", score=0.8)
    monkeypatch.setattr("pipelines.audio.matching.judging.judge_windows", lambda *_: window)
    found = compare_pair(reference, other, limits=LIMITS)
    assert found.verdict == "confirmed"
    assert found.searched == compare_pair(reference, other, limits=LIMITS, search=False).searched


def test_an_excerpt_is_measured_again_with_equal_values_and_meets_its_own_limits(
    measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    short = measure_clip(part(song, 4, 3))
    evidence = compare_pair(reference, short, limits=LIMITS)
    again = recompute(reference.features, short.features, evidence, limits=LIMITS)
    assert deviations(evidence, again) == {}
    overlap = next(one for one in measures_of(evidence, LIMITS) if one.name == "overlap_s")
    assert (overlap.limit, overlap.is_met) == (2, True)


def test_an_excerpt_of_a_longer_sound_is_measured_again_in_the_same_stretches(
    monkeypatch: pytest.MonkeyPatch,
    band: Band,
    measure_clip: ClipMeasurer,
    song: Samples,
    reference: MeasuredSound,
) -> None:
    between = measure_clip(np.concatenate([part(band.track(2), 0, 5), part(song, 6, 3)]))
    judged: list[object] = []

    def judge(*given: Any) -> PairEvidence | None:
        judged.append(given[-1])
        return judge_excerpt(*given)

    monkeypatch.setattr("pipelines.audio.matching.judging.judge_excerpt", judge)
    evidence = compare_pair(reference, between, limits=LIMITS)
    again = recompute(reference.features, between.features, evidence, limits=LIMITS)
    assert evidence.reason == "excerpt_variant"
    assert deviations(evidence, again) == {}
    first, second = judged
    assert first == second


def peaks(seed: int, *, count: int = 800, frames: int = 800) -> Peaks:
    rng = np.random.default_rng(seed)
    return Peaks(
        np.sort(rng.integers(0, frames, count)).astype(np.int32),
        rng.uniform(215, 4_500, count).astype(np.float32),
        np.zeros(count, dtype=np.uint8),
    )


def test_peaks_find_the_stretch_and_the_lag_of_a_piece() -> None:
    whole = peaks(1)
    inside = (whole.frames >= 300) & (whole.frames < 430)
    piece = replace(
        whole,
        frames=whole.frames[inside] - 300,
        hertz=whole.hertz[inside],
        phases=whole.phases[inside],
    )
    [first, *_] = common_stretches(whole, piece)
    assert (first.lag, first.first_frame) == (300, 0)
    assert first.last_frame >= 110


def test_unrelated_or_missing_peaks_have_nothing_in_common() -> None:
    nothing = peaks(1, count=0)
    assert common_stretches(peaks(1), peaks(2)) == []
    assert common_stretches(nothing, peaks(1)) == []
    assert common_stretches(peaks(1), nothing) == []
    assert not is_reversed(peaks(1), nothing)


def test_a_sound_played_backwards_is_named_and_stays_rejected(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    turned = measure_clip(song[::-1].copy())
    backwards = compare_pair(reference, turned, limits=LIMITS)
    assert (backwards.verdict, backwards.observation) == ("rejected", "likely_reversed")
    again = recompute(reference.features, turned.features, backwards, limits=LIMITS)
    assert deviations(backwards, again) == {}
    other = compare_pair(reference, measure_clip(band.track(2)[::-1].copy()), limits=LIMITS)
    assert (other.verdict, other.observation) == ("rejected", None)
