"""Which of a track's own videos may speak for it, when some play something else."""

import itertools

import pytest

from pipelines.audio.features.sounds import MeasuredSound
from pipelines.audio.matching.verify import agreeing_references
from tests.audio.clips import Band, ClipMeasurer
from tests.data.audio.synthesis import Samples
from warehouse.records.evidence import MatchThresholds

LIMITS = MatchThresholds()


@pytest.fixture(scope="module")
def voiced(band: Band, measure_clip: ClipMeasurer, song: Samples) -> MeasuredSound:
    """The recording with somebody talking over it."""
    return measure_clip(band.mix(song, band.speech(5), other_db=0))


@pytest.fixture(scope="module")
def other_song(band: Band, measure_clip: ClipMeasurer) -> MeasuredSound:
    return measure_clip(band.track(2))


@pytest.fixture(scope="module")
def third_song(band: Band, measure_clip: ClipMeasurer) -> MeasuredSound:
    return measure_clip(band.track(3))


def test_a_video_that_plays_another_song_is_outvoted_wherever_it_stands(
    reference: MeasuredSound, voiced: MeasuredSound, other_song: MeasuredSound
) -> None:
    for sounds in itertools.permutations([reference, voiced, other_song]):
        kept = [sounds[place] for place in agreeing_references(sounds, limits=LIMITS)]
        assert kept == [reference, voiced]


def test_references_are_all_kept_if_no_two_agree(
    reference: MeasuredSound, other_song: MeasuredSound, third_song: MeasuredSound
) -> None:
    sounds = [reference, other_song, third_song]
    assert sorted(agreeing_references(sounds, limits=LIMITS)) == [0, 1, 2]


def test_a_single_reference_speaks_for_itself(reference: MeasuredSound) -> None:
    assert agreeing_references([reference], limits=LIMITS) == (0,)
    assert agreeing_references([], limits=LIMITS) == ()
