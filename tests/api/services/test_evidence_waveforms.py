"""Waveforms of a pair stand on the time axis of the song, with a change of speed undone."""

import numpy as np
import pytest

from api.services.evidence.waveforms import MOST_COLUMNS, song_time, waveform_of
from pipelines.audio.features.sound_features import HOP_S, Features, Peaks
from warehouse.records.evidence import PairEvidence, find_excerpts

FAST = PairEvidence(
    verdict="variant", reason="speed_variant", segment="local", overlap_s=6.0,
    reference_start_s=20.0, candidate_start_s=4.0, speed=1.25, semitones=3.863,
)  # fmt: skip
UNALIGNED = PairEvidence(verdict="not_comparable", reason="overlap_too_short")


def sound(decibels: list[float]) -> Features:
    """A sound whose frames have these levels in all bands."""
    no_peaks = Peaks(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.uint8))
    levels = np.repeat(np.array(decibels, np.float16)[:, None], 64, axis=1)
    return Features(np.zeros((len(decibels), 36)), levels, no_peaks)


def test_levels_are_shares_of_the_loudest_moment() -> None:
    wave = waveform_of(sound([0.0, -20.0, -40.0, -60.0]), FAST, "reference")
    assert wave["levels"] == [100, 10, 1, 0]
    assert wave["start_s"] == 0.0
    assert wave["duration_s"] == pytest.approx(4 * HOP_S, abs=1e-3)


def test_a_long_sound_keeps_its_peaks_in_few_columns() -> None:
    wave = waveform_of(sound([-40.0] * 1000 + [0.0] + [-40.0] * 299), FAST, "reference")
    assert MOST_COLUMNS / 2 < len(wave["levels"]) <= MOST_COLUMNS
    assert (max(wave["levels"]), sorted(wave["levels"])[-2]) == (100, 1)


def test_a_candidate_lies_where_it_plays_the_song() -> None:
    wave = waveform_of(sound([0.0] * 400), FAST, "candidate")
    assert wave["start_s"] == pytest.approx(20.0 - 4.0 * 1.25)
    assert wave["duration_s"] == pytest.approx(400 * HOP_S * 1.25, abs=1e-3)
    assert song_time(FAST, "candidate", 4.0) == FAST.reference_start_s


def test_both_excerpts_begin_at_the_same_second_of_the_song() -> None:
    excerpts = find_excerpts(FAST, reference_sha256="a", candidate_sha256="b")
    starts = [song_time(FAST, role, excerpt.start_s) for role, excerpt in excerpts.items()]
    assert starts == [pytest.approx(19.0), pytest.approx(19.0)]


def test_sounds_that_were_not_aligned_begin_together() -> None:
    wave = waveform_of(sound([0.0] * 10), UNALIGNED, "candidate")
    assert wave["start_s"] == 0.0
    assert wave["duration_s"] == pytest.approx(10 * HOP_S, abs=1e-3)
