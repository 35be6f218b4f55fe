"""Pairs of peaks vote for the edit that explains them: the likeliest edits, and where they lie."""

import numpy as np
import pytest

from pipelines.audio.features.sound_features import Peaks
from pipelines.audio.matching.agreement import match_peaks, tempo_apart_from_pitch
from pipelines.audio.matching.edit_votes import Guess, guess_edits
from pipelines.audio.matching.hypotheses import Hypothesis, speed, undo_peaks, within_band
from tests.audio.made_sounds import FRAMES, MadePeaks, fleeting

SONG = fleeting(1)
NO_PEAKS = Peaks(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.uint8))
SURE = 6.0


def likeliest(candidate: MadePeaks, *, least_s: float = 3.0) -> Guess:
    guesses, _ = guess_edits(SONG.picked(), candidate.picked(), least_s=least_s)
    return guesses[0]


@pytest.mark.parametrize("factor", [0.5, 0.502, 0.77, 0.953, 1.04, 1.31, 1.98, 2.0])
def test_a_speed_is_guessed_to_its_row_at_the_ends_of_the_range_too(factor: float) -> None:
    guess = likeliest(SONG.played(factor, pitch=factor))
    assert guess.hypothesis.family == "speed"
    assert guess.hypothesis.tempo == pytest.approx(factor, rel=0.004)
    assert guess.excess > SURE
    assert guess.lag == pytest.approx(0, abs=4)


@pytest.mark.parametrize("semitones", [-9.0, -7.6, -0.32, 3.0, 12.0])
def test_a_pitch_is_guessed_without_tempo(semitones: float) -> None:
    guess = likeliest(SONG.played(1.0, pitch=2 ** (semitones / 12)))
    assert guess.hypothesis.family == "pitch"
    assert guess.hypothesis.tempo == 1.0
    assert guess.hypothesis.semitones == pytest.approx(semitones, abs=0.05)


@pytest.mark.parametrize("tempo", [0.5, 0.9, 1.1, 2.0])
def test_a_tempo_is_guessed_without_pitch(tempo: float) -> None:
    guess = likeliest(SONG.played(tempo))
    assert guess.hypothesis.family == "tempo"
    assert guess.hypothesis.semitones == 0.0
    assert guess.hypothesis.tempo == pytest.approx(tempo, rel=0.016)


def test_peaks_of_a_voice_over_the_song_leave_the_edit_the_likeliest() -> None:
    pitched = SONG.played(1.0, pitch=2 ** (3 / 12))
    heard = MadePeaks(pitched.frames[:150], pitched.hertz[:150], pitched.phases[:150])
    guess = likeliest(heard + fleeting(2, 350))
    assert guess.hypothesis.semitones == pytest.approx(3.0, abs=0.05)
    assert guess.excess > SURE


def test_a_later_part_is_found_at_its_place_in_the_reference() -> None:
    part = SONG.part(200, 440)
    moved = MadePeaks(part.frames - 200, part.hertz, part.phases)
    guess = likeliest(moved.played(1.25, pitch=1.25))
    assert guess.lag == pytest.approx(200, abs=6)


def test_other_music_has_no_sure_guess() -> None:
    assert likeliest(fleeting(5)).excess < SURE


def test_an_overlap_that_is_too_short_is_not_guessed() -> None:
    end, start = SONG.part(2 * FRAMES - 100, 2 * FRAMES), SONG.part(0, 40)
    late = MadePeaks(end.frames - (2 * FRAMES - 100), end.hertz, end.phases)
    candidate = late + MadePeaks(start.frames + 300, start.hertz * 3, start.phases)
    assert likeliest(candidate, least_s=2.0).excess > SURE
    assert likeliest(candidate, least_s=6.0).excess < SURE


def test_sounds_without_peaks_have_no_votes() -> None:
    for first, second in ((SONG.picked(), NO_PEAKS), (NO_PEAKS, SONG.picked())):
        guesses, unchanged = guess_edits(first, second, least_s=3.0)
        assert {guess.excess for guess in (*guesses, unchanged)} == {0.0}


def test_the_unchanged_sound_is_told_apart_from_edits() -> None:
    guesses, unchanged = guess_edits(SONG.picked(), SONG.picked(), least_s=3.0)
    assert unchanged.excess > guesses[0].excess


def test_peaks_that_an_edit_moves_out_of_the_band_are_not_held_against_it() -> None:
    octave = Hypothesis(family="pitch", tempo=1.0, semitones=-12.0)
    low, high = octave.common_band_hz
    assert (low, high) == (430.0, 4500.0)
    undone = undo_peaks(fleeting(3).picked(), octave)
    assert undone.hertz.max() <= high
    assert undone.hertz.min() >= low
    kept = within_band(SONG.picked(), (1000.0, 2000.0))
    assert 0 < len(kept.frames) < len(SONG.frames)
    assert ((kept.hertz >= 1000) & (kept.hertz <= 2000)).all()


def test_of_a_slowed_sound_with_more_peaks_the_references_share_counts() -> None:
    slowed = SONG.played(0.5, pitch=0.5)
    dense = slowed + fleeting(8, len(slowed.frames), frames=2 * FRAMES)
    undone = undo_peaks(dense.picked(), speed(0.5))
    reference = within_band(SONG.picked(), speed(0.5).common_band_hz)
    of_candidate, of_sparser = (
        match_peaks(
            reference,
            undone,
            lag=0,
            first_frame=0,
            last_frame=2 * FRAMES,
            of_sparser=of_sparser,
        ).share
        for of_sparser in (False, True)
    )
    assert of_sparser > 0.9
    assert of_candidate < 0.7 * of_sparser


@pytest.mark.parametrize(
    ("tempo", "pitch", "apart"),
    [(1.0, 1.0, 0.0), (1.001, 1.001, 0.0), (1.0, 1.0018, -0.0018), (1.001, 0.9992, 0.0018)],
)
def test_tempo_and_pitch_are_apart_unless_one_speed_explains_both(
    tempo: float, pitch: float, apart: float
) -> None:
    moments = SONG.frames + np.random.default_rng(3).uniform(-0.5, 0.5, len(SONG.frames))
    between = MadePeaks(moments, SONG.hertz, SONG.phases)  # not at whole frames, as real peaks
    reference, heard = SONG.picked(), between.played(tempo, pitch=pitch).picked()
    match = match_peaks(reference, heard, lag=0, first_frame=0, last_frame=2 * FRAMES)
    assert tempo_apart_from_pitch(match) == pytest.approx(apart, abs=3e-4)


def test_too_few_peaks_say_nothing_of_tempo_and_pitch() -> None:
    match = match_peaks(SONG.picked(), NO_PEAKS, lag=0, first_frame=0, last_frame=2 * FRAMES)
    assert tempo_apart_from_pitch(match) == 0.0
