"""What was sped up, stretched or pitched is found as a variant, never as what was heard."""

from dataclasses import asdict

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.audio.features.sound_features import Peaks
from pipelines.audio.features.sounds import MeasuredSound, NotComparable
from pipelines.audio.matching.hypotheses import Hypothesis, speed, undo, undo_peaks
from pipelines.audio.matching.verify import compare_pair, verify_group
from pipelines.documents.messages import searched_message
from tests.audio.clips import Band, ClipMeasurer
from tests.data.audio.synthesis import RATE, Samples
from warehouse.records.evidence import MatchThresholds, SearchedRange, variant_kind

LIMITS = MatchThresholds()


@pytest.mark.parametrize("factor", [0.62, 0.8, 0.873, 0.985, 1.005, 1.03, 1.1, 1.33, 1.71])
def test_speed_is_found_to_a_fifth_of_a_percent(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound, factor: float
) -> None:
    evidence = compare_pair(reference, measure_clip(band.resampled(song, factor)), limits=LIMITS)
    assert evidence.verdict == "variant"
    assert evidence.reason == "speed_variant"
    assert evidence.speed == pytest.approx(factor, rel=0.002)
    assert evidence.semitones == pytest.approx(12 * np.log2(factor), abs=0.04)
    assert (evidence.score or 0) > 0.8


@pytest.mark.parametrize("tempo", [0.67, 0.9, 0.95, 1.07, 1.4])
def test_tempo_is_found_without_pitch(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound, tempo: float
) -> None:
    evidence = compare_pair(reference, measure_clip(band.stretched(song, tempo)), limits=LIMITS)
    assert (evidence.verdict, evidence.reason) == ("variant", "tempo_variant")
    assert evidence.speed == pytest.approx(tempo, rel=0.005)
    assert evidence.semitones == 0


@pytest.mark.parametrize("semitones", [-8, -2, -1.7, -0.318, 0.3, 0.7, 1, 1.3, 7])
def test_pitch_is_found_without_tempo(
    band: Band,
    measure_clip: ClipMeasurer,
    song: Samples,
    reference: MeasuredSound,
    semitones: float,
) -> None:
    ratio = 2 ** (semitones / 12)
    pitched = band.resampled(band.stretched(song, 1 / ratio), ratio)
    evidence = compare_pair(reference, measure_clip(pitched), limits=LIMITS)
    assert (evidence.verdict, evidence.reason) == ("variant", "pitch_variant")
    assert evidence.speed == 1
    assert evidence.semitones == pytest.approx(semitones, abs=0.05)


@pytest.mark.parametrize(("tempo", "semitones"), [(0.7, 3), (0.85, -6), (1.2, -2.5), (1.4, 9)])
def test_tempo_and_pitch_changed_independently_are_found_together(
    band: Band,
    measure_clip: ClipMeasurer,
    song: Samples,
    reference: MeasuredSound,
    tempo: float,
    semitones: float,
) -> None:
    ratio = 2 ** (semitones / 12)
    changed = band.resampled(band.stretched(song, tempo / ratio), ratio)
    evidence = compare_pair(reference, measure_clip(changed), limits=LIMITS)
    assert (evidence.verdict, evidence.reason) == ("variant", "pitch_and_speed_variant")
    assert variant_kind(evidence) == "pitch_and_speed"
    assert evidence.speed == pytest.approx(tempo, rel=0.005)
    assert evidence.semitones == pytest.approx(semitones, abs=0.06)


def test_group_searches_further_references_only_if_the_first_nearly_matches(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    other, fast = measure_clip(band.track(2)), measure_clip(band.resampled(song, 1.1))
    unrelated = verify_group([reference, reference], [other], limits=LIMITS, keeps_order=True)
    reached = [pair.evidence.searched for pair in unrelated.pairs]
    assert [one.speed if one else None for one in reached] == [(0.5, 2), (1, 1)]
    found = verify_group([reference, reference], [fast], limits=LIMITS, keeps_order=True)
    assert found.verdict == "variant"


def test_a_reference_too_short_for_edits_leaves_the_search_to_the_next(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    short, fast = measure_clip(song[: 3 * 44_100]), measure_clip(band.resampled(song, 1.1))
    found = verify_group([short, reference], [fast], limits=LIMITS, keeps_order=True)
    assert (found.verdict, found.reason) == ("variant", "speed_variant")
    assert found.best is not None
    assert found.best.reference_index == 1


def test_a_reference_that_repeats_a_few_seconds_does_not_hide_edits_of_the_rest(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    loop = measure_clip(np.tile(song[: round(2.5 * RATE)], 5))
    fast = measure_clip(band.resampled(song[round(4 * RATE) :], 1.3))
    found = verify_group([loop, reference], [fast], limits=LIMITS, keeps_order=True)
    assert (found.verdict, found.reason) == ("variant", "speed_variant")
    assert found.best is not None
    assert found.best.reference_index == 1


def test_variant_under_voice_that_starts_late_is_found_where_it_lies(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    fast = band.resampled(song[2 * 44_100 :], 1.15)
    late = np.concatenate([band.speech(8, seconds=5.0)[: 3 * 44_100], fast])
    voiced = measure_clip(band.mix(late, band.speech(5), other_db=-6))
    evidence = compare_pair(reference, voiced, limits=LIMITS)
    assert evidence.verdict == "variant"
    assert evidence.reference_start_s is not None
    assert evidence.candidate_start_s is not None
    expected = 3 + (evidence.reference_start_s - 2) / 1.15
    assert evidence.candidate_start_s == pytest.approx(expected, abs=0.1)


def test_without_search_a_variant_is_rejected(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    fast = measure_clip(band.resampled(song, 1.1))
    assert compare_pair(reference, fast, limits=LIMITS, search=False).verdict == "rejected"


def test_search_confirms_no_cover_and_no_other_song(
    band: Band, measure_clip: ClipMeasurer, reference: MeasuredSound
) -> None:
    others = [measure_clip(band.track(seed)) for seed in range(2, 6)]
    assert {compare_pair(reference, one, limits=LIMITS).verdict for one in others} == {"rejected"}
    whole = measure_clip(band.track(1, seconds=21.0))
    cover = measure_clip(band.resampled(band.track(1, seconds=21.0, band=60), 1.06))
    assert compare_pair(whole, cover, limits=LIMITS).verdict == "rejected"


def test_group_is_confirmed_by_any_pair_and_stops_when_sure(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    noisy = measure_clip(band.mix(song, band.speech(5), other_db=3))
    other, clean = measure_clip(band.track(2)), measure_clip(song, ".mp3")
    verdict = verify_group([noisy, reference], [other, clean], limits=LIMITS)
    assert verdict.verdict == "confirmed"
    assert verdict.best is not None
    assert (verdict.best.reference_index, verdict.best.candidate_index) == (1, 1)
    assert len(verdict.pairs) == 2


def test_group_keeps_a_variant_apart_and_names_what_could_not_be_checked(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    silent = NotComparable(sha256="0" * 64, reason="silent")
    fast = measure_clip(band.resampled(song, 1.1))
    first = verify_group([reference], [silent, fast], limits=LIMITS)
    second = verify_group([reference], [silent], limits=LIMITS)
    third = verify_group([reference], [], limits=LIMITS)
    assert first.verdict == "variant"
    assert (second.verdict, second.reason) == ("not_comparable", "candidate_silent")
    assert (third.verdict, third.reason) == ("not_comparable", "nothing_to_compare")


@pytest.mark.parametrize("factor", [0.85, 1.15])
def test_a_sped_clip_is_a_variant_from_four_seconds_on(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound, factor: float
) -> None:
    verdicts = {}
    for seconds in (2.5, 4.0):
        first, last = 2 * RATE, round((2 + seconds * factor) * RATE)
        clip = measure_clip(band.resampled(song[first:last], factor))
        evidence = compare_pair(reference, clip, limits=LIMITS)
        verdicts[seconds] = (evidence.verdict, evidence.reason)
    assert verdicts[4.0] == ("variant", "speed_variant")
    assert verdicts[2.5][0] == "rejected"


def test_undoing_speed_restores_length_and_frequency(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    fast = measure_clip(band.resampled(song, 1.33))
    undone = undo(fast.features, speed(1.33))
    assert undone.frames == pytest.approx(reference.features.frames, abs=2)
    assert np.all(np.isfinite(undone.centred.chroma))


@given(st.floats(0.5, 2), st.floats(-9, 12), st.lists(st.integers(0, 900), min_size=1, unique=True))
@settings(max_examples=50)
def test_undone_peaks_stay_in_order_and_keep_exact_times(
    tempo: float, semitones: float, frames: list[int]
) -> None:
    hypothesis = Hypothesis(family="pitch_and_speed", tempo=tempo, semitones=semitones)
    ordered = np.array(sorted(frames), dtype=np.int32)
    peaks = Peaks(ordered, np.full(len(ordered), 440, np.float32), np.zeros(len(ordered), np.uint8))
    undone = undo_peaks(peaks, hypothesis)
    assert np.all(np.diff(undone.frames) >= 0)
    np.testing.assert_allclose(undone.exact_frames, ordered * hypothesis.tempo, atol=1e-6)
    np.testing.assert_allclose(undone.hertz * hypothesis.pitch_ratio, 440, rtol=1e-5)


@pytest.mark.parametrize("factor", [0.873, 1.0, 1.1])
def test_the_numbers_of_a_verdict_are_plain(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound, factor: float
) -> None:
    evidence = compare_pair(reference, measure_clip(band.resampled(song, factor)), limits=LIMITS)
    numbers = asdict(evidence)
    numbers |= numbers.pop("searched")
    assert {type(value) for value in numbers.values()} <= {str, float, tuple, type(None)}
    assert orjson.loads(orjson.dumps(numbers))["score"] == evidence.score


def test_evidence_says_which_edits_were_searched_and_how_much_of_each_sound(
    band: Band, measure_clip: ClipMeasurer, song: Samples, reference: MeasuredSound
) -> None:
    other, fast = measure_clip(band.track(2)), measure_clip(band.resampled(song, 1.1))
    seconds = round(reference.duration_s, 1)
    for candidate, with_pitch, excerpt_s in ((other, (0.66, 1.5), 2), (fast, (1, 1), None)):
        searched = compare_pair(reference, candidate, limits=LIMITS).searched
        assert searched is not None
        assert (searched.speed, searched.tempo, searched.semitones) == (
            (0.5, 2),
            (0.5, 2),
            (-9, 12),
        )
        assert (searched.tempo_with_pitch, searched.min_excerpt_s) == (with_pitch, excerpt_s)
        assert (searched.reference_s, searched.min_overlap_s) == (seconds, 3.8)
        assert searched.candidate_s == round(candidate.duration_s, 1)


@pytest.mark.parametrize(("tempos", "is_named"), [((0.66, 1.5), True), ((1.0, 1.0), False)])
def test_tempo_with_pitch_is_named_where_it_was_searched(
    tempos: tuple[float, float], is_named: bool
) -> None:
    searched = SearchedRange(
        speed=(0.5, 2.0), tempo=(0.5, 2.0), semitones=(-9.0, 12.0), tempo_with_pitch=tempos,
        min_overlap_s=5.5, reference_s=9.0, candidate_s=9.0,
    )  # fmt: skip
    reported = searched_message(asdict(searched))
    assert (
        ("both × 0.66 to 1.5" in reported.en)
        == ("两者同时 0.66 至 1.5 倍" in reported.zh)
        == is_named
    )
    assert "pitch -9 to +12 semitones" in reported.en


def test_evidence_of_an_unchanged_comparison_claims_no_tempo_or_pitch_search(
    measure_clip: ClipMeasurer, band: Band, reference: MeasuredSound
) -> None:
    confirmed = compare_pair(reference, reference, limits=LIMITS)
    unsearched = compare_pair(reference, measure_clip(band.track(2)), limits=LIMITS, search=False)
    silent = NotComparable(sha256=None, reason="silent")
    for evidence in (confirmed, unsearched):
        assert evidence.searched is not None
        assert (evidence.searched.speed, evidence.searched.semitones) == ((1, 1), (0, 0))
    assert compare_pair(reference, silent, limits=LIMITS).searched is None
