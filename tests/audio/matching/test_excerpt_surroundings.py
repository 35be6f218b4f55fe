"""The few seconds of an excerpt are weighed with the tones of the sounds around them.

Chroma and timbre agree all over; what differs is which peaks are shared, and where. Frames are 46.4
ms; peaks have fine frames, two a frame.
"""

from dataclasses import replace

import pytest

from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching.agreement import CommonStretch
from pipelines.audio.matching.judging import judge_excerpt
from tests.audio.made_sounds import MadePeaks, fleeting, held, melody, sound, timbre
from warehouse.records.evidence import MatchThresholds, PairEvidence

FRAMES = 400
CROWD = fleeting(2, 1600, frames=FRAMES)
"""Peaks that never come again, enough of them that both sounds are heard everywhere."""
SONG, OTHER_SONG = held(3, frames=FRAMES), held(4, frames=FRAMES)
FIRST, LAST = 300, 410
"""The excerpt, 2.6 s, in fine frames."""


def heard(peaks: MadePeaks, begin: int, end: int) -> Features:
    """The part of a sound from one frame up to another."""
    chroma, mel_db = melody(1, frames=FRAMES), timbre(1, frames=FRAMES)
    kept = peaks.part(2 * begin, 2 * end)
    moved = replace(kept, frames=kept.frames - 2 * begin)
    return sound(chroma[begin:end], mel_db[begin:end], moved)


def outside(peaks: MadePeaks, first: int, last: int) -> MadePeaks:
    """What is not between two fine frames."""
    return peaks.part(0, first) + peaks.part(last, 2 * FRAMES)


def judged(
    reference: MadePeaks,
    candidate: MadePeaks,
    *,
    window_s: float = 6.0,
    begin: int = 0,
    end: int = FRAMES,
) -> PairEvidence:
    stretch = CommonStretch(
        lag=0, first_frame=FIRST - 2 * begin, last_frame=LAST - 2 * begin, excess=50.0
    )
    limits = MatchThresholds(local_window_s=window_s)
    first, second = (heard(peaks, begin, end) for peaks in (reference, candidate))
    evidence = judge_excerpt(first, second, limits, [stretch])
    assert evidence is not None
    return evidence


def test_a_crowd_over_other_music_is_no_excerpt_although_few_tones_are_heard_in_it() -> None:
    first, second = (CROWD + outside(song, FIRST, LAST) for song in (SONG, OTHER_SONG))
    evidence = judged(first, second)
    assert (evidence.verdict, evidence.reason) == ("rejected", "tones_differ")
    assert evidence.overlap_s == pytest.approx(55 * 0.04644, abs=0.001)


def test_the_same_music_around_an_excerpt_speaks_for_it() -> None:
    evidence = judged(CROWD + outside(SONG, FIRST, LAST), CROWD + outside(SONG, FIRST, LAST))
    assert (evidence.verdict, evidence.reason) == ("variant", "excerpt_variant")


def test_another_recording_beside_an_excerpt_says_nothing_about_it() -> None:
    common = CROWD.part(FIRST, LAST) + SONG.part(FIRST, LAST)
    first = common + outside(SONG + fleeting(5, 1600, frames=FRAMES), FIRST, LAST)
    second = common + outside(OTHER_SONG + fleeting(6, 1600, frames=FRAMES), FIRST, LAST)
    evidence = judged(first, second)
    assert (evidence.verdict, evidence.reason) == ("variant", "excerpt_variant")


def test_only_a_local_window_around_an_excerpt_is_looked_at() -> None:
    # a window of 4 s reaches 31 fine frames beyond the excerpt on each side, one of 6 s 74
    first, second = (CROWD + outside(song, FIRST - 35, LAST + 35) for song in (SONG, OTHER_SONG))
    assert judged(first, second, window_s=4.0).verdict == "variant"
    assert judged(first, second, window_s=6.0).verdict == "rejected"


@pytest.mark.parametrize(
    ("begin", "end"), [(FIRST // 2 - 3, FRAMES), (0, LAST // 2 + 3)], ids=["begins", "ends"]
)
def test_where_a_sound_begins_or_ends_the_window_lies_on_the_other_side(
    begin: int, end: int
) -> None:
    first, second = (CROWD + outside(song, FIRST, LAST) for song in (SONG, OTHER_SONG))
    assert judged(first, second, begin=begin, end=end).reason == "tones_differ"


def test_of_sounds_shorter_than_a_window_all_is_looked_at() -> None:
    first, second = (CROWD + outside(song, FIRST, LAST) for song in (SONG, OTHER_SONG))
    short = judged(first, second, begin=FIRST // 2 - 25, end=LAST // 2 + 25)
    assert short.reason == "tones_differ"
