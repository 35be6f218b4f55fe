"""Recordings that a phone hears in a room: each tone turned by its own angle, clocks apart."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.audio.features.sound_features import FINE_HOP_S, Features
from pipelines.audio.matching.judging import judge_unchanged
from tests.audio.made_sounds import MadePeaks, fleeting, melody, sound, timbre
from warehouse.records.evidence import MatchThresholds

CHROMA, MEL_DB = melody(1), timbre(1)
ONLY_LOCAL = MatchThresholds(whole_chroma_distance=-1.0)
_TONES = 60
SEEDS = pytest.mark.parametrize("seed", range(4))
type Tones = NDArray[np.int64]


def notes(seed: int) -> tuple[MadePeaks, Tones]:
    """Short notes of few tones, and the tone of each."""
    numbers = np.random.default_rng(100 + seed)
    peaks = fleeting(seed)
    tone = numbers.integers(0, _TONES, len(peaks.frames))
    return replace(peaks, hertz=np.asarray(310 + 28 * tone, dtype=np.float64)), tone


def in_room(
    played: MadePeaks, tone: Tones, *, clock: float = 0.0, sharp_hz: float = 0.0
) -> Features:
    """Three of five peaks as the room leaves them, heard by a phone with another clock.

    What sounds together in a room shifts the frequencies of peaks: these are all `sharp_hz` off.
    """
    angles = np.random.default_rng(200).uniform(0, 256, _TONES)[tone]
    seconds = played.frames * FINE_HOP_S
    count = round(0.6 * len(played.frames))
    heard = MadePeaks(
        played.frames[:count],
        (played.hertz * (1 + clock) + sharp_hz)[:count],
        (played.phases + angles + 256 * played.hertz * clock * seconds)[:count],
    )
    return sound(CHROMA, MEL_DB, heard + fleeting(70, 200))


@SEEDS
@pytest.mark.parametrize(
    ("clock", "sharp_hz"),
    [(0.0, 0.0), (1e-4, 0.8), (5e-4, 0.8), (-5e-4, -0.8), (1.01e-3, 0.8)],
    ids=["equal clocks", "0.01 %", "0.05 %", "-0.05 %", "0.1 %"],
)
def test_a_recording_in_a_room_is_sure_whatever_the_clock_of_the_phone(
    seed: int, clock: float, sharp_hz: float
) -> None:
    played, tone = notes(seed)
    candidate = in_room(played, tone, clock=clock, sharp_hz=sharp_hz)
    evidence = judge_unchanged(sound(CHROMA, MEL_DB, played), candidate, ONLY_LOCAL)
    assert (evidence.verdict, evidence.reason) == ("confirmed", "local_rule_met")


@SEEDS
def test_six_seconds_whose_tones_have_one_angle_each_are_no_room_beside_others_that_have_many(
    seed: int,
) -> None:
    played, tone = notes(seed)
    turned = played.phases + np.random.default_rng(200).uniform(0, 256, _TONES)[tone]
    # The same samples of another instrument, and then others.
    rendered = replace(played, phases=turned).part(0, 280) + played.part(280, 440).without_phase()
    few = MadePeaks(rendered.frames[::2], rendered.hertz[::2], rendered.phases[::2])
    candidate = sound(CHROMA, MEL_DB, few + fleeting(70, 200))
    evidence = judge_unchanged(sound(CHROMA, MEL_DB, played), candidate, ONLY_LOCAL)
    assert (evidence.verdict, evidence.reason) == ("rejected", "score_below_threshold")
