"""Two songs that share a part of their music are no one recording, and the part is named."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pipelines.audio.features.sound_features import Features
from pipelines.audio.matching import judging, scoring
from pipelines.audio.matching.judging import judge_unchanged
from pipelines.audio.matching.shared_parts import Residue, louder_shares, measure_residue
from pipelines.audio.matching.verify import compare_pair
from tests.audio.clips import Band, ClipMeasurer
from tests.audio.made_sounds import FRAMES, MadePeaks, fleeting, held, melody, sound, timbre
from tests.data.audio.synthesis import RATE, Samples
from warehouse.records.evidence import MatchThresholds, PairEvidence

LIMITS = MatchThresholds()
TWO_SONGS = Residue(
    steadiness=0.6, foreign=0.4, louder=0.05, louder_other=0.1, held=0.6,
    agreeing=held(1, 4).picked(),
)  # fmt: skip
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


@pytest.mark.parametrize(
    ("beats", "verdict"),
    [((0, 6), "rejected"), ((0, None), "confirmed"), ((None, None), "confirmed")],
    ids=["drums of its own in each", "drums over one of them", "no drums"],
)
def test_one_melody_over_other_drums_is_a_part_of_two_songs(
    beats: tuple[int | None, int | None], verdict: str
) -> None:
    made = []
    for seed, beat in enumerate(beats):
        mel_db, own = timbre(1), fleeting(30 + seed, 300)
        if beat is not None:
            for frame in range(beat, beat + 3):
                mel_db[frame::12, 10:40] += 15
        made.append(sound(melody(1), mel_db, held(1, 6) + fleeting(2, 600) + own))
    evidence = judge_unchanged(made[0], made[1], LIMITS)
    assert evidence.verdict == verdict
    assert (evidence.shared_part is None) == (verdict == "confirmed")


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


WINDOW, LONG = 150, 430  # frames of 7 s, and of 20 s


def alone_after_a_window(seed: int, *, common_from: int = 0) -> Features:
    """A sound that begins with the same seven seconds for every seed, then has music of its own.

    What all seeds have goes on beneath it from the frame `common_from` on.
    """
    common = fleeting(1, 1500, frames=LONG) + held(3, 3, frames=LONG)
    first, rest = common.part(0, 2 * WINDOW), common.part(2 * max(WINDOW, common_from), 2 * LONG)
    own = held(10 + seed, 4, frames=LONG) + fleeting(20 + seed, 800, frames=LONG)
    mel_db = timbre(1, frames=LONG)
    mel_db[WINDOW::4, 12 * seed : 12 * seed + 12] += 20
    return sound(melody(1, frames=LONG), mel_db, first + rest + own.part(2 * WINDOW, 2 * LONG))


def test_a_window_without_other_tones_is_no_recording_if_all_around_is_a_shared_part() -> None:
    first, second = alone_after_a_window(1), alone_after_a_window(2)
    evidence = judge_unchanged(first, second, LIMITS)
    assert (evidence.verdict, evidence.reason) == ("rejected", "tones_differ")
    assert evidence.shared_part == "layer"


def test_other_music_after_a_window_of_the_recording_is_no_objection() -> None:
    first, second = (alone_after_a_window(seed, common_from=LONG) for seed in (1, 2))
    evidence = judge_unchanged(first, second, LIMITS)
    assert (evidence.verdict, evidence.segment) == ("confirmed", "local")


@pytest.mark.parametrize(
    ("share_beside", "foreign", "is_part"),
    [(0.21, 0.4, True), (0.1, 0.4, False), (0.04, 0.4, False), (0.21, 0.09, False)],
    ids=["a part all the time", "other music follows", "chance", "speech before the song"],
)
def test_a_window_is_of_two_songs_where_nearly_half_as_many_peaks_agree_beside_it(
    share_beside: float, foreign: float, *, is_part: bool
) -> None:
    residue = replace(TWO_SONGS, foreign=foreign, louder=0.1)
    assert scoring.are_two_songs_throughout(residue, share_beside, _SHARE) == is_part
    assert not scoring.are_two_songs_throughout(residue, 0.04, 0.05)


LEAD = replace(TWO_SONGS, foreign=0.4, louder=0.02, louder_other=0.04)


@pytest.mark.parametrize(
    ("residue", "share_beside", "is_part"),
    [
        (LEAD, 0.06, True),
        (LEAD, 0.02, False),
        (replace(LEAD, foreign=0.15), 0.06, False),
        (replace(LEAD, louder=0.005, louder_other=0.01), 0.06, False),
        (replace(LEAD, louder_other=0.07), 0.06, False),
    ],
    ids=["a lead", "a few seconds", "a noise", "a room", "a voice over one of them"],
)
def test_a_rejected_pair_shares_a_part_where_it_agrees_all_the_time_and_each_has_much_alone(
    residue: Residue, share_beside: float, *, is_part: bool
) -> None:
    assert scoring.share_a_part_throughout(residue, share_beside) == is_part


@pytest.mark.parametrize(("drift", "part"), [(0, "layer"), (6, None)])
def test_a_part_is_named_where_it_is_heard_at_one_lag_around_seconds_of_nothing_else(
    drift: int, part: str | None
) -> None:
    first, last, end = 2 * 180, 2 * 250, 2 * LONG  # fine frames
    lead = fleeting(1, 500, frames=LONG) + held(3, 1, frames=LONG)
    clear = (lead + fleeting(2, 1500, frames=LONG)).part(first, last)
    sounds = []
    for seed, by in ((1, 0), (2, drift)):
        mel_db = timbre(1, frames=LONG)
        mel_db[::6, 12 * seed : 12 * seed + 12] += 20
        mel_db[first // 2 : last // 2] = timbre(1, frames=LONG)[first // 2 : last // 2]
        own = held(10 + seed, 4, frames=LONG) + fleeting(20 + seed, 2000, frames=LONG)
        before, after = (lead + own).part(0, first), (lead + own).part(last, end)
        before = MadePeaks(before.frames - by, before.hertz, before.phases).part(0, first)
        after = MadePeaks(after.frames + by, after.hertz, after.phases)
        sounds.append(sound(melody(seed, frames=LONG), mel_db, before + clear + after))
    assert judging.shared_part(*sounds) == part


def test_a_sound_has_nothing_alone_beside_itself(measure_clip: ClipMeasurer, song: Samples) -> None:
    sound = measure_clip(song).features
    residue = measure_residue(sound, sound, lag=0, first_frame=0, last_frame=2 * sound.frames)
    assert (residue.foreign, residue.louder) == (0, 0)
    assert residue.steadiness == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("bands", "shares"),
    [(slice(5, 50), (0, 0)), (slice(10, 30), (20 / 64 * 38 / (FRAMES - 2), 0))],
    ids=["most bands, as by a gate", "some bands, as by a drum"],
)
def test_a_sound_is_louder_where_some_bands_are_not_where_most_are(
    bands: slice, shares: tuple[float, float]
) -> None:
    mel_db = timbre(1)
    quieter = mel_db.copy()
    quieter[100:140, bands] -= 25
    both = [sound(melody(1), levels, held(1)) for levels in (mel_db, quieter)]
    assert louder_shares(both[0], both[1], 0, 0, FRAMES) == pytest.approx(shares, abs=0.005)
    assert louder_shares(both[1], both[0], 0, 0, FRAMES) == pytest.approx(shares[::-1], abs=0.005)


def test_two_songs_are_told_by_tones_levels_and_steadiness_together() -> None:
    assert scoring.are_two_songs(TWO_SONGS, _SHARE)


@pytest.mark.parametrize(
    "residue",
    [
        replace(TWO_SONGS, foreign=0.05, held=0.05),
        replace(TWO_SONGS, louder=0.001),
        replace(TWO_SONGS, louder=0.004, steadiness=1.3),
    ],
    ids=["a voice, and the same voice over music", "a low-pass", "other voices over one song"],
)
def test_no_sign_alone_makes_two_songs(residue: Residue) -> None:
    assert not scoring.are_two_songs(residue, _SHARE)


def test_what_little_agreement_leaves_alone_may_be_a_noise() -> None:
    assert not scoring.are_two_songs(TWO_SONGS, 0.05)


def test_drums_of_its_own_in_each_sound_make_two_songs_of_the_same_tones() -> None:
    drummed = replace(TWO_SONGS, foreign=0.04, louder=0.04, steadiness=0.9)
    assert scoring.are_two_songs(drummed, _SHARE)
    assert not scoring.are_two_songs(replace(drummed, louder=0.002), _SHARE), "only one has drums"
    assert not scoring.are_two_songs(replace(drummed, steadiness=1.5), _SHARE), "voices"
    assert not scoring.are_two_songs(replace(drummed, steadiness=0.6), _SHARE), "a noise"


def test_a_shared_voice_or_crowd_makes_two_songs_by_weaker_signs() -> None:
    weaker = replace(TWO_SONGS, louder=0.003, steadiness=1.1)
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
        (replace(TWO_SONGS, foreign=0.10, louder=0.004, steadiness=1.0), False),
        (replace(TWO_SONGS, foreign=0.10, louder=0.001, steadiness=1.0), True),
        (replace(TWO_SONGS, foreign=0.0, louder=0.0, steadiness=0.9, held=0.03), True),
        (replace(TWO_SONGS, foreign=0.01, louder=0.003, steadiness=0.7, held=0.03), False),
    ],
    ids=[
        "of a song",
        "a voice over two songs",
        "a layer of two songs",
        "in a room",
        "of drums",
        "a sentence",
    ],
)
def test_a_few_common_seconds_are_an_excerpt_if_neither_sound_has_anything_alone(
    residue: Residue, *, is_excerpt: bool
) -> None:
    assert scoring.share_no_excerpt(residue) != is_excerpt
