"""Two songs that share a part of their music are no one recording, and the part is named."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pipelines.audio.matching import scoring
from pipelines.audio.matching.shared_parts import Residue, measure_residue
from pipelines.audio.matching.verify import compare_pair
from tests.audio.clips import Band, ClipMeasurer
from tests.data.audio.synthesis import RATE, Samples
from warehouse.records.evidence import MatchThresholds, PairEvidence

LIMITS = MatchThresholds()
TWO_SONGS = Residue(steadiness=0.6, foreign=0.4, louder=0.05, held=0.6, is_repeated=False)
_SHARE = 0.4
type Comparison = Callable[[Samples, float], PairEvidence]


@pytest.fixture
def over_two_songs(band: Band, measure_clip: ClipMeasurer) -> Comparison:
    """Compares two songs that have one part, louder than their music by so many decibels."""

    def compare(part: Samples, level_db: float) -> PairEvidence:
        first, second = (band.mix(band.track(seed), part, other_db=level_db) for seed in (1, 2))
        return compare_pair(measure_clip(first), measure_clip(second), limits=LIMITS)

    return compare


@pytest.mark.parametrize("level_db", [0, 3, 6])
def test_a_melody_over_two_songs_is_a_shared_layer(
    over_two_songs: Comparison, band: Band, level_db: float
) -> None:
    evidence = over_two_songs(band.track(6), level_db)
    assert (evidence.verdict, evidence.relation) == ("rejected", "shares_part")
    assert evidence.shared_part == "layer"


@pytest.mark.parametrize("seconds", [2, 3, 4])
def test_a_bar_that_is_repeated_under_two_songs_is_a_shared_loop(
    over_two_songs: Comparison, band: Band, seconds: int
) -> None:
    loop = np.tile(band.track(6)[: seconds * RATE], 12 // seconds)
    evidence = over_two_songs(loop, 6)
    assert (evidence.verdict, evidence.shared_part) == ("rejected", "loop")


def test_one_song_under_two_voices_is_one_recording(
    band: Band, measure_clip: ClipMeasurer, song: Samples
) -> None:
    first, second = (band.mix(song, band.speech(seed), other_db=0) for seed in (1, 2))
    evidence = compare_pair(measure_clip(first), measure_clip(second), limits=LIMITS)
    assert (evidence.verdict, evidence.shared_part) == ("confirmed", None)


@pytest.mark.parametrize("top_hz", [1000, 3000])
def test_a_low_pass_leaves_low_tones_alone_and_is_the_same_recording(
    band: Band, measure_clip: ClipMeasurer, song: Samples, top_hz: float
) -> None:
    low = measure_clip(band.low_passed(song, top_hz))
    assert compare_pair(measure_clip(song), low, limits=LIMITS).verdict == "confirmed"


def test_a_sound_has_nothing_alone_beside_itself(measure_clip: ClipMeasurer, song: Samples) -> None:
    sound = measure_clip(song).features
    residue = measure_residue(sound, sound, lag=0, first_frame=0, last_frame=2 * sound.frames)
    assert (residue.foreign, residue.louder) == (0, 0)
    assert residue.steadiness == pytest.approx(1, abs=0.1)


def test_two_songs_are_told_by_tones_levels_and_steadiness_together() -> None:
    assert scoring.are_two_songs(TWO_SONGS, _SHARE)


@pytest.mark.parametrize(
    "residue",
    [
        replace(TWO_SONGS, foreign=0.05),
        replace(TWO_SONGS, louder=0.001),
        replace(TWO_SONGS, louder=0.004, steadiness=1.3),
    ],
    ids=["a voice, and the same voice over music", "a low-pass", "other voices over one song"],
)
def test_no_sign_alone_makes_two_songs(residue: Residue) -> None:
    assert not scoring.are_two_songs(residue, _SHARE)


def test_what_little_agreement_leaves_alone_may_be_a_noise() -> None:
    assert not scoring.are_two_songs(TWO_SONGS, 0.05)


def test_a_shared_voice_or_crowd_makes_two_songs_by_weaker_signs() -> None:
    weaker = replace(TWO_SONGS, louder=0.004, steadiness=1.1)
    assert scoring.are_two_songs(replace(weaker, held=0.1), _SHARE)
    assert not scoring.are_two_songs(replace(weaker, held=0.6), _SHARE)


@pytest.mark.parametrize(
    ("residue", "is_hidden"),
    [
        (TWO_SONGS, False),
        (replace(TWO_SONGS, foreign=0.05), True),
        (replace(TWO_SONGS, louder=0.001), True),
    ],
    ids=["two songs", "one has no tone alone", "nothing is louder, as in a room"],
)
def test_tones_are_hidden_where_one_sound_plays_all_of_the_other(
    residue: Residue, *, is_hidden: bool
) -> None:
    assert scoring.hides_tones(residue) == is_hidden


@pytest.mark.parametrize(
    ("residue", "is_excerpt"),
    [
        (replace(TWO_SONGS, foreign=0.01, louder=0.0, steadiness=0.95), True),
        (replace(TWO_SONGS, foreign=0.01, louder=0.01, steadiness=0.3), False),
        (replace(TWO_SONGS, foreign=0.10, louder=0.0, steadiness=1.0), False),
        (replace(TWO_SONGS, foreign=0.0, louder=0.0, steadiness=0.9, held=0.03), True),
        (replace(TWO_SONGS, foreign=0.01, louder=0.003, steadiness=0.7, held=0.03), False),
    ],
    ids=["of a song", "a voice over two songs", "a layer of two songs", "of drums", "a sentence"],
)
def test_a_few_common_seconds_are_an_excerpt_if_neither_sound_has_anything_alone(
    residue: Residue, *, is_excerpt: bool
) -> None:
    assert scoring.share_no_excerpt(residue) != is_excerpt
