"""A voice or a crowd that two clips share over different music is no shared recording of music."""

import numpy as np
import pytest

from pipelines.audio.features.sound_features import Peaks
from pipelines.audio.matching.agreement import PeakMatch, tone_agreement
from pipelines.audio.matching.verify import compare_pair
from tests.audio.clips import Band, ClipMeasurer
from warehouse.records.evidence import MatchThresholds

LIMITS = MatchThresholds()


@pytest.mark.parametrize("level_db", [0, 3])
def test_the_same_voice_over_other_music_is_rejected_and_called_uncertain(
    band: Band, measure_clip: ClipMeasurer, level_db: int
) -> None:
    voice = band.speech(5)
    first = measure_clip(band.mix(band.track(1), voice, other_db=level_db))
    second = measure_clip(band.mix(band.track(2), voice, other_db=level_db))
    evidence = compare_pair(first, second, limits=LIMITS)
    assert evidence.verdict == "rejected"
    assert (evidence.score or 0) < 0.5


def test_where_a_voice_alone_is_shared_no_excerpt_is_said_to_have_been_searched_for(
    band: Band, measure_clip: ClipMeasurer
) -> None:
    voice = band.speech(5)
    first, second = (measure_clip(band.mix(band.track(seed), voice, other_db=3)) for seed in (1, 2))
    evidence = compare_pair(first, second, limits=LIMITS)
    assert (evidence.reason, evidence.observation) == ("tones_differ", "shared_voice")
    assert evidence.shared_part == "voice"
    assert evidence.searched is not None
    assert evidence.searched.min_excerpt_s is None


def test_the_same_voice_with_and_without_music_is_the_same_recording(
    band: Band, measure_clip: ClipMeasurer
) -> None:
    voice = band.speech(5)
    scored = measure_clip(band.mix(voice, band.track(2), other_db=-9))
    assert compare_pair(measure_clip(voice), scored, limits=LIMITS).verdict == "confirmed"


def steady(
    seed: int, tones: int = 8, low: float = 300.0, high: float = 4000.0
) -> list[tuple[int, float]]:
    """Held tones, each heard every fourth frame, (frame, hertz)."""
    hertz = np.random.default_rng(seed).uniform(low, high, tones)
    return [(frame, float(tone)) for frame in range(0, 240, 4) for tone in hertz]


def fleeting(
    seed: int, count: int = 300, low: float = 300.0, high: float = 4000.0
) -> list[tuple[int, float]]:
    """Peaks that never come again."""
    numbers = np.random.default_rng(seed)
    return [(int(numbers.integers(240)), float(numbers.uniform(low, high))) for _ in range(count)]


def match(reference: list[tuple[int, float]], candidate: list[tuple[int, float]]) -> PeakMatch:
    first, second = (_peaks(sorted(one)) for one in (reference, candidate))
    return PeakMatch(share=0.5, lag=0, reference=first, candidate=second)


def _peaks(found: list[tuple[int, float]]) -> Peaks:
    frames, hertz = zip(*found, strict=True) if found else ((), ())
    return Peaks(
        np.array(frames, np.int32), np.array(hertz, np.float32), np.zeros(len(found), np.uint8)
    )


def balance_of(overlaid: PeakMatch) -> float:
    return tone_agreement(overlaid).balance


def conflict_of(overlaid: PeakMatch) -> float:
    return tone_agreement(overlaid).conflict


def foreign_of(overlaid: PeakMatch) -> float:
    return tone_agreement(overlaid).foreign


def test_shared_tones_under_different_voices_weigh_fully() -> None:
    assert balance_of(match(steady(1) + fleeting(2), steady(1) + fleeting(3))) > 1


def test_a_shared_voice_over_different_tones_weighs_nothing() -> None:
    assert balance_of(match(steady(1) + fleeting(2), steady(4) + fleeting(2))) < 0.3


def test_a_voice_that_one_sound_carries_alone_is_not_held_against_it() -> None:
    assert balance_of(match(fleeting(2), steady(4) + fleeting(2))) > 0.8


def test_a_few_steady_peaks_decide_nothing() -> None:
    few, other = [(frame, 500.0) for frame in (0, 8, 16)], [(frame, 700.0) for frame in (0, 8, 16)]
    assert balance_of(match(fleeting(2) + few, fleeting(2) + other)) > 0.7


@pytest.mark.parametrize("sound", [[], fleeting(9)])
def test_tone_balance_without_agreeing_tones_is_neutral(sound: list[tuple[int, float]]) -> None:
    assert balance_of(match(fleeting(2), sound)) == pytest.approx(1.0, abs=0.5)


BASS, MELODY = (60.0, 500.0), (1100.0, 2000.0)


def sung(seed: int, bass: int) -> list[tuple[int, float]]:
    """A melody over chords, each with a seed of its own."""
    return steady(seed, 8, *MELODY) + steady(bass, 8, *BASS)


def test_a_melody_over_other_chords_is_in_conflict_although_most_tones_agree() -> None:
    mash_up = match(sung(1, bass=2), sung(1, bass=3))
    assert balance_of(mash_up) > 0.8
    assert conflict_of(mash_up) > 0.6


def test_the_same_melody_over_the_same_chords_is_in_no_conflict() -> None:
    assert conflict_of(match(sung(1, bass=2), sung(1, bass=2))) == 0.0


def test_a_voice_that_hides_the_chords_is_no_conflict() -> None:
    talked_over = steady(1, 8, *MELODY) + fleeting(3, 200, *BASS)
    assert conflict_of(match(sung(1, bass=2), talked_over)) < 0.4


def test_chords_that_a_small_speaker_does_not_play_are_no_conflict() -> None:
    assert conflict_of(match(sung(1, bass=2), steady(1, 8, *MELODY))) == 0.0


def test_a_few_other_notes_are_no_conflict() -> None:
    few, others = ([(frame, hertz) for frame in range(0, 76, 4)] for hertz in (210.0, 340.0))
    melody = steady(1, 8, *MELODY)
    assert conflict_of(match(melody + few, melody + others)) == 0.0


def test_other_music_under_a_shared_crowd_has_tones_that_are_foreign_to_each_other() -> None:
    crowd = steady(9) + fleeting(2)
    assert foreign_of(match(steady(1) + crowd, steady(4) + crowd)) > 0.7


def test_a_voice_that_holds_tones_over_the_music_leaves_none_in_the_music_that_it_lacks() -> None:
    assert foreign_of(match(steady(1), steady(1) + steady(4))) == 0.0


def test_a_tone_that_sounds_a_little_later_is_not_foreign() -> None:
    late = [(frame + 15, hertz) for frame, hertz in steady(1)]
    assert foreign_of(match(steady(1), late)) < 0.1


def test_a_few_tones_are_not_held_against_a_sound() -> None:
    few, others = ([(frame, hertz) for frame in range(0, 40, 4)] for hertz in (210.0, 340.0))
    assert foreign_of(match(fleeting(2, 99) + few, fleeting(2, 99) + others)) == 0.0


def test_tones_beside_the_common_part_say_nothing_about_it() -> None:
    common = [(frame, hertz) for frame, hertz in steady(1) if frame < 120]
    first, second = ([(frame + 120, hertz) for frame, hertz in steady(seed)] for seed in (4, 5))
    assert foreign_of(match(common + first, common + second)) < 0.2


def test_tone_conflict_without_steady_tones_is_zero() -> None:
    low, high = ([(frame, hertz) for frame in range(0, 240, 2)] for hertz in (1200.0, 1500.0))
    assert conflict_of(match(low, high)) == 0.0
    assert conflict_of(match(low, [])) == 0.0


def test_a_cover_is_called_one_and_another_song_is_not(
    band: Band, measure_clip: ClipMeasurer
) -> None:
    original = measure_clip(band.track(3))
    named = {
        compare_pair(original, measure_clip(band.track(3, band=other)), limits=LIMITS).observation
        for other in (50, 61)
    }
    assert named == {"likely_cover"}
    others = {
        compare_pair(original, measure_clip(band.track(seed)), limits=LIMITS).observation
        for seed in (1, 2, 4, 5)
    }
    assert others == {None}
