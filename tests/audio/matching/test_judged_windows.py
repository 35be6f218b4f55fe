"""Windows that peaks point to are judged by the local rule; what is too short is left out."""

import numpy as np

from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching.agreement import CommonStretch
from pipelines.audio.matching.judging import judge_edits, judge_excerpt, judge_windows
from tests.audio.made_sounds import FRAMES, HOP_S, faster, fleeting, melody, sound, timbre
from warehouse.records.evidence import MatchThresholds

LIMITS = MatchThresholds()
CHROMA, MEL_DB, PEAKS = melody(1), timbre(1), fleeting(1)
SONG = sound(CHROMA, MEL_DB, PEAKS)
WHOLE = CommonStretch(lag=0, first_frame=0, last_frame=2 * FRAMES, excess=50.0)


def other_start() -> Features:
    """The song with another one in its first 80 frames, and the peaks of the song all the time."""
    return sound(
        np.concatenate([melody(5)[:80], CHROMA[80:]]),
        np.concatenate([timbre(5)[:80], MEL_DB[80:]]),
        PEAKS,
    )


def test_the_first_window_that_meets_the_rule_is_the_evidence() -> None:
    evidence = judge_windows(SONG, other_start(), LIMITS, [WHOLE])
    assert evidence is not None
    assert (evidence.verdict, evidence.reason) == ("confirmed", "local_rule_met")
    assert evidence.overlap_s is not None
    assert abs(evidence.overlap_s - LIMITS.local_window_s) < HOP_S
    assert (evidence.candidate_start_s or 0.0) > 1.0  # the window at the start is another song


def test_windows_that_sound_otherwise_confirm_nothing_whatever_the_peaks_say() -> None:
    other = sound(melody(2), timbre(2), PEAKS)
    assert judge_windows(SONG, other, LIMITS, [WHOLE]) is None


def test_a_stretch_whose_overlap_is_shorter_than_a_window_is_left_out() -> None:
    lag = 2 * (FRAMES - 100)  # the sounds have a hundred frames in common, 4.6 s
    late = CommonStretch(lag=lag, first_frame=0, last_frame=200, excess=50.0)
    assert judge_windows(SONG, SONG, LIMITS, [late]) is None
    assert judge_windows(SONG, SONG, LIMITS, [late, WHOLE]) is not None


def test_a_slowed_sound_is_a_variant_from_four_seconds_as_heard_on() -> None:
    tempo, frames = 0.8, 60  # 2.8 s as heard, 2.2 s of the song
    slowed = sound(
        faster(CHROMA, tempo)[:frames],
        faster(MEL_DB, tempo)[:frames],
        PEAKS.played(tempo).part(0, 2 * frames),
    )
    assert judge_edits(SONG, slowed, LIMITS).evidence is None
    frames = 86
    longer = sound(
        faster(CHROMA, tempo)[:frames],
        faster(MEL_DB, tempo)[:frames],
        PEAKS.played(tempo).part(0, 2 * frames),
    )
    found = judge_edits(SONG, longer, LIMITS).evidence
    assert found is not None
    assert found.verdict == "variant"


def test_a_long_stretch_is_judged_as_an_excerpt_by_its_middle_alone() -> None:
    found = judge_excerpt(SONG, SONG, LIMITS, [WHOLE])
    assert found is not None
    assert (found.verdict, found.reason) == ("variant", "excerpt_variant")
    assert found.overlap_s is not None
    assert LIMITS.local_overlap_s - HOP_S <= found.overlap_s < LIMITS.local_overlap_s
    middle = (found.candidate_start_s or 0.0) + found.overlap_s / 2
    assert abs(middle - FRAMES * HOP_S / 2) <= HOP_S
