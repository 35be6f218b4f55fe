"""Two performances of one composition are told from two compositions, in any key and tempo."""

from dataclasses import replace

import numpy as np
import pytest

from pipelines.audio.features.measurement import measure_features
from pipelines.audio.features.sound_features import BINS_PER_SEMITONE, Features
from pipelines.audio.features.sounds import MeasuredSound
from pipelines.audio.manifest import deviations, recompute
from pipelines.audio.matching.verify import compare_pair, with_version_score
from pipelines.audio.matching.versions import version_score
from tests.audio.clips import Band, ClipMeasurer
from tests.audio.made_sounds import blended
from tests.data.audio.synthesis import RATE
from warehouse.records.evidence import VERSION_THRESHOLD, MatchThresholds, PairEvidence

LIMITS = MatchThresholds()
SECONDS = 21.0
REJECTED = PairEvidence(verdict="rejected", reason="distances_above_limits")


@pytest.fixture(scope="module")
def original(band: Band, measure_clip: ClipMeasurer) -> MeasuredSound:
    """The recording of a composition."""
    return measure_clip(band.track(1, seconds=SECONDS))


@pytest.fixture(scope="module")
def cover(band: Band, measure_clip: ClipMeasurer) -> MeasuredSound:
    """The same composition by other instruments, in another key and a tempo of its own."""
    lower = band.resampled(band.track(1, band=61, seconds=SECONDS), 2 ** (-2 / 12))
    return measure_clip(lower[: round(SECONDS * 44_100)])


def test_a_cover_in_another_key_and_tempo_is_a_version(
    original: MeasuredSound, cover: MeasuredSound
) -> None:
    evidence = compare_pair(original, cover, limits=LIMITS)
    assert (evidence.verdict, evidence.relation) == ("rejected", "version")
    assert evidence.version_score is not None
    assert VERSION_THRESHOLD <= evidence.version_score <= 1.0


def test_held_tones_tell_a_version_whose_harmonies_are_hidden(
    original: MeasuredSound, band: Band, measure_clip: ClipMeasurer
) -> None:
    cover, other = (
        measure_clip(band.track(seed, band=60, seconds=SECONDS)).features for seed in (1, 2)
    )
    hidden = replace(cover, chroma=blended(cover.chroma, other.chroma[: cover.frames], 0.7))
    without_tones = replace(hidden, peaks=other.peaks)
    scores = [version_score(original.features, features) for features in (hidden, without_tones)]
    assert None not in scores
    assert scores[0] > scores[1] + 0.1  # type: ignore[operator]  # neither is None


def test_other_compositions_by_the_same_band_are_no_versions(
    band: Band, measure_clip: ClipMeasurer, original: MeasuredSound
) -> None:
    for seed in (2, 3, 4):
        other = measure_clip(band.track(seed, band=1, seconds=SECONDS))
        evidence = compare_pair(original, other, limits=LIMITS)
        assert evidence.relation is None
        assert evidence.version_score is not None
        assert evidence.version_score < VERSION_THRESHOLD


def test_a_match_and_a_pair_that_is_not_searched_have_no_version_score(
    original: MeasuredSound, cover: MeasuredSound
) -> None:
    confirmed = compare_pair(original, original, limits=LIMITS)
    unsearched = compare_pair(original, cover, limits=LIMITS, search=False)
    assert (confirmed.relation, confirmed.version_score) == ("same_recording", None)
    assert (unsearched.relation, unsearched.version_score) == (None, None)


def test_a_pair_that_shares_a_part_is_never_called_a_version(
    original: MeasuredSound, cover: MeasuredSound
) -> None:
    sounds = (original.features, cover.features)
    shared = replace(REJECTED, shared_part="loop")
    assert with_version_score(*sounds, shared) == shared
    assert with_version_score(*sounds, REJECTED).relation == "version"


def test_the_same_voice_over_other_music_is_no_version(
    band: Band, measure_clip: ClipMeasurer
) -> None:
    voice = band.speech(7, seconds=SECONDS)
    sounds = [
        measure_clip(band.mix(band.track(seed, seconds=SECONDS), voice, other_db=6)).features
        for seed in (1, 2)
    ]
    assert version_score(*sounds) == 0.0
    in_another_key = version_score(sounds[0], raised(sounds[1]))
    assert in_another_key is not None
    assert in_another_key > VERSION_THRESHOLD, "the harmonies of the voice agree"


def test_a_version_in_the_same_key_is_surer_than_in_another(
    original: MeasuredSound, band: Band, measure_clip: ClipMeasurer
) -> None:
    cover, other = (
        measure_clip(band.track(seed, band=60, seconds=SECONDS)).features for seed in (1, 2)
    )
    faint = replace(cover, chroma=blended(cover.chroma, other.chroma[: cover.frames], 0.7))
    same_key, other_key = (
        version_score(original.features, features) for features in (faint, raised(faint))
    )
    assert same_key is not None
    assert other_key is not None
    assert same_key - other_key == pytest.approx(0.134, abs=0.03)


def raised(features: Features) -> Features:
    """The harmonies and the tones a semitone higher."""
    hertz = features.peaks.hertz * np.float32(2 ** (1 / 12))
    return replace(
        features,
        chroma=np.roll(features.chroma, BINS_PER_SEMITONE, axis=1),
        peaks=replace(features.peaks, hertz=hertz),
    )


def test_silence_after_a_song_makes_nothing_a_version(
    band: Band, measure_clip: ClipMeasurer
) -> None:
    song = measure_clip(band.track(2, band=1, seconds=10.0)).features
    other = band.track(3, band=1, seconds=15.0)
    silence = np.zeros(45 * RATE, dtype=np.float32)
    alone, followed = (
        version_score(song, measure_clip(sound).features)
        for sound in (other, np.concatenate((other, silence)))
    )
    assert alone is not None
    assert followed == pytest.approx(alone, abs=0.1)


def swaying(seed: int) -> Features:
    """A bell that strikes two tones in turn, each for two to five seconds, in a key of its own."""
    rng = np.random.default_rng(seed)
    strokes = []
    for number in range(12):
        seconds = np.arange(0.0, rng.uniform(2.0, 5.0), 1 / RATE)
        semitones = 3 * seed + 2 * (number % 2)
        tone = 2 * np.pi * 220.0 * 2 ** (semitones / 12) * seconds
        partials = sum(np.sin(harmonic * tone) / harmonic for harmonic in range(1, 6))
        strokes.append(partials * np.exp(-seconds / 3))
    samples = np.concatenate(strokes)[: round(SECONDS * RATE)]
    return measure_features((0.1 * samples).astype(np.float32), RATE)


def test_pieces_that_sway_between_two_tones_are_no_versions() -> None:
    """They agree at many offsets, so that the best one proves little."""
    pieces = [swaying(seed) for seed in range(4)]
    for number, piece in enumerate(pieces):
        for other in pieces[number + 1 :]:
            score = version_score(piece, other)
            assert score is not None
            assert score < VERSION_THRESHOLD


def test_sounds_without_eight_seconds_in_common_have_no_version_score(
    band: Band, measure_clip: ClipMeasurer, original: MeasuredSound
) -> None:
    short = measure_clip(band.track(1, band=61, seconds=7.0))
    assert version_score(original.features, short.features) is None


def test_which_of_two_sounds_is_the_reference_hardly_matters(
    original: MeasuredSound, cover: MeasuredSound
) -> None:
    forth = version_score(original.features, cover.features)
    back = version_score(cover.features, original.features)
    assert forth == pytest.approx(back, abs=0.1)


def test_a_stored_version_is_measured_again_with_the_same_score(
    original: MeasuredSound, cover: MeasuredSound
) -> None:
    stored = compare_pair(original, cover, limits=LIMITS)
    again = recompute(original.features, cover.features, stored, limits=LIMITS)
    assert deviations(stored, again) == {}
    older = replace(stored, version_score=None)
    again = recompute(original.features, cover.features, older, limits=LIMITS)
    assert deviations(older, again) == {}
